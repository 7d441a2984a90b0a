"""What watching a run costs while nothing happens: the head, the wire, a busy node (run by make bench).

    python3 tests/bench/rest.py MTLAUNCH [--nodes 256] [--seconds 60] [--processes 500]

All nodes are addresses of one sshd that serves 127/8; none of them is taken for this machine, so each has a session
and a watch of its own. CPU seconds are the kernel's own nanoseconds; bytes are those of IP and TCP as well, both ways.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from scale import Server, addresses

HEAD_BUDGET, WIRE_BUDGET, NODE_BUDGET = 0.6, 40, 0.5  # % of a core, bytes/s a node, % of a core
SEGMENT = 20 + 32  # IPv4, TCP with time stamps
SETTLE = 20  # seconds: what a start leaves to be done is done


def mtlaunch(server, binary, *args):
    done = subprocess.run([binary, *args], env=server.env, cwd=server.dir, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"mtlaunch {' '.join(args)} ended with {done.returncode}")
    return done.stdout


def stop(server, binary, run):
    """Again where it was not proven at once: the addresses are one machine, whose load this very stop is."""
    for _ in range(5):
        if subprocess.run([binary, "stop", run, "-q"], env=server.env, cwd=server.dir, stdout=subprocess.DEVNULL,
                          check=False).returncode == 0:
            return
    sys.exit(f"run '{run}' is not gone")


def read(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def own_cpu(pid):
    """Seconds that all threads of a process have run."""
    return sum(int((read(task / "schedstat") or "0").split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def family_cpu(pid):
    """Seconds of a process and of the children it has waited for."""
    fields = read(f"/proc/{pid}/stat").rpartition(") ")[2].split()
    return sum(int(f) for f in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def parent(pid):
    return int(read(f"/proc/{pid}/stat").rpartition(") ")[2].split()[1])


def wire(port):
    """Bytes both ways over all the head's connections to the port."""
    text = subprocess.run(["ss", "-tinH", "state", "established", "dport", "=", f":{port}"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    words = [w.partition(":") for w in text.split()]
    amount = {key: sum(int(value) for name, _, value in words if name == key)
              for key in ("bytes_sent", "bytes_received", "segs_out", "segs_in")}
    return amount["bytes_sent"] + amount["bytes_received"] + SEGMENT * (amount["segs_out"] + amount["segs_in"])


def watch_processes(server):
    """On a node: the shell that watches with the sshd it hangs on, and the run's keeper with its helper."""
    shells, keepers = [], []
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        try:
            words, above = read(entry / "cmdline").split("\0"), parent(pid)
            title = read(f"/proc/{above}/cmdline")
            if title.startswith(("sshd: ", "sshd-session: ")) and not words[0].startswith("sshd") and descends(above, server.process.pid):
                shells.append((pid, above))
            elif words[0].endswith("sh") and any(w.startswith(f"{server.dir}/nodes/") for w in words):
                keepers.append(pid)
        except (IndexError, ValueError):
            continue  # it has ended
    return shells, keepers


def descends(pid, ancestor):
    while pid > 1:
        if pid == ancestor:
            return True
        pid = parent(pid)
    return False


def row(what, value, unit, budget):
    good = value <= budget
    print(f"{what:<58} {value:8.3f} {unit:<12} {budget:6.1f}  {'' if good else 'OVER'}", flush=True)
    return good


def head(server, options):
    hosts = ",".join(addresses(options.nodes))
    (server.dir / "job.yaml").write_text(json.dumps({
        "launcher": "script", "hosts": hosts, "artifacts": f"{server.dir}/nodes",
        "program": ["sleep", "3600"], "stop": {"grace": "2s"}}))
    begun = time.monotonic()
    mtlaunch(server, options.mtlaunch, "start", "job.yaml", "rest", "-q")
    print(f"start on {options.nodes} nodes: {time.monotonic() - begun:.1f} s", flush=True)
    try:
        pid = json.loads(mtlaunch(server, options.mtlaunch, "status", "rest", "--json"))["supervisor"]["pid"]
        time.sleep(SETTLE)
        cpu, sent, begun = own_cpu(pid), wire(server.port), time.monotonic()
        time.sleep(options.seconds)
        taken = time.monotonic() - begun
        cpu, sent = own_cpu(pid) - cpu, wire(server.port) - sent
        good = row(f"head, {options.nodes} nodes at rest", 100 * cpu / taken, "% of a core", HEAD_BUDGET)
        return row(f"wire, {options.nodes} nodes at rest, a node", sent / taken / options.nodes, "bytes/s",
                   WIRE_BUDGET) and good
    finally:
        stop(server, options.mtlaunch, "rest")


def node(server, options):
    (server.dir / "busy.yaml").write_text(json.dumps({
        "launcher": "script", "hosts": addresses(1)[0], "artifacts": f"{server.dir}/nodes", "stop": {"grace": "2s"},
        "program": f"i=0; while [ $i -lt {options.processes} ]; do sleep 3600 & i=$((i + 1)); done; wait"}))
    mtlaunch(server, options.mtlaunch, "start", "busy.yaml", "busy", "-q")
    try:
        time.sleep(SETTLE)
        shells, keepers = watch_processes(server)
        if len(shells) != 1:
            sys.exit(f"one watch was expected, there are {len(shells)}")
        (shell, session), begun = shells[0], time.monotonic()
        parts = {"watch": [shell], "sshd": [session], "keeper": keepers}
        before = {name: sum(family_cpu(p) for p in pids) for name, pids in parts.items()}
        time.sleep(options.seconds)
        taken = time.monotonic() - begun
        used = {name: 100 * (sum(family_cpu(p) for p in pids) - before[name]) / taken for name, pids in parts.items()}
        good = row(f"watch on a node with {options.processes} processes", used["watch"], "% of a core", NODE_BUDGET)
        return row("  with its sshd and the run's keeper", sum(used.values()), "% of a core", NODE_BUDGET) and good
    finally:
        stop(server, options.mtlaunch, "busy")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch", type=os.path.abspath)
    parser.add_argument("--nodes", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=500)
    options = parser.parse_args()
    with Server() as server:
        print(f"{'measured over ' + format(options.seconds, '.0f') + ' s':<58} {'value':>8} {'':<12} {'budget':>6}")
        good = node(server, options)
        good = head(server, options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
