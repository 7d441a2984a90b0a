# shellcheck shell=sh disable=SC2154,SC2034
# Observes a run on this node. Cheap while the command is alive: the process table is not read.

mt_verb_observe() {
    mt_life_known='' mt_leftovers_known=''
    mt_set_paths
    mt_frame host "$mt_host"
    mt_check_place || mt_fail place "$mt_problem"
    [ ! -f "$mt_log" ] || mt_frame log "$mt_log"
    mt_root='' mt_keeper='' mt_memory=''
    if ! mt_read_state "$mt_base.state"; then
        mt_observe_unrecorded
    else
        mt_frame found_run_id "$mt_s_run_id"
        mt_frame found_attempt "$mt_s_attempt"
        if [ "$mt_s_run_id" != "$mt_run_id" ]; then
            mt_observe_replaced
        elif [ "$mt_s_attempt" != "$mt_attempt" ]; then
            mt_frame life none
            mt_load_roots "$mt_base"
        else
            mt_observe_attempt
        fi
    fi
    mt_life_known=1
    mt_observe_leftovers
    if [ -f "$mt_log" ]; then
        mt_value=$(stat -c '%s %Y' "$mt_log" 2>/dev/null) || mt_value=$(wc -c <"$mt_log" && date -r "$mt_log" +%s 2>/dev/null)
        # shellcheck disable=SC2086 # two numbers
        set -- $mt_value
        [ -z "${1:-}" ] || mt_frame log_size "$1"
        [ -z "${2:-}" ] || mt_frame log_time "$2"
    fi
    [ -z "$mt_want_gpus" ] || mt_observe_gpus
    # last, so that no end reported above is later than now
    mt_frame now "$(date +%s)"
    IFS=' ' read -r mt_up mt_rest </proc/uptime
    mt_frame uptime "$mt_up"
    mt_end
}

# If the record was removed, .exit still tells how the attempt ended, and marks show whether something is alive.
mt_observe_unrecorded() {
    if mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt"; then
        mt_frame found_run_id "$mt_run_id"
        mt_frame found_attempt "$mt_attempt"
        mt_frame_exit
        return 0
    fi
    mt_observe_replaced
}

# There is no record, or that of another run: live processes of this run are known only by their mark.
mt_observe_replaced() {
    if mt_recover_state; then
        mt_frame pid "${mt_s_pid:-0}"
        mt_frame life unrecorded
    elif [ -n "$mt_unproven" ]; then
        mt_fail_scan
    else
        mt_frame life none
    fi
}

mt_frame_exit() {
    mt_frame life exited
    mt_frame status "$mt_x_status"
    mt_frame signal "$mt_x_signal"
    mt_frame ended "$mt_x_ended"
    mt_frame ended_uptime "$mt_x_uptime"
    [ -z "$mt_x_setup_line" ] || mt_frame setup_line "$mt_x_setup_line"
}

mt_observe_attempt() {
    mt_frame pid "${mt_s_pid:-0}"
    mt_frame started "$mt_s_started"
    if [ "$mt_s_host" = "$mt_host" ]; then
        mt_load_roots "$mt_base"
        ! mt_alive "$mt_keeper" "$mt_keeper_ticks" || mt_frame keeper 1
        # the exit record is read after the process was checked: it may end in between
        if mt_alive "$mt_root" "$mt_root_ticks"; then
            mt_lives=running
            [ ! -s "$mt_base.stage" ] || mt_observe_stage
            mt_frame life "$mt_lives"
            return 0
        fi
        if mt_alive "$mt_keeper" "$mt_keeper_ticks" && ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt"; then
            # the keeper is about to write the exit record
            mt_tries=0
            until mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" || [ "$mt_tries" -ge 10 ]; do
                mt_tries=$((mt_tries + 1))
                mt_pause 0.1
            done
        fi
    fi
    if mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt"; then
        mt_frame_exit
    elif mt_is_here && [ -n "$mt_s_pid" ] && mt_alive "$mt_keeper" "$mt_keeper_ticks"; then
        # it has ended, and its keeper keeps trying to write the exit record
        mt_find_why "$mt_states/.$mt_name.try.$$"
        mt_frame ending "${mt_why:-not yet}"
        mt_frame life running
    elif [ "$mt_s_host" != "$mt_host" ]; then
        mt_frame life elsewhere
    elif [ "$mt_s_boot_id" != "$mt_boot_id" ]; then
        mt_frame rebooted 1
        mt_frame life gone
    elif [ -z "$mt_s_pid" ] && { mt_alive "$mt_s_starter" "$mt_s_starter_ticks" || mt_just_claimed; }; then
        mt_frame life starting
    else
        [ -z "$mt_s_pid" ] || ! mt_stat "$mt_s_pid" || [ "$mt_st_ticks" = "$mt_s_start_ticks" ] || mt_frame pid_reused 1
        mt_frame life gone
    fi
}

# A starter that was killed may have launched the keeper, which has not recorded its child yet.
mt_just_claimed() {
    mt_now=$(date +%s)
    [ "$((mt_now - ${mt_s_started:-0}))" -lt 10 ]
}

mt_observe_stage() {
    mt_last=
    while read -r mt_line; do mt_last=$mt_line; done <"$mt_base.stage"
    case $mt_last in
    exec | '') ;;
    'setup '*)
        mt_lives=starting
        mt_frame setup_line "${mt_last#setup }"
        ;;
    *) mt_lives=starting ;;
    esac
}

mt_observe_leftovers() {
    [ -n "$mt_want_leftovers" ] || return 0
    ! mt_alive "$mt_root" "$mt_root_ticks" || return 0
    if mt_scan "$mt_run_id" "$mt_rank" ''; then
        mt_frame_processes leftover "$mt_found"
        mt_frame scan ok
        mt_leftovers_known=1
    else
        mt_explain_unproven
        mt_frame unproven "$mt_unproven"
    fi
}

# Complete an answer without forks: either the run's state is already reported, or everything is unknown.
mt_observe_rest() {
    if [ -z "$mt_life_known" ]; then
        mt_frame_unproven
        return 0
    fi
    [ -z "$mt_want_leftovers" ] || [ -n "$mt_leftovers_known" ] || mt_alive "$mt_root" "$mt_root_ticks" ||
        mt_frame unproven "$mt_unproven"
    IFS=' ' read -r mt_up mt_rest </proc/uptime
    mt_frame uptime "$mt_up"
}
