# shellcheck shell=sh disable=SC2154
# Facts: locked (bytes), files, processes: a number or "unlimited"; rdma=1 if there is an RDMA device. The limits are
# those of the job's shell after the setup lines.
mt_check_limits() {
    mt_file=$mt_tmp/found.limits
    [ -s "$mt_file" ] || mt_file=/proc/self/limits
    while IFS= read -r mt_line; do
        case $mt_line in
        'Max locked memory '*) mt_key=locked ;;
        'Max open files '*) mt_key=files ;;
        'Max processes '*) mt_key=processes ;;
        *) continue ;;
        esac
        # shellcheck disable=SC2086
        set -- $mt_line
        case $mt_key in
        processes) mt_frame processes "$3" ;;
        *) mt_frame "$mt_key" "$4" ;;
        esac
    done <"$mt_file"
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/infiniband/*; do
        [ ! -e "$mt_file" ] || mt_frame rdma 1
        break
    done
}
