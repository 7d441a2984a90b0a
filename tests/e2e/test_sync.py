"""sync: the job's files are on the nodes before it starts; what stands there of other work is left alone."""
import json
import os
import subprocess

import trees
from cluster import UID


def source(lab, text="one"):
    folder = lab.home / "src"
    folder.mkdir(exist_ok=True)
    (folder / "code.txt").write_text(text)
    trees.own(folder, UID)
    return folder


def job(lab, **sync):
    return lab.job(program="cat code.txt && exec sleep 600", workdir="~/code", hosts="node[1-2]",
                   sync={"from": "src/", **sync}, artifacts="~/code/artifacts")


def git(folder, *words):
    subprocess.run(["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "git", "-c", "user.name=a",
                    "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True,
                   env={"HOME": str(folder.parent), "PATH": os.environ["PATH"]})


def test_files_are_there_before_the_start(lab):
    source(lab)
    name = job(lab, delete=True)
    answer = lab.mt("start", name, "r")
    assert "synced 2 files (6 bytes) in " in answer.err
    assert lab.node_file("node2", "code", "artifacts", "logs", "r_node1.log").read_text() == "one"
    shown = lab.mt("show", "r", "--json").json["plan"]["synced"]
    assert (shown["files"], shown["bytes"], shown["commit"], shown["dirty"]) == (2, 6, None, None)
    refused = lab.mt("start", name, "r2", code=6)
    assert "the live run 'r' works in the folder of 'sync'" in refused.err
    lab.mt("stop", "r")
    source(lab, "two")
    (lab.node_file("node1", "code") / "stale").write_text("x")
    os.chown(lab.node_file("node1", "code") / "stale", UID, UID)
    lab.mt("start", name, "r")
    assert not (lab.node_file("node1", "code") / "stale").exists()
    assert (lab.node_file("node1", "code", "artifacts", "logs") / "r_node0.log").exists()
    lab.mt("stop", "r")
    source(lab, "three")
    assert "synced" not in lab.mt("start", name, "r", "--no-sync").err
    assert lab.node_file("node1", "code", "code.txt").read_text() == "two"
    lab.mt("stop", "r")


def test_git_says_what_stays(lab):
    folder = source(lab)
    (folder / ".gitignore").write_text("*.tmp\ncache/\n")
    (folder / "a.tmp").write_text("x")
    (folder / "cache").mkdir()
    (folder / "cache" / "x").write_text("x")
    trees.own(folder, UID)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    name = job(lab, git=True, delete=True)
    there = lab.node_file("node1", "code")
    (there / "cache").mkdir(parents=True)
    (there / "cache" / "kept").write_text("x")
    (there / "gone").write_text("x")
    trees.own(lab.node_file("node1"), UID)
    lab.mt("start", name, "r")
    found = {os.fsdecode(p) for p in trees.look(there)}
    assert {"cache/kept", "code.txt", ".gitignore"} <= found and not {"a.tmp", "cache/x", "gone"} & found
    shown = lab.mt("show", "r", "--json").json["plan"]["synced"]
    assert len(shown["commit"]) == 40 and shown["dirty"] is False
    lab.mt("stop", "r")
    (folder / "code.txt").write_text("changed")
    lab.mt("start", name, "r")
    assert lab.mt("show", "r", "--json").json["plan"]["synced"]["dirty"] is True
    lab.mt("stop", "r")


def test_what_cannot_be_pushed_starts_nothing(lab):
    source(lab)
    name = lab.job(program="true", hosts="node[1-2]", sync={"from": "src/", "to": "/proc/x"})
    answer = lab.mt("start", name, "r", code=4)
    assert "could not push the files of 'sync' to 2 of 2 hosts" in answer.err
    lab.mt("status", "r", code=6)
    assert "does not say where the files are" in lab.mt("start", lab.job(sync={"to": "x"}), "r", code=2).err
    assert "the login folder" in lab.mt("start", lab.job(sync={"from": "src", "delete": True}), "r", code=2).err
    json.loads(lab.mt("start", lab.job(sync={"from": "no"}), "r", "--json", code=2).out)
