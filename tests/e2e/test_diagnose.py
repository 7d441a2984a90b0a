"""Why a run failed: real torchrun jobs in which one rank fails; the reason names it, and so does `diagnose`."""
import re

import pytest

from conftest import ROOT, TORCH_ENV

KILLED = "killed by SIGKILL: by hand, or the machine ran out of memory"
# kind, global rank, processes a node, what the reason begins with
CRASHES = [
    ("raise", 2, 1, "node3 (node 2, rank 2): ValueError: shape mismatch: 3 and 4 (crash.py:18)"),
    ("kill", 3, 2, f"node2 (node 1, rank 3): {KILLED}"),
    ("agent", 0, 1, f"node1 (node 0): {KILLED}"),
    ("status", 5, 2, "node3 (node 2, rank 5): exit status 7"),
    ("file", 3, 1, "node4 (node 3, rank 3): FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_7.bin' (crash.py:"),
    ("module", 1, 1, "node2 (node 1, rank 1): ModuleNotFoundError: No module named 'flash_attn_missing' (crash.py:11)"),
    ("oom", 1, 1, "node2 (node 1, rank 1): CUDA out of memory on gpu0: tried to allocate 8.00 GiB of 139.80 GiB (7.96 GiB free)"),
    ("segv", 3, 1, "node4 (node 3, rank 3): killed by SIGSEGV"),
    ("assert", 0, 2, "node1 (node 0, rank 0): AssertionError: loss is positive (crash.py:"),
]


@pytest.mark.parametrize("kind, rank, nproc, reason", CRASHES, ids=[crash[0] for crash in CRASHES])
def test_the_reason_names_the_rank_that_failed(torch_lab, kind, rank, nproc, reason):
    lab = torch_lab
    lab.cluster.put(str(ROOT / "tests" / "e2e" / "programs" / "crash.py"))
    lab.job("c.yaml", launcher="torchrun", program="crash.py", args=[kind, str(rank)], nproc_per_node=nproc,
            hosts="node[1-4]", start_timeout="5m")
    done = lab.mt("start", "c.yaml", "r", "--wait", "--timeout", "180", *TORCH_ENV, code=1, timeout=240)
    assert reason in done.err
    status = lab.status("r")
    assert status["state"] == "failed" and status["reason"].startswith(reason), status["reason"]
    assert "\n" not in status["reason"]
    assert re.search(r"^mtlaunch: .*node\d (exited with \d+|was killed by SIG[A-Z]+), looking for the cause", done.err, re.M), done.err
    found = lab.mt("diagnose", "r", "--json", timeout=60).json
    assert found["cause"]["summary"] in reason + status["reason"]
    assert found["cause"]["hosts"] == [reason.split()[0]] and found["cause"]["confidence"] == "high"
    assert reason.split(" (")[0] in lab.mt("diagnose", "r", timeout=60).out.splitlines()[0]
    lab.assert_nothing_left()
