# shellcheck shell=sh disable=SC2154,SC2034
# Reports what the workers of a run are doing: the kernel's view of each and, where py-spy is found, its Python stack.
# Nothing is signalled, and py-spy does not pause them.

# -> mt_spy: the given py-spy, or that in PATH, in the job's own PATH, beside the job's Python or in ~/.local/bin; "":
# none
mt_find_spy() {
    mt_absolute "$mt_py_spy"
    if [ -n "$mt_py_spy" ] && [ -f "$mt_path" ] && [ -x "$mt_path" ]; then
        mt_spy=$mt_path
        return 0
    fi
    [ -z "$mt_py_spy" ] || mt_frame problem "'$mt_py_spy' is not an executable file here"
    mt_spy=$(command -v py-spy) && return 0
    mt_p=${mt_workers%%
*}
    mt_p=${mt_p#* }
    mt_read_variable "$mt_p" PATH
    mt_spy=$(PATH=$mt_value && command -v py-spy) && return 0
    # shellcheck disable=SC2086
    mt_file=$($mt_brief tr '\0' '\n' <"/proc/$mt_p/cmdline" 2>/dev/null | head -n 1)
    for mt_spy in "${mt_file%/*}/py-spy" "$mt_home/.local/bin/py-spy"; do
        case $mt_spy in
        /*) [ ! -x "$mt_spy" ] || return 0 ;;
        esac
    done
    mt_spy=
}

# PID -> mt_cpu: the CPU time it has used, in clock ticks; fails when it is gone
mt_read_cpu() {
    { IFS= read -r mt_line <"/proc/$1/stat"; } 2>/dev/null || return 1
    # shellcheck disable=SC2086
    set -- ${mt_line##*) }
    mt_cpu=$((${12} + ${13}))
}

# Run py-spy on all workers in parallel, for ten seconds at most, with output in mt_tmp/PID.json and .err. With
# --nonblocking it does not pause a worker, so none stays stopped when py-spy is killed.
mt_spy_on_workers() {
    [ -n "$mt_spy" ] || return 0
    # shellcheck disable=SC2016,SC2046 # for the shell that runs it; pids
    mt_run_limited 10 "$mt_tmp/run" "$(command -v setsid)" /bin/sh -c '
        dir=$1 spy=$2
        shift 2
        look() { "$spy" dump --nonblocking --json --pid "$1" >"$dir/$1.json" 2>"$dir/$1.err"; }
        for pid; do
            { look "$pid" || look "$pid" || : >"$dir/$pid.failed"; : >"$dir/$pid.done"; } &
        done
        wait' sh "$mt_tmp" "$mt_spy" $(printf '%s\n' "$mt_workers" | awk '{ print $2 }')
}

# PID: the frames of its main thread, innermost first, as [{"name": …, "filename": …, "line": …}]
mt_print_frames() {
    head -c 4000000 "$mt_tmp/$1.json" | awk -v pid="$1" '
        /^  \{/ { main = count = 0 }
        /^    "thread_name": "MainThread"/ || $0 ~ "^    \"os_thread_id\": " pid ",$" { main = 1 }
        /^        "name": / { name = $0 }
        /^        "filename": / { file = $0 }
        /^        "line": / && count < 100 {
            line = $0
            sub(/,$/, "", line)
            frame[++count] = "{" name file line "}"
        }
        /^  \}/ && main {
            for (i = 1; i <= count; i++) text = text (i > 1 ? "," : "") frame[i]
            gsub(/  +/, " ", text)
            print "[" text "]"
            exit
        }'
}

mt_frame_stack() { # RANK PID
    [ -n "$mt_spy" ] || return 0
    if [ ! -f "$mt_tmp/$2.done" ]; then
        mt_frame problem "py-spy did not end within 10 seconds on rank $1"
    elif [ -f "$mt_tmp/$2.failed" ]; then
        mt_value=$(head -c 2000 "$mt_tmp/$2.err" | grep -v '^[[:space:]]*$' | head -n 1)
        mt_frame problem "py-spy failed on rank $1: ${mt_value:-no message}"
    else
        mt_value=$(mt_print_frames "$2" | head -c 40000)
        case $mt_value in
        '[{'*'}]') mt_frame stack "$1 $mt_value" ;;
        *) mt_frame problem "py-spy shows no stack of the main thread of rank $1" ;;
        esac
    fi
}

# "RANK PID STATE CPU SYSCALL WCHAN": CPU in percent of a core; "-": not known
mt_frame_worker() { # RANK PID TICKS-OF-CPU-BEFORE CLOCK-BEFORE
    mt_stat "$2" && mt_read_cpu "$2" || return 0
    mt_read_clock
    mt_cpu=$(((mt_cpu - $3) * 100 / (mt_clock - $4 + 1)))
    mt_wchan='' mt_syscall=''
    # shellcheck disable=SC2086
    mt_wchan=$($mt_brief cat "/proc/$2/wchan" 2>/dev/null | tr -cd 'A-Za-z0-9_.')
    # shellcheck disable=SC2086
    mt_syscall=$($mt_brief cat "/proc/$2/syscall" 2>/dev/null | tr -cd 'a-z0-9 -')
    case $mt_wchan in
    0 | '') mt_wchan=- ;;
    esac
    mt_digits "${mt_syscall%% *}"
    mt_frame worker "$1 $2 $mt_st_state $mt_cpu ${mt_number:--} $mt_wchan"
    mt_frame_stack "$1" "$2"
}

# A line in the pipe of a rank makes NCCL's flight recorder write its dump, even when the rank hangs. A pipe that is
# opened for reading and writing never blocks. -> mt_pipes: how many pipes were written to
mt_write_pipes() {
    mt_pipes=0
    [ -n "$mt_want_dumps" ] || return 0
    for mt_file in "$mt_base.fr"/pipe_*.pipe; do
        [ -p "$mt_file" ] && [ ! -h "$mt_file" ] && (printf '1\n' 1<>"$mt_file") 2>/dev/null && mt_pipes=$((mt_pipes + 1))
    done
}

# Dumps appear within three seconds or not at all; wait for up to five.
mt_await_dumps() {
    [ "$mt_pipes" -gt 0 ] || return 0
    mt_tries=0
    while [ "$mt_tries" -lt 50 ]; do
        mt_number=0
        for mt_file in "$mt_base.fr"/dump_[0-9]*; do
            [ ! -s "$mt_file" ] || mt_number=$((mt_number + 1))
        done
        [ "$mt_number" -lt "$mt_pipes" ] || return 0
        mt_tries=$((mt_tries + 1))
        mt_pause 0.1
    done
}

mt_verb_stacks() {
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    mt_set_brief
    mt_root='' mt_root_ticks='' mt_keeper='' mt_keeper_ticks='' mt_memory='' mt_ended_ticks=''
    if mt_read_state "$mt_base.state" && [ "$mt_s_run_id" = "$mt_run_id" ] && [ "$mt_s_attempt" = "$mt_attempt" ]; then
        mt_load_roots "$mt_base"
    fi
    mt_attempts=$mt_attempt
    mt_scan_or_fail "$mt_run_id" "$mt_rank" ''
    [ -z "$mt_found" ] || mt_frame lives 1
    mt_find_workers || mt_fail_scan
    [ -n "$mt_workers" ] || mt_end
    mt_write_pipes
    mt_tmp=$(mktemp -d 2>/dev/null) || mt_fail place "cannot make a temporary folder"
    trap 'exit 1' HUP INT TERM
    mt_find_spy
    mt_read_clock
    mt_began=$mt_clock
    mt_samples=$(printf '%s\n' "$mt_workers" | while read -r mt_r mt_p; do
        mt_read_cpu "$mt_p" && printf '%s %s %s\n' "$mt_r" "$mt_p" "$mt_cpu"
    done)
    mt_spy_on_workers
    mt_read_clock
    [ "$((mt_clock - mt_began))" -ge 100 ] || mt_pause 1
    while read -r mt_r mt_p mt_before; do
        [ -z "$mt_r" ] || mt_frame_worker "$mt_r" "$mt_p" "$mt_before" "$mt_began"
    done <<MT_LIST
$mt_samples
MT_LIST
    mt_await_dumps
    mt_end
}
