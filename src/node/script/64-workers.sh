# shellcheck shell=sh disable=SC2154,SC2034
# Finds the workers of a run: its processes with RANK, torch's global rank, in their environment.

# -> mt_brief: a prefix with a time limit, for commands that may block on a process that sleeps in the kernel; empty
# where timeout is missing
mt_set_brief() {
    mt_brief=
    ! command -v timeout >/dev/null || mt_brief='timeout -s KILL 2'
}

# PID NAME -> mt_value: a variable of its environment
mt_read_variable() {
    # shellcheck disable=SC2086 # a prefix of several words
    mt_value=$($mt_brief tr '\0' '\n' <"/proc/$1/environ" 2>/dev/null | sed -n "s/^$2=//p" | head -n 1)
}

# The processes among mt_found whose environment has a rank -> mt_ranked. Fails with mt_unproven.
mt_find_ranked() {
    mt_awake='' mt_asleep=''
    while read -r mt_p mt_t mt_letter mt_rest; do
        case $mt_letter in
        '') ;;
        D*) mt_asleep="$mt_asleep $mt_p" ;;
        *) mt_awake="$mt_awake $mt_p" ;;
        esac
    done <<MT_LIST
$mt_found
MT_LIST
    mt_hits=''
    mt_list_environs "$mt_awake"
    # shellcheck disable=SC2086 # the names hold no blanks
    mt_grep_environs 'RANK=[0-9]+' $mt_list || return 1
    mt_ranked=
    for mt_p in $mt_hits; do
        case $mt_p in
        *[!0-9]*) ;;
        *) mt_ranked="$mt_ranked $mt_p" ;;
        esac
    done
    [ -z "$mt_brief" ] || mt_ranked="$mt_ranked$mt_asleep"
}

# Among the processes with the same rank (data loaders inherit it), the worker is the oldest Python process, or the
# oldest process if none is Python -> mt_workers: lines "RANK PID", at most 64. Fails with mt_unproven when the
# environments could not be read.
mt_find_workers() {
    mt_find_ranked || return 1
    mt_workers=$(
        for mt_p in $mt_ranked; do
            mt_stat "$mt_p" || continue
            mt_read_variable "$mt_p" RANK
            mt_digits "$mt_value"
            case $mt_number in
            "" | ????????*) continue ;;
            esac
            mt_file=$(ls -l "/proc/$mt_p/exe" 2>/dev/null)
            case ${mt_file##*/} in
            python* | pypy*) mt_kind=0 ;;
            *) mt_kind=1 ;;
            esac
            printf '%s %s %s %s\n' "$mt_number" "$mt_kind" "$mt_st_ticks" "$mt_p"
        done | sort -k1,1n -k2,2n -k3,3n -k4,4n | awk '!seen[$1 + 0]++ && count++ < 64 { print $1 + 0, $4 }'
    )
}
