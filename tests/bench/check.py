"""`check` on many nodes beside a bare `exec true`: wall, sessions and commands a node (run by make bench).

    python3 tests/bench/check.py MTLAUNCH [--nodes 64] [--runs 3]

All nodes share this machine's cores, so their work takes longer than on machines of their own. It is told apart: with -v
the command says how long each node took, and what the wall has beyond the slowest one is compared with `exec true`.
The slowest probe of the first row only sleeps: nvidia-smi takes five seconds on every node.
"""
import argparse
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from cluster import UID, Cluster  # noqa: E402  pylint: disable=wrong-import-position

PROBE_S = 5
JOB = "launcher: script\nnproc_per_node: 1\nhostfile: hosts.txt\nprogram: [sleep, '600']\nsetup: ['PATH=$HOME/bin:$PATH']\n"
SMI = f"#!/bin/sh\nsleep {PROBE_S}\necho '0, 4, 143771, 0, 550.54, NVIDIA H200'\n"


def sessions(cluster):
    """Logins and commands that the sshd of all nodes have written down, at most on a node."""
    most = [0, 0]
    for name in cluster.names:
        log = cluster.exec(name, "cat /run/lab/sshd.log", user=False).stdout
        most = [max(most[0], log.count("Accepted publickey")), max(most[1], log.count("Starting session"))]
        cluster.exec(name, ": >/run/lab/sshd.log", user=False)
    return most


def measure(cluster, *argv):
    """Wall seconds, and those that the slowest node took by itself (0 where the command does not say it)."""
    begin = time.monotonic()
    done = cluster.run(*argv, timeout=600)
    wall = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return wall, max([float(s) for s in re.findall(r": ([0-9.]+) s there", done.stderr)], default=0)


def bench(count, binary, runs):
    with Cluster(count, mtlaunch=binary) as cluster:
        for name, text in (("job.yaml", JOB), ("smi", SMI)):
            path = cluster.head_home / name
            path.write_text(text)
            path.chmod(0o755)
            os.chown(path, UID, UID)
        cluster.put(str(cluster.head_home / "smi"), target="bin/nvidia-smi")
        hosts = ",".join(cluster.names)
        commands = {
            "exec true": ("mtlaunch", "exec", "-H", hosts, "true"),
            "check, slowest probe 5 s": ("mtlaunch", "check", "job.yaml", "-v", "--only", "reach,memory"),
            "check, all": ("mtlaunch", "check", "job.yaml", "-v"),
        }
        bare = None
        for name, argv in commands.items():
            sessions(cluster)
            samples = [measure(cluster, *argv) for _ in range(runs)]
            most = sessions(cluster)
            wall, there = min(samples, key=lambda sample: sample[0] - sample[1])
            bare = bare or wall
            print(f"{count:>5}  {name:<26} {wall:8.2f} {there:12.2f} {(wall - there) / bare:10.2f} {most[0] / runs:9.0f} {most[1] / runs:9.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch")
    parser.add_argument("--nodes", default="64")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if not Cluster.permitted():
        sys.exit("bench: needs root and namespaces")
    print(f"load {os.getloadavg()[0]:.0f}")
    print("nodes  command                      wall s slowest node   the rest  sessions  commands   (best of "
          f"{options.runs}; the rest: wall without the slowest node, to exec)")
    for count in options.nodes.split(","):
        bench(int(count), os.path.abspath(options.mtlaunch), options.runs)


if __name__ == "__main__":
    main()
