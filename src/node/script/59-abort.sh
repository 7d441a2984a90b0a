# shellcheck shell=sh disable=SC2154,SC2034
# Makes workers that outlive the grace time of a stop show where they hang, before KILL ends them: ABRT makes Python's
# fault handler print the stack of every thread into the log. No core is written.

# PID: prevent a core dump, both to a file and to a program (core(5): a limit of 1 tells the kernel not to run it).
# Fails when this is not possible.
mt_forbid_core() {
    mt_line=
    { IFS= read -r mt_line </proc/sys/kernel/core_pattern; } 2>/dev/null
    case $mt_line in
    '|'*) mt_limit=1 ;;
    *) mt_limit=0 ;;
    esac
    ! mt_has_core_limit "$1" || return 0
    if command -v prlimit >/dev/null; then
        # shellcheck disable=SC2086 # a prefix of several words
        $mt_brief prlimit --pid "$1" --core="$mt_limit" 2>/dev/null
    else
        # shellcheck disable=SC2086
        mt_value=$($mt_brief ls -l "/proc/$1/exe" 2>/dev/null)
        # shellcheck disable=SC2086
        $mt_brief "${mt_value##* -> }" -ISc 'import resource, sys
limit = int(sys.argv[2])
resource.prlimit(int(sys.argv[1]), resource.RLIMIT_CORE, (limit, limit))' "$1" "$mt_limit" </dev/null >/dev/null 2>&1
    fi
    mt_has_core_limit "$1"
}

mt_has_core_limit() { # PID
    mt_value=$(sed -n 's/^Max core file size *\([0-9a-z]*\) .*$/\1/p' "/proc/$1/limits" 2>/dev/null)
    [ "$mt_value" = "$mt_limit" ]
}

# Abort a worker whose environment turns the fault handler on. A process that is stopped by a signal, or has ended,
# prints nothing.
mt_abort_worker() { # PID
    mt_stat "$1" || return 0
    case $mt_st_state in
    [TtZXx]) return 0 ;;
    esac
    mt_abort_ticks=$mt_st_ticks
    mt_read_variable "$1" PYTHONFAULTHANDLER
    if [ -n "$mt_value" ] && mt_forbid_core "$1" && mt_alive "$1" "$mt_abort_ticks"; then
        kill -s ABRT "$1" 2>/dev/null && mt_aborted="$mt_aborted $1:$mt_abort_ticks"
    fi
}

mt_abort_workers() {
    [ -n "$mt_found" ] && [ "$mt_grace" -gt 0 ] || return 0
    mt_kept_unproven=$mt_unproven
    mt_set_brief
    mt_find_workers || mt_workers=
    mt_unproven=$mt_kept_unproven
    mt_aborted=
    while read -r mt_r mt_p; do
        [ -z "$mt_p" ] || mt_abort_worker "$mt_p"
    done <<MT_LIST
$mt_workers
MT_LIST
    mt_await_aborted
}

# Give them two seconds to print their stacks and end; KILL follows.
mt_await_aborted() {
    mt_tries=0
    while [ "$mt_tries" -lt 20 ]; do
        mt_lives=
        for mt_p in $mt_aborted; do
            ! mt_alive "${mt_p%:*}" "${mt_p#*:}" || mt_lives=1
        done
        [ -n "$mt_lives" ] || return 0
        mt_pause 0.1
        mt_tries=$((mt_tries + 1))
    done
}
