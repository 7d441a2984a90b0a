"""What counts as an attempt, and how a job that ends at once is told (U13, W10)."""
import json


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
