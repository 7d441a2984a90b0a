#!/bin/sh
# The demo: four SSH nodes with names of their own, a real torchrun all-reduce over eight processes, a second
# run stopped half-way, and the proof that nothing is left. Ends non-zero when any step is wrong.
#   sh tests/e2e/demo.sh MTLAUNCH        (make demo; LAB=loopback: sshd on 127.10.0.x rather than namespaces)
# KEEP=1 leaves the four nodes up when all went well, and says how to use and end them.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=$1
lab=${TMPDIR:-/tmp}/mtlaunch-demo-$$
began=$(date +%s)

# Namespaces need root; sudo where a person can answer it or CI allows it, sshd on 127.10.0.x elsewhere.
as=
kind=
if [ "${LAB-}" = loopback ]; then
    kind=--loopback
elif [ "$(id -u)" != 0 ] || [ "$(python3 tests/e2e/cluster.py kind)" != namespaces ]; then
    if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }; }; then
        as=sudo
    else
        kind=--loopback
    fi
fi
python_option=
if [ -x .venv/bin/python3 ]; then
    python_option="--set python=$PWD/.venv/bin/python3"
    kind=--loopback
    as=
fi
cluster() {
    action=$1
    shift
    $as python3 tests/e2e/cluster.py "$action" --dir "$lab" "$@"
}
on_head() { $as python3 tests/e2e/cluster.py exec head --dir "$lab" -- "$@"; }

fail() {
    echo "demo: FAILED: $*" >&2
    exit 1
}
cleanup() {
    [ ! -e "$lab" ] || cluster down
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

title() { printf '\n== %s\n' "$*"; }
seconds() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }
head_run() { # show a command of the head, run it, say how long it took; the demo ends when it fails
    printf '\nhead$ %s\n' "$*"
    start=$(date +%s.%N)
    on_head "$@" || fail "'$*' ended with $?"
    printf '  (%s s)\n' "$(seconds "$start")"
}
run() { # the same for a command of this machine
    printf '\n$ %s\n' "$(printf '%s' "$*" | sed "s|^cluster|python3 tests/e2e/cluster.py --dir $lab|")"
    "$@" || fail "'$*' ended with $?"
}
keep() { # leave the nodes up, with the examples in their homes and on the head
    for file in examples/*.yaml; do
        $as cp "$file" "$home/" || fail "'$file' was not copied"
    done
    title "Four nodes to play with"
    cluster="${as:+$as }python3 tests/e2e/cluster.py"
    cat <<END
node1 to node4 stay up, and the head with them. To use them, in this folder:

    # run a command on the head, whose home holds hosts.txt and the examples
    lab() { $cluster exec head --dir $lab -- "\$@"; }
    lab mtlaunch hosts --hostfile hosts.txt
    lab mtlaunch start torchrun_allreduce.yaml first $* ${python_option:+$python_option }--set args.seconds=60
    lab mtlaunch status first
    lab mtlaunch logs first -f
    lab mtlaunch stop first
    lab sh
    # run a command on a node
    $cluster exec node1 --dir $lab -- ps x
    # end the nodes, with all that runs on them, and remove their files
    $cluster down --dir $lab
END
    trap - EXIT
    printf '\ndemo: all right, in %s s\n' "$(($(date +%s) - began))"
}
expect() { # WHAT WANTED GOT
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
    echo "ok: $1: $3"
}

title "Four SSH nodes"
printf '$ python3 tests/e2e/cluster.py up 4 %s\n' "$kind"
# shellcheck disable=SC2086 # nothing or one word
$as python3 tests/e2e/cluster.py up 4 --dir "$lab" --mtlaunch "$program" $kind || fail "the cluster did not come up"
home=$(cluster home)
echo "(head\$ stands for: python3 tests/e2e/cluster.py exec head --dir $lab --)"
$as cp -r examples/torchrun_allreduce.yaml examples/allreduce.py tests/e2e/programs/torch_shim "$home/" ||
    fail "examples not copied"
run cluster put examples/allreduce.py
cluster put tests/e2e/programs/torch_shim
python=/usr/bin/python3
[ ! -x .venv/bin/python3 ] || python=$PWD/.venv/bin/python3
# shellcheck disable=SC2046 # words
set -- $(python3 tests/e2e/torch_env.py "$python" torch_shim)
case $home in
"$lab"/*) [ -z "$kind" ] || set -- "$@" --set "workdir=$home" ;;
esac
# shellcheck disable=SC2086
head_run mtlaunch hosts --hostfile hosts.txt

title "A torchrun job on all four, two processes each"
# shellcheck disable=SC2086
head_run mtlaunch start torchrun_allreduce.yaml demo "$@" $python_option
head_run mtlaunch status demo
head_run mtlaunch wait demo --timeout 3m
head_run mtlaunch status demo
head_run mtlaunch logs demo -n 20
sums=$(on_head mtlaunch logs demo -n all | grep -c 'sum 36, expected 36')
expect "processes with the right sum, 1 + ... + 8" 8 "$sums"
lines=$(on_head mtlaunch logs demo -n all | grep -c '^node[1-4]: .*rank [0-7] of 8')
expect "log lines with their node's name" 8 "$lines"

title "A long run, stopped half-way"
# shellcheck disable=SC2086
head_run mtlaunch start torchrun_allreduce.yaml long "$@" $python_option --set args.seconds=900
tries=0
until on_head mtlaunch logs long -n all | grep -q 'step 2: sum 36'; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the long run made no step in time"
    sleep 1
done
head_run mtlaunch logs long -n 2
head_run mtlaunch status long
head_run mtlaunch stop long
head_run mtlaunch status long
head_run mtlaunch list

title "Nothing is left"
for node in node1 node2 node3 node4; do
    # the supervisor's watch ends by itself within a second or two of the run
    tries=0
    left=$(cluster ps "$node" | grep -v 'sshd' || true)
    while [ -n "$left" ] && [ "$tries" -lt 10 ]; do
        tries=$((tries + 1))
        sleep 1
        left=$(cluster ps "$node" | grep -v 'sshd' || true)
    done
    expect "processes of the runs on $node" "" "$left"
done
head_run mtlaunch remove demo
head_run mtlaunch remove long
expect "runs in the list" "" "$(on_head mtlaunch list -q | grep -E 'demo|long')"
for node in node1 node2 node3 node4; do
    run cluster exec "$node" -- rm -r .mtlaunch
done
for node in node1 node2 node3 node4; do
    left=$($as python3 tests/e2e/cluster.py exec "$node" --dir "$lab" -- sh -c 'cd && find .mtlaunch -type f 2>/dev/null')
    expect "files of the runs on $node" "" "$left"
done
if [ -n "${KEEP-}" ]; then
    keep "$@"
    exit 0
fi
run cluster down
[ ! -e "$lab" ] || fail "'$lab' is still there"
expect "processes of the cluster" "" "$($as python3 tests/e2e/cluster.py left --dir "$lab")"
printf '\ndemo: all right, in %s s\n' "$(($(date +%s) - began))"
