# shellcheck shell=sh disable=SC2154,SC2034
# A prepare step: runs its command before the start, in the job's folder and environment, until it ends or its time
# limit passes, with a log of its own. Its processes carry the run's mark, so a stop finds them.

mt_end_step() {
    rm -f "$mt_step_stage" "$mt_step_log.code"
    mt_end
}

# The path that the step creates -> mt_made, absolute; empty: not given.
mt_find_made() {
    mt_made=
    case $mt_creates in
    '') ;;
    /* | [~]/*) mt_absolute "$mt_creates" && mt_made=$mt_path ;;
    *) mt_made=${mt_workdir%/}/$mt_creates ;;
    esac
}

mt_verb_prepare() {
    mt_set_paths
    mt_set_workdir
    mt_name_user
    mt_make_place || mt_check_problem
    [ -z "$mt_problem" ] || mt_fail place "$mt_problem"
    mt_prepare_env
    mt_find_made
    mt_step_log=$mt_logs/$mt_name.$mt_step.log
    mt_step_stage=$mt_states/$mt_name.$mt_step.stage
    mt_frame log "$mt_step_log"
    if [ -n "$mt_made" ] && [ -e "$mt_made" ]; then
        mt_frame made "$mt_made"
        mt_frame skipped 1
        mt_end_step
    fi
    mt_pick_shell
    if [ -z "$mt_shell_path" ]; then
        mt_frame status 127
        mt_frame output "the shell '$mt_shell' was not found (PATH=$PATH)"
        mt_end_step
    fi
    : >"$mt_step_stage"
    # the text contains values of the environment: it goes through a pipe, not a file
    mt_input=$mt_job
    mt_run_limited "$mt_step_limit" "$mt_step_log" mt_with_env "$mt_setsid" "$mt_shell_path" /proc/self/fd/8 \
        "$mt_step_stage" "$mt_workdir" '' "$mt_home"
    if [ -n "$mt_cut" ]; then
        mt_unproven='cannot fork'
        mt_fail_scan
    fi
    mt_code=
    [ ! -f "$mt_step_log.code" ] || read -r mt_code <"$mt_step_log.code"
    case $(tail -n 1 "$mt_step_stage") in
    'setup '*) mt_frame setup_line "$(tail -n 1 "$mt_step_stage" | tr -cd 0-9)" ;;
    esac
    if [ -z "$mt_code" ]; then
        mt_frame late 1
    else
        mt_frame status "$mt_code"
        [ -z "$mt_made" ] || [ -e "$mt_made" ] || mt_frame unmade "$mt_made"
    fi
    mt_frame output "$(tail -n 20 "$mt_step_log" 2>/dev/null | tail -c 2000 | tr -d '\000')"
    mt_end_step
}
