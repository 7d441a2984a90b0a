# shellcheck shell=sh disable=SC2154
# Facts, from inside: capabilities (CapEff, hexadecimal), gpus (device files), driver=1 if the node has NVIDIA's. The
# fact inspect, the engine's JSON about the container, is reported by the node itself.
mt_check_container() {
    mt_frame capabilities "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
    mt_count=0
    for mt_file in /dev/nvidia[0-9]*; do
        [ ! -e "$mt_file" ] || mt_count=$((mt_count + 1))
    done
    mt_frame gpus "$mt_count"
    [ ! -d "${MTLAUNCH_TEST_ROOT:-}/proc/driver/nvidia" ] || mt_frame driver 1
}
