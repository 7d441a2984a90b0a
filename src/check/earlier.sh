# shellcheck shell=sh disable=SC2154,SC2034
# Facts: foreign, foreign_* (a .state file of another run is in the way); or live (a list), live_total and, at the
# end, scan=ok: all processes were seen. mt_scanned tells the check 'others' that the scan is complete.
mt_check_earlier() {
    mt_await artifacts
    [ -e "$mt_tmp/found.writable" ] || return 0
    mt_judge_state
    case $mt_verdict in
    lives | unsure)
        mt_frame_foreign
        return 0
        ;;
    none) mt_root='' mt_keeper='' mt_memory='' ;;
    own) mt_load_roots "$mt_base" ;;
    esac
    mt_scan_or_fail "$mt_run_id" '[0-9]+' ''
    mt_frame_processes live "$mt_found"
    if mt_find_namesake; then
        mt_frame_foreign
    else
        mt_scanned=1
    fi
    mt_frame scan ok
}
