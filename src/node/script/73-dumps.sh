# shellcheck shell=sh disable=SC2154,SC2034
# Reports what the flight recorder of torch.distributed wrote about a run's process groups: pickles of a few hundred KB
# per rank. A Python of the node (dumps.py) turns each into one line.

# -> mt_python: the job's own Python, or one in PATH; "": none
mt_find_python() {
    for mt_python in "$mt_grep_python" python3 python; do
        [ -z "$mt_python" ] || ! command -v "$mt_python" >/dev/null 2>&1 || return 0
    done
    mt_python=
}

# At most 64 ranks, and ten seconds for all of them.
mt_print_dumps() {
    [ "$mt_tail_attempt" = "$mt_attempt" ] || return 0
    set --
    for mt_file in "$mt_base.fr"/dump_*; do
        case ${mt_file##*/dump_} in
        '' | *[!0-9]* | ????????*) continue ;;
        esac
        if [ -f "$mt_file" ] && [ ! -h "$mt_file" ] && [ -s "$mt_file" ] && [ $# -lt 64 ]; then
            set -- "$@" "$mt_file"
        fi
    done
    [ $# -gt 0 ] || return 0
    mt_find_python
    if [ -z "$mt_python" ]; then
        printf 'd {"file":"dump_*","error":"there is no Python to read it"}\n'
        return 0
    fi
    mt_tmp=$(mktemp -d 2>/dev/null) || return 0
    trap 'exit 1' HUP INT TERM
    mt_run_limited 10 "$mt_tmp/dumps" "$(command -v setsid)" "$mt_python" -ISc "$mt_dumps_py" "$@"
    [ -f "$mt_tmp/dumps.code" ] || printf 'd {"file":"dump_*","error":"reading it took more than 10 seconds"}\n'
    ! [ -f "$mt_tmp/dumps" ] || head -c 1000000 "$mt_tmp/dumps" | grep '^d '
    rm -rf "$mt_tmp"
}
