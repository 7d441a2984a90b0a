# shellcheck shell=sh disable=SC2154
# Facts: free_kb, free_inodes (not reported if the file system has no fixed number).
mt_check_disk() {
    [ -e "$mt_tmp/found.writable" ] || return 0
    mt_value=$(LC_ALL=C df -Pk "$mt_artifacts" 2>/dev/null | awk 'NR > 1 && $4 ~ /^[0-9]+$/ { print $4; exit }')
    [ -z "$mt_value" ] || mt_frame free_kb "$mt_value"
    mt_value=$(LC_ALL=C df -Pi "$mt_artifacts" 2>/dev/null | awk 'NR > 1 && $2 > 0 && $4 ~ /^[0-9]+$/ { print $4; exit }')
    [ -z "$mt_value" ] || mt_frame free_inodes "$mt_value"
}
