"""What goes wrong on nodes and heads, with a real torchrun where that matters: state, reason, first node, what is left."""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from cluster import wait_for
from conftest import BINARY, ROOT, TORCH_ENV
from test_supervise import events, kill_supervisor, record, wait_record

sys.path.insert(0, str(ROOT / "tests" / "bench"))
from scale import Server, addresses  # noqa: E402  pylint: disable=wrong-import-position

AGENT, WORKER = "torch.distributed.run", "allreduce.py"


def start(lab, run, *more):
    lab.mt("start", "torchrun_allreduce.yaml", run, "--set", "args.seconds=600", "--set", "stop.grace=5s", *TORCH_ENV, *more)
    wait_for(lambda: "step 1: sum" in lab.mt("logs", run, "-n", "all").out, "the first steps", 90, 0.5)


def processes(lab, node, agent):
    """The job's torchrun on a node, or its workers."""
    found = [p for p in lab.cluster.user_ps(node) if WORKER in p.command and "python" in p.command]
    return [p for p in found if (AGENT in p.command) == agent]


def test_a_killed_worker(torch_lab):
    lab = torch_lab
    start(lab, "w")
    lab.cluster.kill("node3", processes(lab, "node3", agent=False)[0].pid, signal.SIGKILL)
    begun = time.monotonic()
    wait_record(lab, "w", "failed", limit=60)
    assert time.monotonic() - begun < 40, "torchrun alone takes minutes on the other nodes"
    status = lab.status("w")
    # torchrun looks at its workers now and then: which of them gives up first is its affair, and no cause
    assert status["reason"].startswith("node3 (node 2, rank ") and "killed by SIGKILL" in status["reason"], status["reason"]
    assert status["exit_status"] == 1
    assert [n["state"] for n in status["nodes"]].count("running") == 0
    lab.assert_nothing_left()


def test_a_killed_agent(torch_lab):
    lab = torch_lab
    start(lab, "a")
    lab.cluster.kill("node2", processes(lab, "node2", agent=True)[0].pid, signal.SIGKILL)
    begun = time.monotonic()
    wait_record(lab, "a", "failed")
    assert time.monotonic() - begun < 15
    status = lab.status("a")
    assert status["reason"].startswith("node2 (node 1): killed by SIGKILL")
    assert status["exit_status"] == 137
    assert [n["state"] for n in status["nodes"]] == ["stopped", "failed", "stopped", "stopped"]
    lab.assert_nothing_left()


def test_a_frozen_node(lab):
    """All its processes stand still, the network and the kernel do not."""
    lab.job(hosts="node1,node2", stop={"grace": "1s"}, lost_after="5m", stall="4s")
    lab.mt("start", "job.yaml", "r")
    lab.cluster.freeze("node2")
    wait_record(lab, "r", "degraded", limit=120)
    assert [e for e in events(lab, "r") if e[:2] == ("unreachable", "node2")]
    assert record(lab, "r")["nodes"][0]["state"] == "running"
    lab.cluster.thaw("node2")
    wait_record(lab, "r", "running", limit=120)
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_node_that_is_slow_to_answer_has_not_failed(lab):
    """A handshake that takes 8 s: within the time there is the node is well, beyond it nobody knows."""
    lab.job(hosts="node1,node2", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    lab.cluster.freeze("node2")
    hasty = lab.mt("status", "r", "--json", "--connect-timeout", "2s", code=1).json
    assert hasty["state"] == "degraded" and [n["state"] for n in hasty["nodes"]] == ["running", "lost"]
    timer = threading.Timer(8, lab.cluster.thaw, ["node2"])
    timer.start()
    patient = lab.mt("status", "r", "--json", "--connect-timeout", "15s")
    timer.join()
    assert patient.seconds > 5
    assert patient.json["state"] == "running" and [n["state"] for n in patient.json["nodes"]] == ["running"] * 2
    assert record(lab, "r")["state"] == "running"
    lab.mt("stop", "r")
    lab.assert_nothing_left()


@pytest.mark.skipif(not shutil.which("sshd", path="/usr/sbin"), reason="needs sshd")
@pytest.mark.parametrize("limit,count,fanout,line", [(256, 400, 64, "true"), (64, 120, 120, "sleep 2")],
                         ids=["one-after-another", "at-once"])
def test_more_hosts_than_files_may_be_open(limit, count, fanout, line):
    """There is no way to more files: sessions that have done their work make room, and the rest waits for it."""
    with Server() as server:
        hosts = ",".join(addresses(count))
        words = [str(BINARY), "exec", "--json", "--fanout", str(fanout), "-H", hosts, "--", line]
        done = subprocess.run(["sh", "-c", f'ulimit -n {limit} && exec "$@"', "sh", *words], env=server.env,
                              timeout=120, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    answers = json.loads(done.stdout)["hosts"]
    assert len(answers) == count
    assert [a for a in answers if a["exit_status"] != 0 or a["error"]] == []


def test_a_network_that_is_cut_and_restored(lab):
    lab.job(hosts="node1,node2", stop={"grace": "1s"}, stall="4s")
    lab.mt("start", "job.yaml", "r")
    lab.cluster.cut("node2")
    wait_record(lab, "r", "degraded", limit=60)
    assert lab.marked("r", "node1") and lab.marked("r", "node2")
    lab.cluster.restore("node2")
    wait_record(lab, "r", "running", limit=60)
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_the_heads_network_is_cut(lab):
    lab.job(hosts="node1,node2", stop={"grace": "1s"}, stall="4s", on_lost="stop", lost_after="5s")
    lab.mt("start", "job.yaml", "r")
    for node in ("node1", "node2"):
        lab.cluster.cut(node)
    wait_record(lab, "r", "lost", limit=60)
    wait_for(lambda: "network of the head" in (lab.home / ".local/state/mtlaunch/runs/r/events.jsonl").read_text(),
             "the head's network to be named", 30)
    time.sleep(6)  # lost_after has passed
    assert record(lab, "r")["state"] == "lost"
    for node in ("node1", "node2"):
        lab.cluster.restore(node)
    wait_record(lab, "r", "running", limit=60)
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_full_disk(lab):
    """The job fails for want of room; what it was is known although nothing could be written for a while."""
    node, folder = "node2", str(lab.cluster.node_home("node2"))
    lab.cluster.exec(node, "mkdir -p $HOME/small", check=True)
    lab.cluster.exec(node, f"mount -t tmpfs -o size=64k,uid=4242,mode=700 small {folder}/small || "
                     "mount -t tmpfs -o size=64k,uid=4242,mode=700 small /home/lab/small", user=False, check=True)
    try:
        lab.cluster.exec("node1", "mkdir -p $HOME/small", check=True)
        lab.job(hosts="node1,node2", artifacts="small", stop={"grace": "1s"},
                program="sleep 1.5; [ $NODE_RANK = 0 ] && exec sleep 600; head -c 200000 /dev/zero || exit 28")
        lab.mt("start", "job.yaml", "r")
        wait_for(lambda: "28" not in "" and not lab.cluster.pids_with(node, "/dev/zero"), "the job to end", 10)
        time.sleep(1)  # the keeper tries to write how it ended
        lab.cluster.exec(node, ": >/home/lab/small/logs/r_node1.log", check=True)
        wait_record(lab, "r", "failed", limit=30)
        status = lab.status("r")
        assert status["reason"].startswith("node2 (node 1): exit status 28"), status["reason"]
        assert status["exit_status"] == 28
        lab.assert_nothing_left()
    finally:
        lab.mt("stop", "r", code=None)
        lab.cluster.exec(node, "umount -l /home/lab/small", user=False)


def test_the_head_is_killed_and_another_supervisor_finishes(lab):
    """kill -9 of the supervisor at its n-th step, for steps all over its life."""
    lab.job(hosts="node1,node2", stop={"grace": "1s"}, restart={"max": 1, "backoff": "0s"}, on_failure="restart",
            program="[ $MTLAUNCH_ATTEMPT -ge 2 ] || { sleep 1.5; exit $((NODE_RANK * 4)); }; exec sleep 600")
    for step in (2, 5, 8, 11, 15, 20, 26):
        run = f"r{step}"
        lab.mt("start", "job.yaml", run, env={"MTLAUNCH_TEST_SUPERVISOR_DIE_AT": str(step)})
        wait_for(lambda r=run: not lab.status(r)["supervisor"]["alive"] or
                 (record(lab, r)["attempt"], record(lab, r)["state"]) == (2, "running"), "the supervisor to die", 30)
        begun = lab.spawn("supervise", run)
        wait_for(lambda r=run: (lambda s: s["state"] == "running" and s["attempt"] >= 2)(record(lab, r)), "attempt 2", 40)
        attempts = {p.environ["MTLAUNCH_ATTEMPT"] for n in ("node1", "node2") for p in lab.marked(run, n)}
        assert attempts == {str(record(lab, run)["attempt"])}
        lab.mt("stop", run)
        begun.wait(timeout=20)
        lab.assert_nothing_left()


def test_every_mtlaunch_is_killed_and_the_training_goes_on(lab):
    lab.job(hosts="node1,node2", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r")
    kill_supervisor(lab, "r")
    assert lab.status("r")["state"] == "running"
    lab.mt("stop", "r")
    assert not [p for p in lab.cluster.ps("head") if os.path.basename(p.argv[0] if p.argv else "") == "mtlaunch"]
    lab.assert_nothing_left()
