"""mtlaunch exec beside pdsh and clush on one sshd that serves all of 127/8 (run by make bench).

    python3 tests/bench/scale.py MTLAUNCH BENCH_FLEET [--hosts 16,64,256,1000] [--peers pdsh,clush] [--fanout 64]

BENCH_FLEET (tests/bench/bench_fleet.c) keeps its sessions open and asks again: the further command. Client and
server share this machine's cores, so seconds say little: the ratios within one run do.
"""
import argparse
import getpass
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PER_NET = 250
TRIP = 0.4  # seconds to and fro, to count round trips by
SSHD = """Port {port}
ListenAddress 0.0.0.0
HostKey {dir}/host
AuthorizedKeysFile {dir}/id.pub
PidFile {dir}/sshd.pid
UsePAM no
StrictModes no
UseDNS no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups {startups}
# The shell takes itself for a nested one and leaves the user's .bashrc alone.
SetEnv SHLVL=2
"""
SSH_CONFIG = """Host 127.*
  Port {port}
  User {user}
  HostKeyAlias bench
  IdentityFile {dir}/id
  UserKnownHostsFile {dir}/known_hosts
  LogLevel ERROR
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One sshd, a key, and the configuration of every client, in a folder that goes with it."""

    def __init__(self, startups="1000"):
        self.dir = Path(tempfile.mkdtemp(prefix="mtlaunch-bench-"))
        self.port, self.user = free_port(), getpass.getuser()
        for name in ("host", "id"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.dir / name)], check=True)
        key = (self.dir / "host.pub").read_text().split()
        (self.dir / "known_hosts").write_text(f"bench {key[0]} {key[1]}\n")
        values = {"port": self.port, "user": self.user, "dir": self.dir, "startups": startups}
        (self.dir / "sshd_config").write_text(SSHD.format(**values))
        (self.dir / ".ssh").mkdir(mode=0o700)
        self.config = self.dir / ".ssh" / "config"
        self.config.write_text(SSH_CONFIG.format(**values))
        self.config.chmod(0o600)
        self.env = {**os.environ, "HOME": str(self.dir), "PDSH_SSH_ARGS": f"-F {self.config} %h"}
        self.env.pop("CONTAINER_NAME", None)
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", str(self.dir / "sshd_config"),
                                         "-E", str(self.dir / "sshd.log")])
        while not (self.dir / "sshd.pid").exists():
            if self.process.poll() is not None:
                sys.exit((self.dir / "sshd.log").read_text())
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir)


def addresses(count):
    return [f"127.1.{i // PER_NET}.{i % PER_NET + 1}" for i in range(count)]


def tree_kib(root):
    """Memory of a process and its descendants, what they share counted once."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total


def high_water_kib(pid):
    """The most resident memory of a process since its exec (what wait4 tells counts this one's before it, too)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


failed = []  # clients that did not do what they should: their rows say nothing


def measure(argv, env):
    """Wall seconds, CPU seconds of the command and its children, the most memory seen (KiB)."""
    begin, peak = time.monotonic(), 0
    look = begin + 0.2
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            peak = max(peak, high_water_kib(process.pid))
            if time.monotonic() > look:
                peak, look = max(peak, tree_kib(process.pid)), time.monotonic() + 1
            time.sleep(0.01)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode:
        failed.append(argv[0])
        print(f"{argv[0]} ended with {process.returncode}\n{text[:2000]}", file=sys.stderr)
    return wall, usage.ru_utime + usage.ru_stime, peak


def row(count, name, wall, cpu_ms, kib, peer):
    ratios = f"{wall / peer[0]:10.2f} {cpu_ms / peer[1]:9.3f}" if peer else f"{'1':>10} {'1':>9}"
    print(f"{count:>5}  {name:<24} {wall:8.2f} {cpu_ms:11.2f} {kib / 1024:9.1f} {ratios}", flush=True)


def fleet(server, binary, count, rounds, port=None):
    done = subprocess.run([binary, str(count), str(port or server.port), server.user, str(server.dir / "id"),
                           str(server.dir / "known_hosts"), str(rounds)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench_fleet ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def bench(server, options, count):
    hosts, fanout = ",".join(addresses(count)), str(options.fanout)
    commands = {"pdsh": ["pdsh", "-R", "ssh", "-f", fanout, "-w", hosts, "true"],
                "clush": ["clush", "-f", fanout, "-o", f"-F {server.config}", "-w", hosts, "true"]}
    peers = [p for p in options.peers.split(",") if p and shutil.which(p)]
    rows = []
    for name in peers:
        wall, cpu, kib = measure(commands[name], server.env)
        rows.append((name, wall, 1000 * cpu / count, kib))
    wall, cpu, kib = measure([options.mtlaunch, "exec", "--fanout", fanout, "-H", hosts, "--", "true"], server.env)
    rows.append(("mtlaunch exec", wall, 1000 * cpu / count, kib))
    for number, one in enumerate(fleet(server, options.fleet, count, 3)[:2]):
        rows.append((("sessions, first command", "sessions, further one")[number], one["wall_s"], one["cpu_ms"],
                     one["rss_kib"]))
    for entry in rows:
        row(count, *entry, None if entry is rows[0] else rows[0][1:3])


class Proxy:
    """A way to the server that takes `delay` seconds each way, whatever is sent."""

    def __init__(self, port, delay):
        self.port, self.delay = port, delay
        self.listener = socket.create_server((addresses(1)[0], 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.port))
        other, waiting = {client: server, server: client}, []
        for end in other:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            left = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
            for end in select.select([client, server], [], [], left)[0]:
                data = end.recv(65536)
                if not data:
                    return
                waiting.append((time.monotonic() + self.delay, other[end], data))
            while waiting and waiting[0][0] <= time.monotonic():
                waiting[0][1].sendall(waiting.pop(0)[2])


def round_trips(server, binary):
    """How many times as long as the way to and fro the rounds take longer when that way gets longer."""
    walls = [fleet(server, binary, 1, 3, Proxy(server.port, delay).listener.getsockname()[1])
             for delay in (0, TRIP / 2)]
    first, further = ((walls[1][i]["wall_s"] - walls[0][i]["wall_s"]) / TRIP for i in (0, 2))
    print(f"round trips: {first + 1:.1f} for login and first command (TCP's included), {further:.1f} for a further one")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch", type=os.path.abspath)
    parser.add_argument("fleet", type=os.path.abspath)
    parser.add_argument("--hosts", default="16,64,256,1000")
    parser.add_argument("--peers", default="pdsh,clush")
    parser.add_argument("--fanout", type=int, default=64)
    options = parser.parse_args()
    with Server() as server:
        round_trips(server, options.fleet)
        print("hosts  client                     wall s CPU ms/host       MiB wall ratio CPU ratio")
        for count in options.hosts.split(","):
            bench(server, options, int(count))
    if failed:
        sys.exit(f"these failed, so their rows say nothing: {', '.join(failed)}")


if __name__ == "__main__":
    main()
