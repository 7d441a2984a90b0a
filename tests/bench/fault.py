"""From a fault to the proven end of a run on all nodes, beside torchrun alone (run by make bench).

    python3 tests/bench/fault.py [--limit 90]

A worker, or a node's torchrun, is killed with -9 in the midst of an all-reduce over four nodes (gloo). "alone" is
the same job with nobody watching: the time until the last torchrun has noticed by itself, or the limit.
"""
import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from cluster import Cluster, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from conftest import BINARY, TORCH_ENV, Lab  # noqa: E402  pylint: disable=wrong-import-position


def workers(lab, node):
    return [p for p in lab.cluster.user_ps(node) if "allreduce.py" in p.command and "python" in p.command]


def strike(lab, agent):
    for process in workers(lab, "node3"):
        if ("torch.distributed.run" in process.command) == agent:
            os.kill(process.host_pid, signal.SIGKILL)
            return


def measure(lab, run, agent, alone, limit):
    """Seconds until nothing of the run lives, or None when the limit came first."""
    more = ["--no-supervise"] if alone else []
    lab.mt("start", "torchrun_allreduce.yaml", run, "--set", "args.seconds=600", "--set", "stop.grace=5s", *more, *TORCH_ENV)
    wait_for(lambda: "step 1: sum" in lab.mt("logs", run, "-n", "all").out, "the first steps", 90, 0.5)
    strike(lab, agent)
    begun = time.monotonic()
    record = lab.home / ".local/state/mtlaunch/runs" / run / "run.json"

    def over():
        if alone:
            return not [n for n in lab.names if any("torch.distributed.run" in p.command for p in workers(lab, n))]
        return json.loads(record.read_text())["state"] == "failed"

    while not over() and time.monotonic() - begun < limit:
        time.sleep(0.1)
    taken = time.monotonic() - begun
    ended = over()
    lab.mt("stop", run, code=None)
    lab.mt("remove", run, code=None)
    return taken if ended else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=90)
    options = parser.parse_args()
    with Cluster(4, mtlaunch=BINARY) as cluster:
        lab = Lab(cluster)
        cluster.put(str(ROOT / "examples" / "allreduce.py"))
        lab.write("torchrun_allreduce.yaml", (ROOT / "examples" / "torchrun_allreduce.yaml").read_bytes())
        print(f"{'killed':<10} {'watched by mtlaunch':>20} {'torchrun alone':>16}")
        for name, agent in (("worker", False), ("torchrun", True)):
            row = [measure(lab, f"{name}{int(alone)}", agent, alone, options.limit) for alone in (False, True)]
            print(f"{name:<10} " + " ".join(f"{f'{r:.1f} s' if r else f'> {options.limit:.0f} s':>{w}}"
                                            for r, w in zip(row, (20, 16))))


if __name__ == "__main__":
    main()
