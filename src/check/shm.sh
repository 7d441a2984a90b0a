# shellcheck shell=sh disable=SC2154
# Fact: total_kb of /dev/shm; none if it is not a separate file system.
mt_check_shm() {
    mt_value=$(LC_ALL=C df -Pk /dev/shm 2>/dev/null | awk 'NR > 1 && $NF == "/dev/shm" && $2 ~ /^[0-9]+$/ { print $2; exit }')
    [ -z "$mt_value" ] || mt_frame total_kb "$mt_value"
}
