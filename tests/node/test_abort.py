"""Workers that outlive the grace of a stop print where they hang before they are killed; nobody else is asked."""
import os
import resource
import time

import pytest

from conftest import PYTHON, alive, wait_for

HANGS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def wait_in_vain():
    while True:
        time.sleep(60)
open(sys.argv[1], "w").write(str(os.getpid()))
wait_in_vain()
"""


def start_hanging(node, env=("RANK=3", "PYTHONFAULTHANDLER=1"), limit=""):
    program, pid_file = os.path.join(node.folder, "hangs.py"), os.path.join(node.folder, "pid")
    with open(program, "w", encoding="utf-8") as f:
        f.write(HANGS)
    words = " ".join(env)
    assert node.start("sh", "-c", f"{limit} cd '{node.folder}' && exec env {words} {PYTHON} hangs.py pid")["stage"] == "started"

    def written():
        return os.path.exists(pid_file) and open(pid_file, encoding="utf-8").read()
    return int(wait_for(written, 20, "the worker"))


def log_of(node):
    with open(node.file("log"), encoding="utf-8") as f:
        return f.read()


def cores(node):
    return [name for name in os.listdir(node.folder) if "core" in name]


def test_a_worker_that_outlives_the_grace_shows_its_stack(node):
    """Its own core limit is as large as can be: no core is written all the same."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    pid = start_hanging(node, limit="ulimit -c unlimited;" if hard == resource.RLIM_INFINITY else "")
    answer = node.stop(grace=1)
    assert not alive(pid) and answer["was_alive"] and answer["survivors"]["total"] == 0
    log = log_of(node)
    assert "Fatal Python error: Aborted" in log and "line 6 in wait_in_vain" in log, log
    assert answer["status"] == 134 and answer["killed"] == 0 and cores(node) == []


@pytest.mark.parametrize("env", [("RANK=3", "PYTHONFAULTHANDLER="), ("PYTHONFAULTHANDLER=1",)])
def test_without_a_fault_handler_or_a_rank_nobody_is_aborted(node, env):
    pid = start_hanging(node, env)
    answer = node.stop(grace=1)
    assert not alive(pid) and answer["status"] == 137 and answer["killed"] == 1
    assert "Fatal" not in log_of(node)


def test_a_worker_that_ends_in_time_is_not_aborted(node):
    line = "import signal,sys,time; signal.signal(15, lambda *_: sys.exit(7)); print(1, flush=True); time.sleep(60)"
    node.start("env", "RANK=0", "PYTHONFAULTHANDLER=1", PYTHON, "-c", line)
    wait_for(lambda: "1" in log_of(node), 20, "the worker")
    assert node.stop(grace=10)["status"] == 7
    assert "Fatal" not in log_of(node)


def test_no_grace_means_at_once(node):
    pid = start_hanging(node)
    begun = time.monotonic()
    answer = node.stop(grace=0)
    assert time.monotonic() - begun < 15 and not alive(pid) and answer["status"] == 137
    assert "Fatal" not in log_of(node)


def test_a_stopped_worker_holds_nothing_up(node):
    """It would print nothing before it is woken: it is killed."""
    pid = start_hanging(node)
    os.kill(pid, 19)
    answer = node.stop(grace=1)
    assert not alive(pid) and answer["status"] == 137 and "Fatal" not in log_of(node)
