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

# Two lists of targets side by side; what the second prints comes last.
together() { # TARGETS TARGETS
    # shellcheck disable=SC2086
    run_make -k $2 >build/together.log 2>&1 &
    other=$!
    # shellcheck disable=SC2086
    run_make -k $1
    status=$?
    wait "$other" || status=1
    cat build/together.log
    return $status
}

mkdir -p build
stage build run_make -j"$cores" all
stage lint run_make lint
# Unit, contract and fuzz corpora under the sanitizers; unit and corpora once more, for the lines they cover.
stage asan run_make -j"$cores" asan
stage coverage run_make -j"$cores" coverage
stage parts together "notify-test cli-test" node-test
stage e2e end_to_end
stage demo run_make demo

if [ -n "$failed" ]; then
    printf '\ncheck: FAILED:%s\n' "$failed"
    exit 1
fi
printf '\ncheck: all stages passed\n'
