# shellcheck shell=sh disable=SC2154,SC2034
# Runs the setup lines in a temporary shell like the job's. Facts: path, the PATH after them; or failed=LINE (0: the
# shell or the working folder failed), status, output. The files found.* are for the checks that look for what the job
# needs.
mt_check_setup() {
    [ -e "$mt_tmp/found.workdir" ] || return 0
    mt_pick_shell
    if [ -z "$mt_shell_path" ]; then
        mt_frame failed 0
        mt_frame status 127
        mt_frame output "the shell '$mt_shell' was not found (PATH=$PATH)"
        return 0
    fi
    : >"$mt_tmp/stage"
    # the text contains values of the environment: a pipe, not a file
    mt_input=$mt_job
    mt_run_limited "$mt_setup_timeout" "$mt_tmp/output" mt_with_env "$mt_setsid" "$mt_shell_path" /proc/self/fd/8 \
        "$mt_tmp/stage" "$mt_workdir" "$mt_tmp/found" "$mt_home"
    mt_input=
    if [ -n "$mt_cut" ]; then
        mt_unproven='cannot fork'
        mt_fail_scan
    fi
    mt_code=-1
    [ ! -f "$mt_tmp/output.code" ] || read -r mt_code <"$mt_tmp/output.code"
    mt_read_last "$mt_tmp/stage"
    mt_stage=$mt_last
    case $mt_stage in
    probed)
        : >"$mt_tmp/found.setup"
        mt_read_text "$mt_tmp/found.path"
        mt_frame path "$mt_text"
        return 0
        ;;
    'setup '*) mt_frame failed "${mt_stage#setup }" ;;
    *) mt_frame failed 0 ;;
    esac
    [ "$mt_code" != 0 ] || mt_code=1
    mt_frame status "$mt_code"
    mt_frame output "$(tail -c 2000 "$mt_tmp/output" | tr -d '\000')"
}
