"""The supervisor: left behind by start, one at a time, takes over after a crash; what it does about failures."""
import json
import os
import signal
import time

from cluster import wait_for

QUICK = {"stop": {"grace": "2s"}}


def supervisor(lab, run):
    return lab.mt("list", "--json").json["runs"][0]["supervisor"] if run is None else lab.status(run)["supervisor"]


def record(lab, run):
    return json.loads((lab.home / ".local/state/mtlaunch/runs" / run / "run.json").read_text())


def wait_record(lab, run, *states, limit=30):
    """Until the record says so, without asking a node: what the supervisor alone has found."""
    return wait_for(lambda: (lambda r: r if r["state"] in states else None)(record(lab, run)),
                    f"the record of {run} to say {states}", limit, 0.1)


def kill_job(lab, run, rank, signum=signal.SIGKILL):
    node = lab.names[rank]
    pid = [n["pid"] for n in record(lab, run)["nodes"]][rank]
    lab.cluster.kill(node, pid, signum)


def events(lab, run):
    return [(e["event"], e["host"], e["text"]) for e in lab.status(run)["events"]]


def kill_supervisor(lab, run):
    found = supervisor(lab, run)
    assert found["alive"]
    process = [p for p in lab.cluster.ps("head") if "supervise" in p.argv and run in p.argv]
    assert len(process) == 1
    os.kill(process[0].host_pid, signal.SIGKILL)
    wait_for(lambda: not supervisor(lab, run)["alive"], "the supervisor to be gone", 5)


def test_start_that_waits_goes_on_with_its_sessions(lab):
    """The watch and the log of a node go over the session by which it was started."""
    def logins():
        return [lab.cluster.exec(n, "cat /run/lab/sshd.log", user=False).stdout.count("Accepted publickey")
                for n in ("node1", "node2")]

    lab.job(hosts="node1,node2", program="sleep 2; echo from $NODE_RANK")
    before = logins()
    assert sorted(lab.mt("start", "job.yaml", "r", "--wait").lines) == ["node1: from 0", "node2: from 1"]
    assert [after - b for after, b in zip(logins(), before)] == [1, 1]


def test_start_leaves_one_that_ends_with_the_run(lab):
    lab.job(hosts="node1,node2", **QUICK)
    answer = lab.mt("start", "job.yaml", "r", "--json").json
    assert answer["supervisor"]["alive"] and answer["supervisor"]["pid"] > 0
    assert answer["supervisor"]["host"] == lab.cluster.run("uname", "-n").stdout.strip()
    again = lab.mt("supervise", "r", code=6)
    assert f"pid {answer['supervisor']['pid']}" in again.err
    lab.mt("stop", "r")
    wait_for(lambda: not [p for p in lab.cluster.ps("head") if "supervise" in p.argv], "the supervisor to end", 10)
    assert supervisor(lab, "r") == {"host": None, "pid": None, "alive": False}
    lab.assert_nothing_left()
    assert "supervise" in lab.mt("supervise", "r", code=6).err


def test_without_one_status_says_so_and_another_takes_over(lab):
    lab.job(hosts="node1,node2", **QUICK)
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    assert not supervisor(lab, "r")["alive"]
    assert "supervisor: none" in lab.mt("status", "r").out
    begun = lab.spawn("supervise", "r")
    wait_for(lambda: supervisor(lab, "r")["alive"], "the supervisor", 10)
    kill_job(lab, "r", 1)
    wait_record(lab, "r", "failed")
    assert begun.wait(timeout=10) == 1
    lab.assert_nothing_left()


def test_a_failed_node_ends_the_others_within_the_grace(lab):
    lab.job(program="[ $NODE_RANK != 2 ] || { sleep 2; echo this is why; exit 3; }; exec sleep 600", **QUICK)
    lab.mt("start", "job.yaml", "r")
    begun = time.monotonic()
    wait_record(lab, "r", "failed")
    assert time.monotonic() - begun < 10
    status = lab.status("r")
    assert [n["state"] for n in status["nodes"]] == ["stopped", "stopped", "failed", "stopped"]
    assert status["exit_status"] == 3
    assert status["reason"].startswith("node3 (node 2): exit status 3")
    assert "this is why" in status["reason"]
    assert ("failed", None, status["reason"]) in events(lab, "r")
    lab.assert_nothing_left()
    assert lab.mt("wait", "r", code=1)


def test_the_first_by_time_is_named_whatever_the_clocks_say(lab):
    """All nodes end on their own; rank 3 is the first, the others follow at once."""
    lab.job(program="[ $NODE_RANK = 3 ] && { sleep 2; exit 9; }; sleep 3.$NODE_RANK; exit 7", on_failure="keep",
            **QUICK)
    lab.mt("start", "job.yaml", "r")
    wait_record(lab, "r", "failed")
    status = lab.status("r")
    assert status["exit_status"] == 9
    assert status["reason"].startswith("node4 (node 3)")


def test_keep_leaves_the_others_alone(lab):
    lab.job(hosts="node1,node2", program="[ $NODE_RANK = 0 ] && { sleep 1.5; exit 4; }; exec sleep 600",
            on_failure="keep", **QUICK)
    lab.mt("start", "job.yaml", "r")
    wait_record(lab, "r", "degraded")
    assert lab.marked("r", "node2")
    lab.mt("stop", "r")


def test_killed_supervisor_is_replaced_and_acts(lab):
    lab.job(hosts="node1,node2,node3", **QUICK)
    lab.mt("start", "job.yaml", "r")
    kill_supervisor(lab, "r")
    kill_job(lab, "r", 1)
    wait_for(lambda: not lab.cluster.pids_with("node2", "sleep 600"), "the job to be gone", 5)
    lab.mt("supervise", "r", code=1)
    status = lab.status("r")
    assert status["state"] == "failed" and status["exit_status"] == 137
    assert status["reason"].startswith("node2 (node 1): killed by SIGKILL")
    lab.assert_nothing_left()


def test_wait_watches_the_record_of_a_supervised_run(lab):
    lab.job(hosts="node1,node2", program="sleep 4", **QUICK)
    lab.mt("start", "job.yaml", "r")
    assert lab.mt("wait", "r", "--json").json["state"] == "finished"
    lab.mt("start", "job.yaml", "r")
    assert lab.mt("wait", "r", "--timeout", "1s", code=5).seconds < 3
    lab.mt("stop", "r")


def test_wait_takes_over_when_the_supervisor_dies(lab):
    lab.job(hosts="node1,node2", program="sleep 6", **QUICK)
    lab.mt("start", "job.yaml", "r")
    waiter = lab.spawn("wait", "r")
    time.sleep(0.5)  # it is watching the record by now, or will take over at once: both must end well
    kill_supervisor(lab, "r")
    assert waiter.wait(timeout=30) == 0


def test_unreachable_alone_ends_nothing(lab):
    lab.job(hosts="node1,node2", lost_after="3s", **QUICK)
    lab.mt("start", "job.yaml", "r")
    lab.cluster.stop_sshd("node2")
    wait_record(lab, "r", "degraded")
    time.sleep(4)  # lost_after has passed: still nothing may happen
    assert record(lab, "r")["state"] == "degraded"
    assert lab.marked("r", "node1") and lab.marked("r", "node2")
    lab.cluster.start_sshd("node2")
    wait_record(lab, "r", "running", limit=60)
    assert ("answers", "node2", "it is running") in events(lab, "r")
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_on_lost_stop_ends_the_others_and_the_lost_one_when_it_returns(lab):
    lab.job(hosts="node1,node2,node3", lost_after="2s", on_lost="stop", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r")
    lab.cluster.stop_sshd("node3")
    wait_for(lambda: not lab.marked("r", "node1") and not lab.marked("r", "node2"), "the others to end", 30)
    wait_record(lab, "r", "stopping")
    assert lab.marked("r", "node3"), "nobody could reach it"
    assert "node3 (node 2) has not answered for 2 s" in record(lab, "r")["reason"]
    lab.cluster.start_sshd("node3")
    wait_record(lab, "r", "stopped", limit=60)
    lab.assert_nothing_left()


def test_when_no_node_answers_the_heads_network_is_named(lab):
    lab.job(hosts="node1,node2", lost_after="5s", on_lost="stop", **QUICK)
    lab.mt("start", "job.yaml", "r")
    for node in ("node1", "node2"):
        lab.cluster.stop_sshd(node)
    wait_for(lambda: any(e[0] == "alone" and "network of the head" in e[2] for e in events(lab, "r")), "the event", 20)
    time.sleep(6)  # lost_after has passed: still nothing may happen
    assert record(lab, "r")["state"] == "lost"
    for node in ("node1", "node2"):
        lab.cluster.start_sshd(node)
        assert lab.marked("r", node)
    wait_record(lab, "r", "running", limit=60)
    lab.mt("stop", "r")


def test_give_up_cleans_the_node_when_it_returns(lab):
    lab.job(hosts="node1,node2", lost_after="2s", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r")
    lab.cluster.stop_sshd("node2")
    lab.mt("stop", "r", "--give-up", code=7)
    assert record(lab, "r")["state"] == "stopped"
    assert lab.marked("r", "node2")
    lab.cluster.start_sshd("node2")
    lab.mt("stop", "r")
    lab.assert_nothing_left()
    nodes = lab.status("r")["nodes"]
    assert [(n["state"], n["reason"]) for n in nodes] == [("stopped", None)] * 2, "it was looked at, and is lost no more"


def test_a_debt_that_cannot_be_tried_does_not_keep_the_run_from_being_stopped_s8(lab):
    """The ssh configuration of the attempt with the pending cleanup has been removed since."""
    lab.job(hosts="node1", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    path = lab.home / ".local/state/mtlaunch/runs/r/run.json"
    kept = json.loads(path.read_text())
    node = kept["nodes"][0]
    kept["debts"] = [{"host": node["host"], "label": "node9", "local": False, "artifacts": node["artifacts"],
                      "place": None, "reach": {"config": str(lab.home / "removed.conf")}, "rank": 1, "attempt": 1}]
    path.write_text(json.dumps(kept))
    assert lab.status("r")["state"] == "running"
    stopped = lab.mt("stop", "r", code=7)
    assert "node9" in stopped.err and "removed.conf" in stopped.err
    assert record(lab, "r")["state"] == "stopped"
    lab.mt("remove", "r", "--force")
    lab.assert_nothing_left()


def test_a_stall_is_told_once_with_the_node_behind(lab):
    program = ("i=0; while [ $i -lt 40 ]; do echo step $i; i=$((i+1)); [ $NODE_RANK = 1 ] && [ $i = 5 ] && sleep 600;"
               " sleep 0.2; done; sleep 20; echo on; exec sleep 600")
    lab.job(hosts="node1,node2", program=program, stall="3s", **QUICK)
    lab.mt("start", "job.yaml", "r")
    stalled = wait_for(lambda: [e for e in events(lab, "r") if e[0] == "stalled"], "the stall", 40)
    assert stalled[0][1] == "node2" and "behind the others: node2" in stalled[0][2]
    assert "node1: step 39" in stalled[0][2] and "node2: step 4" in stalled[0][2]
    wait_for(lambda: [e for e in events(lab, "r") if e[0] == "goes-on"], "its end", 40)
    assert len([e for e in events(lab, "r") if e[0] == "stalled"]) == 1
    lab.mt("stop", "r")


def test_on_stall_stop(lab):
    lab.job(hosts="node1", stall="2s", on_stall="stop", **QUICK)
    lab.mt("start", "job.yaml", "r")
    wait_record(lab, "r", "stopped", limit=30)
    assert "no log has grown for 2 s" in lab.status("r")["reason"]
    lab.assert_nothing_left()


def test_a_suspended_supervisor_judges_nobody_on_waking(lab):
    """S11: it could not listen meanwhile; nodes that never fell silent are neither lost nor is the head alone.

    Node2 says nothing from before the suspension to a while after it: by the clock for longer than three beats (3 s
    each, a quarter of stall) and the 5 s allowed on top, but not in the time in which it could be heard.
    """
    lab.mt("start", lab.job(lost_after="3s", on_lost="stop", stall="12s", program="while :; do date; sleep 1; done"), "s",
           timeout=60)
    process = [p for p in lab.cluster.ps("head") if "supervise" in p.argv and "s" in p.argv]
    lab.cluster.freeze("node2")
    os.kill(process[0].host_pid, signal.SIGSTOP)
    time.sleep(20)
    os.kill(process[0].host_pid, signal.SIGCONT)
    time.sleep(5)
    lab.cluster.thaw("node2")
    time.sleep(4)
    told = [event for event, _, _ in events(lab, "s")]
    assert not [event for event in told if event in ("alone", "node-lost", "lost", "unreachable", "stopping")], told
    assert lab.states("s") == ["running"] * 4
    assert supervisor(lab, "s")["alive"]
    lab.mt("stop", "s", "--grace", "1s")
