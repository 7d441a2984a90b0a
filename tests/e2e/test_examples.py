"""Every file in examples/ does what it says."""
import json

import pytest

from conftest import ROOT, TORCH_ENV

# A spec, the options it needs on the test cluster, and its hosts in a dry run as it stands.
MEGATRON_TREE = ["--set", "workdir=null", "--artifacts", "~/.mtlaunch"]
RUN = {"hello.yaml": [], "torchrun_allreduce.yaml": TORCH_ENV, "gpt_smoke.yaml": TORCH_ENV + MEGATRON_TREE,
       "qwen3_1p7b.yaml": TORCH_ENV + MEGATRON_TREE + ["--set", "container=null"], "existing_script.yaml": TORCH_ENV + MEGATRON_TREE,
       "deepspeed.yaml": [], "accelerate.yaml": [], "qwen3_vl_swift.yaml": [], "qwen3_vl_megatron_swift.yaml": [], "ray.yaml": []}
USED = {"moving-files.md", "allreduce.py", "ray_count.py", "hosts.txt", "h200_hosts.txt", "params", "training_smoke_gpt.sh", "README.md", "ci", "grafana"}


@pytest.fixture
def examples(lab):
    """The lab with all of examples/ on the head, and what the jobs run on the nodes."""
    for path in (ROOT / "examples").iterdir():
        if path.is_file():
            lab.write(path.name, path.read_bytes())
    for path in (ROOT / "examples" / "allreduce.py", ROOT / "examples" / "training_smoke_gpt.sh", ROOT / "examples" / "params"):
        lab.cluster.put(str(path))
    lab.program("pretrain_gpt.py")
    return lab


def start(lab, spec, run, *more, **options):
    return lab.mt("start", spec, run, *RUN[spec], *more, "--wait", "--timeout", "3m", **options)


def plan(lab, spec, *more, code=0):
    return lab.mt("start", spec, "run1", *more, "--dry-run", "--json", code=code).json


def seen(answer):
    """What the stand-in for Megatron-LM said on every rank."""
    said = [json.loads(line.split("seen ", 1)[1]) for line in answer.lines if "seen {" in line]
    return sorted(said, key=lambda one: one["rank"])


def test_every_example_is_known_here():
    assert {p.name for p in (ROOT / "examples").iterdir()} == set(RUN) | USED


def test_every_spec_has_a_dry_run(examples):
    for name in RUN:
        answer = plan(examples, name)
        assert answer["nnodes"] == 4 and len(answer["nodes"]) == 4


def test_hello(examples):
    done = start(examples, "hello.yaml", "hi")
    assert sorted(done.lines) == [f"node{i + 1}: hello from node{i + 1}, node {i} of 4" for i in range(4)]


def test_torchrun_allreduce_with_the_example_hosts(examples):
    done = start(examples, "torchrun_allreduce.yaml", "all")
    assert "all-reduce of 8 processes: 36" in done.out


def test_gpt_smoke(examples):
    answer = plan(examples, "gpt_smoke.yaml", "--profile", "tp2")
    assert answer["batch"] == {"micro": 2, "global": 32, "data_parallel": 4, "accumulation": 4}
    ranks = seen(start(examples, "gpt_smoke.yaml", "smoke1", "--profile", "tp2"))
    assert [(one["rank"], one["world"]) for one in ranks] == [(i, 8) for i in range(8)]
    command = answer["nodes"][0]["command"]
    for one in ranks:
        assert one["argv"] == command[command.index("pretrain_gpt.py") + 1:]
        assert one["env"]["CUDA_DEVICE_MAX_CONNECTIONS"] == "1" and one["env"]["ZERO_STAGE"] == "0"


def test_qwen3_on_its_own_hosts(examples):
    answer = plan(examples, "qwen3_1p7b.yaml", "--profile", "z2", "--profile", "ib")
    assert [node["host"] for node in answer["nodes"]] == ["g0033", "g0034", "g0035", "g0036"]
    assert (answer["nproc_per_node"], answer["world_size"], answer["master_addr"]) == (8, 32, "g0033")
    assert answer["batch"] == {"micro": 16, "global": 2048, "data_parallel": 32, "accumulation": 4}
    one = plan(examples, "qwen3_1p7b.yaml", "--nodes", "1")
    assert one["batch"]["accumulation"] == 16 and one["world_size"] == 8
    refused = examples.mt("start", "qwen3_1p7b.yaml", "r", "--nodes", "3", "--json", code=2).error
    assert "2048" in refused["message"] and refused["hint"] == "use a global batch size of 1920 or 2304"
    smoke = plan(examples, "qwen3_1p7b.yaml", "--profile", "smoke", "--profile", "plain", "--nodes", "3")
    assert smoke["batch"] == {"micro": 1, "global": 24, "data_parallel": 24, "accumulation": 1}
    command = smoke["nodes"][0]["command"]
    assert "--mock-data" in command and not {"--data-path", "--save", "--load", "--global-batch-size"} & set(command)


def test_qwen3_under_torchrun(examples):
    ranks = seen(start(examples, "qwen3_1p7b.yaml", "q1", "--profile", "z2", "--profile", "eth", "--hosts", "node[1-4] slots=2"))
    assert len(ranks) == 8 and {one["world"] for one in ranks} == {8}
    for one in ranks:
        assert one["argv"][:5] == ["--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads",
                                   "--ckpt-format", "fsdp_dtensor"]
        assert one["argv"][one["argv"].index("--save") + 1] == "/home/lab/.mtlaunch/checkpoints/q1"
        assert one["env"] == {"CUDA_DEVICE_MAX_CONNECTIONS": None, "ZERO_STAGE": "2", "MASTER_ADDR": "node1",
                              "NODE_RANK": str(one["rank"] // 2), "NCCL_NET": "Socket", "NCCL_DEBUG": "INFO",
                              "TRAIN_ARGS": None}


def test_existing_script(examples):
    done = start(examples, "existing_script.yaml", "run1", "--profile", "z1")
    assert "node2: node 1 of 4: gpt_small, run run1, zero stage 1" in done.lines
    ranks = seen(done)
    assert [one["rank"] for one in ranks] == list(range(8))
    for one in ranks:
        assert "--use-distributed-optimizer" in one["argv"] and one["env"]["ZERO_STAGE"] == "1"
        assert one["argv"][one["argv"].index("--micro-batch-size") + 1] == "4"
