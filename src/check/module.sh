# shellcheck shell=sh disable=SC2154
# Fact: missing=1. The job's shell has asked the interpreter.
mt_check_module() {
    [ ! -e "$mt_tmp/found.setup" ] || [ -f "$mt_tmp/found.module" ] || mt_frame missing 1
}
