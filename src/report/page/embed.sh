#!/bin/sh
# Print a C file with the style sheet and the script of the page, given as file names: page_css for page.css, and
# page_css_digest, its SHA-256 in base64 for a Content-Security-Policy. Comments and indentation are removed.
set -eu

base64_of_hex() { # HEX
    printf '%b' "$(printf '%s' "$1" | sed 's/../\\x&/g' | awk '{
        for (i = 1; i + 3 <= length($0); i += 4) {
            high = index("0123456789abcdef", substr($0, i + 2, 1)) - 1
            low = index("0123456789abcdef", substr($0, i + 3, 1)) - 1
            printf "\\0%03o", high * 16 + low
        }
    }')" | base64
}

printf '%s\n' '/* Made by src/report/page/embed.sh. */' '#include "report/page/page_internal.h"'
for file; do
    name=page_${file##*.}
    text=$(sed -e '/^[[:space:]]*\/\*.*\*\/$/d' -e 's/^[[:space:]]*//' -e '/^$/d' "$file"; printf x)
    text=${text%x}
    printf '\nconst char %s[] = {\n' "$name"
    printf '%s' "$text" | od -An -v -tu1 | sed 's/\([0-9][0-9]*\)/\1,/g'
    digest=$(printf '%s' "$text" | sha256sum)
    printf '0};\nconst char %s_digest[] = "%s";\n' "$name" "$(base64_of_hex "${digest%% *}")"
done
