"""stop, wait and remove of several runs, by name and by pattern; runs whose hosts are gone; numbered runs (U12)."""
import json
import os
import signal
import time

import pytest
from cluster import wait_for

LONG = ["sh", "-c", "sleep 600"]


def start(lab, *runs, program=None, hosts="node1", **keys):
    lab.job("job.yaml", hosts=hosts, program=program or LONG, stop={"grace": "2s"}, **keys)
    for run in runs:
        lab.mt("start", "job.yaml", run)


def names(lab):
    return [run["run"] for run in lab.mt("list", "--json").json["runs"]]


def test_stop_several_and_patterns_choose_live_runs(lab):
    start(lab, "a1", "a2", "b1", "c1")
    lab.mt("stop", "a2")
    answer = lab.mt("stop", "a*", "b?", "--json").json
    assert [(r["run"], r["state"], r["survivors"]) for r in answer["runs"]] == [
        ("a1", "stopped", []), ("b1", "stopped", [])]
    assert lab.status("c1")["state"] == "running"
    text = lab.mt("stop", "c1", "a1").out  # ended ones may be named
    assert "c1" in text and "a1" in text
    lab.assert_nothing_left()


def test_one_wrong_name_does_not_keep_the_others(lab):
    start(lab, "a1")
    answer = lab.mt("stop", "never", "a1", "--json", code=6)
    never, a1 = answer.json["runs"]
    assert never["error"]["kind"] == "no-such-run" and never["state"] is None
    assert set(never) == set(a1) | {"error"}  # unknown is null, never left out
    assert a1["state"] == "stopped"
    assert "no run 'never'" in answer.err
    lab.assert_nothing_left()


@pytest.mark.parametrize("verb,word", [("stop", "live"), ("wait", "live"), ("remove", "ended")])
def test_a_pattern_without_a_run(lab, verb, word):
    answer = lab.mt(verb, "zz*", code=6)
    assert f"no {word} run matches 'zz*'" in answer.err
    none = lab.mt(verb, "zz*", "--json", code=6).json
    assert none["runs"] == [] and none["error"]["kind"] == "no-such-run" and none["error"]["code"] == 6
    assert "'a/*'" in lab.mt(verb, "a/*", code=2).err


def test_wait_for_all_and_the_worst_code(lab):
    start(lab, "good", program=["sh", "-c", "sleep 2"])
    start(lab, "bad", program=["sh", "-c", "sleep 4; exit 3"])
    answer = lab.mt("wait", "good", "bad", "--json", code=1).json
    assert [(r["run"], r["state"]) for r in answer["runs"]] == [("good", "finished"), ("bad", "failed")]


def test_the_limit_of_wait_is_for_all(lab):
    start(lab, "a1", "a2")
    answer = lab.mt("wait", "a*", "--timeout", "3s", "--json", code=5)
    assert answer.seconds < 8
    assert [r["error"]["kind"] for r in answer.json["runs"]] == ["time-limit", "time-limit"]
    lab.mt("stop", "*")
    lab.assert_nothing_left()


def test_an_interruption_names_the_runs_that_were_not_reached(lab):
    start(lab, "a1", "a2", "a3")
    command = lab.spawn("wait", "a1", "a2", "a3", "--json")
    time.sleep(3)
    os.kill(command.pid, signal.SIGINT)
    out, err = command.communicate(timeout=30)
    assert command.returncode == 130
    assert "interrupted before anything was done for a2, a3" in err
    assert [(r["run"], r["error"]["kind"]) for r in json.loads(out)["runs"]] == [
        ("a1", "interrupted"), ("a2", "interrupted"), ("a3", "interrupted")]
    lab.mt("stop", "a*")
    lab.assert_nothing_left()


def test_remove_patterns_choose_ended_runs(lab):
    start(lab, "a1", "a2", "a3")
    lab.mt("stop", "a1", "a2")
    assert lab.mt("remove", "a*").out == "a1: removed\na2: removed\n"
    assert names(lab) == ["a3"]
    answer = lab.mt("remove", "a3", "never", "--json", code=6).json
    assert [(r["run"], r["removed"], r["error"]["kind"]) for r in answer["runs"]] == [
        ("a3", False, "run-live"), ("never", False, "no-such-run")]
    lab.mt("stop", "a3")


def test_remove_sees_that_a_run_without_a_supervisor_has_ended(lab):
    lab.job("job.yaml", hosts="node1", program=["sh", "-c", "sleep 2"])
    lab.mt("start", "job.yaml", "q1", "--no-supervise")
    wait_for(lambda: not lab.cluster.pids_with("node1", "sleep 2"), "the job's end", 20)
    assert lab.mt("remove", "q*").out == "q1: removed\n"


def test_remove_ended_older_than(lab):
    start(lab, "a1", "a2", "live")
    lab.mt("stop", "a1", "a2")
    assert "'--older-than' needs --ended" in lab.mt("remove", "a1", "--older-than", "1h", code=2).err
    assert "--ended" in lab.mt("remove", "a1", "--ended", code=2).err
    assert "'remove' needs RUN" in lab.mt("remove", code=2).err
    answer = lab.mt("remove", "--ended", "--older-than", "1h")
    assert answer.out == "" and "no run has ended that long ago" in answer.err
    assert lab.mt("remove", "--ended", "--older-than", "0").out == "a1: removed\na2: removed\n"
    assert names(lab) == ["live"]
    lab.mt("stop", "live")


def test_force_forgets_a_run_whose_host_is_gone(lab):
    start(lab, "a1", hosts="node1,node2", lost_after="1h")
    lab.cluster.cut("node2")
    refused = lab.mt("remove", "a1", "--connect-timeout", "2s", "--force", code=6)
    assert "node1: its command still runs" in refused.err
    lab.mt("stop", "a1", "--connect-timeout", "2s", code=7)
    plain = lab.mt("remove", "a1", "--connect-timeout", "2s", code=6)
    assert "--force" in plain.err
    forced = lab.mt("remove", "a1", "--connect-timeout", "2s", "--force")
    assert "node2: " in forced.err and "may be left there is forgotten" in forced.err
    assert "node1" not in forced.err
    assert names(lab) == []
    lab.cluster.restore("node2")
    for process in lab.cluster.pids_with("node2", "sleep 600"):
        lab.cluster.end(process)


def test_force_with_artifacts_names_what_stays(lab):
    start(lab, "a1", hosts="node1,node2")
    lab.mt("stop", "a1")
    lab.cluster.cut("node2")
    kept = lab.mt("remove", "a1", "--artifacts", "--connect-timeout", "2s", code=3)
    assert "--force" in kept.err
    forced = lab.mt("remove", "a1", "--artifacts", "--force", "--connect-timeout", "2s")
    assert "node2: " in forced.err and "files" in forced.err
    assert names(lab) == []
    lab.cluster.restore("node2")


def test_force_with_artifacts_forgets_hosts_that_cannot_even_be_tried_u12(lab):
    """The ssh configuration of the run was removed since."""
    start(lab, "a1", hosts="node1")
    lab.mt("stop", "a1")
    path = lab.home / ".local/state/mtlaunch/runs/a1/run.json"
    record = json.loads(path.read_text())
    record["ssh_config"] = str(lab.home / "removed.conf")
    path.write_text(json.dumps(record))
    assert "removed.conf" in lab.mt("remove", "a1", "--artifacts", code=2).err
    forced = lab.mt("remove", "a1", "--artifacts", "--force")
    assert "removed.conf" in forced.err and "may be left on node1 is forgotten" in forced.err
    assert names(lab) == []


def test_numbers_of_runs_never_come_back(lab):
    lab.job("num.yaml", hosts="node1", program=["sh", "-c", "sleep 1"])
    assert lab.mt("start", "num.yaml", "--dry-run", "--json").json["run"] == "num-1"
    assert lab.mt("start", "num.yaml", "--wait", "--json").json["run"] == "num-1"
    assert lab.mt("start", "num.yaml", "--wait", "--json").json["run"] == "num-2"
    lab.mt("remove", "num-1", "num-2")
    assert lab.mt("start", "num.yaml", "--wait", "--json").json["run"] == "num-3"
    lab.mt("start", "num.yaml", "num-7", "--wait")
    lab.mt("remove", "num-*")
    assert lab.mt("start", "num.yaml", "--wait", "--json").json["run"] == "num-8"


def test_a_job_whose_name_makes_no_run_name(lab):
    lab.job("odd.yaml", job="my job", hosts="node1", program=["true"])
    assert "no run name can be made from the job's name 'my job'" in lab.mt("start", "odd.yaml", code=2).err
