"""The launchers with the real thing on CPUs over SSH nodes: torch 2.13, accelerate and DeepSpeed from PyPI, Debian's torch.

Each of them trains to its end, and fails on a rank or is stopped, as $MTLAUNCH_SEED says; $MTLAUNCH_LAUNCHERS=all does both,
and each of them on four nodes instead of two.
"""
import ast
import json
import os
import random
import subprocess

import pytest
import yaml

from cluster import wait_for
from conftest import ROOT, TORCH_ENV
from python_env import RAY, Unavailable, python_env, wheel_files

# Copied to every node as it is: nothing in it but the type may count.
COPIED = """compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
machine_rank: 0
num_machines: 7
num_processes: 9
main_process_ip: 192.0.2.1
main_process_port: 1234
mixed_precision: 'no'
rdzv_backend: c10d
same_network: false
"""
# hjson, as DeepSpeed reads it.
DEEPSPEED = """{
  # the stage comes from the spec
  "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1, "zero_allow_untested_optimizer": true,
  "zero_optimization": {"stage": 0, "overlap_comm": false}
}
"""
KINDS = {
    "torchrun": {"launcher": "torchrun"},
    "c10d": {"launcher": "torchrun", "rendezvous": "c10d"},
    "accelerate": {"launcher": "accelerate"},
    "accelerate-config": {"launcher": "accelerate", "accelerate": {"config_file": "copied.yaml"}},
    "deepspeed": {"launcher": "deepspeed", "deepspeed": {"config": "ds.json"}, "zero_stage": 1},
    "deepspeed-no-ssh": {"launcher": "deepspeed", "deepspeed": {"config": "ds.json", "form": "no_ssh"}, "zero_stage": 1},
    "debian": {"launcher": "torchrun", "python": "/usr/bin/python3"},
    "debian-c10d": {"launcher": "torchrun", "python": "/usr/bin/python3", "rendezvous": "c10d"},
}
CHANCE = random.Random(int(os.environ.get("MTLAUNCH_SEED", "1")))
BOTH = os.environ.get("MTLAUNCH_LAUNCHERS") == "all"
FAILING = [kind for kind in KINDS if BOTH or CHANCE.random() < 0.5]
STOPPED = [kind for kind in KINDS if BOTH or kind not in FAILING]
NODES = 4 if BOTH else 2  # each process imports PyTorch, some of them DeepSpeed


def has_torch(python):
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{python} has no torch: apt-get install python3-torch")


@pytest.fixture
def start(lab, newer_torch):
    """Start the program in one of the ways above; the stray variables are the caller's."""
    lab.program("launched.py")
    for node in lab.names:
        lab.node_file(node, "copied.yaml").write_text(COPIED, encoding="utf-8")
        lab.node_file(node, "ds.json").write_text(DEEPSPEED, encoding="utf-8")

    def make(kind, mode, *words, nodes=NODES, **options):
        keys = {"python": newer_torch, **KINDS[kind]}
        if kind.startswith("debian"):
            has_torch(keys["python"])
            words += tuple(TORCH_ENV)
        program = keys["launcher"] if keys["launcher"] in ("accelerate", "deepspeed") else "torch"
        args = [program, mode] + (["--deepspeed_config", "${{deepspeed_config}}"] if program == "deepspeed" else [])
        lab.job("l.yaml", program="launched.py", args=args, nproc_per_node=1, **keys)
        stray = {"PET_STRAY": "1", "PET_NNODES": "9", "RANK": "5", "WORLD_SIZE": "77", "LOCAL_RANK": "3",
                 "LOCAL_WORLD_SIZE": "9", "TORCHELASTIC_STRAY": "1"}
        return lab.mt("start", "l.yaml", "r", "--nodes", str(nodes), "--set", "pass_env=['*']", *words, env=stray, **options)

    return make


def seen(lab):
    lines = lab.mt("logs", "r", "-n", "all").lines
    return sorted((json.loads(line.split("seen ", 1)[1]) for line in lines if "seen {" in line), key=lambda one: one["rank"])


@pytest.mark.parametrize("kind", KINDS)
def test_it_trains(lab, start, kind):
    nodes = 4 if kind in ("torchrun", "c10d") else NODES
    start(kind, "end", nodes=nodes)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    said = seen(lab)
    assert [one["rank"] for one in said] == list(range(nodes))
    assert {one["sum"] for one in said} == {sum(range(nodes + 1))}
    assert {(one["WORLD_SIZE"], one["LOCAL_WORLD_SIZE"]) for one in said} <= {(str(nodes), "1"), (str(nodes), None)}
    assert {(one["PET_STRAY"], one["TORCHELASTIC_STRAY"]) for one in said} == {(None, None)}
    if not kind.endswith("c10d"):  # there torch gives out the ranks
        assert [one["MTLAUNCH_HOST"] for one in said] == lab.names[:nodes]
    if kind.startswith("deepspeed"):
        for i, (node, one) in enumerate(zip(lab.names, said)):
            assert one["stage"] == 1 and one["config"].endswith(f"/run_state/r_node{i}.deepspeed.json")
            copy = json.loads(lab.node_file(node, ".mtlaunch", "run_state", f"r_node{i}.deepspeed.json").read_text())
            assert copy["zero_optimization"] == {"stage": 1, "overlap_comm": False}
            assert lab.node_file(node, "ds.json").read_text() == DEEPSPEED
        lab.mt("remove", "r", "--artifacts")
        assert not list(lab.node_file("node1", ".mtlaunch", "run_state").iterdir())
    lab.assert_nothing_left()


@pytest.mark.parametrize("kind", FAILING)
def test_a_rank_that_fails_ends_the_run(lab, start, kind):
    start(kind, "fail", "--set", "stop.grace=5s")
    waited = lab.mt("wait", "r", "--timeout", "5m", "--json", code=1, timeout=400).json
    assert waited["state"] == "failed" and waited["exit_status"] not in (0, None)
    assert "rank 1): ValueError: rank 1 fails as it was told (launched.py:" in waited["reason"]
    culprit = next(line for line in lab.mt("logs", "r", "-n", "all").lines if "ValueError: rank 1 fails as it was told" in line)
    assert waited["reason"].startswith(culprit.split(":", 1)[0] + " (")
    lab.assert_nothing_left()


@pytest.mark.parametrize("kind", STOPPED)
def test_a_run_is_stopped(lab, start, kind):
    start(kind, "sleep")
    wait_for(lambda: len(seen(lab)) == NODES, "all ranks to train", 240, 1)
    stop = lab.mt("stop", "r", "--grace", "5s", "--json").json
    assert stop["state"] == "stopped" and stop["survivors"] == []
    lab.assert_nothing_left()


def test_a_configuration_of_accelerate_that_trains_apart_is_refused(lab, start):
    lab.node_file("node2", "copied.yaml").write_text(COPIED.replace("MULTI_GPU", "'NO'"), encoding="utf-8")
    failed = start("accelerate-config", "end", code=1)
    assert "accelerate.config_file 'copied.yaml': distributed_type is NO" in failed.err
    lab.assert_nothing_left()


@pytest.mark.parametrize("kind,name,key", [("accelerate-config", "copied.yaml", "accelerate.config_file"),
                                           ("deepspeed", "ds.json", "deepspeed.config"),
                                           ("deepspeed-no-ssh", "ds.json", "deepspeed.config")])
def test_a_configuration_that_one_node_lacks_is_found_before_the_start(lab, start, kind, name, key):
    lab.node_file("node2", name).unlink()
    failed = start(kind, "end", code=4)
    assert f"node2: {key} '{name}' is not there" in failed.err and f"correct {key} (relative to workdir)" in failed.err
    assert not lab.node_file("node1", ".mtlaunch", "logs").exists() or not list(lab.node_file("node1", ".mtlaunch", "logs").iterdir())
    checked = lab.mt("check", "l.yaml", "--only", "paths", "--json", code=4).json
    assert [(f["severity"], f["hosts"]) for f in checked["findings"] if f["severity"] == "fail"] == [("fail", ["node2"])]
    lab.assert_nothing_left()


def test_a_configuration_that_a_step_makes_is_no_fault(lab, start):
    lab.node_file("node1", "copied.yaml").rename(lab.node_file("node1", "source.yaml"))
    step = [{"name": "make", "on": "first", "command": "cp source.yaml copied.yaml"}]
    start("accelerate-config", "end", "--set", f"prepare={json.dumps(step)}", nodes=1)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0


@pytest.mark.parametrize("text,why", [
    ('{"train_batch_size": 9, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1}',
     "train_batch_size 9 does not fit train_micro_batch_size_per_gpu 2 with gradient_accumulation_steps 1 on 4 processes; "
     "8 would"),
    ('{"train_batch_size": 9, "train_micro_batch_size_per_gpu": 2}',
     "train_batch_size 9 does not fit train_micro_batch_size_per_gpu 2 on 4 processes; 8 would"),
    ("[]", "it is not a JSON object"),
])
def test_a_configuration_of_deepspeed_that_cannot_work_is_refused(lab, start, text, why):
    lab.node_file("node3", "ds.json").write_text(text, encoding="utf-8")
    failed = start("deepspeed", "end", code=1, nodes=4)
    assert f"deepspeed.config 'ds.json': {why}" in " ".join(failed.err.split())
    lab.assert_nothing_left()


@pytest.mark.parametrize("kind", ["torchrun", "deepspeed"])
def test_launcher_args_reach_torchrun_and_the_logs_stay_right(lab, start, kind):
    start(kind, "end", "--set", "launcher_args=[--redirects, 1, --tee, 3, --log-dir, tlogs]", nodes=2)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    assert [one["rank"] for one in seen(lab)] == [0, 1]
    for i, node in enumerate(("node1", "node2")):
        files = sorted(lab.node_file(node, "tlogs").rglob("stdout.log"))
        assert len(files) == 1 and f'"rank": {i}' in files[0].read_text()
        assert any("[default0]:seen" in line for line in lab.mt("logs", "r", "-n", "all", "--node", str(i)).lines)


def test_the_reason_is_found_in_what_torchrun_repeats(lab, start):
    start("torchrun", "fail", "--set", "launcher_args=[--redirects, 3, --tee, 3, --log-dir, tlogs]",
          "--set", "stop.grace=5s", nodes=2)
    waited = lab.mt("wait", "r", "--timeout", "5m", "--json", code=1, timeout=400).json
    assert waited["reason"].startswith("node2 (node 1, rank 1): ValueError: rank 1 fails as it was told (launched.py:")
    assert any("ValueError" in file.read_text() for file in lab.node_file("node2", "tlogs").rglob("stderr.log"))


@pytest.mark.parametrize("kind", ["accelerate", "accelerate-config"])
def test_launcher_args_reach_accelerate(lab, start, kind):
    start(kind, "end", "--set", "launcher_args=[--mixed_precision=bf16, --log_dir, alogs, --tee, 1]", nodes=2)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    assert {one["ACCELERATE_MIXED_PRECISION"] for one in seen(lab)} == {"bf16"}
    assert [len(list(lab.node_file(node, "alogs").rglob("stdout.log"))) for node in ("node1", "node2")] == [1, 1]


def test_launcher_args_reach_deepspeeds_own_launcher(lab, start):
    start("deepspeed-no-ssh", "end", "--set", "launcher_args=['--enable_each_rank_log=dlogs']", nodes=2)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    for i, node in enumerate(("node1", "node2")):
        texts = [file.read_text(errors="replace") for file in lab.node_file(node, "dlogs").rglob("*.log")]
        assert sum(f'"rank": {i},' in text for text in texts) == 1


def test_a_ray_cluster_for_the_time_of_a_job(lab):
    try:
        ray = python_env("ray", RAY)
    except Unavailable as error:
        pytest.skip(f"ray cannot be installed from PyPI: {error}")
    lab.write("ray.yaml", (ROOT / "examples" / "ray.yaml").read_bytes())
    lab.cluster.put(str(ROOT / "examples" / "ray_count.py"))
    lab.mt("start", "ray.yaml", "r", "--set", f"setup=[{json.dumps(f'PATH={ray.parent}:$PATH')}]",
           "-e", "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE=1", "-e", "RAY_DISABLE_MEMORY_MONITOR=1", "--set", "stop.grace=10s")
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    assert f"4 of 4 nodes ran a task: {' '.join(lab.names)}" in lab.mt("logs", "r", "-n", "all", "--node", "0").out
    status = lab.status("r", code=0)
    assert status["state"] == "finished"
    lab.assert_nothing_left()


SWIFT = "ms-swift==4.6.0"
SWIFT_TRAINS = """import json, os, sys, torch
torch.distributed.init_process_group("gloo")
total = torch.tensor([torch.distributed.get_rank() + 1.0])
torch.distributed.all_reduce(total)
print("seen " + json.dumps({"rank": torch.distributed.get_rank(), "sum": total.item(), "args": sys.argv[1:]}), flush=True)
"""


@pytest.fixture
def swift(lab):
    """ms-swift's own command lines, with a small program in the place of its training."""
    mains = ["swift/cli/main.py", "swift/cli/_megatron/main.py"]
    try:
        files = wheel_files(SWIFT, SWIFT, mains)
    except Unavailable as error:
        pytest.skip(f"{SWIFT} cannot be downloaded from PyPI: {error}")
    files |= {name: b"" for name in ("swift/__init__.py", "swift/cli/__init__.py", "swift/cli/_megatron/__init__.py")}
    files |= {name: SWIFT_TRAINS.encode() for name in ("swift/cli/sft.py", "swift/cli/_megatron/sft.py")}
    files["swift/utils.py"] = b"import logging\nget_logger = logging.getLogger\n"
    for command, module in (("swift", "swift.cli.main"), ("megatron", "swift.cli._megatron.main")):
        files[f"bin/{command}"] = f"#!/usr/bin/python3\nfrom {module} import cli_main\ncli_main()\n".encode()
    for node in lab.names:
        for name, content in files.items():
            path = lab.node_file(node, "ms", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755)


@pytest.mark.parametrize("launcher", ["swift", "megatron-swift"])
@pytest.mark.parametrize("rendezvous", ["static", "c10d"])
def test_ms_swift_starts_torchrun_by_what_it_finds(lab, swift, launcher, rendezvous):
    lab.job("s.yaml", launcher=launcher, program="sft", args={"packing": True, "bf16": False}, nproc_per_node=1, rendezvous=rendezvous,
            setup=["PATH=~/ms/bin:$PATH", "export PYTHONPATH=~/ms:$PYTHONPATH"], launcher_args=["--max_restarts", "0", "--log_dir=logs.d"])
    lab.mt("start", "s.yaml", "r", "--nodes", str(NODES), *TORCH_ENV)
    assert lab.mt("wait", "r", "--timeout", "5m", timeout=400).code == 0
    said = seen(lab)
    assert [one["rank"] for one in said] == list(range(NODES)) and {one["sum"] for one in said} == {sum(range(NODES + 1))}
    assert said[0]["args"] == ["--packing", "true", "--bf16", "false"]
    last = NODES - 1
    lines = lab.mt("logs", "r", "-n", "all", "--node", str(last)).lines
    assert any(f"--nnodes {NODES} --node_rank {last} --master_addr" in line for line in lines if "run sh:" in line)
    assert any(lab.node_file(lab.names[last], "logs.d").iterdir())
    lab.assert_nothing_left()


def fields(files):
    """The names of all fields of the classes in Python files: what a dataclass reads from a command line."""
    classes = (node for text in files.values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    return {line.target.id for one in classes for line in one.body
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}


@pytest.mark.parametrize("example", ["qwen3_vl_swift.yaml", "qwen3_vl_megatron_swift.yaml"])
def test_the_options_of_the_examples_are_ms_swifts(lab, example):
    try:
        files = wheel_files(SWIFT, SWIFT, lambda name: "argument" in name and name.endswith(".py"))
    except Unavailable as error:
        pytest.skip(f"{SWIFT} cannot be downloaded from PyPI: {error}")
    known = fields(files) | {"deepspeed"}  # a field of transformers, whose class ms-swift's extends
    assert any(b"self.deepspeed" in text for text in files.values())
    for name in (example, "h200_hosts.txt"):
        lab.write(name, (ROOT / "examples" / name).read_bytes())
    plan = lab.mt("start", example, "r", "--dry-run", "--json").json
    words = plan["nodes"][0]["command"] + [word for step in yaml.safe_load((ROOT / "examples" / example).read_text()).get("prepare", [])
                                           for word in step["command"]]
    options = {word[2:].split("=")[0] for word in words if word.startswith("--")}
    assert len(options) > 10 and options <= known, options - known
