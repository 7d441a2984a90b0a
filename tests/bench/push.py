"""A large file, and many small ones, to several nodes, beside rsync, scp and clush --copy (run by make bench).

    python3 tests/bench/push.py MTLAUNCH [--nodes 1,4,16] [--mib 1024] [--files 10000]

All nodes share this machine's cores and disk, so absolute figures say little: the ratios to rsync do. rsync and scp copy to one
host at a time here, as in a loop of a script.
"""
import argparse
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
    return {
        "rsync -a": one_by_one(f"rsync -a {what} {{host}}:", cluster),
        "mtlaunch push": ["mtlaunch", "push", "-q", what, ".", "-H", hosts],
        "scp": one_by_one(f"scp -O -q {flag}{what} {{host}}:", cluster),
        "clush --copy": ["clush", "-q", "-O", "scp_options=-O", "-w", hosts, "--copy", what, "--dest", "./"],
    }


def check(cluster, what, command):
    """What was not copied is no measurement."""
    wanted = sum(1 for item in [cluster.head_home / what, *(cluster.head_home / what).rglob("*")] if item.is_file())
    for name in cluster.names:
        place = cluster.node_home(name) / what
        if sum(1 for item in [place, *place.rglob("*")] if item.is_file()) != wanted:
            sys.exit(f"bench: '{command}' did not copy '{what}' to {name}")


def show(count, what, name, sample, peer):
    wall, cpu = sample
    print(f"{count:>5}  {what:<9} {name:<20} {wall:8.2f} {cpu:8.2f} {wall / peer[0]:10.2f} {cpu / peer[1]:10.2f}", flush=True)


def bench(count, options):
    with Cluster(count, mtlaunch=os.path.abspath(options.mtlaunch)) as cluster:
        make_large(cluster.head_home / "large", options.mib)
        make_small(cluster.head_home / "small", options.files)
        for what in ("large", "small"):
            peer = None
            for name, words in commands(cluster, what).items():
                clear(cluster)
                sample = measure(cluster, *words)
                check(cluster, what, name)
                peer = peer or sample
                show(count, what, name, sample, peer)
                if name in ("rsync -a", "mtlaunch push"):
                    show(count, what, name + " again", measure(cluster, *words), peer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch")
    parser.add_argument("--nodes", default="1,4,16")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=10000)
    options = parser.parse_args()
    if not Cluster.permitted():
        sys.exit("bench: needs root and namespaces")
    print("nodes  what      command               wall s    CPU s wall ratio  CPU ratio   (ratios to the first copy of rsync)")
    for count in options.nodes.split(","):
        bench(int(count), options)


if __name__ == "__main__":
    main()
