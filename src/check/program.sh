# shellcheck shell=sh disable=SC2154
# Fact: missing=1. The job's shell has looked for the file, or for the command.
mt_check_program() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    [ -z "$mt_program" ] || [ -f "$mt_tmp/found.program" ] || mt_frame missing 1
    [ -z "$mt_wanted" ] || [ -s "$mt_tmp/found.command" ] || mt_frame missing 1
}
