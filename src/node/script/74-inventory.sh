# shellcheck shell=sh disable=SC2154,SC2034
# Reports the hardware of the node, and what NCCL says at the beginning of the run's log: facts gpu (models), ib.port
# and nic.speed (as in the checks of these names), nccl (lines). Only the first 16 MiB of the log are read.

mt_frame_gpu_models() {
    command -v nvidia-smi >/dev/null || return 0
    mt_tmp=$(mktemp -d 2>/dev/null) || return 0
    trap 'exit 1' HUP INT TERM
    mt_run_limited 5 "$mt_tmp/models" "$(command -v setsid)" nvidia-smi --query-gpu=name --format=csv,noheader
    [ -f "$mt_tmp/models.code" ] && read -r mt_code <"$mt_tmp/models.code" && [ "$mt_code" = 0 ] || return 0
    head -c 8192 "$mt_tmp/models" | tr -d '\r' | sort -u >"$mt_tmp/kinds"
    while read -r mt_line; do
        [ -z "$mt_line" ] || mt_frame gpu "$mt_line"
    done <"$mt_tmp/kinds"
}

# The first line that contains each of the literals (one per line in mt_literals); of a line with carriage returns
# (progress bars), the first segment that contains it.
mt_frame_nccl() {
    [ -n "$mt_literals" ] && mt_find_log && [ -r "$mt_file" ] || return 0
    mt_text=$(head -c 16777216 "$mt_file" | grep -aF -e "$mt_literals" | tr -d '\000' | mt_literals=$mt_literals LC_ALL=C awk '
        BEGIN { left = count = split(ENVIRON["mt_literals"], literal, "\n") }
        {
            parts = split($0, part, "\r")
            for (i = 1; i <= count; i++) {
                if ((i in found) || !index($0, literal[i])) continue
                for (n = 1; n < parts && !index(part[n], literal[i]); n++) ;
                found[i] = substr(part[n], 1, 900)
                if (--left == 0) exit
            }
        }
        END { for (i = 1; i <= count; i++) if (i in found) print found[i] }')
    while IFS= read -r mt_line; do
        [ -z "$mt_line" ] || mt_frame nccl "$mt_line"
    done <<MT_LIST
$mt_text
MT_LIST
}

mt_verb_inventory() {
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    mt_prefix=ib.
    mt_check_ib
    mt_prefix=nic.
    mt_check_nic
    mt_prefix=
    mt_frame_nccl
    mt_frame_gpu_models
    mt_end
}
