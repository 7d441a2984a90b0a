#!/bin/bash
# Real Megatron-LM on two GPUs as two SSH nodes: ZeRO levels 0 to 2, a stop in mid-run, a refused batch size.
#   bash tests/gpu/run.sh DEBS MEGATRON PYTHON [OUT]     as root, in the repository; see README.md
# Prints a table: level, peak memory a GPU, step time, last loss. OUT keeps logs and records.
set -u
. tests/gpu/setup.sh "$1"
megatron=$2 python=$3 out=${4:-/tmp/gpu/out}
mkdir -p "$out"
failed=0
ok() { echo "ok: $*"; }
bad() { echo "FAILED: $*"; failed=1; }
memory() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | tr '\n' ' '; }
start() { # RUN PROFILE [OPTION…]: Qwen3-1.7B's shape, micro batch 1, global batch 8, made-up data
    run=$1 profile=$2
    shift 2
    ./mtlaunch start examples/qwen3_1p7b.yaml "$run" --profile smoke --profile plain --profile "$profile" \
        --hosts 'gpu0 slots=1,gpu1 slots=1' --artifacts /tmp/gpu/artifacts --set "workdir=$megatron" \
        --set "python=$python" --set "setup=[\"export PATH=${python%/*}:\$PATH\"]" --set args.global-batch-size=8 --set args.train-iters=12 \
        -e NCCL_NVLS_ENABLE=0 -e NCCL_IB_DISABLE=1 -e TORCHDYNAMO_DISABLE=1 -e NO_VCS_VERSION=1 "$@"
}
watch_memory() { # RUN: the most that nvidia-smi shows a GPU while the run lives
    : >"$out/$1.memory"
    while :; do memory >>"$out/$1.memory"; echo >>"$out/$1.memory"; sleep 1; done
}

echo "before: $(memory)"
for level in z0 z1 z2; do
    watch_memory "gpu_$level" & watcher=$!
    start "gpu_$level" "$level" --wait --timeout 4m >"$out/gpu_$level.log" 2>"$out/gpu_$level.err"
    code=$?
    kill "$watcher"; wait "$watcher" 2>/dev/null
    lines=$(grep -c 'iteration .*12 |' "$out/gpu_$level.log")
    peak=$(tr ' ' '\n' <"$out/gpu_$level.memory" | sort -n | tail -1)
    step=$(sed -n 's/.*iteration  *\([0-9]*\).*time per iteration (ms): \([0-9.]*\).*/\1 \2/p' "$out/gpu_$level.log" |
        awk '$1 > 2 { print $2 }' | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
    loss=$(sed -n 's/.*lm loss: \([^ ]*\).*/\1/p' "$out/gpu_$level.log" | tail -1)
    net=$(grep -c 'via NET/Socket' "$out/gpu_$level.log")
    printf 'TABLE %s: exit %s, %s iterations, peak %s MiB a GPU, median step %s ms, loss %s, %s NET/Socket channels\n' \
        "$level" "$code" "$lines" "$peak" "$step" "$loss" "$net"
    if [ "$code" = 0 ] && [ "$lines" -ge 10 ] && [ "$net" -gt 0 ]; then ok "$level trains"; else
        bad "$level"; tail -5 "$out/gpu_$level.err"; grep -E 'Error|error' "$out/gpu_$level.log" | tail -5; fi
done

echo "--- a page that compares them: $out/gpu.html"
if ./mtlaunch report gpu_z0 gpu_z1 gpu_z2 -o "$out/gpu.html" --json >"$out/report.json" &&
    grep -q 'GPU memory' "$out/gpu.html"; then ok "the page has plots of the GPUs"; else bad "report"; fi
"$python" - "$out/report.json" <<'PYTHON'
import json, sys
for run in json.load(open(sys.argv[1]))["runs"]:
    gpus, training = run["gpus"] or {"time": []}, run["training"]
    print("REPORT", run["run"], f"peak {(run['peak_memory'] or 0) >> 20} MiB a GPU,", len(gpus["time"]), "samples of GPUs,",
          len(training["iteration"]), "iterations,", "network", run["facts"]["network"])
PYTHON

if ./mtlaunch compare gpu_z0 gpu_z1 gpu_z2 --tokens 34B | tee "$out/compare.txt" && [ -s "$out/compare.txt" ]; then ok "compare"; else bad "compare"; fi

echo "--- stop in mid-run"
start gpu_stop z1 --set args.train-iters=500 2>&1 | tail -3
for _ in $(seq 120); do
    ./mtlaunch logs gpu_stop --node 1 -n 5 2>/dev/null | grep -q 'iteration  *[3-9]/' && break
    sleep 1
done
./mtlaunch status gpu_stop --json >"$out/status.json"; ./mtlaunch status gpu_stop
echo "running: $(memory)"
before=$(date +%s%N)
./mtlaunch stop gpu_stop; code=$?
echo "stop: exit $code, $((($(date +%s%N) - before) / 1000000)) ms"
echo "after: $(memory)"
if [ "$code" = 0 ] && [ -z "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)" ]; then
    ok "stop freed all GPU memory"; else bad "stop"; nvidia-smi; fi

echo "--- a batch size that cannot work"
start gpu_bad z1 --set args.global-batch-size=9; code=$?
if [ "$code" = 2 ] && [ -z "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)" ]; then
    ok "refused before any GPU was touched"; else bad "batch size, exit $code"; fi
./mtlaunch list
for gpu in 0 1; do kill "$(cat /tmp/gpu/sshd$gpu.pid)"; done
exit "$failed"
