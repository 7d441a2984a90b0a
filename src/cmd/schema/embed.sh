#!/bin/sh
# Print a C file with the JSON Schema, given as a file name.
set -eu

printf '%s\n' '/* Made by src/cmd/schema/embed.sh. */' '#include "cmd/topics_internal.h"'
printf '\nconst char json_schema_text[] = {\n'
od -An -v -tu1 "$1" | sed 's/\([0-9][0-9]*\)/\1,/g'
printf '0};\n'
