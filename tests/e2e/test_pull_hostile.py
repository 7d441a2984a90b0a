"""pull from a node that lies: nothing leads out of its folder here, nothing of it runs for ever."""
import os

import pytest

import trees
from cluster import UID
from conftest import covered

LIES = {
    "an absolute name": ("f 644 5 1.0 /home/evil\\0\\0", "one outside the folder"),
    "a way out": ("f 644 5 1.0 ./../evil\\0\\0", "one outside the folder"),
    "a way out in the middle": ("f 644 5 1.0 ./a/../../evil\\0\\0", "one outside the folder"),
    "two slashes": ("f 644 5 1.0 .//evil\\0\\0", "one outside the folder"),
    "a file below a link": ("l 777 1 1 ./a\\0%(away)s\\0f 644 4 1 ./a/evil\\0\\0", "evil'"),
    "a file, then a link": ("f 644 4 1 ./a\\0\\0l 777 1 1 ./a\\0%(away)s\\0", "two sources contain 'a'"),
    "a folder, then a link": ("d 755 1 1 ./a\\0\\0l 777 1 1 ./a\\0%(away)s\\0f 644 4 1 ./a/evil\\0\\0", "two sources contain 'a'"),
    "no number": ("f 644 huge 1 ./a\\0\\0", "cannot be read"),
    "a size that never comes": ("f 644 9000000000000000000 1 ./a\\0\\0", "'a' changed while it was read"),
}


def pull(lab, text, code):
    script = ("#!/bin/sh\ncase \"$*\" in\n*maxdepth*) exit 0 ;;\nesac\nprintf '" + text.replace("%", "%%") + "'\n")
    with covered(lab, "node1", "find", script):
        return lab.mt("pull", "out/", "here", "-H", "node[1-2]", "--json", code=code)


def prepare(lab):
    away = lab.home / "away"
    away.mkdir()
    trees.own(away, UID)
    for node in ("node1", "node2"):
        lab.node_file(node, "out").mkdir()
        (lab.node_file(node, "out") / "honest").write_text("honest")
        trees.own(lab.node_file(node), UID)
    return away


@pytest.mark.parametrize("lie", LIES)
def test_nothing_leads_out(lab, lie):
    away = prepare(lab)
    text, said = LIES[lie]
    answer = pull(lab, text % {"away": away} if "%(away)" in text else text, (2, 3, 4, 8))
    found = {h["host"]: h for h in answer.json["hosts"]}
    assert said in found["node1"]["error"]["message"], found["node1"]["error"]
    assert os.listdir(away) == [] and not (lab.home / "evil").exists() and not (lab.home / "here" / "evil").exists()
    assert (lab.home / "here" / "node2" / "honest").read_text() == "honest"
    assert set(os.listdir(lab.home / "here")) <= {"node1", "node2"}


def test_devices_and_our_own_names_are_passed_over(lab):
    prepare(lab)
    answer = pull(lab, "c 666 0 1 ./dev\\0\\0p 666 0 1 ./pipe\\0\\0f 644 1 1 ./.mtlaunch-part.x\\0\\0d 755 1 1 ./a\\0\\0"
                       "f 644 1 1 ./a/.mtlaunch-y\\0\\0", 0)
    assert "devices, pipes and sockets are not copied: 2 of the source" in answer.err
    assert os.listdir(lab.home / "here" / "node1") == ["a"] and os.listdir(lab.home / "here" / "node1" / "a") == []


def test_a_link_is_pulled_and_not_followed(lab):
    away = prepare(lab)
    (away / "keep").write_text("1")
    place = lab.node_file("node1", "out")
    (place / "link").symlink_to(away)
    trees.own(place, UID)
    lab.mt("pull", "out/", "here", "-H", "node1")
    assert os.readlink(lab.home / "here" / "node1" / "link") == str(away)
    (place / "link").unlink()
    (place / "link").mkdir()
    (place / "link" / "keep").write_text("2")
    trees.own(place, UID)
    lab.mt("pull", "out/", "here", "-H", "node1", "--delete")
    assert (away / "keep").read_text() == "1"
    assert (lab.home / "here" / "node1" / "link" / "keep").read_text() == "2"
