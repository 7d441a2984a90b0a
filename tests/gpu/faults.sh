#!/bin/bash
# What a run on real GPUs says when it breaks: a killed worker, a restart from a checkpoint, memory that runs out, a hang.
#   bash tests/gpu/faults.sh DEBS MEGATRON PYTHON [OUT] [PYSPY]     as root, in the repository; see README.md
# OUT keeps logs and answers. PYSPY: a py-spy to take stacks with; without it stacks come from /proc alone.
# PARTS chooses and orders: hang hang_timeout oom killed resume_z0 resume_z2 (default: all).
set -u
. tests/gpu/setup.sh "$1"
megatron=$2 python=$3 out=${4:-/tmp/gpu/out} pyspy=${5:-}
mkdir -p "$out"
failed=0
ok() { echo "ok: $*"; }
bad() { echo "FAILED: $*"; failed=1; }
say() { echo "--- $*"; }

start() { # RUN LEVEL [OPTION…]: Qwen3-1.7B's shape
    run=$1 level=$2
    shift 2
    ./mtlaunch start examples/qwen3_1p7b.yaml "$run" --profile smoke --profile plain --profile "$level" \
        --hosts 'gpu0 slots=1,gpu1 slots=1' --artifacts /tmp/gpu/artifacts --set "workdir=$megatron" \
        --set "python=$python" --set "setup=[\"export PATH=${python%/*}:\$PATH\"]" --set args.global-batch-size=8 \
        -e NCCL_NVLS_ENABLE=0 -e NCCL_IB_DISABLE=1 -e TORCHDYNAMO_DISABLE=1 -e NO_VCS_VERSION=1 "$@"
}
reached() { # RUN ITERATION [ATTEMPT]: wait until the log shows it
    for _ in $(seq 120); do
        ./mtlaunch logs "$1" --node 1 -n all --attempt "${3:-1}" 2>/dev/null |
            grep -qE "iteration +($(seq -s '|' "$2" "$(($2 + 20))"))/" && return 0
        sleep 1
    done
    return 1
}
worker() { # RUN NODE: the pid of the training process below torchrun
    agent=$(./mtlaunch status "$1" --json | "$python" -c "import json,sys; print(json.load(sys.stdin)['nodes'][$2]['pid'])")
    pgrep -P "$agent" | head -1
}

hang() { # RUN [SECONDS]: rank 1 sleeps before a collective. SECONDS: NCCL's own time limit ends it, else the stall does
    run=$1 limit=${2:-3600}
    say "one rank never joins a collective${2:+; NCCL gives up after $2 s}"
    mkdir -p /tmp/gpu/job
    cat >/tmp/gpu/job/hang.py <<'PY'
import datetime
import os
import time

import torch
import torch.distributed as dist


def load_batch(step):
    if step == 25 and dist.get_rank() == 1:
        time.sleep(3600)
    return torch.ones(1 << 20, device="cuda")


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=int(os.environ["LIMIT"])))
    for step in range(1000):
        batch = load_batch(step)
        dist.all_reduce(batch)
        torch.cuda.synchronize()
        print(f"step {step}", flush=True)


main()
PY
    cat >/tmp/gpu/job/hang.yaml <<YAML
job: hang
launcher: torchrun
python: $python
program: hang.py
workdir: /tmp/gpu/job
stop: {grace: 10s}
YAML
    [ "$limit" != 3600 ] || printf 'stall: 20s\non_stall: stop\n' >>/tmp/gpu/job/hang.yaml
    ./mtlaunch start /tmp/gpu/job/hang.yaml "$run" --hosts 'gpu0 slots=1,gpu1 slots=1' --artifacts /tmp/gpu/artifacts \
        -e NCCL_NVLS_ENABLE=0 -e NCCL_IB_DISABLE=1 -e LIMIT="$limit" 2>&1 | tail -1
    sleep 10
    ./mtlaunch stacks "$run" ${pyspy:+--py-spy "$pyspy"}
    timeout 150 ./mtlaunch wait "$run" 2>&1 | tail -3
    ./mtlaunch status "$run" | head -8
    ./mtlaunch diagnose "$run" --json >"$out/$run.diagnose.json"
    ./mtlaunch diagnose "$run" | tee "$out/$run.diagnose"
    find /tmp/gpu/artifacts/run_state -path "*$run*.fr/*" -exec ls -l {} +
    if grep -qE 'rank 1' "$out/$run.diagnose"; then ok "the missing rank is named"; else bad "$run"; fi
    if grep -q 'COLLECTIVE_UNJOINED' "$out/$run.diagnose.json"; then ok "from the flight recorder's dumps"; else bad "$run: no dump was read"; fi
}

oom() {
    say "memory runs out"
    start gpu_oom z1 --set args.train-iters=5 --set args.micro-batch-size=64 --set args.global-batch-size=128 --set args.seq-length=8192 \
        --set args.max-position-embeddings=8192 --set args.recompute-granularity=null --set args.recompute-method=null \
        --set args.recompute-num-layers=null --wait --timeout 3m >"$out/oom.log" 2>"$out/oom.err"
    tail -3 "$out/oom.err"
    ./mtlaunch diagnose gpu_oom
    if ./mtlaunch status gpu_oom --json | grep -qi 'CUDA out of memory'; then ok "CUDA out of memory is the reason"; else bad "out of memory"; fi
}

killed() {
    say "a worker is killed; the run says why it ended"
    start gpu_killed z1 --set args.train-iters=200 2>&1 | tail -1
    reached gpu_killed 3 || bad "no iteration 3"
    kill -9 "$(worker gpu_killed 1)"
    timeout 120 ./mtlaunch wait gpu_killed 2>&1 | tail -2
    ./mtlaunch status gpu_killed | head -8
    if ./mtlaunch status gpu_killed --json | grep -q 'gpu1.*SIGKILL'; then ok "SIGKILL on gpu1 is the reason"; else bad "killed"; fi
}

resume() { # LEVEL
    run=gpu_resume_$1
    say "a worker is killed at level $1; the run starts again from its checkpoint"
    # shellcheck disable=SC2016 # mtlaunch expands them
    start "$run" "$1" --set args.train-iters=20 --set args.save-interval=5 \
        --set 'args.save=${{artifacts}}/checkpoints/${{run}}' --set 'args.load=${{artifacts}}/checkpoints/${{run}}' \
        --set on_failure=restart --set 'restart={max: 2, backoff: 2s}' 2>&1 | tail -3
    reached "$run" 7 || bad "no iteration 7"
    ./mtlaunch status "$run"
    kill -9 "$(worker "$run" 1)"
    timeout 200 ./mtlaunch wait "$run" >"$out/$run.wait" 2>&1
    code=$?
    ./mtlaunch status "$run"
    ./mtlaunch logs "$run" --node 1 -n all >"$out/$run.log" 2>/dev/null
    first=$(sed -n 's/.* iteration  *\([0-9]*\)\/.*/\1/p' "$out/$run.log" | head -1)
    echo "exit $code, first iteration of the last attempt: ${first:-none}"
    ./mtlaunch show "$run" --events 2>/dev/null | tail -12
    if [ "$code" = 0 ] && [ "${first:-0}" = 6 ]; then ok "restarted at the saved iteration"; else bad "resume $1"; tail -5 "$out/$run.log"; fi
}

for part in ${PARTS:-hang hang_timeout oom killed resume_z0 resume_z2}; do
    case $part in
    resume_*) resume "${part#resume_}" ;;
    hang) hang gpu_hang ;;
    hang_timeout) hang gpu_hang_timeout 30 ;;
    oom) oom ;;
    killed) killed ;;
    *) bad "no part '$part'" ;;
    esac
done
./mtlaunch list
for gpu in 0 1; do kill "$(cat /tmp/gpu/sshd$gpu.pid)"; done
exit "$failed"
