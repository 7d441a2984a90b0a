"""How runs end: what is left is named or ended, nothing of the caller's is held, nothing secret is kept."""
import subprocess

from cluster import wait_for

LEAVES = "sleep 311 & sleep 2; exit ${CODE:-0}"


def sleepers(lab, node="node1"):
    return [p for p in lab.cluster.ps(node) if p.command.startswith("sleep 311")]


def test_a_finished_run_names_what_it_left_and_stop_ends_it(lab):
    lab.job(hosts="node1", program=LEAVES)
    done = lab.mt("start", "job.yaml", "run", "--wait")
    assert "leftover process" in done.err and "sleep 311" in done.err and "mtlaunch stop run" in done.err
    assert sleepers(lab)
    assert "leftover process" in lab.mt("remove", "run", code=6).err
    stop = lab.mt("stop", "run")
    assert "sleep 311" in stop.out and not sleepers(lab)
    assert lab.status("run")["state"] == "finished"
    assert [e for e in lab.status("run")["events"] if e["event"] == "left-over"]
    lab.mt("remove", "run")


def test_a_failed_run_is_swept_unless_it_is_to_be_kept(lab):
    lab.job(hosts="node1", program=LEAVES)
    done = lab.mt("start", "job.yaml", "run", "-e", "CODE=3", "--wait", code=1)
    assert "ended 1 leftover process" in done.err and not sleepers(lab)
    lab.job("keep.yaml", hosts="node1", program=LEAVES, on_failure="keep")
    lab.mt("start", "keep.yaml", "kept", "-e", "CODE=3", "--wait", code=1)
    assert sleepers(lab)
    lab.mt("stop", "kept")
    lab.assert_nothing_left()


def test_status_names_what_an_unwatched_run_left(lab):
    lab.job(hosts="node1", program=LEAVES)
    lab.mt("start", "job.yaml", "run", "--no-supervise")
    done = wait_for(lambda: (lambda a: a if "finished" in a.out else None)(lab.mt("status", "run")), "the end", 20)
    assert "leftover process" in done.err
    lab.mt("stop", "run")
    lab.assert_nothing_left()


def test_secrets_that_a_job_prints_are_masked_in_what_is_kept(lab):
    lab.job(hosts="node1", program="echo token $MY_TOKEN; sleep 2; echo last $MY_TOKEN; exit 9",
            env={"MY_TOKEN": "zq81secret"})
    done = lab.mt("start", "job.yaml", "run", "--wait", "--json", code=1)
    assert "last ***" in done.json["reason"] and "zq81secret" not in done.out
    # the merged log on stderr is the job's own
    assert "token zq81secret" in done.err
    lab.mt("start", "job.yaml", "early", "--set", "program=echo it $MY_TOKEN; exit 4", code=1)
    assert "zq81secret" not in str(lab.status("early"))
    kept = subprocess.run(["grep", "-rl", "zq81secret", str(lab.home / ".local")], capture_output=True, text=True)
    assert kept.stdout == ""


def test_no_descriptor_of_the_caller_lives_on(lab):
    lab.job(hosts="head", program="sleep 600")
    lab.cluster.run("sh", "-c", "exec 9>lock; flock 9; bash -c 'exec 200>lock2; flock 200; "
                    "mtlaunch start job.yaml run -q'", timeout=60)
    free = lab.cluster.run("sh", "-c", "flock -n lock true && flock -n lock2 true && echo free", timeout=20)
    assert "free" in free.stdout
    assert lab.status("run")["state"] == "running"
    lab.mt("stop", "run")


def test_a_node_that_ends_within_the_start_has_a_time_of_end(lab):
    lab.job(hosts="node1", program="exit 0")
    lab.mt("start", "job.yaml", "run", "--wait")
    node = lab.status("run")["nodes"][0]
    assert node["state"] == "exited" and node["ended"] is not None and node["exit_status"] == 0


def test_setup_that_takes_too_long_is_a_time_limit(lab):
    lab.job(hosts="node1", setup=["sleep 100"], start_timeout="2s")
    answer = lab.mt("start", "job.yaml", "run", code=5)
    assert "start_timeout, 2 s" in answer.err
    lab.assert_nothing_left()


def test_a_reason_is_said_once(lab):
    """Neither 'stopped: stopped: …' nor "run 'e' failed: run 'e' was not started"."""
    lab.job(program="sleep 600", hosts="node1")
    lab.mt("start", "job.yaml", "late", "--wait", "--timeout", "2s", code=5)
    assert lab.mt("logs", "late", "-f").err.splitlines()[-1] == "late: stopped: its time limit of 2 s has passed"
    lab.job("bad.yaml", workdir="/nowhere", hosts="node[1-2]")
    lab.mt("start", "bad.yaml", "e", code=4)
    said = lab.mt("wait", "e", code=1).err.splitlines()[-1]
    assert said == "mtlaunch: run 'e' was not started: 2 of 2 nodes failed the check before the start"
