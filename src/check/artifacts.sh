# shellcheck shell=sh disable=SC2154,SC2034
# Facts: writable=1, or problem=WHY. Creates found.writable for the checks that need the folder.
mt_check_artifacts() {
    if mt_make_place; then
        : >"$mt_tmp/found.writable"
        mt_frame writable 1
    else
        mt_check_problem
        mt_frame problem "$mt_problem"
    fi
}
