# shellcheck shell=sh disable=SC2154
# Fact: now_ms. It is reported last, so that little time passes until it is read.
mt_check_clock() {
    mt_await ''
    mt_value=$(date +%s.%N 2>/dev/null)
    case $mt_value in
    *.[0-9][0-9][0-9]*)
        mt_rest=${mt_value#*.}
        mt_frame now_ms "${mt_value%.*}${mt_rest%"${mt_rest#???}"}"
        ;;
    *)
        mt_value=${mt_value%%.*}
        [ -z "$mt_value" ] || mt_frame now_ms "${mt_value}500"
        ;;
    esac
}
