# shellcheck shell=sh disable=SC2154
# Fact: found=PATH, as the job's shell resolves it after the setup lines.
mt_check_interpreter() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.interpreter"
    mt_frame found "$mt_text"
}
