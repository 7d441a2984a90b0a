"""Processes of another run come and go all the time: a look at them is no reason to refuse a start (S1, U6)."""
import os
import subprocess

import pytest

CHURN = "while :; do for i in 1 2 3 4 5 6 7 8; do /bin/true & done; wait; done"


@pytest.mark.parametrize("name", ["other", "r"])
def test_processes_that_go_while_they_are_looked_at(node, name):
    environment = {"PATH": node.path, "MTLAUNCH_MARK": f"{name}-0123abcd.1.0", "MTLAUNCH_ARTIFACTS": "/elsewhere"}
    churns = [subprocess.Popen(["/bin/sh", "-c", CHURN], env=environment, start_new_session=True) for _ in range(4)]
    try:
        for _ in range(int(os.environ.get("MTLAUNCH_LOOKS", "12"))):
            answer = node.call("probe")
            assert "error" not in answer, answer
            assert answer["live"]["total"] == 0 and answer["foreign"]["run_id"] is None
    finally:
        for churn in churns:
            os.killpg(churn.pid, 9)
            churn.wait()
