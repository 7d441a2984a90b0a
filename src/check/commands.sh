# shellcheck shell=sh disable=SC2154,SC2030,SC2031
# Fact: missing, a list.
mt_check_commands() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.path"
    mt_value=$mt_text
    while IFS= read -r mt_line; do
        [ -n "$mt_line" ] || continue
        (PATH=$mt_value && command -v "$mt_line") >/dev/null 2>&1 || mt_frame missing "$mt_line"
    done <<MT_LIST
$mt_commands
MT_LIST
}
