"""From a fault to the proven end of a run on all nodes, beside torchrun alone (run by make bench).

    python3 tests/bench/fault.py [--limit 90] [--nodes 64]

A worker, or a node's torchrun, is killed with -9 in the midst of an all-reduce over four nodes (gloo). "alone" is
the same job with nobody watching: the time until the last torchrun has noticed by itself, or the limit.

Then one of many nodes exits with 3: the time until no process of the job lives on any node, and until the record says
that the run has failed and why, which it does once each node has proven that nothing is left there.
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
from cluster import Cluster, start_ticks, wait_for  # noqa: E402  pylint: disable=wrong-import-position
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


EXITS = "while [ ! -e $HOME/fail ]; do sleep 0.1; done; exit 3"


def exit_of_one(count, runs):
    with Cluster(count, mtlaunch=BINARY) as cluster:
        lab = Lab(cluster)
        lab.job("job.yaml", hosts=",".join(lab.names), stop={"grace": "5s"}, program=EXITS)
        print(f"\n{'nodes':>5} {'job gone':>10} {'recorded':>10}   (one of them exits with 3)")
        for number in range(runs):
            lab.mt("start", "job.yaml", f"r{number}")
            time.sleep(5)
            record = lab.home / ".local/state/mtlaunch/runs" / f"r{number}" / "run.json"
            job = [p for name in lab.names for p in lab.cluster.user_ps(name) if "exit 3" in p.command]
            lab.node_file("node3", "fail").write_text("")
            begun, gone = time.monotonic(), None
            while json.loads(record.read_text())["state"] != "failed":
                if gone is None and not any(start_ticks(p.host_pid) == p.ticks for p in job):
                    gone = time.monotonic() - begun
                time.sleep(0.05)
            print(f"{count:>5} {gone:>8.1f} s {time.monotonic() - begun:>8.1f} s")
            lab.node_file("node3", "fail").unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=90)
    parser.add_argument("--nodes", type=int, default=64)
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
    exit_of_one(options.nodes, 3)


if __name__ == "__main__":
    main()
