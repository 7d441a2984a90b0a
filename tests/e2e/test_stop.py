"""stop: whatever a job's processes do, none is left, and nothing else is touched."""
import signal

import pytest
from cluster import wait_for

TRICKS = ["ignore", "setsid", "double", "both", "clear", "title", "all"]


def grow(lab, run, tricks, hosts="node1,node2", **keys):
    """Start a run of trees on hosts and return {(node, pid): start ticks} of all their processes."""
    lab.program("tricks.py")
    lab.job(run + ".yaml", hosts=hosts, program=["python3", "tricks.py", *tricks], stop={"grace": "1s"}, **keys)
    lab.mt("start", run + ".yaml", run)
    found = {}
    for node in hosts.split(","):
        folder = lab.node_file(node, "pids", run)
        wait_for(lambda f=folder: (f / "root").exists(), f"the tree on {node}", 30)
        ticks = {p.pid: p.ticks for p in lab.cluster.ps(node)}
        for name in ["root"] + list(tricks):
            pid = int((folder / name).read_text())
            found[node, pid] = ticks[pid]
    return found


def alive(lab, found):
    now = {(n, p.pid): p.ticks for n in lab.names for p in lab.cluster.ps(n)}
    return {key for key, ticks in found.items() if now.get(key) == ticks}


@pytest.mark.parametrize("tricks", [[t] for t in TRICKS] + [TRICKS], ids=TRICKS + ["together"])
def test_no_process_survives_a_stop(lab, tricks):
    found = grow(lab, "tree", tricks)
    assert alive(lab, found) == set(found)
    stop = lab.mt("stop", "tree", "--json").json
    assert alive(lab, found) == set()
    assert stop["state"] == "stopped" and stop["survivors"] == []
    lab.assert_nothing_left()


def test_a_second_run_is_untouched(lab):
    first, second = grow(lab, "tree", TRICKS), grow(lab, "tree2", TRICKS)
    lab.mt("stop", "tree")
    assert alive(lab, first) == set()
    assert alive(lab, second) == set(second)
    lab.mt("stop", "tree2")
    lab.assert_nothing_left()


def test_runs_whose_names_begin_alike_and_common_words_as_names(lab):
    runs = {name: grow(lab, name, ["setsid"], hosts="node1") for name in ("a", "a_node1", "sleep", "python3")}
    for name in ("a", "sleep", "python3"):
        lab.mt("stop", name)
    assert alive(lab, runs["a_node1"]) == set(runs["a_node1"])
    assert not alive(lab, {k: v for n in ("a", "sleep", "python3") for k, v in runs[n].items()})
    assert lab.status("a_node1")["state"] == "running"
    lab.mt("stop", "a_node1")


def test_other_processes_of_the_same_user_are_untouched(lab):
    done = lab.cluster.run("ssh", "node1", "setsid -f sleep 12345 </dev/null >/dev/null 2>&1")
    assert done.returncode == 0
    grow(lab, "tree", TRICKS, hosts="node1")
    lab.mt("stop", "tree")
    assert [p.command for _, p in lab.left("node1")] == ["sleep 12345"]


def run_sleep(lab, hosts="node1,node2", run="s", **keys):
    lab.job(run + ".yaml", hosts=hosts, program=["sleep", "600"], stop={"grace": "2s"}, **keys)
    lab.mt("start", run + ".yaml", run, "--no-supervise")  # its watches are processes of the user too
    return {n["host"]: n["pid"] for n in lab.status(run)["nodes"]}


def kill_all(lab, node):
    for process in lab.cluster.user_ps(node):
        lab.cluster.end(process)
    wait_for(lambda: not lab.cluster.user_ps(node), f"{node} to be empty")


def reuse_pid(lab, node, pid):
    """A process that has nothing to do with the run, at the same pid: a real reuse."""
    script = f"echo {pid - 1} >/proc/sys/kernel/ns_last_pid; sleep 4321 </dev/null >/dev/null 2>&1 & echo $!"
    got = wait_for(lambda: (lambda p: p if p == pid else None)(
        int(lab.cluster.exec(node, script, user=False, check=True).stdout)), "the pid to be used again", 5)
    return [p for p in lab.cluster.ps(node) if p.pid == got][0]


def test_a_reused_pid_is_not_signalled(lab):
    pids = run_sleep(lab, on_failure="keep")
    kill_all(lab, "node2")
    other = reuse_pid(lab, "node2", pids["node2"])
    status = lab.status("s", code=1)
    assert [n["state"] for n in status["nodes"]] == ["running", "failed"]
    lab.mt("stop", "s")
    assert [p.ticks for p in lab.cluster.ps("node2") if p.pid == other.pid] == [other.ticks]
    assert not lab.left()
    lab.mt("start", "s.yaml", "s")
    assert lab.states("s") == ["running", "running"]
    lab.mt("stop", "s")
    assert [p.ticks for p in lab.cluster.ps("node2") if p.pid == other.pid] == [other.ticks]


def test_a_rebooted_node_has_failed_and_can_be_started_again(lab):
    run_sleep(lab, on_failure="keep")
    lab.cluster.reboot("node2")
    assert [n["state"] for n in lab.status("s", code=1)["nodes"]] == ["running", "failed"]
    lab.mt("stop", "s")
    lab.mt("start", "s.yaml", "s")
    assert lab.status("s")["attempt"] == 2
    lab.mt("stop", "s")
    lab.assert_nothing_left()


def test_an_unreachable_node_is_not_proven_and_a_repeat_is_safe(lab):
    run_sleep(lab)
    lab.cluster.cut("node2")
    stop = lab.mt("stop", "s", "--json", "--connect-timeout", "2s", code=7)
    assert stop.json["state"] == "stopping"
    assert not lab.left("node1") and lab.left("node2")
    assert lab.status("s", code=0)["state"] == "stopping"
    lab.mt("start", "s.yaml", "s", code=6)
    lab.cluster.restore("node2")
    assert lab.mt("stop", "s", "--json").json["state"] == "stopped"
    lab.assert_nothing_left()


def test_give_up_writes_an_unreachable_node_off(lab):
    run_sleep(lab)
    lab.cluster.cut("node2")
    stop = lab.mt("stop", "s", "--give-up", "--connect-timeout", "2s", code=7)
    assert "node2" in stop.out + stop.err
    assert lab.mt("status", "s", "--json", "--connect-timeout", "2s").json["state"] == "stopped"
    # What may be left there keeps the run from being forgotten.
    refused = lab.mt("remove", "s", "--connect-timeout", "2s", code=7)
    assert "node2" in refused.err and "--force" in refused.err
    lab.cluster.restore("node2")
    again = lab.mt("stop", "s")
    assert "node2" in again.out + again.err
    lab.assert_nothing_left()


def test_a_frozen_node_does_not_hang_a_command(lab):
    run_sleep(lab, hosts="node1,node2,node3")
    lab.cluster.freeze("node2")
    status = lab.mt("status", "s", "--json", "--connect-timeout", "2s", code=(1, 3))
    assert [n["state"] for n in status.json["nodes"]] == ["running", "lost", "running"]
    assert status.seconds < 30
    stop = lab.mt("stop", "s", "--connect-timeout", "2s", code=7)
    assert stop.seconds < 60 and not lab.left("node1", "node3")
    lab.cluster.thaw("node2")
    lab.mt("stop", "s")
    lab.assert_nothing_left()


def test_stop_on_an_ended_run_looks_again_and_keeps_state(lab):
    lab.job("quick.yaml", hosts="node1", program="sleep 0.2; exit 0")
    lab.mt("start", "quick.yaml", "q", "--wait")
    env = lab.node_file("node1", ".mtlaunch", "run_state", "q_node0.state").read_text()
    run_id = [line.split("=", 1)[1] for line in env.splitlines() if line.startswith("run_id=")][0].strip("'")
    lab.cluster.exec("node1", f"MTLAUNCH_MARK={run_id}.1.0 setsid -f sleep 999 </dev/null >/dev/null 2>&1", check=True)
    assert lab.left("node1")
    stop = lab.mt("stop", "q", code=0)
    assert "node1" in stop.out + stop.err and "sleep 999" in stop.out + stop.err
    assert lab.status("q", code=0)["state"] == "finished"
    lab.assert_nothing_left()


def test_grace_and_signal_options(lab):
    script = "trap 'echo got USR1; exit 0' USR1; trap '' TERM; while :; do sleep 0.1; done"
    lab.job(hosts="node1", program=script)
    lab.mt("start", "job.yaml", "s")
    lab.mt("stop", "s", "--signal", "SIGUSR1", "--grace", "20s")
    assert b"got USR1" in lab.log("s", 0)
    lab.mt("start", "job.yaml", "s")
    assert lab.mt("stop", "s", "--grace", "1").seconds < 15
    assert lab.status("s")["nodes"][0]["state"] == "stopped"
    lab.assert_nothing_left()


def test_an_unkillable_look_is_not_needed_for_zombies(lab):
    code = "import os,time\nif os.fork() == 0: os._exit(0)\ntime.sleep(600)"
    lab.job(hosts="node1", program=["python3", "-c", code])
    lab.mt("start", "job.yaml", "z")
    assert lab.mt("stop", "z", "--json").json["survivors"] == []
    lab.assert_nothing_left()


def test_the_head_is_not_needed(lab):
    run_sleep(lab)
    for process in lab.cluster.ps("head"):
        if process.name == "mtlaunch":
            lab.cluster.end(process)
    assert lab.status("s", code=0)["state"] == "running"
    lab.mt("stop", "s")
    lab.assert_nothing_left()


def test_a_removed_state_file_changes_no_outcome(lab):
    lab.job(hosts="node1,node2", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    lab.node_file("node1", ".mtlaunch", "run_state", "r_node0.state").unlink()
    status = lab.status("r")
    assert status["state"] == "running" and status["nodes"][0]["reason"] == "its state file was removed"
    assert lab.mt("stop", "r", "--json").json["state"] == "stopped"
    assert lab.states("r") == ["stopped", "stopped"]
    lab.assert_nothing_left()
