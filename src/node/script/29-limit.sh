# shellcheck shell=sh disable=SC2154,SC2034
# A command that may hang, and what nvidia-smi shows of the GPUs.

# SECONDS FILE COMMAND…: run COMMAND, which must make a session of its own, with output to FILE, and never wait for
# it longer than that, even when it is stuck in the kernel. Its status is left in FILE.code; none: the time was up,
# and its session was killed.
mt_run_limited() {
    mt_limit=$1 mt_out=$2
    shift 2
    mt_read_clock
    mt_deadline=$((mt_clock + mt_limit * 100))
    rm -f "$mt_out.code"
    (
        "$@" </dev/null >"$mt_out" 2>&1
        printf '%s\n' "$?" >"$mt_out.part"
        mv "$mt_out.part" "$mt_out.code"
    ) 2>/dev/null &
    mt_child=$!
    mt_wait=0.02
    while [ ! -f "$mt_out.code" ]; do
        mt_read_clock
        if [ "$mt_clock" -ge "$mt_deadline" ]; then
            mt_kill_sessions_below "$mt_child"
            return
        fi
        kill -0 "$mt_child" 2>/dev/null || break
        mt_pause "$mt_wait"
        case $mt_wait in
        0.02) mt_wait=0.05 ;;
        *) mt_wait=0.1 ;;
        esac
    done
}

mt_kill_sessions_below() { # PID of a child of this shell: the sessions its children lead, and what descends from them
    mt_read_table
    mt_tree=$({
        printf 'self %s\n' 0
        printf '%s\n' "$mt_table" | awk -v parent="$1" '$3 == parent && $5 == $2 { print "own", $2 }'
        printf '%s\n' "$mt_table"
    } | awk "$mt_scan_program" | awk '{ print $2 }')
    # shellcheck disable=SC2086
    kill -KILL "$1" $mt_tree 2>/dev/null
}

# The facts of a status: own files go with the script, no answer in time is no answer.
mt_observe_gpus() {
    command -v nvidia-smi >/dev/null || return 0
    mt_tmp=$(mktemp -d 2>/dev/null) || return 0
    trap 'rm -rf "$mt_tmp"' EXIT
    trap 'exit 1' HUP INT TERM
    mt_run_limited 5 "$mt_tmp/gpus" "$(command -v setsid)" nvidia-smi \
        --query-gpu=index,utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits
    [ ! -f "$mt_tmp/gpus.code" ] || mt_frame gpus "$(head -c 8192 "$mt_tmp/gpus")"
}
