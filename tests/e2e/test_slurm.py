"""The host list of a Slurm allocation: a real salloc, and its variable alone."""
import json
import os

import pytest
from cluster import wait_for
from slurm import Slurm, missing


@pytest.fixture
def slurm_lab(make_lab):
    if missing():
        text = f"Slurm is not installed: {', '.join(missing())}"
        if os.environ.get("CI") == "true":
            pytest.fail(text)
        pytest.skip(text)
    lab = make_lab(4)
    with Slurm(lab.cluster) as slurm:
        lab.slurm = slurm
        yield lab


def test_a_real_allocation_is_the_host_list(slurm_lab):
    lab = slurm_lab
    done = lab.slurm.salloc(3, "mtlaunch", "hosts", "--json")
    assert done.returncode == 0, done.stderr
    assert [h["name"] for h in json.loads(done.stdout)["hosts"]] == ["node1", "node2", "node3"]
    lab.job(hosts=None, program="echo $NODE_RANK of $NNODES on $(uname -n)")
    wait_for(lambda: lab.slurm.idle() == 4, "the allocation to be given back", 30, 0.3)
    done = lab.slurm.salloc(2, "mtlaunch", "start", "job.yaml", "alloc", "--wait")
    assert sorted(done.stdout.splitlines()) == ["node1: 0 of 2 on node1", "node2: 1 of 2 on node2"], done.stderr
    done = lab.slurm.salloc(2, "mtlaunch", "hosts", "--json", "-H", "node4")
    assert [h["name"] for h in json.loads(done.stdout)["hosts"]] == ["node4"]


@pytest.mark.parametrize("text,expected", [
    ("node[1-2,4]", ["node1", "node2", "node4"]), ("node1", ["node1"]), ("node[1-2],x[08-10]-ib", None),
    ("rack[1-2]n[1-2]", ["rack1n1", "rack1n2", "rack2n1", "rack2n2"]),
])
def test_the_variable_alone(lab, text, expected):
    expected = expected or ["node1", "node2", "x08-ib", "x09-ib", "x10-ib"]
    found = lab.mt("hosts", "--json", env={"SLURM_JOB_NODELIST": text}).json["hosts"]
    assert [h["name"] for h in found] == expected
