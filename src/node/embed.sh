#!/bin/sh
# Print a C file that holds the parts of the node's script, given as file names: their text without comment lines and
# indentation (both would travel to every node), by name, as node_internal.h declares them. The part
# of a check, src/check/ID.sh, is "check/ID". A program in Python keeps its indentation, and its suffix in the name.
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
