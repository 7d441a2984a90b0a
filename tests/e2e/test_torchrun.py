"""Real torchrun over four SSH nodes: the main job, from start to nothing left."""
import re

from cluster import wait_for
from conftest import TORCH_ENV

EIGHT = "sum 36, expected 36"


def start(lab, run, *more, **options):
    return lab.mt("start", "torchrun_allreduce.yaml", run, *TORCH_ENV, *more, **options)


def stepping(lab, run, step=2):
    wait_for(lambda: f"step {step}: sum" in lab.mt("logs", run, "-n", "all").out, f"run {run} to reach step {step}", 90, 0.5)


def test_a_job_runs_to_its_end_with_exit_statuses(torch_lab):
    lab = torch_lab
    start(lab, "demo")
    status = lab.wait_state("demo", "running", "finished")
    assert [n["host"] for n in status["nodes"]] == lab.names
    assert lab.mt("wait", "demo", "--timeout", "2m").code == 0
    status = lab.status("demo", code=0)
    assert status["state"] == "finished" and status["exit_status"] == 0
    assert [(n["rank"], n["state"], n["exit_status"], n["signal"]) for n in status["nodes"]] == \
        [(i, "exited", 0, None) for i in range(4)]
    lines = lab.mt("logs", "demo", "-n", "all").lines
    assert sum(EIGHT in line for line in lines) == 8
    assert sum("all-reduce of 8 processes: 36" in line for line in lines) == 1
    assert {line.split(": ", 1)[0] for line in lines} == set(lab.names)
    assert {int(re.search(r"rank (\d) of 8", line).group(1)) for line in lines if EIGHT in line} == set(range(8))
    lab.assert_nothing_left()


def test_a_job_is_stopped_in_mid_run(torch_lab):
    lab = torch_lab
    start(lab, "long", "--set", "args.seconds=600")
    stepping(lab, "long")
    assert all(len(lab.marked("long", n)) >= 3 for n in lab.names)
    stop = lab.mt("stop", "long", "--json")
    assert stop.json["state"] == "stopped" and stop.json["survivors"] == []
    lab.assert_nothing_left()
    status = lab.status("long", code=0)
    assert status["state"] == "stopped" and status["exit_status"] is None
    assert {n["state"] for n in status["nodes"]} == {"stopped"}
    assert stop.seconds < 45


def test_two_runs_at_once_on_the_same_nodes(torch_lab):
    lab = torch_lab
    start(lab, "one", "--set", "args.seconds=600")
    start(lab, "two", "--set", "args.seconds=600")
    ports = {lab.marked(run, "node2")[0].environ["MASTER_PORT"] for run in ("one", "two")}
    assert len(ports) == 2
    stepping(lab, "one")
    stepping(lab, "two")
    two = {(n, p.pid, p.ticks) for n in lab.names for p in lab.marked("two", n)}
    lab.mt("stop", "one")
    assert not [p for n in lab.names for p in lab.marked("one", n)]
    assert {(n, p.pid, p.ticks) for n in lab.names for p in lab.marked("two", n)} == two
    before = lab.mt("logs", "two", "-n", "all").out.count(EIGHT)
    wait_for(lambda: lab.mt("logs", "two", "-n", "all").out.count(EIGHT) > before, "run two to go on", 20, 0.5)
    lab.mt("stop", "two")
    lab.assert_nothing_left()


def test_a_worker_that_dies_ends_the_run_with_its_exit_status(torch_lab):
    lab = torch_lab
    lab.mt("start", "torchrun_allreduce.yaml", "dies", *TORCH_ENV, "--set", "args.seconds=600", "--set", "stop.grace=5s")
    stepping(lab, "dies")
    worker = [p for p in lab.marked("dies", "node3") if "LOCAL_RANK" in p.environ][0]
    lab.cluster.kill("node3", worker.pid)
    waited = lab.mt("wait", "dies", "--timeout", "90s", "--json", code=1)
    assert waited.json["state"] == "failed" and waited.json["exit_status"] == 1
    lab.assert_nothing_left()


def test_all_nodes_share_one_artifacts_folder(torch_lab):
    lab = torch_lab
    start(lab, "shared", "--artifacts", "/mnt/shared/art", "--wait", "--timeout", "2m")
    logs = sorted(p.name for p in (lab.cluster.dir / "shared" / "art" / "logs").iterdir())
    assert logs == [f"shared_node{i}.log" for i in range(4)]
    assert lab.mt("logs", "shared", "-n", "all").out.count(EIGHT) == 8
    assert lab.status("shared")["state"] == "finished"


def test_c10d_rendezvous(torch_lab):
    lab = torch_lab
    done = start(lab, "c10d", "--set", "rendezvous=c10d", "--wait", "--timeout", "2m")
    assert done.out.count(EIGHT) == 8


def test_wait_prints_the_merged_log_and_ends_with_the_outcome(torch_lab):
    lab = torch_lab
    done = start(lab, "fore", "--wait", "--timeout", "2m")
    assert done.out.count(EIGHT) == 8
    assert re.search(r"^node[1-4]: .*rank \d of 8", done.out, re.M)
    lab.assert_nothing_left()
