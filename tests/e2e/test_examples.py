"""Every file in examples/ does what it says."""
from conftest import ROOT, TORCH_ENV

RUN = {"hello.yaml": [], "torchrun_allreduce.yaml": TORCH_ENV}
USED = {"allreduce.py", "hosts.txt"}


def test_every_example_is_known_here():
    assert {p.name for p in (ROOT / "examples").iterdir()} == set(RUN) | USED


def test_hello(lab):
    for name in ("hello.yaml", "hosts.txt"):
        lab.write("examples/" + name, (ROOT / "examples" / name).read_bytes())
    done = lab.mt("start", "examples/hello.yaml", "hi", "--wait")
    assert sorted(done.lines) == [f"node{i + 1}: hello from node{i + 1}, node {i} of 4" for i in range(4)]


def test_torchrun_allreduce_with_the_example_hosts(torch_lab):
    lab = torch_lab
    lab.write("hosts.txt", (ROOT / "examples" / "hosts.txt").read_bytes())
    done = lab.mt("start", "torchrun_allreduce.yaml", "all", *TORCH_ENV, "--wait", "--timeout", "3m")
    assert "all-reduce of 8 processes: 36" in done.out


def test_every_spec_has_a_dry_run(torch_lab):
    for name in RUN:
        plan = torch_lab.mt("start", name, "dry", "--dry-run", "--json").json
        assert plan["nnodes"] == 4 and len(plan["nodes"]) == 4
