"""A large file, and many small ones, to several nodes, beside rsync, scp, clush --copy and pdcp (run by make bench).

    python3 tests/bench/push.py MTLAUNCH [--nodes 1,4,16] [--mib 1024] [--files 10000]

All nodes share this machine's cores and disk, so absolute figures say little: the ratios to rsync do. rsync and scp copy to one
host at a time here, as in a loop of a script. "out" is what left the head's network. It takes (nodes + 1) times MIB of disk.
"""
import argparse
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from cluster import UID, Cluster  # noqa: E402  pylint: disable=wrong-import-position
from launch import measure  # noqa: E402  pylint: disable=wrong-import-position

CHUNK = 1 << 20


def make_large(path, mib):
    with open(path, "wb") as file:
        for _ in range(mib):
            file.write(os.urandom(CHUNK))
    os.chown(path, UID, UID)


def make_small(folder, files):
    for number in range(files):
        place = folder / f"d{number // 100}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_bytes(os.urandom(4096))
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, UID, UID)


def one_by_one(command, cluster):
    return ["sh", "-c", "; ".join(command.format(host=name) for name in cluster.names)]


def clear(cluster):
    for name in cluster.names:
        for item in cluster.node_home(name).iterdir():
            if item.name in ("large", "small"):
                shutil.rmtree(item) if item.is_dir() else item.unlink()


def commands(cluster, what):
    hosts = ",".join(cluster.names)
    flag = "-r " if what == "small" else ""
    push = ["mtlaunch", "push", "-q", what, ".", "-H", hosts]
    found = {
        "rsync -a": one_by_one(f"rsync -a {what} {{host}}:", cluster),
        "mtlaunch push": push,
        "mtlaunch push --relay": [*push, "--relay"],
        "scp": one_by_one(f"scp -O -q {flag}{what} {{host}}:", cluster),
        "clush --copy": ["clush", "-q", "-O", "scp_options=-O", "-w", hosts, "--copy", what, "--dest", "./"],
        "pdcp": ["pdcp", "-R", "ssh", "-r", "-w", hosts, what, "."],
    }
    if len(cluster.names) == 1:
        del found["mtlaunch push --relay"]
    return found


def held(place):
    """How many files stand there, and their bytes."""
    files = [item for item in [place, *place.rglob("*")] if item.is_file()]
    return len(files), sum(item.stat().st_size for item in files)


def check(cluster, what, command):
    """What was not copied is no measurement."""
    for name in cluster.names:
        if held(cluster.node_home(name) / what) != held(cluster.head_home / what):
            sys.exit(f"bench: '{command}' did not copy '{what}' to {name}")


def sent_mib(cluster):
    link = json.loads(cluster.in_head_net(["ip", "-s", "-j", "link", "show", "br0"]))[0]
    return link["stats64"]["tx"]["bytes"] / CHUNK


def sample_of(cluster, words):
    before = sent_mib(cluster)
    wall, cpu = measure(cluster, *words, timeout=3600)
    return wall, cpu, sent_mib(cluster) - before


def show(count, what, name, sample, peer):
    wall, cpu, out = sample
    print(f"{count:>5}  {what:<5} {name:<22} {wall:8.2f} {cpu:8.2f} {out:10.1f} {wall / peer[0]:10.2f} {cpu / peer[1]:10.2f}", flush=True)


def bench(count, options, samples):
    with Cluster(count, mtlaunch=os.path.abspath(options.mtlaunch)) as cluster:
        make_large(cluster.head_home / "large", options.mib)
        make_small(cluster.head_home / "small", options.files)
        for what in ("large", "small"):
            peer = None
            for name, words in commands(cluster, what).items():
                clear(cluster)
                sample = samples[count, what, name] = sample_of(cluster, words)
                check(cluster, what, name)
                peer = peer or sample
                show(count, what, name, sample, peer)
                if name in ("rsync -a", "mtlaunch push"):
                    sample = samples[count, what, name + " again"] = sample_of(cluster, words)
                    show(count, what, name + " again", sample, peer)


def show_goals(samples):
    """What is aimed at, for the machine that it ran on."""
    counts = sorted({count for count, _, _ in samples})
    least, most = counts[0], counts[-1]
    goals = [(f"large file to {least}: push / rsync", samples[least, "large", "mtlaunch push"][0] / samples[least, "large", "rsync -a"][0], 1)]
    if most > 1:
        relay = samples[most, "large", "mtlaunch push --relay"]
        one = samples[least, "large", "mtlaunch push"]
        goals += [(f"large file, --relay to {most} / push to {least}: time", relay[0] / one[0], 1.3),
                  (f"large file, --relay to {most} / push to {least}: out", relay[2] / one[2], 1.3)]
    goals += [(f"small files to {count} again, seconds a host", samples[count, "small", "mtlaunch push again"][0] / count, 1)
              for count in counts]
    print()
    for text, found, goal in goals:
        print(f"{text:<60} {found:8.2f}   aim: {goal}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch")
    parser.add_argument("--nodes", default="1,4,16")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=10000)
    options = parser.parse_args()
    if not Cluster.permitted():
        sys.exit("bench: needs root and namespaces")
    print("nodes  what  command                  wall s    CPU s    MiB out wall ratio  CPU ratio   (ratios to the first copy of rsync)")
    samples = {}
    for count in options.nodes.split(","):
        bench(int(count), options, samples)
    show_goals(samples)


if __name__ == "__main__":
    main()
