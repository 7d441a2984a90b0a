#!/bin/sh
# Everything that has to pass, one stage after another; a failed stage does not hide what the later ones say.
#   sh tests/check.sh MAKE
set -u
make=$1
cores=$(nproc)
failed=
stage() {
    name=$1
    shift
    printf '\n== %s\n' "$name"
    start=$(date +%s)
    "$@" || failed="$failed $name"
    printf '== %s: %s s\n' "$name" "$(($(date +%s) - start))"
}
# What stands in MAKE may hold options: it is split on purpose.
# shellcheck disable=SC2086
run_make() { $make --no-print-directory "$@"; }

# Lists of targets and variables side by side; what they print comes one after the other. Limits of time may pass on a
# busy machine: what failed is run once more, alone, and that is said.
together() { # LIST...
    count=0 pids='' status=0
    for list in "$@"; do
        count=$((count + 1))
        # shellcheck disable=SC2086
        run_make -k $list CACHE="$count" >"build/together.$count.log" 2>&1 &
        pids="$pids $!"
    done
    count=0
    for pid in $pids; do
        count=$((count + 1))
        code=0
        wait "$pid" || code=1
        cat "build/together.$count.log"
        eval "code_$count=$code"
    done
    count=0
    for list in "$@"; do
        count=$((count + 1))
        eval "code=\$code_$count"
        [ "$code" != 0 ] || continue
        printf 'check: once more, alone: %s\n' "$list"
        # shellcheck disable=SC2086
        run_make -k $list CACHE="$count" AGAIN=1 || status=1
    done
    return $status
}

mkdir -p build
stage build run_make -j"$cores" all build/tests/node/node_call
stage lint run_make lint
# Unit, contract and fuzz corpora under the sanitizers; unit and corpora once more, for the lines they cover.
stage asan run_make -j"$cores" asan
stage coverage run_make -j"$cores" coverage
# These wait more than they compute.
stage parts together 'notify-test cli-test node-test NODE_TESTS=tests/node/test_*[dl].py' \
    'node-test NODE_TESTS=tests/node/test_start.py' 'node-test NODE_TESTS=tests/node/test_[!rs]*.py' \
    'node-test NODE_TESTS=tests/node/test_stop.py'
# Each on clusters of its own.
stage e2e together 'e2e E2E_FILES=tests/e2e/test_[a-el-n]*.py' 'e2e E2E_FILES=tests/e2e/test_[f-k]*.py' \
    'e2e E2E_FILES=tests/e2e/test_[o-z]*.py'
stage demo run_make demo

if [ -n "$failed" ]; then
    printf '\ncheck: FAILED:%s\n' "$failed"
    exit 1
fi
printf '\ncheck: all stages passed\n'
