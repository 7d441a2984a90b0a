# shellcheck shell=sh disable=SC2154,SC2034
# Runs commands that may hang, and reads the GPUs with nvidia-smi.

# SECONDS FILE COMMAND…: run COMMAND, which must create a session of its own, with its output in FILE. Never wait longer
# than SECONDS, even when it is stuck in the kernel. Its status is written to FILE.code; without that file, the time was
# up and its session was killed, or (mt_cut) it could not be run. It can read mt_input, if set, on descriptor 8.
mt_run_limited() {
    mt_limit=$1 mt_out=$2
    shift 2
    mt_read_clock
    mt_deadline=$((mt_clock + mt_limit * 100))
    [ ! -e "$mt_out.code" ] || rm -f "$mt_out.code"
    mt_cut=
    if [ -n "$mt_input" ]; then
        printf '%s' "$mt_input" | mt_run_to_end "$@" 8<&0 2>/dev/null &
    else
        mt_run_to_end "$@" 2>/dev/null &
    fi
    mt_child=$!
    mt_wait=0.02
    while [ ! -s "$mt_out.code" ]; do
        mt_read_clock
        if [ "$mt_clock" -ge "$mt_deadline" ]; then
            mt_kill_sessions_below "$mt_child"
            return
        fi
        if ! kill -0 "$mt_child" 2>/dev/null; then
            [ -f "$mt_out.code" ] || mt_cut=1
            break
        fi
        mt_pause "$mt_wait"
        case $mt_wait in
        0.02) mt_wait=0.03 ;;
        0.03) mt_wait=0.05 ;;
        *) mt_wait=0.1 ;;
        esac
    done
}

mt_run_to_end() {
    "$@" </dev/null >"$mt_out" 2>&1
    printf '%s\n' "$?" >"$mt_out.code"
}

mt_kill_sessions_below() { # PID of a child of this shell: the sessions its children lead, and what descends from them
    mt_root='' mt_keeper='' mt_memory='' mt_ended_ticks='' mt_found=''
    if mt_read_table; then
        mt_marks=$(printf '%s\n' "$mt_table" | awk -v parent="$1" '$3 == parent && $5 == $2 { print "own", $2 }')
        mt_close 0 ''
    fi
    # shellcheck disable=SC2046 # the first of five words a process
    kill -KILL "$1" $(printf '%s\n' "$mt_found" | awk '{ print $1 }') 2>/dev/null
}

# Write the facts about GPUs of a status. If nvidia-smi does not answer in time, nothing is reported. The files are in
# mt_tmp, which is removed when the script ends.
mt_observe_gpus() {
    command -v nvidia-smi >/dev/null || return 0
    [ -n "$mt_tmp" ] || mt_tmp=$(mktemp -d 2>/dev/null) || return 0
    trap 'exit 1' HUP INT TERM
    mt_run_limited 5 "$mt_tmp/gpus" "$(command -v setsid)" nvidia-smi \
        --query-gpu=index,utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits
    [ -f "$mt_tmp/gpus.code" ] || return 0
    mt_frame gpus "$(head -c 8192 "$mt_tmp/gpus")"
    mt_observe_own_gpus
}

# The GPUs of the job: all that CUDA_VISIBLE_DEVICES of its processes names. If none of them has the variable, nothing
# is reported, which means all GPUs. CUDA's rule: entries count up to the first that names no device.
mt_observe_own_gpus() {
    mt_text=$(
        {
            ! mt_alive "$mt_root" "$mt_root_ticks" || printf '%s\n' "/proc/$mt_root/environ"
            printf '%s\n' "$mt_memory" | while read -r mt_word mt_p mt_t mt_rest; do
                ! mt_alive "$mt_p" "$mt_t" || printf '%s\n' "/proc/$mt_p/environ"
            done
        } | xargs cat 2>/dev/null | tr '\0' '\n' | sed -n 's/^CUDA_VISIBLE_DEVICES=/visible /p' | sort -u
    )
    [ -n "$mt_text" ] || return 0
    : >"$mt_tmp/ids"
    case $mt_text in
    *GPU-*)
        mt_run_limited 5 "$mt_tmp/ids" "$(command -v setsid)" nvidia-smi --query-gpu=index,uuid --format=csv,noheader
        ;;
    *MIG-*) return 0 ;;
    esac
    mt_frame gpus_own "$({
        sed 's/^/gpu /' "$mt_tmp/gpus"
        sed 's/^/id /' "$mt_tmp/ids"
        printf '%s\n' "$mt_text"
    } | tr -s ', \r' ' ' | awk '
        $1 == "gpu" && $2 ~ /^[0-9]+$/ { there[$2] = 1; next }
        $1 == "id" { id[$2] = $3; next }
        $1 == "visible" {
            for (i = 2; i <= NF; i++) {
                found = ""
                if ($i ~ /^[0-9]+$/) { if (($i + 0) in there) found = $i + 0 }
                else if ($i ~ /^GPU-/) for (n in id) if (index(id[n], $i) == 1) found = n
                if (found == "") break
                own[found] = 1
            }
        }
        END {
            for (n in own) list = list " " n
            print list == "" ? "none" : list
        }')"
}
