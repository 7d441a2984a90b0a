# shellcheck shell=sh disable=SC2154
# Facts: interface, adapter (of InfiniBand or RoCE): lists of names; speed="NAME|MBIT/S" of interfaces that are up and
# report one.
mt_check_nic() {
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/net/*; do
        [ -e "$mt_file" ] || continue
        mt_frame interface "${mt_file##*/}"
        mt_line='' mt_value=
        { read -r mt_line <"$mt_file/speed"; } 2>/dev/null
        { read -r mt_value <"$mt_file/operstate"; } 2>/dev/null
        [ "${mt_line:--1}" = -1 ] || [ "$mt_value" = down ] || mt_frame speed "${mt_file##*/}|$mt_line"
    done
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/infiniband/*; do
        [ ! -e "$mt_file" ] || mt_frame adapter "${mt_file##*/}"
    done
}
