# shellcheck shell=sh disable=SC2154,SC2034
# The stop: scans, remembers what it found, signals, waits, makes workers show where they hang, kills what is left, and
# scans again. The processes of the run are found before anything is signalled: one that has lost its parent, its
# session and its environment later can only be remembered.

# Other live ranks of this run on this machine (several ranks on one host, in one artifacts folder): each gets a stop of
# its own. -> mt_others: "attempt[.](2|3)" or ""
mt_find_other_ranks() {
    mt_others=
    for mt_file in "$mt_states/${mt_run}_node"*.state; do
        mt_other=${mt_file#"$mt_states/${mt_run}_node"}
        mt_digits "${mt_other%.state}"
        mt_other=$mt_number
        case $mt_other in
        '' | "$mt_rank") continue ;;
        esac
        mt_read_state "$mt_file" || continue
        [ "$mt_s_run_id.$mt_s_attempt" = "$mt_run_id.$mt_attempt" ] || continue
        mt_is_here || continue
        mt_alive "$mt_s_pid" "$mt_s_start_ticks" || mt_alive "$mt_s_starter" "$mt_s_starter_ticks" || continue
        mt_others="$mt_others${mt_others:+|}$mt_other"
    done
    [ -z "$mt_others" ] || mt_others="${mt_attempt}[.]($mt_others)"
}

# Scan, and remember what was found. If the scan is not proven complete, only the processes known before are used.
mt_find_processes() {
    if mt_scan "$mt_run_id" '[0-9]+' "$mt_others"; then
        # shellcheck disable=SC2086 # five words a process
        set -- $mt_found
        while [ $# -ge 5 ]; do
            mt_name_leftover "$1" "$2" "$3"
            mt_add_memory "$1" "$2" "$4"
            shift 5
        done
    else
        mt_find_known
    fi
}

# A process that is alive although the command had ended before the stop is reported before it is signalled.
mt_name_leftover() { # PID TICKS STATE
    [ "$mt_was_alive" = 0 ] || return 0
    case "$mt_named " in
    *" $1:$2 "*) return 0 ;;
    esac
    mt_named="$mt_named $1:$2"
    mt_named_total=$((mt_named_total + 1))
    [ "$mt_named_total" -gt 64 ] || mt_frame_process leftover "$1" "$3"
}

# Report the runs that were started inside this one, which continue: frames "inner", each once.
mt_name_inner() {
    mt_told=" $mt_run_id "
    # shellcheck disable=SC2086 # words without blanks
    set -- $mt_marks
    while [ $# -ge 3 ]; do
        mt_value=${3#*=}
        mt_value=${mt_value%.*.*}
        case "$mt_inner " in
        *" $2 "*) ;;
        *) mt_value= ;;
        esac
        shift 3
        case $mt_value in
        '' | -*) continue ;;
        esac
        case $mt_told in
        *" $mt_value "*) ;;
        *)
            mt_told="$mt_told$mt_value "
            mt_frame inner "$mt_value"
            ;;
        esac
    done
}

# A start that has no pid yet: an exit record keeps it from becoming the job.
mt_cancel_start() {
    [ -z "$mt_s_pid" ] || return 0
    ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_s_attempt" || return 0
    mt_tries=0
    until mt_write_exit "$mt_base" "$mt_run_id" "$mt_s_attempt" 143 || [ "$mt_tries" -ge 20 ]; do
        mt_tries=$((mt_tries + 1))
        mt_pause 0.1
    done
    rm -f "${mt_base%/*}/.${mt_base##*/}".exit.$$ "${mt_base%/*}/.${mt_base##*/}".exit.room.$$
    mt_was_alive=1
    mt_read_state "$mt_base.state"
}

# Is the record just read one of this run, and of this attempt if only that is to be stopped?
mt_is_to_stop() {
    [ "$mt_s_run_id" = "$mt_run_id" ] && { [ -z "$mt_only_attempt" ] || [ "$mt_s_attempt" = "$mt_attempt" ]; }
}

mt_stop_load() {
    mt_root='' mt_keeper='' mt_memory='' mt_was_alive=0 mt_ours='' mt_named='' mt_named_total=0
    mt_group_signalled='' mt_killed=0 mt_kills='' mt_helpers='' mt_found=''
    mt_find_other_ranks
    mt_check_place || return 0
    mt_replaced=
    if mt_read_state "$mt_base.state" && mt_is_to_stop; then
        mt_is_here || return 0
        mt_ours=1
        mt_cancel_start
    else
        mt_replaced=1
        mt_s_attempt=$mt_attempt
        ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || mt_ours=1
        mt_recover_state || return 0
        mt_ours=1
    fi
    mt_load_roots "$mt_base"
    # a .seen beside the record of another attempt belongs to that attempt
    [ -z "$mt_replaced" ] || [ -z "$mt_only_attempt" ] || mt_memory=
    ! mt_alive "$mt_root" "$mt_root_ticks" || mt_was_alive=1
}

# dash and bash need the "--" before a group, and only in this form; busybox does not know it.
mt_kill_group() { # SIGNAL GROUP
    kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "-$2" 2>/dev/null || kill -s "$1" "$2" 2>/dev/null
}

# Signal the job's process group, once, while it contains a process of the run. When it does not, signal each remaining
# process once: the signal to the group did not reach them.
mt_signal_run() {
    mt_rest_pids=
    mt_group=
    while read -r mt_p mt_t mt_letter mt_s mt_g; do
        [ -n "$mt_p" ] || continue
        if [ -n "$mt_root" ] && [ "$mt_g" = "$mt_root" ] && [ "$mt_s" = "$mt_root" ]; then
            mt_group=1
        elif mt_alive "$mt_p" "$mt_t"; then
            case "$mt_signalled " in
            *" $mt_p:$mt_t "*) ;;
            *) mt_rest_pids="$mt_rest_pids $mt_p:$mt_t" ;;
            esac
        fi
    done <<MT_LIST
$mt_found
MT_LIST
    if [ -n "$mt_group" ]; then
        [ -z "$mt_group_signalled" ] || return 0
        mt_group_signalled=1
        mt_kill_group "$mt_signal_name" "$mt_root"
    elif mt_alive "$mt_root" "$mt_root_ticks" && [ -z "$mt_group_signalled" ]; then
        # it has not created its session yet
        mt_group_signalled=1
        kill -s "$mt_signal_name" "$mt_root" 2>/dev/null
    elif [ -n "$mt_rest_pids" ]; then
        mt_signalled="$mt_signalled$mt_rest_pids"
        for mt_p in $mt_rest_pids; do
            kill -s "$mt_signal_name" "${mt_p%:*}" 2>/dev/null
        done
    fi
}

# Is any of the processes found still alive? Does not read the process table.
mt_any_lives() {
    while read -r mt_p mt_t mt_rest; do
        ! mt_alive "$mt_p" "$mt_t" || return 0
    done <<MT_LIST
$mt_found
MT_LIST
    return 1
}

mt_next_wait() {
    case $mt_wait in
    0.05) mt_wait=0.1 ;;
    0.1) mt_wait=0.2 ;;
    0.2) mt_wait=0.5 ;;
    *) mt_wait=1 ;;
    esac
}

mt_stop_gently() {
    mt_signalled='' mt_wait=0.05
    mt_read_clock
    mt_deadline=$((mt_clock + mt_grace * 100))
    while [ -n "$mt_found" ]; do
        mt_signal_run
        mt_read_clock
        [ "$mt_clock" -lt "$mt_deadline" ] || return 0
        mt_next=$((mt_clock + 200))
        while mt_any_lives && [ "$mt_clock" -lt "$mt_deadline" ] && [ "$mt_clock" -lt "$mt_next" ]; do
            mt_pause "$mt_wait"
            mt_next_wait
            mt_read_clock
        done
        mt_find_processes
    done
}

# Send KILL to all and scan again, until nothing is left: what was forked in between is killed in the next round. The
# loop is bounded: what KILL does not end in time is stuck in the kernel, and what must not be killed belongs to another
# user.
mt_stop_hard() { # SECONDS
    mt_wait=0.05 mt_refused_before=
    mt_read_clock
    mt_deadline=$((mt_clock + $1 * 100))
    while [ -n "$mt_found" ]; do
        mt_kill_found
        mt_read_clock
        [ "$mt_clock" -lt "$mt_deadline" ] || return 0
        # only after two refusals in a row: a process may have changed its user for a moment
        [ -n "$mt_allowed" ] || [ -z "$mt_refused" ] || [ -z "$mt_refused_before" ] || return 0
        mt_refused_before=$mt_refused
        mt_pause "$mt_wait"
        mt_next_wait
        mt_find_processes
    done
}

# -> mt_allowed: some could be signalled; mt_refused: some could not.
mt_kill_found() {
    mt_allowed='' mt_refused=
    while read -r mt_p mt_t mt_rest; do
        mt_alive "$mt_p" "$mt_t" || continue
        if ! kill -KILL "$mt_p" 2>/dev/null; then
            ! mt_alive "$mt_p" "$mt_t" || mt_refused=1
            continue
        fi
        mt_allowed=1
        case "$mt_kills " in
        *" $mt_p:$mt_t "*) ;;
        *)
            mt_kills="$mt_kills $mt_p:$mt_t"
            mt_killed=$((mt_killed + 1))
            mt_wait=0.05
            ;;
        esac
    done <<MT_LIST
$mt_found
MT_LIST
}

# The keeper ends by itself once it has recorded the exit; helpers that stay are killed.
mt_stop_keeper() {
    mt_tries=0
    # a keeper that has adopted orphans of another run would stay for them: wait less
    [ -z "$mt_inner" ] || mt_tries=25
    while [ -n "$mt_helpers" ] && [ "$mt_tries" -lt 30 ]; do
        mt_tries=$((mt_tries + 1))
        mt_lives=
        while read -r mt_p mt_t mt_rest; do
            ! mt_alive "$mt_p" "$mt_t" || mt_lives=1
        done <<MT_LIST
$mt_helpers
MT_LIST
        [ -n "$mt_lives" ] || break
        mt_pause 0.1
    done
    mt_find_processes
    # repeat, because one of them may have forked its next pause meanwhile
    mt_tries=0
    while [ -n "$mt_helpers" ] && [ "$mt_tries" -lt 20 ]; do
        mt_tries=$((mt_tries + 1))
        # shellcheck disable=SC2086 # five words a process
        set -- $mt_helpers
        while [ $# -ge 5 ]; do
            kill -KILL "$1" 2>/dev/null
            shift 5
        done
        mt_pause 0.1
        mt_find_processes
    done
}

# Retry a scan that failed for a temporary reason (out of memory, processes that have ended by now).
mt_prove() {
    mt_tries=0
    while [ -n "$mt_unproven" ] && [ "$mt_tries" -lt 3 ]; do
        mt_tries=$((mt_tries + 1))
        mt_pause 1
        mt_find_processes
        mt_stop_hard 3
    done
}

# The part of a stop that is possible when nothing can be forked: it covers the command's group and the noted processes.
# It waits in a busy loop, so the wait is short; when the grace time is longer, another stop has to continue.
mt_stop_known() {
    if [ -z "${mt_base:-}" ]; then
        mt_set_paths
        mt_others='' mt_was_alive=0 mt_group_signalled='' mt_killed=0
        mt_root='' mt_keeper='' mt_memory=''
        if mt_check_place && mt_read_state "$mt_base.state" && mt_is_to_stop; then
            mt_load_roots "$mt_base"
            ! mt_alive "$mt_root" "$mt_root_ticks" || mt_was_alive=1
        fi
    fi
    mt_read_clock
    mt_deadline=${mt_deadline:-$((mt_clock + mt_grace * 100))}
    mt_find_known
    # shellcheck disable=SC2086 # five words a process
    set -- $mt_found
    mt_frame was_alive "$mt_was_alive"
    mt_frame signalled "$(($# / 5))"
    [ -n "$mt_group_signalled" ] || mt_signal_known "$mt_signal_name"
    mt_wait_known "$mt_deadline"
    mt_read_clock
    if [ -n "$mt_found" ] && [ "$mt_clock" -ge "$mt_deadline" ]; then
        mt_signal_known KILL
        mt_wait_known "$((mt_clock + 200))"
    fi
    mt_frame killed "$mt_killed"
    # shellcheck disable=SC2086
    set -- $mt_found
    mt_frame survivor_total "$(($# / 5))"
    while [ $# -ge 5 ]; do
        mt_line=
        IFS= read -r mt_line <"/proc/$1/comm" 2>/dev/null
        case $mt_line in
        '' | *[!A-Za-z0-9._/:+-]*) mt_line=unknown ;;
        esac
        mt_frame survivor "$1 $3 $mt_line"
        shift 5
    done
    mt_frame unproven "$mt_unproven"
}

mt_signal_known() { # SIGNAL
    mt_group_signalled=1
    ! mt_alive "$mt_root" "$mt_root_ticks" || mt_kill_group "$1" "$mt_root"
    mt_value=$1
    # shellcheck disable=SC2086 # five words a process
    set -- $mt_found
    while [ $# -ge 5 ]; do
        if [ "$5" != "$mt_root" ] && mt_alive "$1" "$2"; then
            kill -s "$mt_value" "$1" 2>/dev/null
        fi
        [ "$mt_value" != KILL ] || mt_killed=$((mt_killed + 1))
        shift 5
    done
}

mt_wait_known() { # CLOCK
    mt_read_clock
    mt_until=$((mt_clock + 1000))
    [ "$mt_until" -lt "$1" ] || mt_until=$1
    while mt_find_known && [ -n "$mt_found" ] && [ "$mt_clock" -lt "$mt_until" ]; do
        mt_read_clock
    done
}

mt_verb_stop() {
    trap : HUP PIPE TERM INT
    [ -z "$mt_only_attempt" ] || mt_attempts=$mt_attempt
    mt_set_paths
    mt_stop_load
    mt_find_processes
    # shellcheck disable=SC2086 # five words a process
    set -- $mt_found
    mt_frame was_alive "$mt_was_alive"
    mt_frame signalled "$(($# / 5))"
    [ -z "$mt_inner" ] || mt_name_inner
    mt_stop_gently
    mt_abort_workers
    mt_stop_hard 20
    mt_stop_keeper
    mt_stop_hard 3
    mt_prove
    mt_frame leftover_total "$mt_named_total"
    mt_frame killed "$mt_killed"
    mt_frame_processes survivor "$mt_found
$mt_helpers"
    if [ -z "$mt_unproven" ]; then
        mt_frame scan ok
    else
        mt_explain_unproven
        mt_frame unproven "$mt_unproven"
    fi
    [ -z "$mt_problem" ] || mt_frame problem "$mt_problem"
    if [ -n "$mt_ours" ] && mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_s_attempt"; then
        mt_frame status "$mt_x_status"
        mt_frame signal "$mt_x_signal"
        mt_frame ended "$mt_x_ended"
        mt_frame ended_uptime "$mt_x_uptime"
    fi
    mt_end
}
