"""The verb inventory: GPUs, links, and the lines in which NCCL says what it uses."""
import os
import time

NCCL = (b"noise \xff\n"
        b"g0:1:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\n"
        b"[default0]:g0:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
        b"g0:1:2 [0] NCCL INFO Using network IB\n"
        b"g0:1:3 [1] NCCL INFO Using network Socket\n")
LITERALS = ["NCCL version ", "Using network ", "Bootstrap: Using ", "absent $(touch x) '"]


def log(node, content):
    node.start("/bin/true")
    node.wait_ended()
    with open(node.file("log"), "wb") as file:
        file.write(content)


def links(node, **files):
    """A tree like /sys, and the variable by which the node's script finds it."""
    root = os.path.join(node.folder, "root")
    for path, text in files.items():
        path = os.path.join(root, path.replace("__", "/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return {"MTLAUNCH_TEST_ROOT": root}


def smi(node, text):
    """A program of this name in front of the PATH, as no GPU is here."""
    folder = os.path.join(node.folder, "smi")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "nvidia-smi")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return {"PATH": f"{folder}:{node.path}"}


def test_the_first_line_with_each_literal(node):
    log(node, NCCL)
    facts = node.call("inventory", literal=LITERALS)
    assert facts["nccl"] == ["[default0]:g0:1:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0",
                             "g0:1:2 [0] NCCL INFO Using network IB", "g0:1:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>"]


def test_of_a_progress_bar_the_stretch_that_holds_the_literal(node):
    log(node, b"1%\r2% NCCL version 2.1\r3%\0\n" + b"Using network " + b"x" * 3000 + b"\nUsing network late\n")
    facts = node.call("inventory", literal=LITERALS)
    assert facts["nccl"] == ["2% NCCL version 2.1", "Using network " + "x" * 886]


def test_links(node):
    log(node, b"")
    env = links(node, sys__class__net__eth0__speed="25000\n", sys__class__net__lo__mtu="65536\n", sys__class__net__veth__speed="-1\n",
                sys__class__infiniband__mlx5_0__ports__1__state="4: ACTIVE\n",
                sys__class__infiniband__mlx5_0__ports__1__rate="400 Gb/sec (4X NDR)\n",
                sys__class__infiniband__mlx5_0__ports__1__link_layer="InfiniBand\n")
    facts = node.call("inventory", env=env, literal=LITERALS)
    assert facts["nic.speed"] == ["eth0|25000"]
    assert sorted(facts["nic.interface"]) == ["eth0", "lo", "veth"]
    assert facts["ib.port"] == ["mlx5_0:1|4: ACTIVE|400 Gb/sec (4X NDR)|InfiniBand"]
    assert "nccl" not in facts and "gpu" not in facts


def test_models_of_gpus_once_each(node):
    log(node, b"")
    env = smi(node, '[ "$1" = --query-gpu=name ] || exit 1\n' + "echo 'NVIDIA H200'\n" * 8 + "echo 'NVIDIA H100 PCIe'\n")
    assert node.call("inventory", env=env, literal=LITERALS)["gpu"] == ["NVIDIA H100 PCIe", "NVIDIA H200"]


def test_a_tool_that_fails_or_hangs_is_no_answer(node):
    log(node, NCCL)
    assert "gpu" not in node.call("inventory", env=smi(node, "echo broken; exit 9\n"), literal=LITERALS)
    begun = time.monotonic()
    facts = node.call("inventory", env=smi(node, "sleep 60\n"), literal=LITERALS)
    assert "gpu" not in facts and len(facts["nccl"]) == 3
    assert time.monotonic() - begun < 20


def test_no_log(node):
    facts = node.call("inventory", literal=LITERALS)
    assert "error" not in facts and "nccl" not in facts


def test_a_long_log_is_read_no_further_than_its_beginning(node):
    log(node, NCCL + b"x" * 30_000_000 + b"\nUsing network Late\n")
    assert len(node.call("inventory", literal=[*LITERALS, "Late"])["nccl"]) == 3
    log2 = node.call("inventory", literal=["x"])["nccl"]
    assert len(log2) == 1 and len(log2[0]) <= 900
