"""push: trees to real nodes, whatever their names; only what differs; whole files or none."""
import os
import re

import pytest

import trees
from cluster import UID

ALL = "node[1-4]"


def tree(lab, name="src"):
    folder = lab.home / name
    folder.mkdir()
    return folder


def hosts(answer):
    return {host["host"]: host for host in answer.json["hosts"]}


def assert_same(lab, source, *place, nodes=None):
    wanted = trees.look(source)
    for node in nodes or lab.names:
        assert trees.differences(wanted, trees.look(lab.node_file(node, *place))) == {}, node


@pytest.mark.parametrize("seed", [1, 2])
def test_random_trees_arrive_and_change(lab, seed):
    rng, source = trees.seeded(seed), tree(lab)
    trees.fill(rng, source)
    (source / "every byte").mkdir()
    trees.every_byte(source / "every byte")
    trees.own(source, UID)
    files = sum(1 for kind in trees.look(source).values() if kind[0] != 0o040000)
    first = lab.mt("push", "src", "there", "-H", ALL, "--json")
    assert_same(lab, source, "there", "src")
    assert {(h["files"], h["files_sent"], h["error"]) for h in hosts(first).values()} == {(files, files, None)}
    second = lab.mt("push", "src", "there", "-H", ALL, "--json")
    assert {(h["files_sent"], h["bytes_sent"]) for h in hosts(second).values()} == {(0, 0)}
    trees.change(rng, source)
    trees.own(source, UID)
    third = lab.mt("push", "src", "there", "-H", ALL, "--delete", "--json")
    assert_same(lab, source, "there", "src")
    assert all(0 < h["files_sent"] < files for h in hosts(third).values())
    for node in lab.names:
        assert os.listdir(lab.node_file(node, "there")) == ["src"]


def test_src_with_a_slash_means_what_is_in_it(lab):
    source = tree(lab)
    (source / "a").write_text("1")
    (lab.home / "one file").write_text("2")
    trees.own(lab.home / "src", UID)
    answer = lab.mt("push", "src/", "one file", "code", "-H", "node[1-2]")
    assert re.fullmatch(r"node\[1-2\]: 2 of 2 files sent, 2 bytes, \d+\.\d s\n", answer.out)
    assert sorted(os.listdir(lab.node_file("node1", "code"))) == ["a", "one file"]
    again = lab.mt("push", "src/", "one file", "code", "-H", "node[1-2]")
    assert again.out.startswith("node[1-2]: nothing to do, 2 files unchanged, ")


def test_delete_stays_in_what_is_pushed(lab):
    source = tree(lab)
    (source / "keep").write_text("1")
    trees.own(source, UID)
    for path in ("d/src/old/deep", "d/src/cache/x", "d/other"):
        place = lab.node_file("node1", path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    trees.own(lab.node_file("node1"), UID)
    dry = lab.mt("push", "src", "d", "-H", "node1", "--delete", "--skip", "cache/", "--dry-run")
    assert dry.lines[:-1] == ["send src/keep", "remove src/old", "remove src/old/deep"]
    assert lab.node_file("node1", "d/src/old/deep").exists() and not lab.node_file("node1", "d/src/keep").exists()
    lab.mt("push", "src", "d", "-H", "node1")
    assert lab.node_file("node1", "d/src/old/deep").exists()
    done = lab.mt("push", "src", "d", "-H", "node1", "--delete", "--skip", "cache/", "--json")
    assert hosts(done)["node1"]["removed"] == 2
    found = sorted(os.fsdecode(p) for p in trees.look(lab.node_file("node1", "d")))
    assert found == ["other", "src", "src/cache", "src/cache/x", "src/keep"]


def test_links_on_the_node_lead_nowhere(lab):
    source = tree(lab)
    (source / "in").mkdir()
    (source / "in" / "file").write_text("new")
    (source / "plain").write_text("new")
    trees.own(source, UID)
    away = lab.node_file("node1", "away")
    away.mkdir()
    (away / "file").write_text("old")
    place = lab.node_file("node1", "d", "src")
    place.mkdir(parents=True)
    (place / "in").symlink_to("../../away")
    (place / "plain").symlink_to("../../away/file")
    trees.own(lab.node_file("node1"), UID)
    lab.mt("push", "src", "d", "-H", "node1", "--delete")
    assert (away / "file").read_text() == "old" and os.listdir(away) == ["file"]
    assert_same(lab, source, "d", "src", nodes=["node1"])


def test_a_folder_in_the_way(lab):
    source = tree(lab)
    (source / "x").write_text("file")
    trees.own(source, UID)
    blocked = lab.node_file("node1", "d", "src", "x")
    blocked.mkdir(parents=True)
    (blocked / "precious").write_text("1")
    trees.own(lab.node_file("node1"), UID)
    answer = lab.mt("push", "src", "d", "-H", "node[1-2]", "--json", code=4)
    assert hosts(answer)["node2"]["error"] is None
    assert hosts(answer)["node1"]["error"]["kind"] == "file-failed"
    assert (blocked / "precious").exists()
    lab.mt("push", "src", "d", "-H", "node1", "--delete")
    assert blocked.read_text() == "file"


def test_what_cannot_be_written_is_named(lab):
    source = tree(lab)
    (source / "x").write_text("1")
    trees.own(source, UID)
    answer = lab.mt("push", "src", "/proc/d", "-H", "node[1-2]", code=4)
    assert answer.err.startswith("mtlaunch: node[1-2]: cannot make the folder '/proc/d': ")
    answer = lab.mt("push", "src", "/root/d", "-H", "node1", code=4)
    assert "node1: cannot make the folder '/root/d': permission denied" in answer.err.lower()


def test_wrong_words(lab):
    source = tree(lab)
    (source / "x").write_text("1")
    assert "cannot find the source 'no'" in lab.mt("push", "no", "d", "-H", "node1", code=2).err
    assert "both contain 'x'" in lab.mt("push", "src/", "src/x", "d", "-H", "node1", code=2).err
    assert "'push' needs SRC and DEST" in lab.mt("push", "src", "-H", "node1", code=2).err
    assert "'--relay'" in lab.mt("pull", "src", "d", "--relay", "-H", "node1", code=2).err
    assert "'[a' has a '['" in lab.mt("push", "src", "d", "--skip", "[a", "-H", "node1", code=2).err


def test_checksum_finds_what_time_and_size_hide(lab):
    source = tree(lab)
    (source / "a").write_text("one")
    (source / "b").write_text("same")
    trees.own(source, UID)
    lab.mt("push", "src", "d", "-H", "node1")
    os.utime(source / "b", (5, 5))
    stamp = (source / "a").stat().st_mtime
    (source / "a").write_text("two")
    os.utime(source / "a", (stamp, stamp))
    assert hosts(lab.mt("push", "src", "d", "-H", "node1", "--json"))["node1"]["files_sent"] == 1
    answer = lab.mt("push", "src", "d", "-H", "node1", "--checksum", "--json")
    assert hosts(answer)["node1"]["files_sent"] == 1
    assert_same(lab, source, "d", "src", nodes=["node1"])


def test_a_host_that_is_away_holds_back_nobody(lab):
    source = tree(lab)
    (source / "x").write_text("1")
    trees.own(source, UID)
    lab.cluster.cut("node2")
    answer = lab.mt("push", "src", "d", "-H", ALL, "--connect-timeout", "3", code=3)
    assert "mtlaunch: node2: " in answer.err
    assert answer.out.startswith("node[1,3-4]: 1 of 1 file sent, 1 byte")
