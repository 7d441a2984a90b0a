# shellcheck shell=sh disable=SC2154
# Facts: interface, adapter (of InfiniBand or RoCE): lists of names.
mt_check_nic() {
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/net/*; do
        [ ! -e "$mt_file" ] || mt_frame interface "${mt_file##*/}"
    done
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/infiniband/*; do
        [ ! -e "$mt_file" ] || mt_frame adapter "${mt_file##*/}"
    done
}
