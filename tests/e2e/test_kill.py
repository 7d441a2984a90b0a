"""kill -9 of mtlaunch at every step of start, stop and wait: the next command tells the truth and can stop the run.

MTLAUNCH_TEST_DIE_AT=n makes mtlaunch kill itself at its n-th step, 0 with -v makes it say how many there were.
MTLAUNCH_SEED=n takes other nodes, jobs and an order of its own: the long check repeats this with many seeds.
"""
import os
import random
import re
import time

import pytest
from cluster import wait_for

SEED = int(os.environ.get("MTLAUNCH_SEED", "0"))
CHANCE = random.Random(SEED)
NODES = 2 if not SEED else CHANCE.choice([1, 2, 3, 4])
LIVES = {"running", "starting", "stopping", "degraded", "lost"}


def hook(n):
    return {"MTLAUNCH_TEST_DIE_AT": str(n)}


def steps(answer):
    return int(re.search(r"steps passed: (\d+)", answer.err).group(1))


def order(count):
    numbers = list(range(1, count + 1))
    if SEED:
        CHANCE.shuffle(numbers)
    return numbers


def write_job(lab, name="job.yaml", seconds=600):
    lab.program("tricks.py")
    program = ["sleep", str(seconds)]
    if SEED and seconds > 100:
        program = CHANCE.choice([program, ["python3", "tricks.py", "ignore", "all"]])
    return lab.job(name, hosts=",".join(lab.names[:NODES]), program=program, stop={"grace": "1s"})


def jobs(lab, run, node):
    """The job's own processes on a node: not the keeper's, not the script's that starts it."""
    return [p for p in lab.marked(run, node) if p.argv[:1] == ["sleep"] or "tricks.py" in p.command]


def check_truth(lab, run):
    """What status says is what is there. Returns its answer, or None when there is no such run."""
    # What the killed command had begun on a node comes to its end there by itself.
    time.sleep(1.2)
    answer = lab.mt("status", run, "--json", code=None)
    if answer.code == 6:
        assert not lab.left(), "no such run, but processes"
        return None
    status = answer.json
    for node in status["nodes"]:
        processes = jobs(lab, run, node["host"])
        if node["state"] == "running":
            assert node["pid"] in [p.pid for p in processes], (status, processes)
        else:
            assert not processes, (status, processes)
    if any(n["state"] == "running" for n in status["nodes"]):
        assert status["state"] in LIVES
    return status


def check_stoppable(lab, run, there):
    answer = lab.mt("stop", run, "--json", code=0 if there else 6)
    lab.assert_nothing_left()
    if there:
        assert answer.json["survivors"] == []
        assert lab.status(run)["state"] in ("stopped", "failed", "finished")


def test_the_hook_counts_steps_and_dies(lab):
    write_job(lab)
    answer = lab.mt("start", "job.yaml", "count", "-v", env=hook(0))
    assert steps(answer) >= 3
    lab.mt("stop", "count")
    assert lab.mt("start", "job.yaml", "count", env=hook(1), code=None).code in (137, -9)


def test_killed_at_every_step_of_start(lab):
    write_job(lab)
    count = steps(lab.mt("start", "job.yaml", "r", "-v", env=hook(0)))
    lab.mt("stop", "r")
    for n in order(count):
        run = f"r{n}"
        answer = lab.mt("start", "job.yaml", run, env=hook(n), code=None)
        assert answer.code in (137, -9), f"step {n}: {answer!r}"
        check_stoppable(lab, run, check_truth(lab, run))
        if n % 5 == 0:
            lab.mt("start", "job.yaml", run)
            assert lab.status(run)["state"] == "running"
            lab.mt("stop", run)


def test_killed_at_every_step_of_stop(lab):
    write_job(lab)
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    count = steps(lab.mt("stop", "r", "-v", env=hook(0)))
    for n in order(count):
        run = f"r{n}"
        lab.mt("start", "job.yaml", run, "--no-supervise")
        answer = lab.mt("stop", run, env=hook(n), code=None)
        assert answer.code in (137, -9), f"step {n}: {answer!r}"
        assert check_truth(lab, run)
        check_stoppable(lab, run, True)


def test_killed_at_every_step_of_wait(lab):
    write_job(lab, "short.yaml", seconds=2)
    write_job(lab)
    lab.mt("start", "short.yaml", "s", "--no-supervise")
    count = steps(lab.mt("wait", "s", "-v", env=hook(0)))
    for n in order(count):
        run = f"w{n}"
        lab.mt("start", "short.yaml", run, "--no-supervise")
        answer = lab.mt("wait", run, env=hook(n), code=None)
        assert answer.code in (137, -9, 0), f"step {n}: {answer!r}"  # a faster run has fewer looks
        assert check_truth(lab, run)
        lab.mt("wait", run, "--timeout", "30s")
        assert lab.status(run)["state"] == "finished"


def test_killed_at_every_step_of_start_and_wait(lab):
    write_job(lab, "short.yaml", seconds=2)
    count = steps(lab.mt("start", "short.yaml", "s", "--wait", "-v", env=hook(0)))
    for n in order(count):
        run = f"f{n}"
        answer = lab.mt("start", "short.yaml", run, "--wait", env=hook(n), code=None)
        assert answer.code in (137, -9, 0), f"step {n}: {answer!r}"
        check_stoppable(lab, run, check_truth(lab, run))


def test_killed_during_roll_back(lab):
    lab.job(hosts="node1,node2", program="[ $NODE_RANK = 0 ] || exit 9; exec sleep 600", stop={"grace": "1s"})
    count = steps(lab.mt("start", "job.yaml", "r", "-v", env=hook(0), code=1))
    for n in order(count)[count // 2:]:
        run = f"b{n}"
        answer = lab.mt("start", "job.yaml", run, env=hook(n), code=None)
        assert answer.code in (137, -9, 1), f"step {n}: {answer!r}"
        status = check_truth(lab, run)
        if status and all(node["state"] != "running" for node in status["nodes"]):
            assert status["state"] != "finished"
        check_stoppable(lab, run, status)


@pytest.mark.parametrize("delay", [0.05, 0.2, 0.5, 1.0, 1.5])
def test_killed_from_outside_during_start(lab, delay):
    write_job(lab)
    begun = lab.spawn("start", "job.yaml", "r", "--no-supervise")  # one would keep its connections
    time.sleep(delay)  # the moment of the kill is the subject here, not a condition to wait for
    begun.kill()
    begun.wait()
    wait_for(lambda: not [p for n in lab.names for p in lab.cluster.ps(n) if p.is_session],
             "the connections to end", 10)
    check_stoppable(lab, "r", check_truth(lab, "r"))
