"""The logs of a run beside ssh cat, grep and tail, and the plan of a large spec (run by make bench).

    python3 tests/bench/logs.py MTLAUNCH [--megabytes 512] [--rate 200] [--seconds 3] [--hosts 1000]

One sshd on this machine serves the node, so that seconds say little: the ratios within one run do. CPU is that of the
client alone, MiB its own memory. The log is in the page cache. "wire" counts what went over the loopback interface.
"""
import argparse
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from scale import Server, high_water_kib

HOST = "127.1.0.1"  # none that is taken for this machine
LINE = (" [2026-11-29 16:{m:02}:{s:02}] iteration {i:8}/ 2000000 | consumed samples: {n:12} | elapsed time per iteration (ms): {t:.1f} | "
        "learning rate: 1.500000E-04 | global batch size:  1024 | lm loss: {l:.6E} | grad norm: 0.731 |\n")
NEEDLE = "rank 5 gave up after 4711 tries\n"
EXPRESSION = "gave up after [0-9]+ tries"
END = b"that was all\n"
WRITER = """
import sys, time
line, rate, seconds, end = sys.argv[1].encode() + b"\\n", float(sys.argv[2]) * 1e6, float(sys.argv[3]), sys.argv[4].encode()
block, written = line * (1000000 // len(line)), 0
time.sleep(3)
begun = time.monotonic()
while (passed := time.monotonic() - begun) < seconds:
    if written < passed * rate:
        sys.stdout.buffer.write(block)
        written += len(block)
    else:
        time.sleep(0.002)
sys.stdout.buffer.write(end + b"\\n")
sys.stdout.flush()
time.sleep(3)
"""


def loopback_bytes():
    return int(Path("/sys/class/net/lo/statistics/rx_bytes").read_text())


class Result:
    """What became of a command whose output was read and dropped."""

    def __init__(self, argv, env, cwd, until=None):
        """until: it may be ended when this has come."""
        wire, begun, last = loopback_bytes(), time.monotonic(), b""
        self.bytes, self.kib, self.ended = 0, 0, None
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while True:
            if select.select([process.stdout], [], [], 0.05)[0]:
                piece = os.read(process.stdout.fileno(), 1 << 20)
                if not piece:
                    break
                self.bytes += len(piece)
                if until and until in last + piece:
                    self.ended = time.monotonic() - begun
                    break
                last = piece[-len(until):] if until else b""
            self.kib = max(self.kib, high_water_kib(process.pid))
        if until:
            process.terminate()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall, self.cpu = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
        self.wire = loopback_bytes() - wire
        process.returncode = os.waitstatus_to_exitcode(status)
        errors = process.stderr.read().decode(errors="replace")
        if process.returncode and not until:
            sys.exit(f"{' '.join(argv)} ended with {process.returncode}\n{errors}")


class Bench:
    def __init__(self, server, options):
        self.server, self.mtlaunch, self.options = server, options.mtlaunch, options

    def run(self, *argv, until=None):
        return Result(argv, self.server.env, self.server.dir, until)

    def ssh(self, command, until=None):
        return self.run("ssh", "-F", str(self.server.config), HOST, command, until=until)

    def start(self, run, program):
        spec = {"launcher": "script", "hosts": HOST, "artifacts": f"{self.server.dir}/nodes", "program": program}
        (self.server.dir / "job.yaml").write_text(json.dumps(spec))
        self.run(self.mtlaunch, "start", "job.yaml", run, "-q", "--no-supervise", "--no-check")
        return f"{self.server.dir}/nodes/logs/{run}_node0.log"

    def row(self, what, peer, own):
        for name, result in ((peer[0], peer[1]), (own[0], own[1])):
            print(f"{what:<22} {name:<24} {result.wall:8.2f} {result.cpu:8.2f} {result.kib / 1024:7.1f} {result.wire / 1e6:9.2f} "
                  f"{result.wall / peer[1].wall:6.2f} {result.cpu / max(peer[1].cpu, 0.001):6.2f}", flush=True)

    def whole(self):
        log = self.start("whole", ["true"])
        self.run(self.mtlaunch, "wait", "whole", "-q")
        block = "".join(LINE.format(i=i, m=i % 60, s=i * 7 % 60, n=i * 1024, t=480 + i % 97, l=10 / (1 + i / 1e4)) for i in range(20000))
        with open(log, "w", encoding="ascii") as file:
            for number in range(self.options.megabytes * 1000000 // len(block) + 1):
                file.write(block + (NEEDLE if number == 1 else ""))
        self.ssh(f"wc -l {log}")
        what = f"{self.options.megabytes} MB of log"
        self.row(what, ("ssh cat", self.ssh(f"cat {log}")), ("logs -n all", self.run(self.mtlaunch, "logs", "whole", "-n", "all")))
        what = "a line of it"
        self.row(what, ("ssh grep -E", self.ssh(f"grep -E '{EXPRESSION}' {log}")),
                 ("logs -n all --grep", self.run(self.mtlaunch, "logs", "whole", "-n", "all", "--grep", EXPRESSION)))
        os.unlink(log)

    def grows(self):
        words = ["python3", "-c", WRITER, LINE.format(i=1, m=2, s=3, n=4, t=5, l=6).strip(), str(self.options.rate),
                 str(self.options.seconds), END.decode().strip()]
        log = self.start("peer", words)
        peer = self.ssh(f"tail -n +1 -F {log}", until=END)
        self.run(self.mtlaunch, "wait", "peer", "-q")
        self.start("own", words)
        own = self.run(self.mtlaunch, "logs", "own", "-f", "-n", "all", until=END)
        self.run(self.mtlaunch, "wait", "own", "-q")
        self.row(f"{self.options.rate} MB/s for {self.options.seconds} s", ("ssh tail -F", peer), ("logs -f", own))
        for name, result in (("ssh tail -F", peer), ("logs -f", own)):
            print(f"{'':<22} {name}: the last line after {result.ended:.1f} s, {1e9 * result.cpu / result.bytes:.2f} ms of CPU a MB", flush=True)

    def plan(self):
        spec = {"hosts": f"h[0001-{self.options.hosts:04}]", "program": "train.py", "nproc_per_node": 8}
        shapes = {"args": {"args": [f"--option-{i}={'x' * 1000}" for i in range(1000)]},
                  "env": {"env": {f"NAME_{i}": "x" * 1000 for i in range(1000)}}}
        for name, more in shapes.items():
            (self.server.dir / "large.yaml").write_text(json.dumps({**spec, **more}))
            for way in ([], ["--full"]):
                result = self.run(self.mtlaunch, "start", "./large.yaml", "--dry-run", *way)
                print(f"1 MB of {name} for {self.options.hosts} hosts, start --dry-run {' '.join(way):<6} {result.wall:6.2f} s {result.cpu:6.2f} s of CPU "
                      f"{result.kib / 1024:7.1f} MiB {result.bytes / 1e6:9.1f} MB printed", flush=True)

    def logins(self):
        (self.server.dir / "job.yaml").write_text(json.dumps({
            "launcher": "script", "hosts": HOST, "artifacts": f"{self.server.dir}/nodes", "program": "sleep 1"}))
        log = self.server.dir / "sshd.log"
        before = log.read_text().count("Accepted publickey")
        self.run(self.mtlaunch, "start", "job.yaml", "waits", "--wait", "-q", "--no-check")
        print(f"start --wait: {log.read_text().count('Accepted publickey') - before} logins per node")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch", type=os.path.abspath)
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=1000)
    options = parser.parse_args()
    with Server() as server:
        bench = Bench(server, options)
        print("what                   command                    wall s    CPU s     MiB   wire MB   wall    CPU   (ratios)")
        bench.whole()
        bench.grows()
        bench.plan()
        bench.logins()


if __name__ == "__main__":
    main()
