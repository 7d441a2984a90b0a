# shellcheck shell=sh disable=SC2154,SC2034
# Send one signal to the job's process group and do nothing else. Without proof that the group is the job's (pid and
# start time match the record, or its processes carry the mark), nothing is sent.

# dash and bash need the "--" before a group, and only in this form; busybox does not know it.
mt_send_group() { # SIGNAL GROUP -> mt_why when it failed
    mt_why=$(kill -s "$1" -- "-$2" 2>&1) && return 0
    mt_why=$(kill -s "$1" "-$2" 2>&1)
}

mt_signal_job() {
    if ! mt_alive "$mt_root" "$mt_root_ticks"; then
        mt_frame life gone
    elif ! mt_stat "$mt_root" || [ "$mt_st_sid" != "$mt_root" ]; then
        mt_frame life starting # it has no session of its own yet
    elif mt_send_group "$mt_signal_name" "$mt_root"; then
        mt_frame life running
        mt_frame delivered 1
        mt_frame pid "$mt_root"
    else
        mt_frame problem "$mt_why"
    fi
}

mt_verb_signal() {
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    mt_root='' mt_root_ticks='' mt_keeper='' mt_memory=''
    if mt_read_state "$mt_base.state"; then
        if [ "$mt_s_run_id" != "$mt_run_id" ] || [ "$mt_s_attempt" != "$mt_attempt" ]; then
            mt_frame life none
            mt_end
        fi
        if ! mt_is_here && [ "$mt_s_host" != "$mt_host" ]; then
            mt_frame life elsewhere
            mt_end
        fi
        mt_load_roots "$mt_base"
        if mt_alive "$mt_root" "$mt_root_ticks" && [ -s "$mt_base.stage" ] &&
            [ "$(tail -n 1 "$mt_base.stage")" != exec ]; then
            mt_frame life starting
            mt_end
        fi
    elif ! mt_read_exit "$mt_base.exit" "$mt_run_id" "$mt_attempt" && mt_recover_state; then
        mt_root=$mt_s_pid mt_root_ticks=$mt_s_start_ticks
    elif [ -n "$mt_unproven" ]; then
        mt_fail_scan
    fi
    mt_signal_job
    mt_end
}
