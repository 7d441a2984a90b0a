"""push --relay: hosts pass on what several lack, safely; whoever cannot take part gets it from the head."""
import contextlib
import os
import random
import signal
import time

import pytest

import trees
from cluster import UID, kill_quietly, parent_of, wait_for
from conftest import CommandLines, covered

ALL = "node[1-4]"
SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))
MIB = 1 << 20


def make_source(lab, large=24, seed=1):
    """One large file, some small ones, and what else a tree may hold."""
    source = lab.home / "src"
    source.mkdir()
    rng = trees.seeded(seed)
    (source / "large").write_bytes(rng.randbytes(large * MIB + 4321))
    os.chmod(source / "large", 0o4751)
    os.utime(source / "large", (1_000_000_000, 1_000_000_000))
    (source / "sub").mkdir()
    trees.fill(rng, source / "sub", 40)
    for i in range(12):
        trees.write(rng, source / "sub" / f"middle {i}", MIB // 2 + i)
    trees.own(source, UID)
    return source


def assert_same(lab, source, *nodes):
    wanted = trees.look(source)
    for node in nodes or lab.names:
        assert trees.differences(wanted, trees.look(lab.node_file(node, "d", "src"))) == {}, node


def doors(lab, node):
    """The sshd that a node runs to pass pieces on, and its processes for connections."""
    servers = [p for p in lab.cluster.ps(node) if p.uid == UID and p.name.startswith("sshd")]
    listeners = [p for p in servers if ".mtlaunch-relay" in p.command]
    return listeners + [p for p in servers if parent_of(p.host_pid) in [one.host_pid for one in listeners]]


def assert_no_trace(lab, *nodes, limit=10):
    for node in nodes or lab.names:
        wait_for(lambda node=node: not doors(lab, node) and not lab.left(node), f"{node} to be at rest", limit)
        assert not list(lab.node_file(node).glob(".mtlaunch-*")), node
        assert not list(lab.node_file(node).glob("d/.mtlaunch-*")), node


def hosts(answer):
    return {host["host"]: host for host in answer.json["hosts"]}


def push(lab, *more, code=0, nodes=ALL):
    return lab.mt("push", "src", "d", "-H", nodes, "--relay", *more, code=code)


def test_one_copy_leaves_the_head(lab):
    source = make_source(lab)
    total = sum(p.stat().st_size for p in source.rglob("*") if p.is_file() and not p.is_symlink())
    with CommandLines() as lines:
        first = push(lab, "--json")
    assert_same(lab, source)
    found = hosts(first)
    assert {h["bytes_sent"] for h in found.values()} == {total}
    assert sum(h["bytes_relayed"] for h in found.values()) == 3 * total
    assert {(h["error"], h["not_relayed"]) for h in found.values()} == {(None, None)}
    assert_no_trace(lab)
    assert not [line for line in lines.seen if b"PRIVATE KEY" in line]
    for node in lab.names:
        assert not lab.node_file(node, ".ssh").exists()
    assert {h["files_sent"] for h in hosts(push(lab, "--checksum", "--json")).values()} == {0}
    text = push(lab, "--delete", "--dry-run").out
    assert text.startswith("node[1-4]: nothing to do")


def test_hosts_that_lack_the_same_are_a_group(lab):
    source = make_source(lab)
    push(lab)
    trees.change(trees.seeded(5), source / "sub")
    (source / "large").write_bytes(os.urandom(10 * MIB))
    trees.own(source, UID)
    for node in ("node3", "node4"):
        lab.node_file(node, "d", "src", "sub", "middle 3").unlink(missing_ok=True)
    found = hosts(push(lab, "--delete", "--json"))
    assert_same(lab, source)
    for pair in (("node1", "node2"), ("node3", "node4")):
        sizes = [found[node]["bytes_sent"] for node in pair]
        assert sizes[0] == sizes[1] > 10 * MIB
        assert sorted(found[node]["bytes_relayed"] for node in pair) == [0, sizes[0]]


def test_little_is_sent_from_here(lab):
    source = lab.home / "src"
    source.mkdir()
    (source / "x").write_bytes(b"x" * MIB)
    trees.own(source, UID)
    assert {(h["bytes_relayed"], h["not_relayed"]) for h in hosts(push(lab, "--json")).values()} == {(0, None)}
    assert_same(lab, source)


@pytest.mark.parametrize("how", ["REJECT", "DROP"])
def test_a_firewall_between_nodes(lab, how):
    source = make_source(lab)
    rule = f"INPUT -p tcp --dport 20000:28999 -j {how}"
    for node in lab.names:
        lab.cluster.exec(node, f"iptables -A {rule}", user=False, check=True)
    try:
        answer = push(lab)
    finally:
        for node in lab.names:
            lab.cluster.exec(node, f"iptables -D {rule}", user=False, check=True)
    assert_same(lab, source)
    assert "got everything from here: " in answer.out and "passed on by hosts" not in answer.out
    assert ("refused" if how == "REJECT" else "timed out") in answer.out
    assert_no_trace(lab)


def test_a_node_that_can_take_no_part(lab):
    source = make_source(lab)
    with covered(lab, "node2", "/usr/bin/ssh-keygen"):
        answer = push(lab, "--json")
    found = hosts(answer)
    assert_same(lab, source)
    assert found["node2"]["not_relayed"] == "no 'ssh-keygen' there" and found["node2"]["bytes_relayed"] == 0
    total = found["node1"]["bytes_sent"]
    assert sum(h["bytes_relayed"] for h in found.values()) == 2 * total


def test_a_node_without_sha256sum_is_sent_a_crc(lab):
    source = make_source(lab)
    with covered(lab, "node2", "/usr/bin/sha256sum"):
        found = hosts(push(lab, "--json"))
    assert_same(lab, source)
    assert found["node2"]["not_relayed"] == "no 'sha256sum' there"


def test_no_interpreter_is_needed(lab):
    source = make_source(lab)
    with contextlib.ExitStack() as stack:
        for node in lab.names:
            for tool in ("python3", "perl", "nc", "socat"):
                if lab.cluster.exec(node, f"command -v {tool}").returncode == 0:
                    stack.enter_context(covered(lab, node, tool))
        found = hosts(push(lab, "--json"))
    assert_same(lab, source)
    assert sum(h["bytes_relayed"] for h in found.values()) == 3 * found["node1"]["bytes_sent"]


def test_start_up_files_may_say_something(lab):
    source = make_source(lab)
    for node in lab.names:
        lab.node_file(node, ".profile").write_text("echo welcome; echo error >&2\n")
        lab.cluster.exec(node, "mkdir .ssh && printf 'echo hello\\necho @@mtlaunch\\n' >.ssh/rc", check=True)
    found = hosts(push(lab, "--json"))
    assert_same(lab, source)
    assert sum(h["bytes_relayed"] for h in found.values()) == 3 * found["node1"]["bytes_sent"]


LYING_CAT = """#!/bin/sh
case $* in
./[0-9]*) exec /usr/bin/tr a b <"$1" ;;
*) while IFS= read -r line; do printf '%s\\n' "$line"; done ;;
esac
"""


def test_what_a_node_changed_is_found_by_its_hash(lab):
    source = make_source(lab)
    with contextlib.ExitStack() as stack:
        for node in ("node1", "node2"):
            stack.enter_context(covered(lab, node, "/bin/cat", LYING_CAT))
        answer = push(lab, "--json")
    assert_same(lab, source)
    assert "got something else from node" in answer.err and "another SHA-256" in answer.err
    found = hosts(answer)
    assert [h["error"] for h in found.values()] == [None] * 4
    assert_no_trace(lab)


def begin(lab, seed, *more):
    """A push that is somewhere in the middle: some node passes pieces on."""
    process = lab.spawn("push", "src", "d", "-H", ALL, "--relay", "--connect-timeout", "3", "--json", *more)
    wait_for(lambda: any(list(lab.node_file(n).glob("d/.mtlaunch-relay.*/[0-9]*")) for n in lab.names),
             "a piece on some node", 60, 0.01)
    time.sleep(random.Random(f"{SEED} {seed}").random())
    return process


@pytest.mark.parametrize("victim", ["node1", "node2", "node3"])
def test_a_node_dies(lab, victim):
    source = make_source(lab, 100)
    process = begin(lab, victim)
    for one in lab.cluster.user_ps(victim) + doors(lab, victim):
        kill_quietly(one.host_pid, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 3, 4), (out, err)
    assert_same(lab, source, *[n for n in lab.names if n != victim])
    push(lab)
    assert_same(lab, source)
    assert_no_trace(lab)


@pytest.mark.parametrize("victim", ["node1", "node2"])
def test_a_door_is_killed(lab, victim):
    source = make_source(lab, 100)
    process = begin(lab, victim)
    for one in doors(lab, victim):
        kill_quietly(one.host_pid, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    assert_same(lab, source)
    assert_no_trace(lab)


def test_a_node_is_cut_off(lab):
    source = make_source(lab, 100)
    process = begin(lab, "cut")
    lab.cluster.cut("node2")
    out, err = process.communicate(timeout=200)
    assert process.returncode in (0, 3), (out, err)
    lab.cluster.restore("node2")
    assert_same(lab, source, "node1", "node3", "node4")


def test_the_program_of_a_node_is_killed_alone(lab):
    """Its door is closed and its folders go although nothing else of it ended."""
    make_source(lab, 100)
    process = begin(lab, "program")
    program = [p for p in lab.cluster.ps("node1") if p.uid == UID and "mt_copy" in p.argv]
    assert program
    first = min(program, key=lambda p: p.pid)
    kill_quietly(first.host_pid, signal.SIGKILL)
    process.communicate(timeout=120)
    assert_no_trace(lab)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_head_ends(lab, how):
    source = make_source(lab, 100)
    process = begin(lab, str(how))
    process.send_signal(how)
    process.wait(30)
    assert process.returncode in (130, -9, 0)
    assert_no_trace(lab, limit=20)
    for node in lab.names:
        large = lab.node_file(node, "d", "src", "large")
        assert not large.exists() or large.read_bytes() == (source / "large").read_bytes()
    push(lab)
    assert_same(lab, source)


def test_a_full_disk_holds_back_only_its_host(lab):
    source = make_source(lab)
    lab.node_file("node2", "d").mkdir()
    lab.cluster.own(lab.node_file("node2", "d"))
    lab.cluster.exec("node2", "mount -t tmpfs -o size=12m,mode=777 tmpfs /home/lab/d", user=False, check=True)
    try:
        answer = push(lab, code=4)
        left = lab.cluster.exec("node2", "find d -name '.mtlaunch*'; cat d/src/large | wc -c").stdout
    finally:
        lab.cluster.exec("node2", "umount /home/lab/d", user=False, check=True)
    assert "node2: cannot write in the folder 'd': no space left on device" in answer.err
    assert ".mtlaunch" not in left
    assert_same(lab, source, "node1", "node3", "node4")


TOOLS = "dd tee sha256sum head tar timeout mv wc sed cut touch mkfifo tail id uname rm mkdir".split()


def test_other_shells_and_busybox(lab):
    """A node with nothing but busybox beside OpenSSH, and one whose sh is bash."""
    source = make_source(lab)
    with contextlib.ExitStack() as stack:
        for node, shell, tools in (("node2", "busybox", ["sh", *TOOLS]), ("node3", "bash", ["sh"])):
            for tool in tools:
                real = lab.cluster.exec(node, f"readlink -f $(command -v {tool})", check=True).stdout.strip()
                lab.cluster.exec(node, f"mount --bind $(readlink -f $(command -v {shell})) {real}", user=False, check=True)
                stack.callback(lab.cluster.exec, node, f"umount -l {real}", user=False, check=True)
        answer = push(lab, "--json")
    found = hosts(answer)
    assert answer.err == ""
    assert_same(lab, source)
    assert {(h["error"], h["not_relayed"]) for h in found.values()} == {(None, None)}
    assert sum(h["bytes_relayed"] for h in found.values()) == 3 * found["node1"]["bytes_sent"]
    assert_no_trace(lab)
