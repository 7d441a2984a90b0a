#!/usr/bin/env python3
"""Chaos: starts, faults at random moments, stops; never a leftover process, a wrong word, a second victim or two
attempts alive.

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
import sickness  # noqa: E402  pylint: disable=wrong-import-position
from cluster import Cluster, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from conftest import BINARY, Lab  # noqa: E402  pylint: disable=wrong-import-position

ENDED = {"finished", "failed", "stopped"}
NODE_ENDED = {"exited", "failed", "stopped"}


class Chaos:
    """One cluster and the chances that are taken with it."""

    def __init__(self, lab, seed):
        self.lab, self.chance, self.cycle = lab, random.Random(seed), 0
        self.bystanders, self.strangers, self.story = [], [], []
        for node in lab.names:
            sickness.allow_limits(lab.cluster, node)
            sickness.give_disk(lab.cluster, node)
            lab.cluster.exec(node, "setsid -f sleep 7776 </dev/null >/dev/null 2>&1", check=True)
            self.bystanders += wait_for(lambda n=node: [p for p in lab.cluster.user_ps(n)
                                                        if p.argv == ["sleep", "7776"]], "the bystander")

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
        mine = {p.host_pid for p in self.bystanders + self.strangers}
        for process in self.lab.cluster.user_ps(node):
            try:
                if process.host_pid not in mine:
                    os.kill(process.host_pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_connections(self, _run):
        for node in self.lab.names:
            for process in self.lab.cluster.ps(node):
                if process.is_session:
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

    def process_limit(self, run):
        node, room = self.chance.choice(self.lab.names), self.chance.randrange(1, 16)
        sickness.limit_processes(self.lab.cluster, node, room, running=self.chance.random() < 0.5)
        self.ask(run, f"room {room}")
        sickness.lift_limit(self.lab.cluster, node)

    def broken_tool(self, run):
        node, tool = self.chance.choice(self.lab.names), self.chance.choice(sickness.TOOLS)
        way = self.chance.choice(sickness.WAYS)
        sickness.break_tool(self.lab.cluster, node, tool, way)
        self.ask(run, f"{tool} {way}")
        sickness.mend_tools(self.lab.cluster, node)

    def full_disk(self, run):
        node = self.chance.choice(self.lab.names)
        sickness.fill_disk(self.lab.cluster, node)
        time.sleep(self.chance.uniform(0, 4))
        if self.chance.random() < 0.5:
            self.ask(run, "full")
        sickness.free_disk(self.lab.cluster, node)

    def reused_pid(self, run):
        """The number of a command or a keeper that is gone goes to a stranger's session."""
        rank = self.chance.randrange(len(self.lab.names))
        node, key = self.lab.names[rank], self.chance.choice(["pid", "keeper"])
        number = sickness.state_of(self.lab.cluster, node, run, rank).get(key, "")
        if not number or any(p.pid == int(number) for p in self.lab.cluster.ps(node)):
            return
        stranger = sickness.take_session(self.lab.cluster, node, number, 8000 + len(self.strangers))
        if stranger:
            self.story.append(f"{key} {number} of {node} is {stranger.pid}'s session")
            self.strangers.append(stranger)
            self.ask(run, "reused")

    def cancel(self, run):
        """A command is cancelled, it alone or all of mtlaunch on the head: INT, then TERM or KILL."""
        words = self.chance.choice([["stop", run, "--grace", "2s"], ["status", run], ["wait", run]])
        self.lab.spawn(*words)
        everybody = self.chance.random() < 0.4
        for name in ("INT", self.chance.choice(["TERM", "KILL"])):
            time.sleep(self.chance.uniform(0, 1.5))
            self.story.append(f"{name} to {'all' if everybody else words[0]}")
            for process in self.heads():
                if everybody or process.argv[1:2] in (words[:1], ["start"]):
                    try:
                        os.kill(process.host_pid, getattr(signal, "SIG" + name))
                    except ProcessLookupError:
                        pass

    # checks

    def jobs(self, run):
        return [(n, p) for n in self.lab.names for p in self.lab.marked(run, n) if p.argv[:1] == ["sleep"]]

    def ask(self, run, why):
        """Some command while a node is sick: it may fail, and must not say what is not so."""
        verb = self.chance.choice(["stop", "stop", "status", "remove"])
        before = self.jobs(run)
        words = {"stop": ["stop", run, "--grace", self.chance.choice(["0s", "1s"])],
                 "remove": ["remove", run], "status": ["status", run, "--json"]}[verb]
        answer = self.lab.mt(*words, code=None, timeout=180)
        self.story.append(f"{verb} ({why}) -> {answer.code}")
        assert answer.code in range(9), answer
        alive = [(n, p) for n, p in before if sickness.lives(p)]
        if verb == "status" and answer.code != 6 and "nodes" in answer.json:
            said = {n["host"]: n["state"] for n in answer.json["nodes"]}
            wrong = [(n, p) for n, p in alive if said[n] in NODE_ENDED
                     and p.environ.get("MTLAUNCH_ATTEMPT") == str(answer.json["attempt"])]
            assert not wrong, f"{said} although {wrong} lives: {answer}"
        elif verb != "status" and answer.code == 0:
            assert not alive, f"{alive} lives: {answer}"
        self.check_bystanders()

    def check_bystanders(self):
        gone = [p for p in self.bystanders + self.strangers if not sickness.lives(p)]
        assert not gone, f"{gone} were none of the run's"

    def left(self):
        mine = {p.host_pid for p in self.bystanders + self.strangers}
        return [(n, p) for n, p in self.lab.left() if p.host_pid not in mine]

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
            wait_for(lambda: not self.left(), f"nothing of a run without a record, but {self.left()}", 15)
            return
        last = []

        def proven():
            last[:] = [lab.mt("stop", run, code=None)]
            return last[0].code == 0

        wait_for(proven, f"the stop to be proven, but {last}", 90, 0.5)
        assert not self.jobs(run), f"{self.jobs(run)} lives: {last}"
        status = lab.status(run)
        assert status["state"] in ENDED, status
        assert not [n for n in status["nodes"] if n["state"] in ("running", "lost")], status
        wait_for(lambda: not self.heads(), f"no mtlaunch on the head, but {self.heads()}", 20)
        wait_for(lambda: not self.left(), f"nothing left, but {self.left()}", 15)
        self.check_bystanders()

    def tidy(self):
        """After a cycle that went well: no strangers, an empty disk."""
        for process in self.strangers:
            sickness.end(process)
        self.strangers = []
        for node in self.lab.names:
            sickness.as_root(self.lab.cluster, node, f"rm -rf {sickness.ARTIFACTS}/*")

    def one(self):
        self.cycle += 1
        run, lab, chance = f"c{self.cycle}", self.lab, self.chance
        policy = chance.choice(["stop", "stop", "keep", "restart"])
        lab.job(hosts=",".join(lab.names), stop={"grace": "1s"}, on_failure=policy,
                restart={"max": 2, "backoff": "0s"} if policy == "restart" else None,
                program=["sleep", chance.choice(["600", "600", "600", "3"])])
        foreground = chance.random() < 0.25
        begun = lab.spawn("start", "job.yaml", run, *(["--wait"] if foreground else []))
        if foreground:
            time.sleep(chance.uniform(0, 3))
        elif chance.random() < 0.3:
            time.sleep(chance.uniform(0, 2))
            self.kill_head(run)
        if not foreground:
            begun.wait(timeout=60)
        self.story = story = ["--wait"] if foreground else []
        try:
            for _ in range(chance.randrange(5)):
                fault = chance.choice([self.kill_head, self.kill_job, self.kill_everything, self.kill_connections,
                                       self.away_for_a_while, self.supervise, self.nothing, self.process_limit,
                                       self.process_limit, self.broken_tool, self.broken_tool, self.full_disk,
                                       self.reused_pid, self.cancel, self.cancel])
                story.append(fault.__name__)
                fault(run)
                time.sleep(chance.uniform(0, 1.5))
                self.check_alive(run)
            self.check_end(run)
            begun.wait(timeout=60)
        except Exception as why:
            raise AssertionError(f"cycle {self.cycle}, policy {policy}, {story}: {why}") from why
        if self.record(run) is not None:
            lab.mt("remove", run)
        self.tidy()


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
