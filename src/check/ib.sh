# shellcheck shell=sh disable=SC2154
# Facts: port="DEVICE:PORT|STATE|RATE|LAYER", a list; no_verbs=1 if there is no device file to use them with.
mt_check_ib() {
    mt_value=
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/sys/class/infiniband/*/ports/*; do
        [ -r "$mt_file/state" ] || continue
        mt_value=${mt_file%/ports/*}
        mt_value=${mt_value##*/}:${mt_file##*/}
        for mt_key in state rate link_layer; do
            mt_line=
            read -r mt_line <"$mt_file/$mt_key" 2>/dev/null || mt_line='?'
            mt_value="$mt_value|$mt_line"
        done
        mt_frame port "$mt_value"
    done
    [ -n "$mt_value" ] || return 0
    for mt_file in "${MTLAUNCH_TEST_ROOT:-}"/dev/infiniband/uverbs*; do
        [ -e "$mt_file" ] || mt_frame no_verbs 1
        break
    done
}
