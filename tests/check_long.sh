#!/bin/sh
# The long check: fuzzing, then the kill matrix with steps in random order, until the time is used up.
#   sh tests/check_long.sh MINUTES [SEED]
set -u
minutes=$1
seed=${2:-$(date +%s)}
end=$(($(date +%s) + minutes * 60))
echo "check-long: $minutes minutes, seed $seed"

set --
for target in "$BUILD"/fuzzing/fuzz/fuzz_*; do
    case $target in *.d) ;; *) set -- "$@" "$target" ;; esac
done
share=$((minutes * 60 / 2 / $#))
for target in "$@"; do
    name=${target##*/fuzz_}
    found=$BUILD/fuzzing/found_$name
    mkdir -p "$found"
    echo "== fuzz $name for $share s"
    "$target" -seed="$seed" -max_total_time="$share" -print_final_stats=1 -artifact_prefix="$found/" \
        "$found" "tests/fuzz/corpus/$name" || exit 1
done
echo "== clang's analyzer, as far as it goes"
LINT_NODES=225000 BUILD=$BUILD/long sh tests/lint/run.sh || exit 1
echo "== mixed failures of ssh servers, seed $seed"
SOAK_SECONDS=$((minutes * 60 / 6)) SOAK_SEED=$seed "$BUILD/tests/contract/test_soak" || exit 1
echo "== 512 MiB of output through exec"
# PYTEST holds a command and its options.
# shellcheck disable=SC2086
MTLAUNCH_EXEC_MIB=512 $PYTEST tests/e2e/test_exec.py -k big_output || exit 1
echo "== every answer of a hostile node against every command"
$MAKE --no-print-directory BUILD="$BUILD/asan" SANITIZE=address,undefined CFLAGS='-O1 -g' "$BUILD/asan/mtlaunch" || exit 1
# shellcheck disable=SC2086
MTLAUNCH_HOSTILE=all $PYTEST tests/e2e/test_hostile.py || exit 1
echo "== thirty crashes of torchrun jobs"
# shellcheck disable=SC2086
MTLAUNCH_CRASHES=all $PYTEST tests/e2e/test_diagnose.py || exit 1
echo "== every limit and broken tool of a node"
# shellcheck disable=SC2086
MTLAUNCH_SCAN_ALL=1 $PYTEST tests/node/test_scan.py || exit 1
echo "== chaos, seed $seed"
python3 tests/e2e/chaos.py --cycles "${CYCLES:-500}" --seed "$seed" || exit 1
echo "== push: 10,000 small files and one of 2 GiB, seed $seed"
# shellcheck disable=SC2086
MTLAUNCH_PUSH=all MTLAUNCH_SEED=$seed $PYTEST tests/e2e/test_push_property.py || exit 1
echo "== every launcher, failing on a rank and stopped"
# shellcheck disable=SC2086
MTLAUNCH_LAUNCHERS=all $PYTEST tests/e2e/test_launchers.py || exit 1
while [ "$(date +%s)" -lt "$end" ]; do
    echo "== kill matrix, seed $seed"
    # PYTEST holds a command and its options.
    # shellcheck disable=SC2086
    MTLAUNCH_SEED=$seed $PYTEST tests/e2e/test_kill.py || { echo "check-long: failed with SEED=$seed"; exit 1; }
    echo "== cancelled commands, seed $seed"
    # shellcheck disable=SC2086
    MTLAUNCH_SEED=$seed $PYTEST tests/e2e/test_cancel.py || { echo "check-long: failed with SEED=$seed"; exit 1; }
    echo "== pushes, whole and cut, seed $seed"
    # shellcheck disable=SC2086
    MTLAUNCH_SEED=$seed $PYTEST tests/e2e/test_push_property.py tests/e2e/test_push_kill.py tests/e2e/test_push_relay.py ||
        { echo "check-long: failed with SEED=$seed"; exit 1; }
    seed=$((seed + 1))
done
echo "check-long: all right, last seed $((seed - 1))"
