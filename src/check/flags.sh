# shellcheck shell=sh disable=SC2154,SC2088
# Finds flags of the job that the program's source does not know. Nothing is imported: what looks like a flag in the
# source counts as one. Facts: kind=megatron or argparse (none: unknown); version, of Megatron-LM; missing, a list;
# known: all flags that were found, if one is missing.

mt_find_flags() { # file names on standard input -> mt_tmp/flags, one per line
    xargs grep -hoE -e '--[A-Za-z][A-Za-z0-9_-]*' 2>/dev/null | sort -u >"$mt_tmp/flags"
}

# Megatron-LM derives some of its flags from the fields of its configurations, also "--no-FIELD" and
# "--disable-FIELD".
mt_is_field() { # FLAG
    mt_value=$(printf '%s' "${1#--}" | tr - _)
    mt_value=${mt_value#no_}
    mt_value=${mt_value#disable_}
    [ -n "$(xargs grep -lE "^[[:space:]]*${mt_value}[[:space:]]*:" <"$mt_tmp/sources" 2>/dev/null)" ]
}

mt_knows_flag() { # FLAG
    case $mt_kind in
    megatron) grep -qxF -e "$1" "$mt_tmp/flags" || mt_is_field "$1" ;;
    *) grep -q -e "^$1" "$mt_tmp/flags" ;; # argparse accepts abbreviations
    esac
}

# Is it a single script that reads its arguments only with argparse, and refuses unknown ones?
mt_is_plain_argparse() {
    grep -qE '^(import argparse|from argparse import .*ArgumentParser)' "$mt_file" && grep -q 'parse_args(' "$mt_file" &&
        ! grep -qE 'parse_known_args|parents *=|add_[a-z_]*(arg|config|option)[a-z_]*\([a-z_]*pars|vars\(|fromfile' "$mt_file"
}

mt_check_flags() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    case $mt_flags_file in
    /*) mt_file=$mt_flags_file ;;
    '~/'*) mt_file=${mt_home%/}/${mt_flags_file#'~/'} ;;
    *) mt_file=$(cat "$mt_tmp/found.folder")/$mt_flags_file ;;
    esac
    [ -f "$mt_file" ] || return 0
    mt_top=${mt_file%/*}
    mt_kind=
    if [ -f "$mt_top/megatron/training/arguments.py" ] || [ -f "$mt_top/megatron/arguments.py" ]; then
        mt_kind=megatron
        mt_value=$(sed -n 's/^\(MAJOR\|MINOR\|PATCH\) = \([0-9]*\).*/\2/p' "$mt_top/megatron/core/package_info.py" 2>/dev/null |
            tr '\n' .)
        [ -z "$mt_value" ] || mt_frame version "${mt_value%.}"
        {
            printf '%s\n' "$mt_top"/*.py
            find "$mt_top/megatron" -name '*.py'
        } | sed "s/'/'\\\\''/g; s/.*/'&'/" >"$mt_tmp/sources"
    elif mt_is_plain_argparse; then
        mt_kind=argparse
        printf "%s\n" "$mt_file" | sed "s/'/'\\\\''/g; s/.*/'&'/" >"$mt_tmp/sources"
    fi
    [ -n "$mt_kind" ] || return 0
    mt_find_flags <"$mt_tmp/sources"
    mt_frame kind "$mt_kind"
    mt_missing=
    while read -r mt_flag; do
        [ -n "$mt_flag" ] || continue
        mt_knows_flag "$mt_flag" || mt_missing="$mt_missing$mt_flag
"
    done <<MT_LIST
$mt_flags
MT_LIST
    [ -n "$mt_missing" ] || return 0
    printf '%s' "$mt_missing" | while read -r mt_flag; do
        mt_frame missing "$mt_flag"
    done
    mt_frame known "$(head -c 60000 "$mt_tmp/flags" | tr '\n' ' ')"
}
