"""finish_on: rank0 and time_limit: how a run ends without anybody at it (U5, U6)."""
import time

import pytest

BLOCKS = "[ $NODE_RANK = 0 ] && { sleep 3; exit $CODE; }; sleep 600"


def job(lab, name="job.yaml", program=BLOCKS, hosts="node1,node2,node3", code=0, **keys):
    lab.job(name, hosts=hosts, program=program, stop={"grace": "2s"}, env={"CODE": str(code)}, **keys)


@pytest.mark.parametrize("wait", [True, False], ids=["wait", "supervisor"])
def test_the_run_has_finished_when_node_0_has(lab, wait):
    job(lab, finish_on="rank0")
    if wait:
        lab.mt("start", "job.yaml", "ray", "--wait")
    else:
        lab.mt("start", "job.yaml", "ray")
        lab.mt("wait", "ray", "--timeout", "30s")
    status = lab.status("ray", code=0)
    assert (status["state"], status["exit_status"]) == ("finished", 0)
    assert [n["state"] for n in status["nodes"]] == ["exited", "stopped", "stopped"]
    lab.assert_nothing_left()


def test_a_node_0_that_fails_is_a_failure(lab):
    job(lab, finish_on="rank0", code=4)
    lab.mt("start", "job.yaml", "ray", "--wait", code=1)
    status = lab.status("ray", code=1)
    assert (status["state"], status["exit_status"]) == ("failed", 4)
    lab.assert_nothing_left()


def test_others_that_end_first_do_not_finish_it(lab):
    job(lab, finish_on="rank0", program="[ $NODE_RANK = 0 ] && sleep 4; exit 0")
    lab.mt("start", "job.yaml", "ray")
    assert lab.status("ray")["state"] in ("running", "degraded")
    lab.mt("wait", "ray", "--timeout", "30s")


def test_without_it_the_others_go_on(lab):
    job(lab)
    lab.mt("start", "job.yaml", "ray")
    time.sleep(6)
    assert lab.status("ray")["state"] == "running"
    lab.mt("stop", "ray")


@pytest.mark.parametrize("wait", [True, False], ids=["wait", "supervisor"])
def test_the_time_limit_stops_the_run(lab, wait):
    job(lab, program="sleep 600", time_limit="4s")
    began = time.monotonic()
    if wait:
        answer = lab.mt("start", "job.yaml", "lim", "--wait", code=5)
    else:
        lab.mt("start", "job.yaml", "lim")
        answer = lab.mt("wait", "lim", "--timeout", "30s", code=5)
    assert 4 <= time.monotonic() - began < 25
    assert "its time limit of 4 s has passed" in answer.err
    status = lab.status("lim", code=0)
    assert status["state"] == "stopped" and "time limit" in status["reason"]
    assert "time-limit" in [e["event"] for e in status["events"]]
    assert lab.mt("wait", "lim", "--json", code=5).error["kind"] == "time-limit"
    lab.assert_nothing_left()


def test_the_time_limit_counts_over_all_attempts_and_from_this_start(lab):
    job(lab, hosts="node1", program="sleep 3; exit 1", time_limit="8s", on_failure="restart",
        restart={"max": 1000, "backoff": "1s"})
    lab.mt("start", "job.yaml", "lim", "--wait", code=5)
    status = lab.status("lim", code=None)
    assert 2 <= status["attempt"] <= 4 and status["state"] in ("stopped", "failed")
    lab.assert_nothing_left()
    before = status["attempt"]
    lab.mt("start", "job.yaml", "lim", "--wait", code=5)  # begins to count anew
    assert lab.status("lim", code=None)["attempt"] >= before + 2


def test_a_run_that_ends_in_time_is_not_touched(lab):
    job(lab, hosts="node1", program="sleep 2", time_limit="1h")
    lab.mt("start", "job.yaml", "lim", "--wait")


@pytest.mark.parametrize("keys,words", [
    ({"time_limit": "1h"}, "time_limit"), ({"finish_on": "rank0"}, "finish_on: rank0"),
    ({"on_failure": "restart", "restart": {"max": 1}}, "on_failure: restart"), ({"on_failure": "stop"}, "on_failure: stop"),
    ({"on_lost": "stop"}, "on_lost: stop"), ({"on_stall": "stop", "stall": "5m"}, "on_stall: stop")])
def test_what_needs_a_supervisor_is_refused_without_one(lab, keys, words):
    job(lab, **keys)
    answer = lab.mt("start", "job.yaml", "lim", "--no-supervise", code=2)
    assert f"'{words}' of the spec needs a supervisor" in answer.err
    assert lab.mt("list", "--json").json["runs"] == []


@pytest.mark.parametrize("keys", [{"time_limit": "0"}, {"time_limit": "0s"}, {"time_limit": "soon"}, {"finish_on": "rank1"}])
def test_bad_values(lab, keys):
    job(lab, **keys)
    assert "allowed: " in lab.mt("start", "job.yaml", "lim", code=2).err
