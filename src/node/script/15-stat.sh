# shellcheck shell=sh disable=SC2154,SC2034
# Reads one process, which is identified by its pid and start time.

# PID -> mt_st_state _ppid _pgrp _sid _threads _ticks; fails when there is no such process. The name in /proc/PID/stat
# may contain blanks, parentheses and newlines, so fields are counted from the last ") ".
mt_stat() {
    mt_line=
    {
        while IFS= read -r mt_part; do
            mt_line="$mt_line$mt_part "
        done </proc/"$1"/stat
    } 2>/dev/null || return 1
    case $mt_line in
    *") "*) ;;
    *) return 1 ;;
    esac
    # shellcheck disable=SC2086
    set -- ${mt_line##*) }
    mt_st_state=$1 mt_st_ppid=$2 mt_st_pgrp=$3 mt_st_sid=$4 mt_st_threads=${18} mt_st_ticks=${20}
}

# The same for awk: read_stat("/proc/PID") fills word with the fields from the state on; it returns 0 when there is no
# such process. awk runs with LC_ALL=C: in other locales "." does not match the bytes of a name that was cut in the
# middle of a character.
mt_awk_stat='
function read_stat(folder, file, text, part) {
    file = folder "/stat"
    text = ""
    while ((getline part < file) > 0) text = text part " "
    close(file)
    if (!sub(/^.*\) /, "", text)) return 0
    split(text, word, " ")
    return 1
}'

# PID TICKS: is this very process alive? A zombie counts as gone, unless threads of it still run.
mt_alive() {
    [ -n "$1" ] && [ -n "$2" ] || return 1
    mt_stat "$1" || return 1
    [ "$mt_st_ticks" = "$2" ] || return 1
    case $mt_st_state in
    Z | X | x) [ "$mt_st_threads" -gt 1 ] ;;
    *) return 0 ;;
    esac
}
