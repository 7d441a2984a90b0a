"""What counts as an attempt, and how a job that ends at once is told (U13, W10)."""
import json

from cluster import wait_for


def record(lab, run):
    return json.loads((lab.home / f".local/state/mtlaunch/runs/{run}/run.json").read_text())


def test_a_start_that_fails_its_check_is_no_attempt_u13(lab):
    lab.job(hosts="node1,node2", program=["missing-program"])
    for _ in range(2):
        lab.mt("start", "job.yaml", "r", code=4)
        status = lab.status("r", code=1)
        assert (status["state"], status["attempt"]) == ("failed", 1)
        assert "missing-program" in status["nodes"][1]["reason"] and status["reason"]
        assert [a["attempt"] for a in status["attempts"]] == [1]
    lab.job(hosts="node1,node2", program=["sh", "-c", "echo attempt $MTLAUNCH_ATTEMPT; exec sleep 600"])
    lab.mt("start", "job.yaml", "r")
    status = lab.status("r")
    assert (status["state"], status["attempt"]) == ("running", 1)
    assert [a["attempt"] for a in status["attempts"]] == [1]
    assert "attempt 1" in lab.mt("logs", "r").out
    lab.mt("stop", "r")


def test_a_failed_check_between_two_attempts_u13(lab):
    """Logs keep their numbers: the first attempt's is .log.1, the second's is not .log.3."""
    ok = ["sh", "-c", "echo attempt $MTLAUNCH_ATTEMPT; sleep 1.2"]
    lab.job(hosts="node1", program=ok)
    lab.mt("start", "job.yaml", "r", "--wait")
    lab.job(hosts="node1", program=["missing-program"])
    lab.mt("start", "job.yaml", "r", code=4)
    assert record(lab, "r")["attempt"] == 2
    lab.job(hosts="node1", program=ok)
    lab.mt("start", "job.yaml", "r", "--wait")
    assert record(lab, "r")["attempt"] == 2 and len(record(lab, "r")["attempts"]) == 2
    assert "attempt 1" in lab.mt("logs", "r", "--attempt", "1").out
    assert "attempt 2" in lab.mt("logs", "r").out
    logs = lab.node_file("node1", ".mtlaunch", "logs", "r_node0.log").parent
    assert sorted(p.name for p in logs.iterdir()) == ["r_node0.log", "r_node0.log.1"]


def test_a_refused_start_and_a_full_disk_are_no_attempts_u13(lab):
    """Refused on the node itself, after the check: still nothing was started."""
    lab.job(hosts="node1", program=["sleep", "600"], artifacts="/proc/1/nowhere")
    lab.mt("start", "job.yaml", "r", code=4)
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    assert lab.status("r")["attempt"] == 1
    lab.mt("stop", "r")


def test_a_setup_line_that_fails_at_the_start_is_an_attempt_u13(lab):
    """It ran, and its log is there."""
    lab.job(hosts="node1", program=["true"], setup=["exit 3"])
    lab.mt("start", "job.yaml", "r", "--no-check", code=1)
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    assert lab.status("r")["attempt"] == 2
    lab.mt("stop", "r")


def failing(delay, where="1"):
    return f"echo one; echo the last line; [ $NODE_RANK = {where} ] || exec sleep 600; {delay}exit 42"


def test_a_job_that_ends_at_once_is_told_like_one_that_ends_later_w10(lab):
    told = {}
    for run, delay in (("atonce", ""), ("later", "sleep 3; ")):
        lab.job(hosts="node1,node2", program=failing(delay), stop={"grace": "1s"})
        answer = lab.mt("start", "job.yaml", run, "--wait", code=1)
        assert "node2: the last line" in answer.out, answer.out
        told[run] = [line.replace(run, "RUN") for line in answer.err.splitlines() if "failed" in line or "last line" in line]
        status = lab.status(run, code=1)
        assert (status["state"], status["exit_status"]) == ("failed", 42)
        assert status["reason"] == "node2 (node 1): exit status 42: the last line", status["reason"]
        assert "the last line\n    one\n    the last line\n" in answer.err
        assert [n["state"] for n in status["nodes"]] == ["stopped", "failed"]
        assert status["nodes"][1]["reason"] == "exit status 42" and status["nodes"][1]["exit_status"] == 42
        assert "node-failed" in [e["event"] for e in status["events"]]
        lab.assert_nothing_left()
    assert told["atonce"] == told["later"] != []


def test_json_of_a_job_that_ends_at_once_w10(lab):
    """The status object, as later; an error object is for what is not the run's own failure."""
    keys = set()
    for run, delay in (("atonce", ""), ("later", "sleep 3; ")):
        lab.job(hosts="node1,node2", program=failing(delay), stop={"grace": "1s"})
        answer = lab.mt("start", "job.yaml", run, "--wait", "--json", code=1).json
        assert answer["state"] == "failed" and answer["exit_status"] == 42 and "error" not in answer
        keys.add(tuple(sorted(answer)))
    assert len(keys) == 1
    lab.job(hosts="node1", program="echo gone; exit 7")
    answer = lab.mt("start", "job.yaml", "alone", "--json", code=1).json
    assert (answer["state"], answer["exit_status"], answer["reason"]) == (
        "failed", 7, "node1 (node 0): exit status 7: gone")
    assert "error" not in answer
    text = lab.mt("start", "job.yaml", "alone2", code=1).err
    assert "run 'alone2' failed: node1 (node 0): exit status 7: gone\n" in text


def test_a_setup_line_that_fails_at_the_start_keeps_its_reason_w10(lab):
    lab.job(hosts="node1,node2", setup=["[ $NODE_RANK = 0 ] || { echo no conda here; exit 4; }"], program=["sleep", "600"])
    answer = lab.mt("start", "job.yaml", "r", "--no-check", code=1)
    reason = "setup line 1 ('[ $NODE_RANK = 0 ] || { echo no conda here; exit 4; }') ended with status 4"
    assert f"node2 (node 1): {reason}" in answer.err and "no conda here" in answer.err
    assert lab.status("r", code=1)["nodes"][1]["reason"] == reason
    lab.assert_nothing_left()


def test_what_a_finished_run_left_is_told_everywhere_u4(lab):
    lab.job(hosts="node1", program="sleep 317 & sleep 1.5")
    answer = lab.mt("start", "job.yaml", "r", "--wait")
    assert "leftover process" in answer.err and "sleep 317" in answer.err and "mtlaunch stop r" in answer.err
    status = lab.status("r")
    assert status["state"] == "finished" and [e for e in status["events"] if e["event"] == "left-over"]
    (left,) = status["left_over"]
    assert (left["host"], left["command"]) == ("node1", "sleep 317")
    assert left["pid"] in [p.pid for p in lab.cluster.pids_with("node1", "317")]
    assert f"left over: node1: {left['pid']} sleep 317 (mtlaunch stop r ends it)" in lab.mt("status", "r").out
    lab.mt("stop", "r")
    status = lab.status("r")
    assert status["left_over"] == [] and "left over" not in lab.mt("status", "r").out
    lab.assert_nothing_left()


def test_a_refused_start_leaves_the_left_overs_known(lab):
    lab.job(hosts="node1", program="sleep 316 & sleep 1.5")
    lab.mt("start", "job.yaml", "r", "--wait")
    (left,) = lab.status("r")["left_over"]
    lab.mt("start", "job.yaml", "r", code=6)
    assert lab.status("r", code=1)["left_over"] == [left]
    lab.mt("stop", "r")
    assert lab.status("r", code=1)["left_over"] == []
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_what_a_job_left_that_ended_within_its_start_is_told_too_u4(lab):
    lab.job(hosts="node1", program="setsid sleep 318 & nohup sleep 319 >/dev/null 2>&1 &")
    for number, options in enumerate((["--wait"], [], ["--no-supervise"])):
        run = f"r{number}"
        answer = lab.mt("start", "job.yaml", run, *options)
        assert "2 leftover processes" in answer.err and f"mtlaunch stop {run}" in answer.err
        status = lab.status(run)
        assert status["state"] == "finished"
        assert sorted(left["command"] for left in status["left_over"]) == ["sleep 318", "sleep 319"]
        lab.mt("stop", run)
        assert lab.status(run)["left_over"] == []


def test_left_overs_that_have_ended_are_no_longer_shown_u4(lab):
    lab.job(hosts="node1", program="sleep 4 & sleep 1.5")
    lab.mt("start", "job.yaml", "r", "--wait")
    wait_for(lambda: not lab.marked("r", "node1"), "the left-over's end", 15)
    assert lab.status("r")["left_over"] == []
