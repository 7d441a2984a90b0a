#!/bin/sh
# Print a C file with the completion scripts, given as file names: completion_bash for mtlaunch.bash.
set -eu

printf '%s\n' '/* Made by src/cmd/completion/embed.sh. */' '#include "cmd/complete_internal.h"'
for file; do
    printf '\nconst char completion_%s[] = {\n' "${file##*.}"
    od -An -v -tu1 "$file" | sed 's/\([0-9][0-9]*\)/\1,/g'
    printf '0};\n'
done
