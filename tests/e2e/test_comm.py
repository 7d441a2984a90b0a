"""`check --comm`: real all-reduces over SSH nodes with a real torch, and what breaks or slows them."""
import json
import signal
import time

import pytest
from cluster import wait_for

ISOLATE = "iptables -I INPUT -p tcp -j DROP && iptables -I INPUT -p tcp --dport 22 -j ACCEPT"


@pytest.fixture
def comm(lab, newer_torch):
    """A job whose interpreter is a file of each node: `comm.wrap` puts another one there."""
    def wrap(text, nodes=None):
        path = lab.write("py", f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        lab.cluster.put(str(path), nodes, target="py")

    def check(*options, code=0, **more):
        return lab.mt("check", "job.yaml", "--only", "reach", "--comm", *options, code=code, timeout=400, **more)

    lab.wrap, lab.check, lab.python = wrap, check, newer_torch
    wrap(f'exec {newer_torch} "$@"')
    lab.job(launcher="torchrun", program="train.py", python="~/py", nproc_per_node=1)
    return lab


def found(answer, severity):
    return [f for f in answer.json["findings"] if f["id"] == "comm" and f["severity"] == severity]


def marked(lab, *nodes):
    """Processes of the test."""
    return [(n, p) for n in nodes or lab.names for p in lab.cluster.user_ps(n)
            if p.environ.get("MTLAUNCH_MARK", "").startswith("check-")]


def busy(lab):
    """Is the test in the midst of its rounds? Then node1 has its program, a store and a worker."""
    return len(marked(lab, "node1")) > 2


def test_pairs_and_all_together(comm):
    answer = comm.check("--json")
    figures = answer.json["comm"]
    assert figures["backend"] == "gloo" and figures["processes"] == 1
    assert sorted(p["hosts"] for p in figures["pairs"]) == \
        [["node1", "node2"], ["node1", "node3"], ["node1", "node4"], ["node2", "node3"], ["node2", "node4"], ["node3", "node4"]]
    assert all(p["bytes_per_second"] > 1e6 and p["error"] is None for p in figures["pairs"])
    assert figures["whole"]["nodes"] == 4 and figures["whole"]["bytes_per_second"] > 1e6
    assert figures["rounds"] == figures["rounds_all"] == 3
    assert {n["interface"] for n in figures["nodes"]} == {"eth0"}  # as a start would set it
    assert not found(answer, "fail")
    comm.assert_nothing_left()
    comm.job(hosts="node1,node2", launcher="script", program=[comm.python, "train.py"])
    answer = comm.check()  # the interpreter of a command
    assert "1 pairs of nodes" in answer.out and "2 nodes together" in answer.out
    assert "comm   ok 2" in answer.out
    comm.assert_nothing_left()


def test_a_slow_node_is_named(comm):
    shape = "tc qdisc add dev eth0 root tbf rate 16mbit burst 64kb latency 50ms"
    if comm.cluster.exec("node2", shape, user=False).returncode != 0:
        pytest.skip("no traffic shaping")
    try:
        answer = comm.check("--json")
    finally:
        comm.cluster.exec("node2", "tc qdisc del dev eth0 root", user=False)
    slow = [f for f in found(answer, "warn") if "it is slow" in f["title"]]
    assert [f["hosts"] for f in slow] == [["node2"]], answer
    best = {n["host"]: n["best"] for n in answer.json["comm"]["nodes"]}
    assert best["node2"] < 4e6 < min(best["node1"], best["node3"], best["node4"])
    comm.assert_nothing_left()


def test_a_firewall_around_a_node(comm):
    if comm.cluster.exec("node3", ISOLATE, user=False).returncode != 0:
        pytest.skip("no iptables")
    began = time.monotonic()
    try:
        answer = comm.check("--json", code=4)
    finally:
        comm.cluster.exec("node3", "iptables -F", user=False)
    assert time.monotonic() - began < 240
    assert [(f["hosts"], f["title"].partition(",")[0]) for f in found(answer, "fail")] == \
        [(["node3"], "no all-reduce with any other node succeeded")]
    assert answer.json["comm"]["whole"]["nodes"] == 3 and answer.json["comm"]["whole"]["bytes_per_second"]
    others = [f["hosts"] for severity in ("ok", "warn") for f in found(answer, severity)]  # a busy machine makes one slow
    assert sorted(host for hosts in others for host in hosts) == ["node1", "node2", "node4"]
    comm.assert_nothing_left()


def test_a_rank_that_hangs_and_a_node_without_torch(comm):
    comm.wrap("exec /usr/bin/python3 -I -S \"$@\"", ["node2"])
    comm.wrap("program=$(printf '%s' \"$2\" | sed 's/dist.all_reduce(probe)/time.sleep(1000)/')\n"
              f"shift 2\nexec {comm.python} -c \"$program\" \"$@\"", ["node4"])
    answer = comm.check("--json", code=4)
    failed = {tuple(f["hosts"]): f for f in found(answer, "fail")}
    assert set(failed) == {("node2",), ("node4",)}, answer
    assert failed[("node2",)]["title"].startswith("torch cannot be used by '~/py': ModuleNotFoundError: No module named 'torch'")
    assert "-m pip install torch" in failed[("node2",)]["remedy"]
    assert "with any other node" in failed[("node4",)]["title"]
    assert answer.json["comm"]["whole"]["nodes"] == 2
    comm.assert_nothing_left()
    text = comm.check("--hosts", "node1,node2", code=4).out
    assert "fail comm: node2: torch cannot be used by '~/py': ModuleNotFoundError" in text


def test_a_setup_line_that_fails(comm):
    comm.job(launcher="torchrun", program="train.py", python="~/py", nproc_per_node=1, hosts="node1,node2",
             setup=["true", "echo no such module; false"])
    answer = comm.check("--json", code=4)
    assert [(f["hosts"], f["title"]) for f in found(answer, "fail")] == \
        [(["node1", "node2"], "the setup line 'echo no such module; false' failed: no such module")], answer


def test_interrupted_or_killed_it_leaves_nothing(comm):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = comm.spawn("check", "job.yaml", "--only", "reach", "--comm", "--json")
        wait_for(lambda: busy(comm), "a round", 90, 0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, (out, err)
        assert json.loads(out)["error"]["code"] == code
        assert not marked(comm)
        comm.assert_nothing_left()  # the watchdogs look once more
    process = comm.spawn("check", "job.yaml", "--only", "reach", "--comm")
    wait_for(lambda: busy(comm), "a round", 90, 0.1)
    process.kill()
    process.communicate()
    wait_for(lambda: not comm.left(), f"the watchdogs to end it, but: {comm.left()}", 30)


def test_a_node_that_falls_silent(comm):
    process = comm.spawn("check", "job.yaml", "--only", "reach", "--comm", "--json", "--connect-timeout", "3s")
    wait_for(lambda: busy(comm), "a round", 90, 0.1)
    comm.cluster.cut("node4")
    out, err = process.communicate(timeout=300)
    answer = json.loads(out)
    assert process.returncode == 7, (out, err)
    failed = [(f["hosts"], f["title"]) for f in answer["findings"] if f["id"] == "comm" and f["severity"] == "fail"]
    assert {h for hosts, _ in failed for h in hosts} == {"node4"}, failed
    assert any("could not verify that the all-reduce test has ended" in title for _, title in failed)
    assert answer["comm"]["whole"]["nodes"] == 3
    comm.assert_nothing_left("node1", "node2", "node3")
    comm.cluster.restore("node4")
    wait_for(lambda: not comm.left("node4"), "node4 to be free", 120)
