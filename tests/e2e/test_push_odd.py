"""push to places that are odd, in the way, full or forbidden."""
import contextlib
import os
import shutil
import subprocess

import pytest

import trees
from cluster import UID
from conftest import HERE, covered

MIB = 1 << 20


def make_source(lab, size=10):
    source = lab.home / "src"
    source.mkdir(exist_ok=True)
    (source / "x").write_bytes(b"1" * size)
    trees.own(source, UID)
    return source


@pytest.mark.parametrize("name", ["-x", "-", "--", "a b", "new\nline", "quote'\"$HOME`id`\\", "~/in home", "*", "d/../e", "é\udcff"])
def test_odd_names_of_the_folder(lab, name):
    source = make_source(lab)
    words = ("push", "-H", "node1", "--", "src", name)
    for said in ("1 of 1 file sent", "nothing to do"):
        assert said in lab.mt(*words).out
    place = lab.node_file("node1", words[-1].removeprefix("~/"))
    assert trees.differences(trees.look(source), trees.look(place / "src")) == {}


def test_home_is_written_with_a_tilde(lab):
    make_source(lab)
    lab.mt("push", "src", "~", "-H", "node1")
    assert lab.node_file("node1", "src", "x").exists()
    assert "only '~' and '~/' stand for a home folder" in lab.mt("push", "src", "~bob/x", "-H", "node1", code=2).err


@pytest.mark.parametrize("folder", ["/", "/home", "/home/lab", "~", ".", "x/..", "link"])
def test_delete_never_empties_what_holds_the_home(lab, folder):
    make_source(lab)
    (lab.node_file("node1") / "precious").write_text("1")
    (lab.node_file("node1") / "x").mkdir()
    (lab.node_file("node1") / "link").symlink_to("/home/lab")
    trees.own(lab.node_file("node1"), UID)
    for more in ((), ("--dry-run",)):
        answer = lab.mt("push", "src/", folder, "-H", "node1", "--delete", *more, code=4)
        assert "which is or contains the home folder" in answer.err
    assert lab.node_file("node1", "precious").exists()
    lab.mt("push", "src", "~", "-H", "node1", "--delete")
    assert lab.node_file("node1", "precious").exists()


def test_the_folder_is_no_folder(lab):
    make_source(lab)
    (lab.node_file("node1") / "file").write_text("1")
    (lab.node_file("node1") / "dangling").symlink_to("nowhere")
    (lab.node_file("node1") / "closed").mkdir(mode=0o500)
    trees.own(lab.node_file("node1"), UID)
    assert "'file' is not a folder" in lab.mt("push", "src", "file", "-H", "node1", code=4).err
    assert "'dangling' is not a folder" in lab.mt("push", "src", "dangling", "-H", "node1", code=4).err
    assert "cannot write in the folder 'closed': permission denied" in \
        lab.mt("push", "src", "closed", "-H", "node1", code=4).err.lower()
    assert "cannot write in the folder '/'" in lab.mt("push", "src", "/", "-H", "node1", code=4).err
    assert lab.node_file("node1", "file").read_text() == "1"


def test_a_node_without_tar(lab):
    make_source(lab)
    with covered(lab, "node1", "tar"):
        answer = lab.mt("push", "src", "d", "-H", "node[1-2]", code=3)
    assert "node1: " in answer.err and "tar" in answer.err
    assert answer.out.startswith("node2: 1 of 1 file sent")
    assert not lab.node_file("node1", "d").exists()


@contextlib.contextmanager
def mounted(lab, node, place, options):
    lab.node_file(node, place).mkdir(parents=True)
    trees.own(lab.node_file(node), UID)
    lab.cluster.exec(node, f"mount -t tmpfs -o mode=777,{options} tmpfs '/home/lab/{place}'", user=False, check=True)
    try:
        yield
    finally:
        lab.cluster.exec(node, f"umount '/home/lab/{place}'", user=False, check=True)


@pytest.mark.parametrize("more", [[], ["--relay"]])
def test_another_file_system_below_the_folder(lab, more):
    """A file there appears whole all the same, and nothing is left when it cannot."""
    source = lab.home / "src"
    (source / "on it" / "deep").mkdir(parents=True)
    (source / "on it" / "large").write_bytes(b"1" * 40 * MIB)
    (source / "on it" / "deep" / "small").write_bytes(b"1")
    trees.own(source, UID)
    with mounted(lab, "node1", "d/src/on it", "size=100m"):
        lab.mt("push", "src", "d", "-H", "node[1-2]", *more)
        (source / "on it" / "large").write_bytes(b"2" * 40 * MIB)
        trees.own(source, UID)
        process = lab.spawn("push", "src", "d", "-H", "node[1-2]", *more)
        watch = ("for i in $(seq 4000); do c=$(head -c 1 'd/src/on it/large')$(tail -c 1 'd/src/on it/large')"
                 "$(wc -c <'d/src/on it/large'); case $c in 1141943040|1241943040|2241943040) ;; *) echo half: $c ;; esac;"
                 " [ ! -e done ] || break; done")
        watcher = subprocess.Popen(["nsenter", "-t", str(lab.cluster.holders["node1"]), "-m", "-p", "sh", "-c",
                                    f"cd /home/lab && {watch}"], stdout=subprocess.PIPE, text=True)
        assert process.wait(120) == 0
        (lab.node_file("node1") / "done").write_text("")
        assert watcher.communicate(timeout=60)[0] == ""
        seen = lab.cluster.exec("node1", "sha256sum <'d/src/on it/large'; find . -name '.mtlaunch*'").stdout
        assert seen == lab.cluster.exec("node2", "sha256sum <'d/src/on it/large'").stdout
        (source / "on it" / "large").write_bytes(b"3" * 70 * MIB)
        trees.own(source, UID)
        answer = lab.mt("push", "src", "d", "-H", "node1", code=4)
        assert "no space left on device" in answer.err
        assert lab.cluster.exec("node1", "find d -name '.mtlaunch*'; wc -c <'d/src/on it/large'").stdout == "41943040\n"


@pytest.mark.parametrize("more", [[], ["--relay"]])
def test_a_quota_is_named(lab, more):
    make_source(lab, 20 * MIB)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", '-DQUOTA_FOLDER="/home/lab/d/"', f"-DQUOTA_BYTES={3 * MIB}", "-o",
                    str(lab.node_file("node1", "quota.so")), str(HERE / "programs" / "quota.c"), "-ldl"], check=True)
    shutil.chown(lab.node_file("node1", "quota.so"), UID, UID)
    lab.cluster.exec("node1", "cp /home/lab/quota.so /run/quota.so && echo /run/quota.so >/etc/ld.so.preload", user=False, check=True)
    try:
        answer = lab.mt("push", "src", "d", "-H", "node[1-2]", *more, code=4)
    finally:
        lab.cluster.exec("node1", "rm /etc/ld.so.preload", user=False, check=True)
    assert "node1: cannot write in the folder 'd': disk quota exceeded" in answer.err
    assert "hint: free some space there" in answer.err
    assert not lab.node_file("node1", "d", "src", "x").exists()
    assert not list(lab.node_file("node1", "d").glob(".mtlaunch*"))
    assert lab.node_file("node2", "d", "src", "x").stat().st_size == 20 * MIB


def test_the_target_in_the_source_ends(lab):
    """On this machine: what is being written is not looked at again."""
    source = make_source(lab)
    for _ in range(2):
        lab.mt("push", "src", "src/copy", "-H", "localhost")
    assert (source / "copy" / "src" / "x").exists()
