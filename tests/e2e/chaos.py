#!/usr/bin/env python3
"""Chaos: starts, faults at random moments, stops; never a left-over process, a wrong state or two attempts alive.

    python3 tests/e2e/chaos.py [--cycles 500] [--seconds 0] [--seed N] [--nodes 3]

The seed decides what happens and when (as far as the machine's own timing lets it); a failure prints it.
"""
import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cluster import Cluster, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from conftest import BINARY, Lab  # noqa: E402  pylint: disable=wrong-import-position

ENDED = {"finished", "failed", "stopped"}


class Chaos:
    """One cluster and the chances that are taken with it."""

    def __init__(self, lab, seed):
        self.lab, self.chance, self.cycle = lab, random.Random(seed), 0

    def record(self, run):
        path = self.lab.home / ".local/state/mtlaunch/runs" / run / "run.json"
        return json.loads(path.read_text()) if path.exists() else None

    def heads(self):
        return [p for p in self.lab.cluster.ps("head") if p.argv and os.path.basename(p.argv[0]) == "mtlaunch"]

    # faults

    def kill_head(self, _run):
        for process in self.heads():
            try:
                os.kill(process.host_pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_job(self, run):
        node = self.chance.choice(self.lab.names)
        for process in self.lab.marked(run, node):
            if process.argv[:1] == ["sleep"]:
                try:
                    os.kill(process.host_pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def kill_everything(self, _run):
        """As the kernel does when memory runs out: job and keeper."""
        node = self.chance.choice(self.lab.names)
        for process in self.lab.cluster.user_ps(node):
            try:
                os.kill(process.host_pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_connections(self, _run):
        for node in self.lab.names:
            for process in self.lab.cluster.ps(node):
                if process.command.startswith("sshd: ") and "[listener]" not in process.command:
                    try:
                        os.kill(process.host_pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass

    def away_for_a_while(self, _run):
        node = self.chance.choice(self.lab.names)
        self.lab.cluster.stop_sshd(node)
        time.sleep(self.chance.uniform(0.2, 2))
        self.lab.cluster.start_sshd(node)

    def supervise(self, run):
        self.lab.spawn("supervise", run)

    def nothing(self, _run):
        pass

    # checks

    def attempts_alive(self, run):
        return {p.environ["MTLAUNCH_ATTEMPT"] for n in self.lab.names for p in self.lab.marked(run, n)
                if p.argv[:1] == ["sleep"] and "MTLAUNCH_ATTEMPT" in p.environ}

    def check_alive(self, run):
        alive = self.attempts_alive(run)
        assert len(alive) <= 1, f"attempts {alive} are alive at once"

    def check_end(self, run):
        lab = self.lab
        for node in lab.names:
            if not [p for p in lab.cluster.ps(node) if "[listener]" in p.command]:
                lab.cluster.start_sshd(node)
        if self.record(run) is None:
            wait_for(lambda: not lab.left(), f"nothing of a run without a record, but {lab.left()}", 15)
            return
        wait_for(lambda: lab.mt("stop", run, code=None).code == 0, "the stop to be proven", 90, 0.5)
        status = lab.status(run)
        assert status["state"] in ENDED, status
        assert not [n for n in status["nodes"] if n["state"] in ("running", "lost")], status
        wait_for(lambda: not self.heads(), f"no mtlaunch on the head, but {self.heads()}", 20)
        wait_for(lambda: not lab.left(), f"nothing left, but {lab.left()}", 15)

    def one(self):
        self.cycle += 1
        run, lab, chance = f"c{self.cycle}", self.lab, self.chance
        policy = chance.choice(["stop", "stop", "keep", "restart"])
        lab.job(hosts=",".join(lab.names), stop={"grace": "1s"}, on_failure=policy,
                restart={"max": 2, "backoff": "0s"} if policy == "restart" else None,
                program=["sleep", chance.choice(["600", "600", "600", "3"])])
        begun = lab.spawn("start", "job.yaml", run)
        if chance.random() < 0.3:
            time.sleep(chance.uniform(0, 2))
            self.kill_head(run)
        begun.wait(timeout=60)
        story = []
        for _ in range(chance.randrange(4)):
            fault = chance.choice([self.kill_head, self.kill_job, self.kill_everything, self.kill_connections,
                                   self.away_for_a_while, self.supervise, self.nothing])
            story.append(fault.__name__)
            fault(run)
            time.sleep(chance.uniform(0, 1.5))
            self.check_alive(run)
        try:
            self.check_end(run)
        except Exception as why:
            raise AssertionError(f"cycle {self.cycle}, policy {policy}, {story}: {why}") from why
        if self.record(run) is not None:
            lab.mt("remove", run)


def play(lab, seed, cycles=0, seconds=0.0, say=None):
    """Cycles until so many are done or the time is up; returns how many there were."""
    chaos, end = Chaos(lab, seed), time.monotonic() + seconds
    while (not cycles or chaos.cycle < cycles) and (not seconds or time.monotonic() < end):
        chaos.one()
        if say:
            say(chaos.cycle)
    return chaos.cycle


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cycles", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--nodes", type=int, default=3)
    options = parser.parse_args()
    print(f"chaos: seed {options.seed}, {options.cycles} cycles on {options.nodes} nodes", flush=True)
    with Cluster(options.nodes, mtlaunch=BINARY) as cluster:
        lab = Lab(cluster)
        done = play(lab, options.seed, options.cycles, options.seconds,
                    lambda n: n % 25 == 0 and print(f"chaos: {n} cycles", flush=True))
    print(f"chaos: {done} cycles, all right")


if __name__ == "__main__":
    main()
