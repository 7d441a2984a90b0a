"""launcher: megatron at the command line: what is refused, and when."""
import pytest


def job(lab, args, **keys):
    keys = {"launcher": "megatron", "program": "pretrain_gpt.py", "args": args, "hosts": "node[1-4] slots=8", **keys}
    return lab.job("m.yaml", **keys)


def refused(lab, *words, **options):
    error = lab.mt("start", "--json", "m.yaml", "r", *words, code=2, **options).error
    assert error["code"] == 2 and lab.mt("list", "--json").json["runs"] == []
    return error["message"], error["hint"]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_batches_that_cannot_work(lab, dry):
    job(lab, {"micro-batch-size": 16, "global-batch-size": 2048}, hosts="node[1-3] slots=8")
    message, hint = refused(lab, *dry)
    assert "global batch size 2048" in message and hint == "use a global batch size of 1920 or 2304"
    job(lab, ["--micro-batch-size=1", "--global-batch-size", "4", "--tensor-model-parallel-size=4"])
    message, hint = refused(lab, *dry)
    assert "data-parallel size 8" in message and hint == "use a global batch size of 8"
    message, hint = refused(lab, *dry, "--nodes", "1", "--", "--pipeline-model-parallel-size", "3")
    assert "world size 8 is not divisible by 12" in message and hint == "use 12 processes in all, or other parallel sizes"


def test_what_is_found_on_the_nodes_is_checked_before_anything_starts(lab):
    lab.program("dump.py")
    job(lab, {"micro-batch-size": 1, "global-batch-size": 6}, hosts="node[1-4]", program="dump.py")
    plan = lab.mt("start", "m.yaml", "r", "--dry-run", "--json").json
    assert plan["batch"] == {"micro": 1, "global": 6, "data_parallel": None, "accumulation": None}
    error = lab.mt("start", "m.yaml", "r", "--json", code=2).error
    assert error["hint"] == "use a global batch size of 4 or 8"
    for node in lab.names:
        assert not lab.node_file(node, "dump.json").exists() and not lab.node_file(node, ".mtlaunch", "logs", "r_node0.log").exists()
    lab.assert_nothing_left()


def test_numbers_agree_with_the_command(lab):
    job(lab, {"micro-batch-size": 1}, hosts="node[1-2]", nproc_per_node=4)
    plan = lab.mt("start", "m.yaml", "r", "--dry-run", "--json").json
    assert (plan["nnodes"], plan["nproc_per_node"], plan["world_size"]) == (2, 4, 8)
    assert all("--nproc_per_node=4" in node["command"] and "--nnodes=2" in node["command"] for node in plan["nodes"])
    assert plan["batch"] == {"micro": 1, "global": 8, "data_parallel": 8, "accumulation": 1}
    text = lab.mt("start", "m.yaml", "r", "--dry-run").out
    assert "2 nodes x 4 processes = world size 8\n" in text
    assert "parallel: tensor 1 x pipeline 1 x context 1 x data 8\nbatch: micro 1, global 8, accumulation 1\n" in text
    lab.job("t.yaml", launcher="torchrun", program="x.py")
    assert lab.mt("start", "t.yaml", "r", "--dry-run", "--json").json["batch"] is None


def test_levels_and_what_contradicts_them(lab):
    job(lab, {"tensor-model-parallel-size": 2})
    plan = lab.mt("start", "m.yaml", "r", "--dry-run", "--json", "--zero-stage", "1").json["nodes"][0]
    assert "--use-distributed-optimizer" in plan["command"]
    assert {"name": "CUDA_DEVICE_MAX_CONNECTIONS", "value": "1",
            "source": "launcher megatron (tensor or context parallel)"} in plan["env"]
    plan = lab.mt("start", "m.yaml", "r", "--dry-run", "--json", env={"ZERO_STAGE": "3"}).json["nodes"][0]
    assert "optim_grads_params" in plan["command"]
    assert not [var for var in plan["env"] if var["name"] == "CUDA_DEVICE_MAX_CONNECTIONS"]
    flags = lab.mt("start", "m.yaml", "r", "--dry-run", "--json", "--zero-stage", "2", "--set", "megatron.sharding=flags-only").json
    assert "has no effect without an FSDP switch" in flags["warnings"][0]
    message, _ = refused(lab, "--zero-stage", "2", "-e", "CUDA_DEVICE_MAX_CONNECTIONS=1")
    assert "CUDA_DEVICE_MAX_CONNECTIONS is '1' (-e)" in message
    message, _ = refused(lab, "--zero-stage", "2", "--", "--data-parallel-sharding-strategy", "optim")
    assert "zero_stage 2 shards by 'optim_grads'" in message
    message, _ = refused(lab, "--zero-stage", "1", "--", "--use-megatron-fsdp")
    assert "zero_stage is 1, but args have '--use-megatron-fsdp'" in message
