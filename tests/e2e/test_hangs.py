"""Hangs: what the flight recorders tell, and what workers print that outlive the grace of a stop. Real torchrun over gloo."""
from pathlib import Path

from cluster import wait_for

LINES = (Path(__file__).resolve().parent / "programs" / "recorder.py").read_text(encoding="utf-8").splitlines()


def line_of(text):
    return max(number for number, line in enumerate(LINES, 1) if text in line)


def test_recorders_name_the_rank_that_never_joined(lab, newer_torch):
    lab.program("recorder.py")
    lab.job("r.yaml", hosts="node1,node2", launcher="torchrun", program="recorder.py", args=["2"], nproc_per_node=2, python=newer_torch,
            start_timeout="5m")
    lab.mt("start", "r.yaml", "r")

    def dumps():
        return [p.name for node in ("node1", "node2") for p in lab.node_file(node, ".mtlaunch", "run_state").glob("r_node*.fr/dump_?")]

    wait_for(lambda: len(dumps()) == 4, "the dumps of four ranks", 120, 0.5)
    summary = f"did not call all_reduce number 4, in which 3 ranks wait (recorder.py:{line_of('dist.all_reduce')})"

    def check():
        cause = lab.mt("diagnose", "r", "--json", timeout=60).json["cause"]
        assert (cause["id"], cause["class"], cause["hosts"], cause["global_rank"]) == ("COLLECTIVE_UNJOINED", "ABSENT", ["node2"], 2)
        assert (cause["summary"], cause["confidence"]) == (summary, "medium")

    check()
    assert lab.status("r")["state"] == "running"
    # the workers ignore TERM; torchrun waits for them longer than the grace
    lab.mt("stop", "r", "--grace", "3s")
    logs = [lab.log("r", rank).decode() for rank in range(2)]
    assert all("Fatal Python error: Aborted" in log for log in logs)
    assert f"line {line_of('time.sleep(600)')} in wait_for_data" in logs[1] and "in wait_for_data" not in logs[0]
    assert not [p for node in ("node1", "node2") for p in lab.node_file(node).glob("core*")]
    check()
    lab.assert_nothing_left()
