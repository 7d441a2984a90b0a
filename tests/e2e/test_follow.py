"""logs -f across dropped connections: no byte is lost, none comes twice."""
import signal
import time

COUNT = "i=0; while [ $i -lt 1200 ]; do i=$((i+1)); echo line $i of $MTLAUNCH_HOST; sleep 0.01; done"


def sessions(lab, node):
    """The processes of sshd that carry connections there."""
    return [p for p in lab.cluster.ps(node) if p.command.startswith("sshd: ")
            and "[listener]" not in p.command]


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
                lab.cluster.kill(node, process.pid, signal.SIGKILL)
    out, err = follower.communicate(timeout=60)
    assert follower.returncode == 0, err
    check(lab, out, "node1", "node2")
    assert "its log goes on where it broke" in err
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
    assert "node1: its log goes on" in err


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
