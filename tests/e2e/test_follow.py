"""logs -f across dropped connections: no byte is lost, none comes twice."""
import time

COUNT = "i=0; while [ $i -lt 1200 ]; do i=$((i+1)); echo line $i of $MTLAUNCH_HOST; sleep 0.01; done"


def sessions(lab, node):
    """The processes of sshd that carry connections there."""
    return [p for p in lab.cluster.ps(node) if p.is_session]


def check(lab, output, *hosts):
    for host in hosts:
        mine = [line for line in output.splitlines() if line.startswith(f"{host}: ")]
        assert mine == [f"{host}: line {i} of {host}" for i in range(1, 1201)]


def test_killed_sessions(lab):
    lab.job(hosts="node1,node2", program=COUNT, stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    follower = lab.spawn("logs", "r", "-f", "-n", "all")
    for _ in range(3):
        time.sleep(2)  # somewhere in the middle of the stream
        for node in ("node1", "node2"):
            for process in sessions(lab, node):
                lab.cluster.end(process)
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 0, err
    check(lab, out, "node1", "node2")
    assert "its log continues where it broke off" in err
    lab.mt("wait", "r")


def test_a_server_that_is_away_for_long(lab):
    lab.job(hosts="node1", program=COUNT + "; sleep 20", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    follower = lab.spawn("logs", "r", "-f", "-n", "all")
    time.sleep(1)
    lab.cluster.stop_sshd("node1")
    time.sleep(13)  # more than a few tries
    assert follower.poll() is None
    lab.cluster.start_sshd("node1")
    out, err = follower.communicate(timeout=80)
    assert follower.returncode == 0, err
    check(lab, out, "node1")
    assert "node1: its log continues" in err


def test_the_outcome_is_told(lab):
    """U7: who follows a log learns how the run ended, and why."""
    lab.job(hosts="node1,node2", program="echo working; sleep 3; [ $NODE_RANK = 0 ] || exit 3; sleep 600",
            stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r")
    answer = lab.mt("logs", "r", "-f", "-n", "all")
    assert "node2: working" in answer.out and "failed" not in answer.out
    assert "r: failed: node2 (node 1): exit status 3" in answer.err
    lab.job(name="good.yaml", hosts="node1", program="echo done")
    lab.mt("start", "good.yaml", "g", "--wait")
    assert "g: finished" in lab.mt("logs", "g", "-f").err


def test_a_log_that_became_shorter(lab):
    """U7: nothing of what is written after it was emptied is lost, and that it was is said."""
    lab.job(hosts="node1", program="for i in $(seq 100); do echo old $i; done; while ! [ -e go ]; do sleep 0.1; done; "
            "for i in $(seq 20); do echo new $i; done; sleep 3")
    lab.mt("start", "job.yaml", "r")
    follower = lab.spawn("logs", "r", "-f", "-n", "all")
    time.sleep(1)
    with open(lab.node_file("node1", ".mtlaunch", "logs", "r_node0.log"), "r+b") as log:
        log.truncate(0)
    time.sleep(2)
    lab.node_file("node1", "go").touch()
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 0, err
    assert "node1: its log became shorter; it is read from its start" in err
    assert [l for l in out.splitlines() if "new" in l] == [f"node1: new {i}" for i in range(1, 21)]


def test_a_cut_network(lab):
    lab.job(hosts="node1", program=COUNT + "; sleep 30", stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    follower = lab.spawn("logs", "r", "-f", "-n", "all")
    time.sleep(1)
    lab.cluster.cut("node1")
    time.sleep(5)
    lab.cluster.restore("node1")
    out, err = follower.communicate(timeout=100)
    assert follower.returncode == 0, err
    check(lab, out, "node1")
