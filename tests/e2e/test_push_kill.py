"""push that is cut in mid-transfer: no half file, nothing of it left, and the next one completes."""
import os
import random
import signal
import time

import pytest

import trees
from cluster import UID, kill_quietly, wait_for

SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))


def make_source(lab, version):
    """Files that all hold their version: a half one, or one of two versions, is seen."""
    source = lab.home / "src"
    source.mkdir(exist_ok=True)
    for i in range(40):
        (source / f"file{i}").write_bytes((f"{version}".encode() * 50_000)[: 1000 + i * 7919] * 8)
        os.utime(source / f"file{i}", (1_500_000_000 + version, 1_500_000_000 + version))
    (source / "large").write_bytes(f"{version}".encode() * (60 << 20))
    os.utime(source / "large", (1_500_000_000 + version, 1_500_000_000 + version))
    trees.own(source, UID)
    return source


def whole(lab, source, node, versions):
    """Every file there is whole: that of one of the versions."""
    for path in lab.node_file(node, "d", "src").glob("*"):
        data = path.read_bytes()
        assert data[:1] in versions and data == data[:1] * (source / path.name).stat().st_size, path


@pytest.mark.parametrize("how", ["head", "interrupt", "node", "link"])
def test_cut_in_mid_transfer(lab, how):
    rng = random.Random(f"{SEED} {how}")
    make_source(lab, 1)
    lab.mt("push", "src", "d", "-H", "node[1-2]")
    source = make_source(lab, 2)
    process = lab.spawn("push", "src", "d", "-H", "node[1-2]", "--connect-timeout", "3")
    wait_for(lambda: list(lab.node_file("node1", "d").glob(".mtlaunch-push.*")), "the room of the copy", 20, 0.01)
    time.sleep(rng.random() * 0.3)
    if how == "head":
        process.send_signal(signal.SIGKILL)
    elif how == "interrupt":
        process.send_signal(signal.SIGINT)
    elif how == "node":
        for one in lab.cluster.user_ps("node1"):
            kill_quietly(one.host_pid, signal.SIGKILL)
    else:
        lab.cluster.cut("node1")
    code = process.wait(60)
    if how == "interrupt":
        assert code in (130, 0)
    elif how in ("node", "link"):
        assert code in (3, 4, 0)
        lab.cluster.restore("node1")
    for node in ("node1", "node2"):
        whole(lab, source, node, (b"1", b"2"))
    if how != "link":
        wait_for(lambda: not lab.left("node1", "node2"), "the nodes to be at rest", 15)
    again = lab.mt("push", "src", "d", "-H", "node[1-2]", "--json").json
    assert [h["error"] for h in again["hosts"]] == [None, None]
    for node in ("node1", "node2"):
        assert trees.differences(trees.look(source), trees.look(lab.node_file(node, "d", "src"))) == {}
        rooms = list(lab.node_file(node, "d").glob(".mtlaunch-push.*"))
        assert rooms == [] or how == "link", rooms
