"""A signal to the job's process group, and nothing more (U22)."""
import os
import time

from conftest import alive, wait_for

CATCHES = "trap 'echo got' USR1; echo ready; while :; do sleep 0.1; done"


def start(node, line=CATCHES, **values):
    assert node.start("sh", "-c", line, **values)["stage"] == "started"
    wait_for(lambda: b"ready" in node.read("log", run=values.get("run", "r")), 10, "the trap")


def signal(node, name="USR1", **values):
    return node.call("signal", signal=name, **values)


def test_it_reaches_the_whole_group_and_ends_nothing(node):
    start(node, "sh -c 'trap \"echo child\" USR1; while :; do sleep 0.1; done' & " + CATCHES)
    pid = int(node.state()["pid"])
    answer = signal(node)
    assert answer == {"delivered": True, "life": "running", "pid": pid, "problem": None}
    wait_for(lambda: b"got" in node.read("log") and b"child" in node.read("log"), 5, "both traps")
    assert alive(pid) and node.observe()["life"] == "running"


def test_a_run_of_the_same_name_elsewhere_and_another_attempt_get_nothing(dash):
    start(dash)
    assert signal(dash, run_id="r-ffffffff")["life"] == "none"
    assert signal(dash, attempt=2)["life"] == "none"
    assert signal(dash, rank=1)["delivered"] is False
    assert b"got" not in dash.read("log")


def test_one_that_has_ended(node):
    node.start("sh", "-c", "exit 3")
    node.wait_ended()
    answer = signal(node)
    assert answer["life"] == "gone" and not answer["delivered"]


def test_a_reused_pid_gets_nothing(dash, spawned):
    import subprocess
    start(dash)
    victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
    spawned.append(victim)
    state = dash.read("state").decode().replace(f"pid={dash.state()['pid']}\n", f"pid={victim.pid}\n")
    with open(dash.file("state"), "w") as f:
        f.write(state)
    assert not signal(dash, "KILL")["delivered"]
    time.sleep(0.2)
    assert victim.poll() is None


def test_a_removed_record_changes_nothing(node):
    start(node)
    os.unlink(node.file("state"))
    assert signal(node)["delivered"]
    wait_for(lambda: b"got" in node.read("log"), 5, "the trap")


def test_nothing_is_sent_into_setup_lines(dash):
    values = {"setup": "sleep 3; :"}
    process = dash.popen("start", arg=["sh", "-c", CATCHES], run="r", run_id=dash.run_id, rank=0, attempt=1,
                         computed=[f"MTLAUNCH_MARK={dash.run_id}.1.0"], **values)
    dash.runs.append(("r", dash.run_id, 0))
    wait_for(lambda: os.path.exists(dash.file("stage")), 5, "the start")
    wait_for(lambda: os.path.exists(dash.file("state")) and dash.state().get("pid"), 5, "the pid")
    answer = signal(dash)
    assert answer["life"] in ("starting", "gone") and not answer["delivered"]
    out, _ = process.communicate(timeout=30)
    assert dash.parse("start", out)["stage"] == "started"
