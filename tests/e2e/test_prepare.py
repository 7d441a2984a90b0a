"""`prepare`: commands before a start, once or each time, on the first node or all of them."""
import signal

import pytest

from cluster import wait_for


def job(lab, steps, **keys):
    return lab.job("p.yaml", prepare=steps, program=["sh", "-c", "cat made.* 2>/dev/null; sleep 600"], **keys)


def start(lab, *words, **options):
    return lab.mt("start", "p.yaml", "r", *words, **options)


def log(lab, node, name):
    return lab.node_file(node, ".mtlaunch", "logs", f"r_node{node[-1:] and int(node[-1]) - 1}.{name}.log").read_text()


def test_steps_run_in_order_on_the_first_or_on_all_nodes(lab):
    job(lab, [
        {"name": "one", "command": "echo one $NNODES $NODE_RANK $MASTER_ADDR $KEY; echo a >made.one"},
        {"name": "two", "on": "all", "command": ["sh", "-c", 'echo "$1 $MTLAUNCH_HOST"; echo b >made.two',
                                                 "sh", "${{node_rank}} of ${{nnodes}}"]},
    ], env={"KEY": "v"})
    done = start(lab)
    assert "prepare 'one' on node1" in done.err and "prepare 'two' on all nodes" in done.err
    assert log(lab, "node1", "one") == "one 1 0 127.0.0.1 v\n"
    assert [log(lab, node, "two") for node in lab.names] == [f"{i} of 4 {node}\n" for i, node in enumerate(lab.names)]
    assert not lab.node_file("node2", "made.one").exists()
    wait_for(lambda: lab.log("r", 0) == b"a\nb\n", "the job to find what was made", 20)
    assert [e["host"] for e in lab.status("r")["events"] if e["event"] == "prepared"][0] == "node1"
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_what_is_there_is_not_made_again(lab):
    job(lab, [{"name": "make", "command": "echo x >>made.it", "creates": "made.it"}])
    assert "is skipped" not in start(lab).err
    lab.mt("stop", "r")
    again = start(lab)
    assert "node1: prepare 'make' is skipped" in again.err
    assert lab.node_file("node1", "made.it").read_text() == "x\n"
    lab.mt("stop", "r")


def test_a_step_that_fails_ends_the_start_with_the_end_of_its_log(lab):
    job(lab, [{"name": "bad", "on": "all", "command": "seq 100; echo cannot convert >&2; test $MTLAUNCH_HOST != node3"}])
    failed = start(lab, code=4)
    assert "node3: prepare 'bad' ended with status 1" in failed.err and "cannot convert" in failed.err
    assert "r_node2.bad.log" in failed.err and "1 of 4 nodes failed to prepare" in failed.err
    assert lab.status("r", code=1)["state"] == "failed"
    assert not lab.node_file("node1", ".mtlaunch", "logs", "r_node0.log").exists()
    lab.assert_nothing_left()


@pytest.mark.parametrize("keys,why", [
    ({"command": "sleep 600", "timeout": "1s"}, "did not end within 1s and was ended"),
    ({"command": ":", "creates": "nothing"}, "ended with 0, but '/home/lab/nothing' is not there"),
    ({"command": ["no-such-command"]}, "ended with status 127"),
])
def test_a_step_that_does_not_do_what_it_should(lab, keys, why):
    job(lab, [{"name": "step", **keys}])
    assert f"prepare 'step' {why}" in start(lab, code=4).err
    lab.assert_nothing_left()


def test_a_step_is_interrupted(lab):
    job(lab, [{"name": "long", "on": "all", "command": "sleep 600 & sleep 600"}])
    command = lab.spawn("start", "p.yaml", "r")
    wait_for(lambda: all(lab.marked("r", node) for node in lab.names), "the step to run on all nodes", 20)
    command.send_signal(signal.SIGINT)
    assert command.wait(60) == 130
    lab.assert_nothing_left()


def test_a_dry_run_shows_the_steps_and_touches_nothing(lab):
    job(lab, [{"name": "make", "command": ["make", "${{run}}"], "creates": "x"}])
    text = start(lab, "--dry-run").out
    assert text.count("prepare: make: make r (skipped where this exists: x)") == 1
    assert not lab.node_file("node1", ".mtlaunch").exists()
