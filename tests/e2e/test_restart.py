"""Restarts: a new attempt once the old one is proven gone, spares, limits, and what the head's death leaves."""
import re
import time

import pytest

from cluster import wait_for
from test_supervise import events, kill_job, kill_supervisor, record, wait_record

RESTART = {"on_failure": "restart", "stop": {"grace": "1s"}}


def wait_attempt(lab, run, attempt, state="running", limit=40):
    return wait_for(lambda: (lambda r: r if (r["attempt"], r["state"]) == (attempt, state) else None)(record(lab, run)),
                    f"attempt {attempt} to be {state}", limit, 0.1)


def marks(lab, run):
    """Attempts of which processes live."""
    return {p.environ["MTLAUNCH_ATTEMPT"] for n in lab.names for p in lab.marked(run, n)
            if "MTLAUNCH_ATTEMPT" in p.environ}


def test_a_failure_begins_the_next_attempt(lab):
    lab.job(hosts="node1,node2", restart={"max": 2, "backoff": "1s"}, env={"A_TOKEN": "hidden"}, **RESTART)
    lab.mt("start", "job.yaml", "r", "-e", "FROM_HERE", env={"FROM_HERE": "here it is", "NCCL_DEBUG": "WARN"})
    first = record(lab, "r")
    kill_job(lab, "r", 1)
    wait_attempt(lab, "r", 2)
    assert marks(lab, "r") == {"2"}
    status = lab.status("r")
    assert status["run_id"] == first["run_id"]
    assert [a["attempt"] for a in status["attempts"]] == [1, 2]
    assert any(e[0] == "restarted" and re.search("restart 1 of 2.*, after: node2.*SIGKILL", e[2]) for e in events(lab, "r"))
    environ = [p for p in lab.marked("r", "node2") if p.argv[:1] == ["sleep"]][0].environ
    assert environ["FROM_HERE"] == "here it is" and environ["NCCL_DEBUG"] == "WARN"
    assert environ["A_TOKEN"] == "hidden" and environ["MTLAUNCH_ATTEMPT"] == "2"
    assert environ["MTLAUNCH_MARK"] == f"{first['run_id']}.2.1"
    folder = lab.home / ".local/state/mtlaunch/runs/r"
    assert (folder / "again").stat().st_mode & 0o777 == 0o600
    assert "hidden" not in (folder / "run.json").read_text() + (folder / "supervisor.log").read_text()
    lab.mt("stop", "r")
    assert not (folder / "again").exists()
    lab.assert_nothing_left()


def test_restart_max_ends_it(lab):
    lab.job(hosts="node1,node2", program="sleep 1.5; exit 5", restart={"max": 1, "backoff": "0s"}, **RESTART)
    lab.mt("start", "job.yaml", "r")
    assert lab.mt("wait", "r", code=1, timeout=60)
    status = lab.status("r")
    assert status["state"] == "failed" and status["exit_status"] == 5 and status["attempt"] == 2
    lab.assert_nothing_left()


def test_no_restart_on(lab):
    lab.job(hosts="node1", program="sleep 1.5; echo RuntimeError: CUDA out of memory. Tried to allocate; exit 1",
            restart={"max": 3, "backoff": "0s", "no_restart_on": ["CUDA out of memory"]}, **RESTART)
    lab.mt("start", "job.yaml", "r")
    wait_record(lab, "r", "failed")
    assert lab.status("r")["attempt"] == 1
    assert any(e[0] == "not-restarted" for e in events(lab, "r"))


def test_a_spare_takes_the_rank_and_the_lost_node_is_cleaned(lab):
    lab.job(hosts="node1,node2", on_lost="restart", lost_after="2s", stop={"grace": "1s"},
            restart={"max": 2, "backoff": "1s", "spares": ["node4"]})
    lab.mt("start", "job.yaml", "r")
    lab.cluster.stop_sshd("node2")
    wait_attempt(lab, "r", 2, limit=60)
    assert [n["host"] for n in lab.status("r")["nodes"]] == ["node1", "node4"]
    assert any(e[0] == "spare" and "'node4' becomes node 1" in e[2] for e in events(lab, "r"))
    assert lab.marked("r", "node2"), "nobody could reach it"
    assert len(lab.marked("r", "node4")) > 0
    lab.cluster.start_sshd("node2")
    wait_for(lambda: not lab.marked("r", "node2"), "the old attempt to be ended", 60)
    assert record(lab, "r")["state"] == "running"
    wait_for(lambda: any(e[0] == "cleaned" for e in events(lab, "r")), "the event", 10)
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_without_a_spare_it_waits_for_the_node(lab):
    lab.job(hosts="node1,node2", on_lost="restart", lost_after="2s", stop={"grace": "1s"},
            restart={"max": 2, "backoff": "0s"})
    lab.mt("start", "job.yaml", "r")
    lab.cluster.stop_sshd("node2")
    wait_for(lambda: not lab.marked("r", "node1"), "the others to be ended", 60)
    time.sleep(2)  # nothing may begin while the old attempt is not proven gone
    assert record(lab, "r")["attempt"] == 1 and record(lab, "r")["state"] == "stopping"
    lab.cluster.start_sshd("node2")
    wait_attempt(lab, "r", 2, limit=60)
    assert marks(lab, "r") == {"2"}
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_stop_ends_the_backoff(lab):
    lab.job(hosts="node1,node2", restart={"max": 2, "backoff": "1h"}, **RESTART)
    lab.mt("start", "job.yaml", "r")
    kill_job(lab, "r", 0)
    wait_for(lambda: any(e[0] == "backoff" for e in events(lab, "r")), "the backoff", 20)
    assert lab.status("r")["state"] == "stopping"
    lab.mt("stop", "r")
    status = lab.status("r")
    assert status["state"] == "failed" and status["reason"].startswith("node1 (node 0): killed by SIGKILL")
    wait_for(lambda: not [p for p in lab.cluster.ps("head") if "supervise" in p.argv], "the supervisor to end", 10)


def test_a_new_supervisor_goes_on_with_a_restart(lab):
    lab.job(hosts="node1,node2", restart={"max": 2, "backoff": "3s"}, **RESTART)
    lab.mt("start", "job.yaml", "r", env={"NCCL_DEBUG": "WARN"})
    kill_job(lab, "r", 0)
    wait_for(lambda: any(e[0] == "backoff" for e in events(lab, "r")), "the backoff", 20)
    kill_supervisor(lab, "r")
    (lab.home / "job.yaml").unlink()
    begun = lab.spawn("supervise", "r")
    wait_attempt(lab, "r", 2)
    environ = [p for p in lab.marked("r", "node2") if p.argv[:1] == ["sleep"]][0].environ
    assert environ["NCCL_DEBUG"] == "WARN"
    lab.mt("stop", "r")
    begun.wait(timeout=10)
    lab.assert_nothing_left()


def test_start_wait_restarts_too(lab):
    lab.job(hosts="node1,node2", restart={"max": 1, "backoff": "0s"},
            program="echo attempt $MTLAUNCH_ATTEMPT; sleep 1.5; [ $MTLAUNCH_ATTEMPT = 2 ]", **RESTART)
    answer = lab.mt("start", "job.yaml", "r", "--wait", timeout=60)
    assert "node1: attempt 1" in answer.lines and "node1: attempt 2" in answer.lines
    assert lab.status("r")["state"] == "finished"


# --- spares at the first start (U6) -----------------------------------------------------------------------------------

def spare_job(lab, spares=("node4",), hosts="node1,node2", **keys):
    return lab.job(hosts=hosts, restart={"spares": list(spares)}, **keys)


def hosts_of(lab, run):
    return [n["host"] for n in lab.status(run)["nodes"]]


@pytest.mark.parametrize("client", ["builtin", "openssh"])
def test_a_spare_serves_a_host_that_refuses_connections_u6(lab, client):
    spare_job(lab, ssh={"client": client})
    lab.cluster.stop_sshd("node2")
    plan = lab.mt("start", "job.yaml", "r", "--dry-run", "--json").json
    assert [n["host"] for n in plan["nodes"]] == ["node1", "node2"]
    answer = lab.mt("start", "job.yaml", "r")
    assert len([line for line in answer.err.splitlines() if "spare" in line]) == 1, answer
    assert re.search(r"node2 cannot be reached \(.*refused.*\): spare 'node4' becomes node 1", answer.err), answer
    assert hosts_of(lab, "r") == ["node1", "node4"]
    status = lab.status("r")
    assert status["state"] == "running" and status["attempt"] == 1 and len(status["attempts"]) == 1
    assert any(e[0] == "spare" and "'node4' becomes node 1" in e[2] for e in events(lab, "r"))
    (process,) = [p for p in lab.marked("r", "node4") if p.argv[:1] == ["sleep"]]
    assert process.environ["NODE_RANK"] == "1" and process.environ["MASTER_ADDR"] == "node1"
    lab.cluster.start_sshd("node2")
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_spare_becomes_the_master_u6(lab):
    spare_job(lab)
    lab.cluster.cut("node1")
    lab.mt("start", "job.yaml", "r", "--connect-timeout", "2s")
    assert hosts_of(lab, "r") == ["node4", "node2"]
    (process,) = [p for p in lab.marked("r", "node2") if p.argv[:1] == ["sleep"]]
    assert process.environ["MASTER_ADDR"] == "node4" and process.environ["NODE_RANK"] == "1"
    lab.mt("stop", "r")


def test_a_named_master_is_not_replaced_u6(lab):
    spare_job(lab)
    lab.cluster.stop_sshd("node1")
    answer = lab.mt("start", "job.yaml", "r", "--master-addr", "node1", code=3)
    assert "no spare becomes node 0" in answer.err and "node4'" not in answer.err, answer


def test_the_next_spare_that_answers_u6(lab):
    """A name that does not resolve, a spare that is a node already, one that is away, one named twice."""
    spare_job(lab, hosts="node1,nowhere.invalid", spares=["node1", "node[2,3]", "node2", "node4", "^node3"])
    lab.cluster.stop_sshd("node2")
    answer = lab.mt("start", "job.yaml", "r")
    assert re.search(r"nowhere.invalid cannot be reached .*: spare 'node2' becomes node 1", answer.err), answer
    assert re.search(r"node2 cannot be reached .*: spare 'node4' becomes node 1", answer.err), answer
    assert hosts_of(lab, "r") == ["node1", "node4"]
    assert lab.status("r")["attempt"] == 1
    lab.mt("stop", "r")


def test_too_few_spares_u6(lab):
    spare_job(lab, hosts="node1,node2,node3", spares=["node4"])
    for node in "node2", "node3":
        lab.cluster.stop_sshd(node)
    answer = lab.mt("start", "job.yaml", "r", code=3)
    assert "2 hosts cannot be reached and 1 of 'restart.spares' is left" in answer.err, answer
    assert "node[2-3]" in answer.err and "becomes" not in answer.err, answer
    lab.assert_nothing_left()


@pytest.mark.parametrize("known, kind", [("another", "hostkey-changed"), ("none", "hostkey-unknown")])
def test_no_spare_for_a_wrong_or_unknown_key_u6(lab, known, kind):
    """Not even while another host is away."""
    lines = [line.split() for line in (lab.home / ".ssh/known_hosts").read_text().splitlines()]
    keys = {name: line[1:3] for line in lines for name in line[0].split(",")}
    keys["node2"] = keys["node3"]
    if known == "none":
        del keys["node2"]
    lab.write("known", "".join(f"{name} {' '.join(keys[name])}\n" for name in lab.names if name in keys))
    spare_job(lab, hosts="node1,node2,node3", spares=["node4"], ssh={"known_hosts": "~/known"})
    answer = lab.mt("start", "job.yaml", "r", "--json", code=3)
    assert answer.error["kind"] == kind and "becomes" not in answer.err, answer
    lab.cluster.stop_sshd("node1")
    answer = lab.mt("start", "job.yaml", "r", code=3)
    assert "becomes" not in answer.err and "node2: " in answer.err, answer
    lab.assert_nothing_left("node2", "node3", "node4")


def test_a_restart_goes_on_with_the_spare_of_the_start_u6(lab):
    lab.job(hosts="node1,node2", restart={"max": 2, "backoff": "0s", "spares": ["node4"]}, **RESTART)
    lab.cluster.stop_sshd("node2")
    lab.mt("start", "job.yaml", "r")
    kill_job(lab, "r", 0)
    wait_attempt(lab, "r", 2)
    assert hosts_of(lab, "r") == ["node1", "node4"]
    lab.mt("stop", "r")
    lab.assert_nothing_left()
