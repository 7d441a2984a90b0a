"""compare: real torchrun trainings beside each other, from records alone."""
import csv
import io

import pytest
from cluster import wait_for
from conftest import TORCH_ENV
from torch_env import SHIM

SMI = """#!/bin/sh
[ "$1" = --query-gpu=name ] || exit 1
echo 'NVIDIA H200'
"""


def give_links(lab, node):
    """A slow interface and a fast port, as no test machine has them, and the name of a GPU."""
    net = lab.node_file(node, "root", "sys", "class", "net", "eth0")
    port = lab.node_file(node, "root", "sys", "class", "infiniband", "mlx5_0", "ports", "1")
    for folder in (net, port, lab.node_file(node, "bin")):
        folder.mkdir(parents=True)
    (net / "speed").write_text("25000\n")
    for name, text in (("state", "4: ACTIVE"), ("rate", "400 Gb/sec (4X NDR)"), ("link_layer", "InfiniBand")):
        (port / name).write_text(text + "\n")
    smi = lab.node_file(node, "bin", "nvidia-smi")
    smi.write_text(SMI)
    smi.chmod(0o755)
    lab.node_file(node, ".bashrc").write_text("export MTLAUNCH_TEST_ROOT=$HOME/root PATH=$HOME/bin:$PATH\n")


def train(lab, run, *words, nodes=1, code=0, **args):
    lab.program("train.py")
    keys = {"steps": 6, "nccl": "Socket", "seq-length": 16, **args}
    lab.job("train.yaml", launcher="torchrun", program="train.py", nproc_per_node=1, hosts=",".join(lab.names), args=keys,
            start_timeout="5m")
    return lab.mt("start", "train.yaml", run, "--nodes", str(nodes), *TORCH_ENV, *words, code=code, timeout=200)


def by_run(answer):
    return {run["run"]: run for run in answer["runs"]}


def test_two_nodes_that_are_slower_than_one(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    if "USE_LIBUV=0" in TORCH_ENV:
        lab.cluster.put(str(SHIM))
    for node in lab.names:
        give_links(lab, node)
    train(lab, "n1", "--wait", pause=0.2)
    train(lab, "n2", "--wait", nodes=2, pause=0.8)
    for node in lab.names:
        lab.cluster.cut(node)  # nobody is asked
    answer = lab.mt("compare", "n1", "n2", "--json")
    assert answer.seconds < 5
    runs = by_run(answer.json)
    assert answer.json["verdict"] == "2 nodes are slower than 1: NCCL used sockets at 25 Gb/s while mlx5_0 400 Gb/s is up"
    for run, count in (("n1", 1), ("n2", 2)):
        figures = runs[run]
        assert (figures["state"], figures["nodes"], figures["gpus"], figures["global_batch"]) == ("finished", count, count, 2 * count)
        assert figures["samples_per_second"] == pytest.approx(2 * count / figures["step_time"])
        assert figures["tokens_per_second"] == pytest.approx(16 * figures["samples_per_second"])
        assert figures["network"] == "Socket" and figures["mfu"] == pytest.approx(0.1) and figures["final_loss"] is not None
        assert figures["hours"] is None
    rate = runs["n2"]["samples_per_second"] / runs["n1"]["samples_per_second"]
    assert runs["n2"]["speedup"] == pytest.approx(rate) and runs["n2"]["efficiency"] == pytest.approx(rate / 2) and rate < 1
    assert {d["key"]: d["values"] for d in answer.json["differences"]} == \
        {"args.pause": ["0.2", "0.8"], "hosts": ["node1", "node[1-2]"]}

    hours = by_run(lab.mt("compare", "n?", "--json", "--tokens", "34B").json)
    assert hours["n1"]["hours"] == pytest.approx(34e9 / runs["n1"]["tokens_per_second"] / 3600)
    rows = list(csv.DictReader(io.StringIO(lab.mt("compare", "*", "--csv", "--samples", "1000000").out)))
    assert [row["run"] for row in rows] == ["n1", "n2"] and list(rows[0]) == list(runs["n1"])
    assert float(rows[1]["hours"]) == pytest.approx(1e6 / runs["n2"]["samples_per_second"] / 3600)

    text = lab.mt("compare", "n1", "n2").out
    assert max(map(len, text.splitlines())) <= 80 and "args.pause: 0.2 (n1), 0.8 (n2)" in text and "#" not in text
    assert "verdict: 2 nodes are slower than 1" in text


def test_runs_that_live_and_runs_that_failed(lab):
    train(lab, "fails", "--wait", code=1, **{"fail-at": 2})
    train(lab, "lives", steps=600, lr=0.05)
    train(lab, "alone", "--no-supervise", steps=600)
    lab.wait_state("alone", "running")

    def rated():
        runs = by_run(lab.mt("compare", "fails", "lives", "alone", "--json").json)
        return runs if all(runs[name]["samples_per_second"] for name in ("lives", "alone")) else None

    runs = wait_for(rated, "their rates", 30, 0.5)
    assert runs["lives"]["state"] == runs["alone"]["state"] == "running" and runs["fails"]["state"] == "failed"
    assert runs["lives"]["network"] == runs["alone"]["network"] == "Socket"
    lab.mt("stop", "lives", "alone")
    lab.assert_nothing_left()


def test_one_run_has_no_verdict(lab):
    lab.job(program="true", hosts="node1")
    lab.mt("start", "job.yaml", "r", "--wait")
    answer = lab.mt("compare", "r", "--json").json
    assert answer["verdict"] is None and answer["differences"] == []
    assert by_run(answer)["r"]["samples_per_second"] is None


def test_hours_that_nothing_tells(lab):
    """Iterations without the tokens of a sample, and a run without any."""
    lab.job("steps.yaml", program="echo ' 50%|###  | 3/6 [00:01<00:01, 2.00it/s]'; "
                                  "echo \"{'train_samples_per_second': '90.01', 'train_steps_per_second': '5.625'}\"", hosts="node1")
    lab.job(program="true", hosts="node1")
    lab.mt("start", "steps.yaml", "steps", "--wait")
    lab.mt("start", "job.yaml", "silent", "--wait")
    answer = lab.mt("compare", "s*", "--tokens", "34B", "--json")
    assert all(run["hours"] is None for run in answer.json["runs"])
    assert "hours of 'steps' are unknown: neither its logs nor its arguments tell how many tokens a sample has" in answer.err
    assert "hours of 'silent' are unknown: its logs tell no tokens per second" in answer.err
    answer = lab.mt("compare", "s*", "--samples", "9001", "--json")
    assert by_run(answer.json)["steps"]["hours"] == pytest.approx(9001 / 90.01 / 3600) and "'steps'" not in answer.err
    assert "hours" not in lab.mt("compare", "s*").err
    for amount, told in (("0", "is out of range"), ("1000000000000001", "is out of range"), ("2e9", "is not a whole number")):
        assert told in lab.mt("compare", "steps", "--tokens", amount, code=2).err


def test_what_cannot_be_compared(lab):
    lab.job(program="true", hosts="node1")
    lab.mt("start", "job.yaml", "r", "--wait")
    assert "no run matches 'x*'" in lab.mt("compare", "r", "x*", code=6).err
    assert "no run 'x' here" in lab.mt("compare", "r", "x", code=6).err
