"""What a probe says of other runs that live on the node (U6)."""
import os
import secrets
import subprocess

import pytest

from conftest import Node, own_uid, wait_for


@pytest.fixture
def other(node):
    """The id of another run of which a process lives."""
    return node.id_of("other.run-1")


def others(node, **values):
    """Those of the runs of this test; other tests may run on this machine."""
    answer = node.call("probe", run="mine", **values)
    assert "others" in answer, answer
    return dict(o for o in answer["others"] if node.hex in o[0])


def test_a_run_with_marks_is_named_once_u6(node, other):
    node.start("/bin/sh", "-c", "sleep 300 & sleep 300 & wait", run="other.run-1")
    node.start("/bin/sleep", "300", run="second", rank=1)
    node.start("/bin/sleep", "300", run="mine2")
    assert others(node, artifacts=node.artifacts + ".2") == {
        other: "root", node.id_of("second"): "root", node.id_of("mine2"): "root"}
    assert node.call("probe", run="second")["live"]["total"] > 0


def test_a_run_of_no_marks_is_known_by_its_record_u6(node, other):
    """Its keeper is gone and its command has cleared its environment."""
    started = node.start("/usr/bin/env", "-i", "/bin/sleep", "300", run="other.run-1")
    state = node.state(run="other.run-1")
    os.kill(int(state["keeper"]), 9)
    wait_for(lambda: not os.path.exists(f"/proc/{state['keeper']}"), what="the keeper's end")
    assert others(node) == {other: "root"}
    os.kill(started["pid"], 9)
    wait_for(lambda: others(node) == {}, what="nothing to be left")


def test_an_ended_run_is_not_named_u6(node, other):
    node.start("/bin/true", run="other.run-1")
    node.wait_ended(run="other.run-1", run_id=other)
    wait_for(lambda: others(node) == {}, what="nothing to be left")


def test_another_users_run_is_known_by_its_keeper_u6(shell, tmp_path, open_folder):
    """Another user may not read the environment of its processes."""
    theirs = Node("dash", tmp_path)
    theirs.start("/bin/sleep", "300", run="theirs")
    mine = Node(shell, open_folder, own_uid())
    try:
        answer = mine.call("probe", run="mine")
        assert [theirs.id_of("theirs"), "root"] in answer["others"], answer
    finally:
        theirs.close()
        mine.close()
    assert answer["uid"] == mine.uid


def start_marked(spawned, marks):
    for mark in marks:
        spawned.append(subprocess.Popen(["/bin/sleep", "300"], env={"MTLAUNCH_MARK": mark}, start_new_session=True))


def test_marks_that_are_none_are_left_out_u6(node, other, spawned):
    """Whoever sets the variable by hand makes no run of it, and hides none."""
    start_marked(spawned, ["x", "a b-00000000.1.0", f"{secrets.token_hex(40)}-00000000.1.0", "-00000000.1.0",
                           "r-0000000g.1.0"])
    node.start("/bin/sleep", "300", run="other.run-1")
    assert others(node, artifacts=node.artifacts + ".2") == {other: "root"}
    everything = [o[0] for o in node.call("probe", run="mine")["others"]]
    assert not [o for o in everything if " " in o or len(o) > 73 or o.startswith("-")], everything


def test_many_runs_are_bounded_u6(dash, spawned):
    start_marked(spawned, [f"n{number}-{dash.hex}.1.0" for number in range(18)])
    assert len(dash.call("probe", run="mine")["others"]) == 16
