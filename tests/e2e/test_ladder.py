"""ladder: real torchrun trainings on four nodes, one step after the other; a failure, and going on from there."""
import json
import signal

from cluster import wait_for
from conftest import TORCH_ENV

STEPS = ["1-smoke", "all-smoke", "z0", "z1", "z2"]


def train(lab, args=None, **keys):
    """A job whose level 1 fails as long as node1 has no file 'mended'."""
    lab.program("train.py")
    args = {"steps": 8, "level": "${{zero_stage}}", "fail-at": 3, "fail-level": "1", "without": "mended", "pause": 0.05, **(args or {})}
    lab.job("train.yaml", job="train", launcher="torchrun", program="train.py", nproc_per_node=1, hosts=",".join(lab.names), args=args,
            start_timeout="5m", profiles={"smoke": {"args": {"steps": 2}}, "quick": {"args": {"pause": 0.01}}}, **keys)


def ladder(lab, *words, code=0, timeout=600):
    return lab.mt("ladder", "train.yaml", *words, *TORCH_ENV, code=code, timeout=timeout)


def states(answer):
    return {step["step"]: step["state"] for step in answer.json["steps"]}


def test_a_step_that_fails_and_the_way_on(lab):
    train(lab)
    plan = ladder(lab, "p", "--dry-run", "--json").json
    assert [(s["step"], s["run"], s["state"]) for s in plan["steps"]] == [(s, f"p-{s}", None) for s in STEPS]
    assert lab.mt("list", "--json").json["runs"] == []

    failed = ladder(lab, "p", "--json", code=1)
    assert states(failed) == {"1-smoke": "finished", "all-smoke": "finished", "z0": "finished", "z1": "failed", "z2": None}
    step = failed.json["steps"][3]
    assert step["cause"]["class"] == "ROOT" and step["cause"]["rank"] == 0 and step["cause"]["hosts"] == ["node1"]
    assert "step 3 cannot be done" in step["cause"]["summary"] and "step 3 cannot be done" in step["reason"]
    assert [run["run"] for run in failed.json["compare"]["runs"]] == ["p-1-smoke", "p-all-smoke", "p-z0"]
    assert failed.json["recommendation"] is None
    assert "step 'z1': run 'p-z1' failed" in failed.err
    lab.assert_nothing_left()

    text = ladder(lab, "p", "--dry-run").out
    assert [line.split()[-1] for line in text.splitlines()[1:4]] == ["done"] * 3 and "failed, will run again" in text
    lab.node_file("node1", "mended").write_text("")
    done = ladder(lab, "p", "--json")
    assert set(states(done).values()) == {"finished"} and all(s["cause"] is None and s["reason"] is None for s in done.json["steps"])
    assert {run["run"]: run["attempt"] for run in lab.mt("list", "--json").json["runs"]} == \
        {"p-1-smoke": 1, "p-all-smoke": 1, "p-z0": 1, "p-z1": 2, "p-z2": 1}
    runs = {run["run"]: run for run in done.json["compare"]["runs"]}
    assert {name: run["nodes"] for name, run in runs.items()} == \
        {"p-1-smoke": 1, "p-all-smoke": 4, "p-z0": 4, "p-z1": 4, "p-z2": 4}
    assert all(run["samples_per_second"] > 0 for run in runs.values()) and done.json["compare"]["verdict"]
    best = max(("p-z0", "p-z1", "p-z2"), key=lambda name: runs[name]["samples_per_second"])
    assert done.json["recommendation"].startswith(f"continue with '{best}': ")
    levels = next(d for d in done.json["compare"]["differences"] if d["key"] == "zero_stage")
    assert levels["values"] == ["0", "0", "0", "1", "2"]
    assert all(step["seconds"] > 0 for step in done.json["steps"])

    again = ladder(lab, "p")  # nothing is left to be done
    assert again.seconds < 20 and "z2 is done, by run 'p-z2'" in again.err
    assert again.out.splitlines()[0].split() == ["STEP", "RUN", "NODES", "STATE", "TIME"] and "\nnext:    continue with 'p-z" in again.out
    lab.assert_nothing_left()


def test_a_step_that_trains_until_its_limit_is_done(lab):
    train(lab, {"steps": 100000, "fail-at": 0})
    answer = ladder(lab, "--steps", "quick+1,2", "--limit", "45s", "--json")
    assert states(answer) == {"quick-1": "stopped", "2": "stopped"}
    runs = answer.json["compare"]["runs"]
    assert [run["run"] for run in runs] == ["train-quick-1", "train-2"] and all(run["samples_per_second"] for run in runs)
    assert all(40 < step["seconds"] < 90 and step["reason"] is None for step in answer.json["steps"])
    lab.assert_nothing_left()


def test_a_step_that_shows_nothing_until_its_limit_has_failed(lab):
    lab.job("train.yaml", job="train", hosts="node1,node2")
    answer = ladder(lab, "--steps", "1,2", "--limit", "3s", "--json", code=5)
    assert states(answer) == {"1": "stopped", "2": None}
    assert "its logs show no iteration" in answer.json["steps"][0]["reason"] and answer.json["compare"] is None
    lab.assert_nothing_left()


def test_interrupted_the_running_step_is_stopped(lab):
    train(lab, {"steps": 100000, "fail-at": 0})
    process = lab.spawn("ladder", "train.yaml", "p", "--steps", "all,z1", "--json", *TORCH_ENV)
    wait_for(lambda: "iteration" in lab.mt("logs", "p-all", code=None).out, "the first step to train", 120, 0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 130, err
    assert [step["state"] for step in json.loads(out)["steps"]] == ["stopped", None]
    lab.assert_nothing_left()


def test_a_run_that_lives_is_waited_for(lab):
    """What a ladder that was killed left running is the step that goes on; a start that was cut is made again."""
    lab.job("train.yaml", job="train", hosts="node1", program="echo ' 50%|###  | 3/6 [00:01<00:01, 2.00it/s]'; sleep 8")
    process = lab.spawn("ladder", "train.yaml", "p", "--steps", "1")
    wait_for(lambda: "p-1" in lab.mt("list").out, "the step to begin", 30, 0.05)
    process.kill()
    process.communicate(timeout=30)
    process = lab.spawn("ladder", "train.yaml", "p", "--steps", "1")
    lab.wait_state("p-1", "running")
    attempt = lab.status("p-1")["attempt"]
    process.kill()
    process.communicate(timeout=30)
    answer = ladder(lab, "p", "--steps", "1", "--json")
    assert states(answer) == {"1": "finished"} and "is already live" in answer.err
    assert lab.status("p-1")["attempt"] == attempt
    lab.assert_nothing_left()


def test_a_step_that_is_done_by_another_version_of_the_job(lab):
    def job(pause):
        lab.job("train.yaml", job="train", hosts="node1,node2", env={"PAUSE": pause},
                program="echo ' 50%|###  | 3/6 [00:01<00:01, 2.00it/s]'; sleep $PAUSE")
    job("0.1")
    assert [step["changed"] for step in ladder(lab, "p", "--steps", "1,2", "--json").json["steps"]] == [[], []]
    same = ladder(lab, "p", "--steps", "1,2", "--limit", "9m")
    assert "changed" not in same.err
    job("0.2")
    for words in (["--dry-run"], []):
        answer = ladder(lab, "p", "--steps", "1,2,all", "--json", *words)
        assert "run 'p-1' measured the job as it was: since then env.PAUSE changed" in answer.err and "mtlaunch remove p-1" in answer.err
        assert [step["changed"] for step in answer.json["steps"]] == [["env.PAUSE"], ["env.PAUSE"], []]
    assert "done, the job has changed since" in ladder(lab, "p", "--steps", "1", "--dry-run").out
    assert {run["run"]: run["attempt"] for run in lab.mt("list", "--json").json["runs"]} == {"p-1": 1, "p-2": 1, "p-all": 1}
    lab.mt("remove", "p-1")
    assert "p-1" not in ladder(lab, "p", "--steps", "1", "--dry-run", "--json").err


def test_what_cannot_be_planned_is_told_before_anything_runs(lab):
    train(lab)
    assert "step '9'" in ladder(lab, "--steps", "1,9", code=2).err
    assert "'zwei' in --steps" in ladder(lab, "--steps", "zwei", code=2).err
    lab.job("other.yaml", job="other", program="true", hosts="node1")
    lab.mt("start", "other.yaml", "p-1", "--wait")
    assert "run 'p-1' belongs to job 'other'" in ladder(lab, "p", "--steps", "1", code=6).err
    assert [run["run"] for run in lab.mt("list", "--json").json["runs"]] == ["p-1"]


def test_a_start_that_is_refused_ends_the_ladder(lab):
    train(lab)
    lab.node_file("node3", "train.py").unlink()
    answer = ladder(lab, "p", "--steps", "2,3,all", "--json", code=4)
    assert states(answer) == {"2": "finished", "3": "failed", "all": None}
    assert "train.py" in answer.json["steps"][1]["reason"] and answer.json["steps"][1]["cause"] is None
    lab.assert_nothing_left()
