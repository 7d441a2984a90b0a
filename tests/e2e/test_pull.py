"""pull: files from every node into a folder of its own; what was cut goes on; nothing leads out of it."""
import os
import random
import signal
import time

import pytest

import trees
from cluster import UID, kill_quietly, wait_for

ALL = "node[1-4]"
SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))


def node_tree(lab, node, seed, name="out"):
    place = lab.node_file(node, name)
    place.mkdir()
    trees.fill(trees.seeded(seed), place, 40)
    (place / "every byte").mkdir()
    trees.every_byte(place / "every byte")
    trees.own(lab.node_file(node), UID)
    return place


def test_every_node_has_a_folder_of_its_own(lab):
    places = {node: node_tree(lab, node, seed) for seed, node in enumerate(lab.names)}
    first = lab.mt("pull", "out", "here", "-H", ALL, "--json").json
    assert [h["error"] for h in first["hosts"]] == [None] * 4
    for node, place in places.items():
        assert trees.differences(trees.look(place), trees.look(lab.home / "here" / node / "out")) == {}
    again = lab.mt("pull", "out", "here", "-H", ALL, "--json").json
    assert {h["files_sent"] for h in again["hosts"]} == {0}
    for seed, place in enumerate(places.values()):
        trees.change(trees.seeded(seed + 9), place)
        trees.own(place, UID)
    dry = lab.mt("pull", "out", "here", "-H", ALL, "--delete", "--dry-run")
    assert "receive out" in dry.out and "remove out" in dry.out
    lab.mt("pull", "out", "here", "-H", ALL, "--delete")
    for node, place in places.items():
        assert trees.differences(trees.look(place), trees.look(lab.home / "here" / node / "out")) == {}
        assert os.listdir(lab.home / "here" / node) == ["out"]


def test_checksum_finds_what_time_and_size_hide(lab):
    place = lab.node_file("node1", "out")
    place.mkdir()
    (place / "a").write_text("one")
    (place / "b").write_text("same")
    trees.own(place, UID)
    lab.mt("pull", "out/", "here", "-H", "node1")
    stamp = (place / "a").stat().st_mtime
    (place / "a").write_text("two")
    os.utime(place / "a", (stamp, stamp))
    os.utime(place / "b", (7, 7))
    answer = lab.mt("pull", "out/", "here", "-H", "node1", "--checksum", "--json").json
    assert answer["hosts"][0]["files_sent"] == 1
    assert trees.differences(trees.look(place), trees.look(lab.home / "here" / "node1")) == {}


def test_what_is_missing_is_named(lab):
    (lab.node_file("node1") / "log").write_text("x")
    trees.own(lab.node_file("node1"), UID)
    answer = lab.mt("pull", "log", "here", "-H", "node[1-2]", code=4)
    assert "mtlaunch: node2: there is no 'log'" in answer.err
    assert answer.out.startswith("node1: 1 of 1 file received, 1 byte")


def test_links_here_lead_nowhere(lab):
    place = lab.node_file("node1", "out")
    (place / "in").mkdir(parents=True)
    (place / "in" / "file").write_text("new")
    trees.own(place, UID)
    away = lab.home / "away"
    away.mkdir()
    (away / "file").write_text("old")
    (lab.home / "here" / "node1").mkdir(parents=True)
    (lab.home / "here" / "node1" / "in").symlink_to(away)
    trees.own(lab.home / "here", UID)
    trees.own(away, UID)
    lab.mt("pull", "out/", "here", "-H", "node1")
    assert (away / "file").read_text() == "old"
    assert trees.differences(trees.look(place), trees.look(lab.home / "here" / "node1")) == {}


def test_a_large_file_goes_on_where_it_stopped(lab):
    large = lab.node_file("node1", "large")
    large.write_bytes(os.urandom(1 << 20) * 200)
    os.utime(large, (1_600_000_000, 1_600_000_000))
    trees.own(lab.node_file("node1"), UID)
    process = lab.spawn("pull", "large", "here", "-H", "node1")

    def part():
        folder = lab.home / "here" / "node1"
        sizes = [p.stat().st_size for p in folder.glob(".mtlaunch-part.*")] if folder.exists() else []
        return sizes and sizes[0] > 1 << 20

    wait_for(part, "a part of the file", 20, 0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert not (lab.home / "here" / "node1" / "large").exists()
    answer = lab.mt("pull", "large", "here", "-H", "node1", "--json").json["hosts"][0]
    assert 0 < answer["bytes_sent"] < 200 << 20
    assert (lab.home / "here" / "node1" / "large").read_bytes() == large.read_bytes()
    assert os.listdir(lab.home / "here" / "node1") == ["large"]


@pytest.mark.parametrize("how", ["head", "interrupt", "node", "link"])
def test_cut_in_mid_transfer(lab, how):
    """No half file under its name, and the next pull goes on and completes."""
    rng = random.Random(f"{SEED} {how}")
    for node in ("node1", "node2"):
        place = lab.node_file(node, "out")
        place.mkdir()
        (place / "large").write_bytes(rng.randbytes(1 << 20) * 150)
        for i in range(300):
            (place / f"small {i}").write_bytes(rng.randbytes(rng.randint(0, 20000)))
        trees.own(lab.node_file(node), UID)
    process = lab.spawn("pull", "out", "here", "-H", "node[1-2]", "--connect-timeout", "3")
    wait_for(lambda: list((lab.home / "here").glob("*/.mtlaunch-p*")), "the pull to begin", 20, 0.01)
    time.sleep(rng.random())
    if how == "node":
        for one in lab.cluster.user_ps("node1"):
            kill_quietly(one.host_pid, signal.SIGKILL)
    elif how == "link":
        lab.cluster.cut("node1")
    else:
        process.send_signal(signal.SIGKILL if how == "head" else signal.SIGINT)
    process.wait(90)
    lab.cluster.restore("node1")
    for node in ("node1", "node2"):
        for path in (lab.home / "here" / node / "out").glob("*"):
            assert path.read_bytes() == (lab.node_file(node, "out") / path.name).read_bytes(), path
    again = lab.mt("pull", "out", "here", "-H", "node[1-2]", "--json").json
    assert [h["error"] for h in again["hosts"]] == [None, None]
    for node in ("node1", "node2"):
        assert trees.differences(trees.look(lab.node_file(node, "out")), trees.look(lab.home / "here" / node / "out")) == {}
        assert os.listdir(lab.home / "here" / node) == ["out"]
