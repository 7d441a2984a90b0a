#!/bin/bash
# accelerate and Hugging Face's Trainer over NCCL between two SSH nodes of one GPU each: three that train, one that fails on a
# rank and one that is stopped, with what `status` says of each.
#   bash tests/gpu/trainers.sh DEBS WHEELS PYTHON [OUT]     as root, in the repository; see README.md
#
# WHEELS is a folder with the wheels that PYTHON lacks (an empty one will do where it has them all), for its version and
# architecture. Besides torch they are: accelerate, transformers, huggingface_hub, tokenizers, safetensors, regex, numpy,
# packaging, psutil, pyyaml, tqdm, filelock, fsspec, typer, typing_extensions, httpx, httpcore, h11, anyio, idna, certifi, hf_xet.
# Written for accelerate 1.15.0 and transformers 5.17.0, which huggingface_hub 1.33.0 and tokenizers 0.23.2 go with.
# OUT keeps logs and answers.
set -u
# shellcheck disable=SC1091 # it is checked by itself
. tests/gpu/setup.sh "$1"
wheels=$2 python=$3 out=${4:-/tmp/gpu/out}
mkdir -p "$out" /tmp/gpu/job /tmp/gpu/site
failed=0
ok() { echo "ok: $*"; }
bad() { echo "FAILED: $*"; failed=1; }
say() { echo "--- $*"; }
memory() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | tr '\n' ' '; }
busy() { nvidia-smi --query-compute-apps=pid --format=csv,noheader; }

set -- "$wheels"/*.whl
if [ -e "$1" ]; then
    "$python" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target /tmp/gpu/site "$@" || exit 1
fi
export PYTHONPATH=/tmp/gpu/site
"$python" -c 'import accelerate, torch, transformers
print("torch", torch.__version__, "accelerate", accelerate.__version__, "transformers", transformers.__version__,
      "NCCL", ".".join(map(str, torch.cuda.nccl.version())) if torch.cuda.is_available() else "none")' || exit 1

cp tests/gpu/trainers.py /tmp/gpu/job/
# What `accelerate config` wrote on another machine: nothing in it but the type and the precision may count.
cat >/tmp/gpu/job/copied.yaml <<'YAML'
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
machine_rank: 0
num_machines: 7
num_processes: 9
main_process_ip: 192.0.2.1
main_process_port: 1234
mixed_precision: bf16
YAML
cat >/tmp/gpu/job/trainers.yaml <<YAML
job: trainers
python: $python
program: trainers.py
workdir: /tmp/gpu/job
nproc_per_node: 1
stop: {grace: 10s}
env: {PYTHONPATH: /tmp/gpu/site, HF_HUB_OFFLINE: 1, TOKENIZERS_PARALLELISM: "false", NCCL_DEBUG: INFO, NCCL_NVLS_ENABLE: 0,
  NCCL_IB_DISABLE: 1}
profiles:
  accelerate: {launcher: accelerate, args: [accelerate], progress: {pattern: "step (?P<iteration>[0-9]+)/(?P<total>[0-9]+) loss: (?P<loss>[0-9.]+) step_time: (?P<step_time>[0-9.]+)"}}
  config: {accelerate: {config_file: copied.yaml}}
  trainer: {launcher: torchrun, args: [trainer]}
YAML
start() { # RUN PROFILES [OPTION…]
    run=$1 profiles=()
    for one in $2; do profiles+=(--profile "$one"); done
    shift 2
    ./mtlaunch start /tmp/gpu/job/trainers.yaml "$run" "${profiles[@]}" --hosts 'gpu0 slots=1,gpu1 slots=1' \
        --artifacts /tmp/gpu/artifacts "$@"
}
field() { # RUN EXPRESSION of s, the status: its value
    ./mtlaunch status "$1" --json | "$python" -c "import json, sys; s = json.load(sys.stdin); p = s['progress'] or {}; print($2)"
}

# RUN PROFILES: a run to its end. The row of the note comes from what mtlaunch says of it.
trains() {
    say "$1"
    begin=$(date +%s)
    start "$1" "$2" --wait --timeout 4m >"$out/$1.log" 2>"$out/$1.err"
    code=$?
    seconds=$(($(date +%s) - begin))
    ranks=$(grep -c 'trained {.*"world": 2' "$out/$1.log")
    sockets=$(grep -c 'via NET/Socket' "$out/$1.log")
    peak=$(sed -n 's/.*"peak_mib": \([0-9]*\).*/\1/p' "$out/$1.log" | sort -n | tail -1)
    first=$(grep -oE "loss'?: '?[0-9.]+" "$out/$1.log" | grep -oE '[0-9.]+$' | head -1)
    last=$(field "$1" "p.get('loss')")
    ./mtlaunch status "$1"
    printf 'TABLE %s: exit %s in %s s, %s ranks of 2, %s of %s steps, %s s/step, %s samples/s, loss %s to %s, peak %s MiB, %s NET/Socket\n' \
        "$1" "$code" "$seconds" "$ranks" "$(field "$1" "p.get('iteration')")" "$(field "$1" "p.get('total')")" \
        "$(field "$1" "p.get('step_time')")" "$(field "$1" "p.get('samples_per_second')")" "${first:-none}" "$last" "${peak:-none}" \
        "$sockets"
    if [ "$code" = 0 ] && [ "$ranks" = 2 ] && [ "$sockets" -gt 0 ] && [ "$(field "$1" "p.get('iteration')")" = 100 ] &&
        "$python" -c "import sys; sys.exit(not float('$last') < 0.5 * float('${first:-0}'))"; then
        ok "$1 trains over two nodes, and status says how far"
    else
        bad "$1"
        tail -5 "$out/$1.err"
        grep -E 'Error|error' "$out/$1.log" | tail -5
    fi
}

# RUN PROFILES: rank 1 raises in mid-run, and the run says so.
fails() {
    say "$1"
    start "$1" "$2" --wait --timeout 3m -- --fail-at 20 >"$out/$1.log" 2>"$out/$1.err"
    code=$?
    ./mtlaunch status "$1"
    reason=$(field "$1" "s['reason']")
    case $code,$reason in
    1,*gpu1*'ValueError: rank 1 fails at step 20'*) ok "$1: $reason" ;;
    *) bad "$1: exit $code, $reason" ;;
    esac
    [ -z "$(busy)" ] || bad "$1 left processes on the GPUs"
}

# RUN PROFILES: stopped once it trains.
stops() {
    say "$1"
    start "$1" "$2" -- --steps 100000 2>&1 | tail -1
    for _ in $(seq 90); do
        [ "$(field "$1" "(p.get('iteration') or 0) >= 20")" = True ] && break
        sleep 1
    done
    ./mtlaunch status "$1"
    echo "running: $(memory)MiB"
    before=$(date +%s%N)
    ./mtlaunch stop "$1" >"$out/$1.stop" 2>&1
    code=$?
    echo "stop: exit $code, $((($(date +%s%N) - before) / 1000000)) ms; after: $(memory)MiB"
    if [ "$code" = 0 ] && [ "$(field "$1" "s['state']")" = stopped ] && [ -z "$(busy)" ]; then
        ok "$1 is stopped, and both GPUs are free"
    else
        bad "$1"
        cat "$out/$1.stop"
    fi
}

echo "before: $(memory)MiB"
trains gpu_accelerate "accelerate"
trains gpu_accelerate_config "accelerate config"
trains gpu_trainer "trainer"
fails gpu_accelerate_fails "accelerate"
fails gpu_trainer_fails "trainer"
stops gpu_accelerate_stops "accelerate"
stops gpu_trainer_stops "trainer"

./mtlaunch list
for gpu in 0 1; do kill "$(cat /tmp/gpu/sshd$gpu.pid)"; done
exit "$failed"
