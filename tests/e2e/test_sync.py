"""sync: the job's files are on the nodes before it starts; what stands there of other work is left alone."""
import json
import os
import subprocess

import trees
from cluster import UID, wait_for


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
    assert "the live run 'r' uses the folder of 'sync'" in refused.err
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


RESTART = {"on_failure": "restart", "restart": {"max": 2, "backoff": "0s"}}


def restarting(lab, **keys):
    """Fails when told to by a file, and says each time what code it found."""
    program = "cat code.txt; cat code.txt >>~/seen; while [ ! -e ~/fail ]; do sleep 0.2; done; rm ~/fail; exit 3"
    return lab.job(**{"program": program, "workdir": "~/code", "hosts": "node[1-2]", "sync": {"from": "src/"},
                      **RESTART, **keys})


def fail_on(lab, node):
    lab.node_file(node, "fail").write_text("")
    os.chown(lab.node_file(node, "fail"), UID, UID)


def wait_attempt(lab, number):
    wait_for(lambda: (lambda s: len(s["attempts"]) == number and s["state"] == "running")(lab.status("r")),
             f"attempt {number}", 60, 0.3)


def test_a_restart_gets_the_code_of_that_moment(lab):
    source(lab)
    lab.mt("start", restarting(lab), "r")
    source(lab, "two")
    fail_on(lab, "node2")
    wait_attempt(lab, 2)
    for node in ("node1", "node2"):
        wait_for(lambda node=node: lab.node_file(node, "seen").read_text() == "onetwo", "the new code to run", 20)
    shown = lab.mt("show", "r", "--json").json
    assert (shown["plan"]["synced"]["files"], shown["plan"]["synced"]["bytes"]) == (2, 6)
    assert [e["text"] for e in shown["events"] if e["event"] == "synced"] == ["2 files, 6 bytes"] * 2
    assert "synced" in lab.mt("show", "r", "--plan").out
    lab.mt("stop", "r")


def test_a_restart_without_sync_stays_so(lab):
    source(lab)
    lab.mt("push", "src/", "code", "-H", "node[1-2]")
    lab.mt("start", restarting(lab), "r", "--no-sync")
    source(lab, "two")
    fail_on(lab, "node1")
    wait_attempt(lab, 2)
    assert lab.node_file("node1", "seen").read_text() == "oneone"
    assert lab.mt("show", "r", "--json").json["plan"]["synced"] is None
    lab.mt("stop", "r")


def test_a_spare_gets_the_code_before_a_start(lab):
    source(lab)
    lab.cluster.cut("node2")
    name = restarting(lab, restart={"max": 1, "spares": ["node3"]})
    answer = lab.mt("start", name, "r", "--connect-timeout", "3")
    assert "spare 'node3' becomes node 1" in answer.err and "synced 1 files (3 bytes)" in answer.err
    assert lab.node_file("node3", "seen").read_text() == "one"
    assert not lab.node_file("node3", "code", ".mtlaunch").exists()
    lab.mt("stop", "r")


def test_a_spare_gets_the_code_at_a_restart(lab):
    source(lab)
    name = restarting(lab, on_lost="restart", lost_after="3s", restart={"max": 1, "backoff": "0s", "spares": ["node3"]})
    lab.mt("start", name, "r", "--connect-timeout", "3")
    source(lab, "two")
    lab.cluster.cut("node2")
    wait_attempt(lab, 2)
    wait_for(lambda: lab.node_file("node3", "seen").exists(), "the spare to run", 20)
    assert lab.node_file("node3", "seen").read_text() == "two"
    wait_for(lambda: lab.node_file("node1", "seen").read_text() == "onetwo", "the other node to run the same", 20)
    lab.cluster.restore("node2")
    lab.mt("stop", "r", code=(0, 7))


def test_a_restart_whose_code_is_gone_is_given_up(lab):
    folder = source(lab)
    lab.mt("start", restarting(lab), "r")
    folder.rename(lab.home / "elsewhere")
    fail_on(lab, "node1")
    lab.wait_state("r", "failed")
    events = lab.mt("show", "r", "--json").json["events"]
    assert [e["text"] for e in events if e["event"] == "not-restarted"] == ["restart.max attempts were made"]
    assert "the source '" in lab.home.joinpath(".local/state/mtlaunch/runs/r/supervisor.log").read_text()


def test_workdir_may_name_the_run(lab):
    source(lab)
    name = lab.job(program="cat code.txt", workdir="/home/lab/${{run}}", hosts="node1", sync={"from": "src/"})
    lab.mt("start", name, "r")
    assert lab.node_file("node1", "r", "code.txt").read_text() == "one"
    lab.mt("wait", "r")
