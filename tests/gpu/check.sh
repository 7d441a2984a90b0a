#!/bin/bash
# `check` and `check --comm` of the real Megatron job on two GPUs as two SSH nodes, and what they find when something is
# wrong: a GPU in use, a wrong interface, a strategy flag that Megatron does not have.
#   bash tests/gpu/check.sh DEBS MEGATRON PYTHON [OUT]     as root, in the repository; see README.md
set -u
# shellcheck disable=SC1091
. tests/gpu/setup.sh "$1"
megatron=$2 python=$3 out=${4:-/tmp/gpu/out}
mkdir -p "$out"
failed=0
ok() { echo "ok: $*"; }
bad() { echo "FAILED: $*"; failed=1; }
say() { echo "--- $*"; }
check() { # OPTION…: Qwen3-1.7B's shape, as run.sh starts it
    ./mtlaunch check examples/qwen3_1p7b.yaml --profile smoke --profile plain --profile z1 \
        --hosts 'gpu0 slots=1,gpu1 slots=1' --artifacts /tmp/gpu/artifacts --set "workdir=$megatron" \
        --set "python=$python" --set "setup=[\"export PATH=${python%/*}:\$PATH\"]" --set args.global-batch-size=8 \
        -e NCCL_NVLS_ENABLE=0 -e NCCL_IB_DISABLE=1 -e TORCHDYNAMO_DISABLE=1 -e NO_VCS_VERSION=1 "$@"
}
severities() { # FILE ID: of its findings
    "$python" -c "import json,sys; print(*sorted(f['severity'] for f in json.load(open(sys.argv[1]))['findings'] if f['id'] == sys.argv[2]))" "$1" "$2"
}

say "check"
began=$(date +%s%N)
check
echo "exit $?, $((($(date +%s%N) - began) / 1000000)) ms"
check --json >"$out/check.json"
for id in gpus memory versions program interpreter; do
    case $(severities "$out/check.json" "$id") in
    '' | *fail*) bad "$id: $(severities "$out/check.json" "$id")" ;;
    *) ok "$id" ;;
    esac
done

say "check --comm"
began=$(date +%s%N)
check --only reach --comm
code=$?
echo "exit $code, $((($(date +%s%N) - began) / 1000000)) ms"
if [ "$code" = 0 ]; then ok "all-reduce"; else bad "all-reduce: exit $code"; fi
check --only reach --comm --json >"$out/comm.json"
if "$python" -c "
import json, sys
comm = json.load(open(sys.argv[1]))['comm']
print(json.dumps(comm, indent=1))
assert comm['backend'] == 'nccl' and comm['whole']['nodes'] == 2 and comm['whole']['bytes_per_second'] > 1e8
assert {n['transport'] for n in comm['nodes']} == {'Socket'}
" "$out/comm.json"; then ok "NCCL over sockets is named"; else bad "figures of the all-reduce"; fi
if [ -z "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)" ]; then ok "no GPU memory is held"; else bad "GPU memory"; fi

say "somebody uses GPU 1"
CUDA_VISIBLE_DEVICES=1 "$python" -c "
import time, torch
x = torch.empty(8 << 30, dtype=torch.uint8, device='cuda')
print('held', flush=True)
time.sleep(600)" >"$out/holder" &
holder=$!
for _ in $(seq 60); do grep -q held "$out/holder" && break; sleep 1; done
check --only memory; code=$?
if [ "$code" = 4 ]; then ok "the user of the GPU is named"; else bad "memory in use: exit $code"; fi
kill "$holder"
wait "$holder" 2>/dev/null

say "an interface that is not there"
check --only nic -e NCCL_SOCKET_IFNAME==bond9; code=$?
if [ "$code" = 4 ]; then ok "bond9"; else bad "interface: exit $code"; fi
say "all-reduce over it"
check --only reach --comm -e NCCL_SOCKET_IFNAME==bond9; code=$?
if [ "$code" = 4 ]; then ok "NCCL's own words"; else bad "all-reduce over bond9: exit $code"; fi

say "interrupted"
check --only reach --comm >/dev/null 2>&1 & pid=$!
sleep 12
kill -INT "$pid"
wait "$pid"; code=$?
sleep 1
if [ "$code" = 130 ] && [ -z "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)" ]; then ok "nothing is left"; else
    bad "interrupted: exit $code"; nvidia-smi; fi
for gpu in 0 1; do kill "$(cat /tmp/gpu/sshd$gpu.pid)"; done
exit "$failed"
