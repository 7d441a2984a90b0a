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

# Two halves side by side, each on clusters of its own: they wait more than they compute.
end_to_end() {
    one='' two=''
    for file in kill torchrun examples cluster slurm; do
        one="$one tests/e2e/test_$file.py"
        two="$two --ignore=tests/e2e/test_$file.py"
    done
    run_make e2e E2E="$two" >build/e2e.log 2>&1 &
    other=$!
    run_make e2e E2E_FILES="$one"
    status=$?
    wait "$other" || status=1
    cat build/e2e.log
    return $status
}

stage build run_make -j"$cores" all
stage lint run_make lint
stage unit run_make -j"$cores" unit
stage contract run_make -j"$cores" contract
stage node-test run_make node-test
stage notify-test run_make notify-test
stage cli-test run_make cli-test
stage fuzz-replay run_make -j"$cores" fuzz-replay
stage asan run_make -j"$cores" asan
stage coverage run_make -j"$cores" coverage
mkdir -p build
stage e2e end_to_end
stage demo run_make demo

if [ -n "$failed" ]; then
    printf '\ncheck: FAILED:%s\n' "$failed"
    exit 1
fi
printf '\ncheck: all stages passed\n'
