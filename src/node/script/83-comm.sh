# shellcheck shell=sh disable=SC2154,SC2034
# The all-reduce test: the job's interpreter runs comm.py, as the job's command, in the job's folder and environment.
# This shell waits for it. A watchdog beside it (86-watchdog.sh) passes on the lines from standard input, and ends
# everything when the connection ends or after mt_limit seconds.

mt_end_comm() {
    mt_frame status "$mt_code"
    case $(tail -n 1 "$mt_tmp/stage") in
    'setup '*) mt_frame setup_line "$(tail -n 1 "$mt_tmp/stage" | tr -cd 0-9)" ;;
    cd) mt_frame no_folder 1 ;;
    esac
    mt_frame output "$(tail -n 20 "$mt_tmp/output" 2>/dev/null | tail -c 2000 | tr -d '\000')"
    mt_end
}

mt_verb_comm() {
    mt_frame begun 1
    mt_set_workdir
    mt_name_user
    mt_prepare_env
    trap 'exit 1' HUP INT TERM
    mt_make_tmp || mt_fail place "no temporary file can be written in '${TMPDIR:-/tmp}': $mt_why"
    mkfifo "$mt_tmp/orders" || mt_fail place "no named pipe can be made in '${TMPDIR:-/tmp}'"
    : >"$mt_tmp/stage"
    mt_pick_shell
    if [ -z "$mt_shell_path" ]; then
        mt_fail place "the shell '$mt_shell' was not found (PATH=$PATH)"
    fi
    mt_stat "$$"
    exec 3<&0
    (setsid /bin/sh -c "$mt_watchdog" mt_watchdog "$$" "$mt_st_ticks" '' "$mt_limit" "$mt_mark" "$mt_nonce" \
        "$mt_tmp/orders" <&3 3<&- >/dev/null 2>&1 &)
    exec 3<&- </dev/null
    # the text contains values of the environment: it goes through a pipe, not a file
    printf 'export MTLAUNCH_EXEC=%s\n%s' "$mt_mark" "$mt_job" | {
        exec 8<&0 0<>"$mt_tmp/orders" 7>&1 >"$mt_tmp/output" 2>&1
        mt_with_env "$mt_setsid" "$mt_shell_path" /proc/self/fd/8 "$mt_tmp/stage" "$mt_workdir" '' "$mt_home"
    }
    mt_code=$?
    mt_end_comm
}
