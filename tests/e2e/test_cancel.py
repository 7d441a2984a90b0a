"""S9: a stop survives its command. Signals to mtlaunch, to it alone and to all of it, at every moment.

The job ignores TERM, so that a stop takes its whole grace and ends with KILL. MTLAUNCH_SEED=n takes moments and
sequences of its own: the long check repeats this with many seeds.
"""
import fcntl
import os
import random
import signal
import time

import pytest
from cluster import wait_for

SEED = int(os.environ.get("MTLAUNCH_SEED", "0"))
CHANCE = random.Random(SEED)
GRACE_S = 3
STUBBORN = "trap '' TERM INT HUP; while :; do sleep 0.2; done"
ENDED = ("stopped", "failed", "finished")


@pytest.fixture(name="job")
def stubborn_job(lab):
    return lab.job(hosts="node1,node2", program=STUBBORN, stop={"grace": f"{GRACE_S}s"})


def heads(lab):
    return [p for p in lab.cluster.ps("head") if p.argv and os.path.basename(p.argv[0]) == "mtlaunch"]


def host_pid(lab, command):
    """The pid outside of what lab.spawn started."""
    return wait_for(lambda: next((p.host_pid for p in heads(lab) if command in p.argv), None), "mtlaunch", 20, 0.05)


def send(lab, name, only=None):
    """A signal to one mtlaunch (a pid outside), or to every one on the head: what a cancelled CI job does."""
    for process in heads(lab):
        if only in (None, process.host_pid):
            try:
                os.kill(process.host_pid, getattr(signal, "SIG" + name))
            except ProcessLookupError:
                pass


def job_lives(lab, run):
    return [(n, p.pid) for n in lab.names for p in lab.marked(run, n) if "while :;" in p.command]


def wait_until_gone(lab, run):
    wait_for(lambda: not job_lives(lab, run), f"the job of {run} to end, but {job_lives(lab, run)}", GRACE_S + 25, 0.3)
    lab.assert_nothing_left()


def begin(lab, job, run, *options):
    command = lab.spawn("start", job, run, "--wait", *options)
    lab.wait_state(run, "running")
    return command


@pytest.mark.parametrize("first", ["INT", "TERM"])
def test_s9_one_signal_stops_and_says_so(lab, job, first):
    command = begin(lab, job, "r")
    command.send_signal(getattr(signal, "SIG" + first))
    _, err = command.communicate(timeout=60)
    assert command.returncode == {"INT": 130, "TERM": 143}[first]
    assert "r: stopped on 2 nodes" in err
    lab.assert_nothing_left()
    assert lab.status("r")["state"] == "stopped"
    wait_for(lambda: not heads(lab), "no mtlaunch on the head", 10)


@pytest.mark.parametrize("second", ["INT", "TERM", "KILL"])
def test_s9_the_stop_is_proven_without_the_command(lab, job, second):
    command = begin(lab, job, "r")
    only = host_pid(lab, "--wait")
    send(lab, "INT", only)
    lab.wait_state("r", "stopping")
    time.sleep(1)  # into the grace
    send(lab, second, only)
    _, err = command.communicate(timeout=20)
    if second != "KILL":
        assert command.returncode == {"INT": 130, "TERM": 143}[second]
        assert "node1: may still be running" in err and "node2: may still be running" in err
        assert "continues without this command" in err
    # Nobody asks: the process that stands by goes on to the proof and writes it down.
    def outcome():
        record = lab.mt("list", "--json").json["runs"][0]
        return record if record["state"] in ENDED else None
    assert wait_for(outcome, "the stop to be proven", 40, 0.5)["state"] == "stopped"
    lab.assert_nothing_left()
    assert [node["state"] for node in lab.status("r")["nodes"]] == ["stopped", "stopped"]
    wait_for(lambda: not heads(lab), "no mtlaunch on the head", 10)


@pytest.mark.parametrize("options", [[], ["--no-supervise"]])
def test_s9_nodes_finish_although_no_process_of_the_head_lives(lab, job, options):
    command = begin(lab, job, "r", *options)
    send(lab, "TERM", host_pid(lab, "--wait"))
    lab.wait_state("r", "stopping")
    time.sleep(1)
    send(lab, "KILL")
    command.communicate(timeout=20)
    wait_for(lambda: not heads(lab), "no mtlaunch on the head", 5)
    wait_until_gone(lab, "r")
    status = lab.status("r")
    assert status["state"] == "stopping" and not status["supervisor"]["alive"]
    assert [node["state"] for node in status["nodes"]] == ["stopped", "stopped"]
    assert lab.mt("stop", "r", "--json").json["state"] == "stopped"


def test_s9_kill_alone_changes_nothing(lab, job):
    command = begin(lab, job, "r")
    send(lab, "KILL")
    command.communicate(timeout=20)
    time.sleep(GRACE_S + 2)
    assert len(job_lives(lab, "r")) == 2
    status = lab.mt("status", "r")
    assert "r: running" in status.out and "supervisor: none" in status.out
    lab.mt("stop", "r", "--grace", "1s")


def test_s9_hangup_ends_the_command_and_leaves_a_supervisor(lab, job):
    command = begin(lab, job, "r")
    command.send_signal(signal.SIGHUP)
    _, err = command.communicate(timeout=20)
    assert command.returncode == 129 and "the run continues" in err
    status = wait_for(lambda: (lambda s: s if s["supervisor"] and s["supervisor"]["alive"] else None)(lab.status("r")),
                      "a supervisor", 15, 0.3)
    assert status["state"] == "running" and len(job_lives(lab, "r")) == 2
    lab.mt("stop", "r", "--grace", "1s")


def test_s9_hangup_during_the_start_ends_nothing(lab):
    job = lab.job(hosts="node1,node2", program=STUBBORN, setup=["sleep 3"], stop={"grace": "1s"})
    command = lab.spawn("start", job, "r", "--wait")
    wait_for(lambda: any(p.command.startswith("sleep 3") for p in lab.cluster.user_ps("node1")), "the setup line", 20)
    command.send_signal(signal.SIGHUP)
    command.communicate(timeout=60)
    assert command.returncode == 129
    lab.wait_state("r", "running")
    lab.mt("stop", "r")


def test_s9_nohup_is_heeded(lab, job):
    command = lab.cluster.popen("sh", "-c", "trap '' HUP; exec mtlaunch start job.yaml r --wait", text=True)
    lab.wait_state("r", "running")
    send(lab, "HUP")
    time.sleep(2)
    assert command.poll() is None
    lab.mt("stop", "r", "--grace", "1s")
    command.communicate(timeout=20)


@pytest.mark.parametrize("supervised", [True, False])
def test_s9_an_interrupted_stop_goes_on(lab, job, supervised):
    lab.mt("start", job, "r", *([] if supervised else ["--no-supervise"]))
    command = lab.spawn("stop", "r")
    lab.wait_state("r", "stopping")
    time.sleep(1)
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=20)
    assert command.returncode == 130 and "continues without this command" in err
    wait_until_gone(lab, "r")
    wait_for(lambda: lab.mt("list", "--json").json["runs"][0]["state"] == "stopped", "the proof", 30, 0.5)


def test_s9_a_local_node_outlives_the_group_of_its_command(lab):
    job = lab.job(hosts="localhost", program=STUBBORN, stop={"grace": f"{GRACE_S}s"})
    command = begin(lab, job, "r")
    alive = lambda: [p for p in lab.cluster.ps("head") if "while :;" in p.command]  # noqa: E731
    assert alive()
    group = os.getpgid(host_pid(lab, "--wait"))
    os.kill(host_pid(lab, "--wait"), signal.SIGINT)
    lab.wait_state("r", "stopping")
    if group != os.getpgid(0):
        os.killpg(group, signal.SIGKILL)
    else:
        send(lab, "KILL")
    command.communicate(timeout=20)
    wait_for(lambda: not alive(), "the local job to end", GRACE_S + 20, 0.3)


def freeze(lab, supervisor, run):
    """Stop it, but not while it holds the run's lock: every other command would wait for it."""
    def frozen():
        send(lab, "STOP", supervisor.host_pid)
        with open(lab.home / ".local/state/mtlaunch/runs/.locks" / run, "rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                send(lab, "CONT", supervisor.host_pid)
                return False
    wait_for(frozen, "a moment without the lock", 20, 0.3)


def test_s9_a_signal_after_the_start_is_told(lab, job):
    """A supervisor of the attempt before that does not answer makes the new one wait: the run is started by then."""
    lab.mt("start", job, "r")
    old = lab.status("r")["supervisor"]["pid"]
    frozen = next(p for p in heads(lab) if p.pid == old)
    freeze(lab, frozen, "r")
    lab.mt("stop", "r", "--grace", "1s")
    command = lab.spawn("start", job, "r")
    wait_for(lambda: len(job_lives(lab, "r")) == 2 and lab.mt("list", "--json").json["runs"][0]["state"] == "running",
             "the second attempt", 20, 0.2)
    command.send_signal(signal.SIGINT)
    time.sleep(0.5)
    send(lab, "CONT", frozen.host_pid)
    _, err = command.communicate(timeout=60)
    assert command.returncode == 0 and "run 'r' was started before the signal came, and continues; `mtlaunch stop r` ends it" in err
    assert lab.status("r")["supervisor"]["alive"] and len(job_lives(lab, "r")) == 2
    lab.mt("stop", "r", "--grace", "1s")
    lab.assert_nothing_left()


def moments():
    """(seconds before the first signal, signals to the foreground or to all with the pauses between them)."""
    for _ in range(4):
        sequence = [CHANCE.choice(["INT", "TERM"])]
        for _ in range(CHANCE.randrange(1, 3)):
            sequence += [round(CHANCE.uniform(2, 4), 1), CHANCE.choice(["INT", "TERM", "KILL", "HUP"])]
        yield round(CHANCE.uniform(0.0, 3.0), 2), sequence, CHANCE.random() < 0.5, CHANCE.random() < 0.7


@pytest.mark.parametrize("delay, sequence, everybody, wait", moments())
def test_s9_cancelled_at_any_moment(lab, job, delay, sequence, everybody, wait):
    command = lab.spawn("start", job, "r", *(["--wait"] if wait else []))
    only = host_pid(lab, "start")
    time.sleep(delay)  # the moment is the subject here
    for word in sequence:
        if isinstance(word, float):
            time.sleep(word)
        else:
            send(lab, word, None if everybody else only)
    command.communicate(timeout=60)
    if command.returncode == 0:  # the start was over before the first signal, which then ended its supervisor only
        assert not wait
        lab.mt("stop", "r", "--grace", "1s")
    wait_until_gone(lab, "r")
    answer = lab.mt("status", "r", "--json", code=None)
    if answer.code != 6:
        assert lab.mt("stop", "r", "--json").json["state"] in ENDED
