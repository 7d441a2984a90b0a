#!/bin/sh
# Print a C file with the parts of the node's script, which are given as file names. It defines what node_internal.h
# declares: the text of each part by name, without comment lines and indentation, which would otherwise be sent to every
# node. The part of a check, src/check/ID.sh, is named "check/ID". A Python program keeps its indentation, and its
# suffix in the name.
set -eu

printf '%s\n' '/* Made by src/node/embed.sh. */' '#include "node/node_internal.h"'
list=''
for file; do
    name=$(basename "$file" .sh)
    case $file in
    src/check/*) name=check/$name ;;
    esac
    indentation='s/^[[:space:]]*//'
    case $file in
    *.py) indentation= ;;
    esac
    symbol=part_$(printf '%s' "$name" | tr -c 'A-Za-z0-9' '_')
    printf '\nstatic const unsigned char %s[] = {\n' "$symbol"
    sed -e '/^[[:space:]]*#/d' -e "$indentation" -e '/^$/d' "$file" | od -An -v -tu1 | sed 's/\([0-9][0-9]*\)/\1,/g'
    printf '};\n'
    list="$list    {\"$name\", $symbol, sizeof($symbol)},
"
done
printf '\nconst struct node_script_part node_script_parts[] = {\n%s};\n' "$list"
printf 'const size_t node_script_parts_count = sizeof(node_script_parts) / sizeof(node_script_parts[0]);\n'
