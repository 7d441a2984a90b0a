# shellcheck shell=sh disable=SC2154
# Fact: found=PATH, as the job's shell resolves it after the setup lines.
mt_check_interpreter() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_frame found "$(cat "$mt_tmp/found.interpreter" 2>/dev/null)"
}
