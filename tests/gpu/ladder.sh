#!/bin/bash
# A ladder of real trainings on two GPUs as two SSH nodes: one node, then both at ZeRO levels 0 to 2, and what
# 'compare' and 'metrics' say of them.
#   bash tests/gpu/ladder.sh DEBS MEGATRON PYTHON [OUT]     as root, in the repository; see README.md
# OUT keeps the ladder's answer as JSON and as text.
set -u
. tests/gpu/setup.sh "$1"
megatron=$2 python=$3 out=${4:-/tmp/gpu/out}
mkdir -p "$out"
failed=0
ok() { echo "ok: $*"; }
bad() { echo "FAILED: $*"; failed=1; }
ladder() { # OPTION…: the levels are profiles of the job
    ./mtlaunch ladder examples/qwen3_1p7b.yaml gpu --steps 1,z0,z1,z2 --limit 4m --profile smoke --profile plain \
        --hosts 'gpu0 slots=1,gpu1 slots=1' --artifacts /tmp/gpu/artifacts --set "workdir=$megatron" \
        --set "python=$python" --set "setup=[\"export PATH=${python%/*}:\$PATH\"]" --set args.global-batch-size=8 \
        --set args.train-iters=30 -e NCCL_DEBUG=INFO -e NCCL_NVLS_ENABLE=0 -e NCCL_IB_DISABLE=1 -e TORCHDYNAMO_DISABLE=1 \
        -e NO_VCS_VERSION=1 "$@"
}

ladder --dry-run
ladder --json >"$out/ladder.json" 2>"$out/ladder.err" & pid=$!
while kill -0 "$pid" 2>/dev/null; do
    ./mtlaunch metrics | grep '^mtlaunch_node_gpu_utilization_ratio' >>"$out/metrics.txt"
    sleep 5
done
wait "$pid"; code=$?
cat "$out/ladder.err"
if [ "$code" = 0 ]; then ok "the ladder ended with 0"; else bad "the ladder ended with $code"; fi
./mtlaunch compare 'gpu-*' --tokens 34B | tee "$out/compare.txt"
"$python" - "$out/ladder.json" <<'PYTHON' || bad "figures"
import json, sys
answer = json.load(open(sys.argv[1]))
assert [step["state"] for step in answer["steps"]] == ["finished"] * 4, answer["steps"]
runs = {run["run"]: run for run in answer["compare"]["runs"]}
for name, run in runs.items():
    print(name, {key: run[key] for key in ("nodes", "step_time", "samples_per_second", "tokens_per_second", "tflops_per_gpu", "mfu",
                                           "peak_memory", "network", "final_loss", "speedup", "efficiency")})
    assert run["samples_per_second"] > 0 and run["tokens_per_second"] > 0 and run["peak_memory"] > 10 << 30, run
    assert abs(run["mfu"] - run["tflops_per_gpu"] / 989) < 1e-6, run
assert runs["gpu-z0"]["network"] == "Socket" and runs["gpu-z0"]["peak_memory"] > runs["gpu-z1"]["peak_memory"], runs
print(answer["compare"]["verdict"], answer["recommendation"], sep="\n")
PYTHON
if [ -s "$out/metrics.txt" ]; then ok "metrics told the use of the GPUs"; else bad "metrics told nothing of the GPUs"; fi
for gpu in 0 1; do kill "$(cat /tmp/gpu/sshd$gpu.pid)"; done
exit "$failed"
