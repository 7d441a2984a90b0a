#!/bin/sh
# Everything that has to pass. What only computes (lint, coverage) runs beside the tests, which mostly wait, with the
# lowest priority; a failed stage does not hide what the later ones say.
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

# Their output is shown when the tests are done.
beside() { # NAME...
    for name in "$@"; do
        start=$(date +%s)
        code=0
        nice -n 19 "$make_word" --no-print-directory -j"$cores" "$name" >"build/beside.$name.log" 2>&1 || code=$?
        echo "$code $(($(date +%s) - start))" >"build/beside.$name.result"
    done
}
show_beside() { # NAME
    cat "build/beside.$1.log"
    read -r code seconds <"build/beside.$1.result" || return 1
    echo "$1: took $seconds s beside the tests"
    return "$code"
}

make_word=${make%% *}
began=$(date +%s)
mkdir -p build
SECOND_RUNS=$PWD/build/second-runs
export SECOND_RUNS
: >"$SECOND_RUNS"
rm -f build/beside.*
python3 tests/e2e/python_env.py >build/python-envs.log 2>&1 & # the tests that need one wait for it
stage build run_make -j"$cores" all build/tests/node/node_call
stage 'build with sanitizers' run_make -j"$cores" asan-programs
beside lint coverage &
stage tests run_make check-tests
wait
stage lint show_beside lint
stage coverage show_beside coverage
stage demo run_make demo

printf '\ncheck: %s s\n' "$(($(date +%s) - began))"
if [ -s "$SECOND_RUNS" ]; then
    printf 'check: %s passed only on the second run:\n' "$(wc -l <"$SECOND_RUNS")"
    sed 's/^/    /' "$SECOND_RUNS"
else
    echo 'check: no test needed a second run'
fi
if [ -n "$failed" ]; then
    printf 'check: FAILED:%s\n' "$failed"
    exit 1
fi
echo 'check: all stages passed'
