"""Why a run failed: real torchrun jobs on four nodes; the reason names node, rank and cause within seconds, and so does
`diagnose`.

Thirty crashes, the culprit moving over nodes and ranks, by two versions of torch. Ten of them run, taken by
$MTLAUNCH_SEED; all with MTLAUNCH_CRASHES=all."""
import os
import random
import re
from datetime import datetime

import pytest

from conftest import ROOT, TORCH_ENV

SEED = int(os.environ.get("MTLAUNCH_SEED", "0"))
REASON_S = 5  # from the end of the last node, whose clock shows whole seconds
KILLED = "killed by SIGKILL: by hand, or the machine ran out of memory"
# What the reason says behind host, node and rank.
KINDS = {
    "raise": r"ValueError: shape mismatch: 3 and 4 \(crash\.py:18\)",
    "assert": r"AssertionError: loss is positive \(crash\.py:\d+\)",
    "oom": r"CUDA out of memory on gpu0: tried to allocate 8\.00 GiB of 139\.80 GiB \(7\.96 GiB free\) \(crash\.py:\d+\)",
    "file": r"FileNotFoundError: \[Errno 2\] No such file or directory: 'shard_7\.bin' \(crash\.py:\d+\)",
    "module": r"ModuleNotFoundError: No module named 'crash_extra' \(crash\.py:11\)",
    "kill": re.escape(KILLED),
    "agent": re.escape(KILLED),
    "segv": r"killed by SIGSEGV, a segmentation fault \(crash\.py:\d+\)$",
    "status": r"exit status 7$",
    "port": r"the master port [0-9]+ is in use: another program listens on it$",
    "interface": r"no such network interface: GLOO_SOCKET_IFNAME names none of this node",
    "never": r"did not (answer at|join the rendezvous|come to the (rendezvous|set-up))",
}
WHOLE_NODE = ("file", "module", "interface")  # every rank of the node fails
NO_RANK = ("agent", "port", "never")
# torchrun called by the job itself, so that its patience is short, and so that something comes before it: one node never
# gets so far, or another program takes the master port after mtlaunch found it free.
BEFORE = {"never": "[ $NODE_RANK != {node} ] || exec sleep 600", "port": "[ $NODE_RANK != 0 ] || python3 hold_port.py $MASTER_PORT"}
TORCHRUN = ("{before}; exec {python} -m torch.distributed.run --nnodes=4 --node_rank=$NODE_RANK "
            "--nproc_per_node={nproc} --rdzv_id=$MTLAUNCH_RUN_ID {rendezvous} crash.py none -1")
STATIC = "--rdzv_backend=static --rdzv_conf=timeout=15 --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT"
C10D = ("--rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT "
        "--rdzv_conf=join_timeout=15,timeout=15,is_host=$([ $NODE_RANK = 0 ] && echo true || echo false)")


def crashes():
    """(kind, node, local rank, processes a node, is it the newer torch)"""
    for number in range(30):
        kind = list(KINDS)[number % len(KINDS)]
        node = 0 if kind == "port" else (number * 3 + number // 12) % 4
        nproc = 2 if number % 3 == 0 and kind not in BEFORE else 1
        yield kind, node, number // 4 % nproc, nproc, (number + number // 12) % 2 == 1


ALL = list(crashes())
CHOSEN = ALL if os.environ.get("MTLAUNCH_CRASHES") == "all" else random.Random(SEED).sample(ALL, 10)


def name_of(crash):
    kind, node, local_rank, nproc, newer = crash
    return f"{kind}-node{node + 1}-{local_rank}of{nproc}-torch{2 if newer else 1}"


def write_job(lab, crash, python):
    kind, node, local_rank, nproc, newer = crash
    hosts = [f"node{i + 1}" for i in range(4)]
    lab.program("crash.py")
    lab.program("hold_port.py")
    for i, host in enumerate(hosts):
        if i != node:
            lab.node_file(host, "shard_7.bin").touch()
            lab.node_file(host, "crash_extra.py").touch()
    if kind == "interface":
        hosts[node] += " env.GLOO_SOCKET_IFNAME=nosuch0"
    if kind in BEFORE:
        line = TORCHRUN.format(before=BEFORE[kind].format(node=node), python=python or "python3", nproc=nproc,
                               rendezvous=C10D if kind == "never" and not newer else STATIC)
        extra = {"launcher": "script", "program": ["sh", "-c", line]}
    else:
        extra = {"launcher": "torchrun", "program": "crash.py", "args": [kind, str(node * nproc + local_rank)],
                 "nproc_per_node": nproc, "python": python}
    lab.job("c.yaml", hosts=hosts, start_timeout="5m", stop={"grace": "2s"}, **extra)


def seconds(time):
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


@pytest.mark.parametrize("crash", CHOSEN, ids=name_of)
def test_the_reason_names_the_culprit(lab, crash, request):
    kind, node, local_rank, nproc, newer = crash
    write_job(lab, crash, request.getfixturevalue("newer_torch") if newer else None)
    done = lab.mt("start", "c.yaml", "r", "--wait", "--timeout", "180", *([] if newer else TORCH_ENV), code=1, timeout=240)
    status = lab.status("r")
    rank = rf", rank {node * nproc + local_rank}"
    if kind in WHOLE_NODE:
        rank = rf", rank [{node * nproc}-{node * nproc + nproc - 1}]"
    elif kind in NO_RANK:
        rank = f"({rank})?"
    assert status["state"] == "failed"
    assert re.match(rf"node{node + 1} \(node {node}{rank}\): {KINDS[kind]}", status["reason"]), status["reason"]
    assert "\n" not in status["reason"] and f"mtlaunch: run 'r' failed: {status['reason']}\n" in done.err
    assert re.search(r"^mtlaunch: warning: node\d (exited with \d+|was killed by SIG[A-Z]+), looking for the cause", done.err, re.M), done.err
    (failed,) = [seconds(e["time"]) for e in status["events"] if e["event"] == "failed"]
    ended = max(seconds(n["ended"]) for n in status["nodes"])
    assert failed - ended <= REASON_S + 1, (failed - ended, status)
    found = lab.mt("diagnose", "r", "--json", timeout=60).json
    assert found["cause"]["hosts"] == [f"node{node + 1}"] and found["cause"]["summary"] in status["reason"]
    assert found["cause"]["confidence"] == ("medium" if kind == "never" else "high")
    assert f"cause: node{node + 1} " in lab.mt("diagnose", "r", timeout=60).out.splitlines()[0]
    lab.assert_nothing_left()


@pytest.mark.parametrize("where", ["files", "log"])
def test_an_exception_deep_in_the_program(lab, newer_torch, where):
    """Forty frames; in the log, or in the workers' own files, so that only torch's error file tells it."""
    lab.program("recorded.py")
    more = {"launcher_args": ["--log_dir=out", "--redirects=3"]} if where == "files" else {}
    lab.job("c.yaml", hosts="node[1-2]", launcher="torchrun", program="recorded.py", python=newer_torch, start_timeout="5m", **more)
    lab.mt("start", "c.yaml", "r", "--wait", "--timeout", "180", code=1, timeout=240)
    assert lab.status("r")["reason"] == "node2 (node 1, rank 1): LookupError: sample 4711 is damaged (recorded.py:15)"
    evidence = lab.mt("diagnose", "r", "--json", timeout=60).json["cause"]["evidence"]
    assert evidence["text"] == "LookupError: sample 4711 is damaged" and "sample 4711" not in lab.log("r", 0).decode()
    assert evidence["file"].endswith("/r_node1.log") and evidence["line"] > 40
    (error_file,) = lab.node_file("node2", "out").glob("r-*/attempt_0/0/error.json") if where == "files" else [None]
    if error_file:  # as after a torchrun that was ended before it could say anything
        lab.node_file("node2", ".mtlaunch", "logs", "r_node1.log").write_text(f"  error_file: /home/lab/out/{error_file.parents[2].name}/attempt_0/0/error.json\n")
        found = lab.mt("diagnose", "r", timeout=60).out
        assert "rank 1): LookupError: sample 4711 is damaged (recorded.py:15)" in found and "/attempt_0/0/error.json: LookupError" in found
