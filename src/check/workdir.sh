# shellcheck shell=sh disable=SC2154,SC2034
# Facts: path; missing=1. Creates found.workdir for the setup lines.
mt_check_workdir() {
    mt_frame path "$mt_workdir"
    if [ -d "$mt_workdir" ]; then
        : >"$mt_tmp/found.workdir"
    else
        mt_frame missing 1
    fi
}
