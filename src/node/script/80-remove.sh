# shellcheck shell=sh disable=SC2154,SC2034
# Removes a run's files on this node, by exact names: a pattern for run "a" would also match files of a run
# "a_node0.log.1".

mt_verb_remove() {
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    mt_root='' mt_keeper='' mt_memory=''
    mt_read_state "$mt_base.state"
    mt_other=
    [ "${mt_s_run_id:-$mt_run_id}" = "$mt_run_id" ] || mt_other=1
    [ -n "$mt_other" ] || mt_load_roots "$mt_base"
    mt_scan_or_fail "$mt_run_id" "$mt_rank" ''
    mt_frame scan ok
    mt_frame_processes live "$mt_found"
    if [ -n "$mt_found$mt_other" ]; then
        mt_frame removed 0
        mt_end
    fi
    set -- "$mt_base.fr"
    for mt_file in state pid exit seen stage deepspeed.json hostfile; do
        set -- "$@" "$mt_base.$mt_file"
    done
    if [ -n "$mt_want_logs" ]; then
        set -- "$@" "$mt_log"
        for mt_file in "$mt_log".*; do
            mt_digits "${mt_file#"$mt_log".}"
            [ -z "$mt_number" ] || set -- "$@" "$mt_file"
        done
    fi
    rm -rf "$@"
    mt_drop_rooms "$mt_base"
    mt_frame removed 1
    mt_end
}
