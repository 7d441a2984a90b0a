"""Start latency and client CPU per host on 16 and 64 nodes, beside pdsh -R ssh (run by make bench).

    python3 tests/bench/launch.py MTLAUNCH [--nodes 16,64] [--runs 3]

All nodes share this machine's cores, so absolute figures say little: the ratios to pdsh do.
"""
import argparse
import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from cluster import UID, Cluster  # noqa: E402  pylint: disable=wrong-import-position

JOB = "launcher: script\nhostfile: hosts.txt\nprogram: [sleep, '600']\nstop: {grace: 1s}\n"


def measure(cluster, *argv, timeout=300):
    """Wall seconds, and CPU seconds of the command and its children here."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = cluster.run(*argv, timeout=timeout)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return wall, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def best(samples):
    return min(s[0] for s in samples), min(s[1] for s in samples)


def bench(count, binary, runs):
    with Cluster(count, mtlaunch=binary) as cluster:
        spec = cluster.head_home / "job.yaml"
        spec.write_text(JOB)
        os.chown(spec, UID, UID)
        hosts = ",".join(cluster.names)
        nothing = best([measure(cluster, "true") for _ in range(runs)])
        rows = {"pdsh -R ssh true": [measure(cluster, "pdsh", "-R", "ssh", "-f", "64", "-w", hosts, "true")
                                     for _ in range(runs)]}
        for name in ("start", "status", "stop"):
            rows["mtlaunch " + name] = []
        for number in range(runs):
            run = f"b{number}"
            rows["mtlaunch start"].append(measure(cluster, "mtlaunch", "start", "job.yaml", run, "-q", "--no-supervise"))
            rows["mtlaunch status"].append(measure(cluster, "mtlaunch", "status", run, "-q"))
            rows["mtlaunch stop"].append(measure(cluster, "mtlaunch", "stop", run, "-q"))
    peer = None
    for name, samples in rows.items():
        wall, cpu = (max(x - y, 0.0001) for x, y in zip(best(samples), nothing))
        peer = peer or (wall, cpu)
        print(f"{count:>5}  {name:<18} {wall:8.2f} {1000 * cpu / count:12.1f} {wall / peer[0]:10.2f} {cpu / peer[1]:10.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch")
    parser.add_argument("--nodes", default="16,64")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if not Cluster.permitted():
        sys.exit("bench: needs root and namespaces")
    print("nodes  command              wall s  CPU ms/host  wall ratio  CPU ratio   (best of "
          f"{options.runs}; a start waits one second to see that the job lives)")
    for count in options.nodes.split(","):
        bench(int(count), os.path.abspath(options.mtlaunch), options.runs)


if __name__ == "__main__":
    main()
