# shellcheck shell=sh disable=SC2154
# Fact: quota, in hundredths of a core, if the control group has one. The number of cores is in every answer
# (node.cores).
mt_check_cores() {
    mt_quota='' mt_period=
    mt_top=${MTLAUNCH_TEST_ROOT:-}
    if [ -r "$mt_top/sys/fs/cgroup/cpu.max" ]; then
        read -r mt_quota mt_period <"$mt_top/sys/fs/cgroup/cpu.max"
    elif [ -r "$mt_top/sys/fs/cgroup/cpu/cpu.cfs_quota_us" ]; then
        read -r mt_quota <"$mt_top/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
        read -r mt_period <"$mt_top/sys/fs/cgroup/cpu/cpu.cfs_period_us"
    fi
    mt_digits "$mt_quota"
    mt_quota=$mt_number
    mt_digits "$mt_period"
    [ -z "$mt_quota" ] || [ "${mt_number:-0}" = 0 ] || mt_frame quota "$((mt_quota * 100 / mt_number))"
}
