"""Long lists: known_hosts of many hashed lines beside pdsh, and the list of many runs (run by make bench).

    python3 tests/bench/lists.py MTLAUNCH [--hosts 64] [--lines 30000] [--strange 100000] [--runs 1000,10000]

Every host has the same key, and lines are hashed unless they are called plain. Where hosts are unknown, no line names one of
them: each must be refused. The peer of `list` reads a line of each record with head.
"""
import argparse
import base64
import hmac
import os
import secrets
import subprocess
import sys
import time

from scale import Server, addresses


def hashed(name, key):
    salt = secrets.token_bytes(20)
    code = hmac.new(salt, name.encode(), "sha1").digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(code).decode()} {key}\n"


def write_known_hosts(server, hosts, lines, plain):
    """The lines of these hosts, spread over others of the same key."""
    key = " ".join((server.dir / "host.pub").read_text().split()[:2])
    names = [f"[host{i}.example]:{server.port}" for i in range(lines - len(hosts))]
    for i, host in enumerate(hosts):
        names.insert(i * lines // len(hosts), f"[{host}]:{server.port}")
    (server.dir / "known_hosts").write_text("".join(f"{name} {key}\n" if plain else hashed(name, key) for name in names))


def timed(argv, env):
    begin = time.monotonic()
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return time.monotonic() - begin, done


def row(name, command, wall, peer, note):
    print(f"{name:<34} {command:<14} {wall:8.2f} {wall / peer:7.2f}   {note}", flush=True)


def known_hosts(options):
    hosts = addresses(options.hosts)
    listed = ",".join(hosts)
    with Server() as server:
        server.config.write_text(server.config.read_text().replace("  HostKeyAlias bench\n", "  StrictHostKeyChecking yes\n"))
        for what, lines, known, plain in (("known hosts", options.lines, hosts, False),
                                          ("unknown hosts", options.strange, ["nobody.example"], False),
                                          ("unknown hosts, plain", options.strange, ["nobody.example"], True)):
            write_known_hosts(server, known, lines, plain)
            wall, done = timed(["pdsh", "-R", "ssh", "-f", "64", "-w", listed, "true"], server.env)
            refused = done.stderr.count("Host key verification failed")
            name = f"{len(hosts)} {what}, {lines} lines"
            row(name, "pdsh", wall, wall, f"{refused} refused")
            peer = wall
            wall, done = timed([options.mtlaunch, "exec", "--json", "-H", listed, "--", "true"], server.env)
            answered = done.stdout.count('"exit_status":0') + done.stdout.count('"exit_status": 0')
            row(name, "mtlaunch exec", wall, peer, f"{answered} answered, exit code {done.returncode}")


def runs(options):
    with Server() as server:
        env = {**server.env, "XDG_STATE_HOME": str(server.dir / "state")}
        job = server.dir / "job.yaml"
        job.write_text("launcher: script\nprogram: 'true'\n")
        server.process.terminate()  # the start fails, and leaves a record of its nodes
        server.process.wait()
        timed([options.mtlaunch, "start", str(job), "seedrunname", "-H", ",".join(addresses(64))], env)
        folder = server.dir / "state" / "mtlaunch" / "runs"
        text = (folder / "seedrunname" / "run.json").read_text()
        made = 1
        for count in map(int, options.runs.split(",")):
            for i in range(made, count):
                (folder / f"run{i}").mkdir()
                (folder / f"run{i}" / "run.json").write_text(text.replace("seedrunname", f"run{i}"))
            made = count
            files = [str(path / "run.json") for path in sorted(folder.iterdir()) if (path / "run.json").exists()]
            begin = time.monotonic()
            subprocess.run(["xargs", "head", "-qn1"], input="\n".join(files), text=True, stdout=subprocess.DEVNULL, check=True)
            peer = time.monotonic() - begin
            row(f"{count} runs of 64 nodes", "head -n1", peer, peer, "")
            wall, done = timed([options.mtlaunch, "list"], env)
            listed = sum(line.startswith(("run", "seedrun")) for line in done.stdout.splitlines())
            row(f"{count} runs of 64 nodes", "mtlaunch list", wall, peer, f"{listed} listed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch", type=os.path.abspath)
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--lines", type=int, default=30000)
    parser.add_argument("--strange", type=int, default=100000)
    parser.add_argument("--runs", default="1000,10000")
    options = parser.parse_args()
    print(f"{'what':<34} {'command':<14} {'wall s':>8} {'ratio':>7}")
    known_hosts(options)
    runs(options)


if __name__ == "__main__":
    sys.exit(main())
