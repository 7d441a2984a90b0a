"""stop, start and remove on nodes that are sick (S1), where a pid is used again (S3), and beside runs that were started
inside a run (S7): through the program as people run it."""
import json
import os

import pytest
import sickness
from cluster import UID, wait_for
from conftest import BINARY


@pytest.fixture(name="sick")
def sick_lab(make_lab):
    lab = make_lab(1)
    sickness.allow_limits(lab.cluster, "node1")
    lab.job(program=["sleep", "600"], stop={"grace": "1s"})
    return lab


def job_lives(lab, run):
    return [p for p in lab.marked(run, "node1") if p.argv[:1] == ["sleep"]]


def check_stop(lab, why):
    """The node is sick: a stop may end the job, and says what it could not prove; a repeat on the sound node does."""
    answer = lab.mt("stop", "r", "--json", code=(0, 3, 7))
    if answer.code == 0:
        assert not job_lives(lab, "r"), answer
    else:
        assert answer.json.get("state", "stopping") == "stopping", answer
        assert any(word in answer.out + answer.err for word in why), answer
        assert lab.mt("status", "r", "--json", code=None).json.get("state") not in ("stopped", "finished", "failed")
    return answer.code


@pytest.mark.parametrize("rooms", [(2, 4, 6), (5, 7, 9)])
def test_s1_a_stop_near_the_process_limit(sick, rooms):
    for room in rooms:
        sick.mt("start", "job.yaml", "r", "--no-supervise")
        sickness.limit_processes(sick.cluster, "node1", room)
        check_stop(sick, ("cannot fork", "Cannot fork", "fork"))
        sickness.lift_limit(sick.cluster, "node1")
        assert sick.mt("stop", "r", "--json").json["state"] == "stopped"
        assert not job_lives(sick, "r")
        sick.mt("remove", "r")


@pytest.mark.parametrize("tool, way, why", [("awk", "killed", "awk was killed"), ("grep", "killed", "grep was killed"),
                                            ("awk", "half-0", "awk"), ("grep", "half-0", "grep")])
def test_s1_a_stop_with_a_broken_tool(sick, tool, way, why):
    sick.mt("start", "job.yaml", "r", "--no-supervise")
    sickness.break_tool(sick.cluster, "node1", tool, way)
    code = check_stop(sick, (why,))
    assert code == 7 or way != "killed"
    for words in (["remove", "r"], ["start", "job.yaml", "r"]):
        answer = sick.mt(*words, code=None)
        assert answer.code != 0 or not job_lives(sick, "r"), answer
    sickness.mend_tools(sick.cluster, "node1")
    assert sick.mt("stop", "r", "--json").json["state"] == "stopped"
    sick.assert_nothing_left()


def test_s1_a_node_that_cannot_look_leaves_the_left_overs_known(sick):
    sick.job(program="sleep 600 & sleep 1.5")
    sick.mt("start", "job.yaml", "r", "--wait")
    (left,) = sick.status("r")["left_over"]
    sickness.break_tool(sick.cluster, "node1", "awk", "killed")
    assert sick.status("r")["left_over"] == [left], "a look that proves nothing takes nothing back"
    sickness.mend_tools(sick.cluster, "node1")
    sick.mt("stop", "r")
    assert sick.status("r")["left_over"] == []
    sick.assert_nothing_left()


@pytest.mark.parametrize("which", ["pid", "keeper"])
@pytest.mark.parametrize("verb", ["stop", "start", "remove", "status"])
def test_s3_a_session_number_that_is_used_again(lab, which, verb):
    lab.job(hosts="node1", program=["sleep", "2"])
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    lab.wait_state("r", "finished")
    number = sickness.state_of(lab.cluster, "node1", "r", 0)[which]
    wait_for(lambda: not [p for p in lab.cluster.ps("node1") if p.pid == int(number)], f"the end of {number}", 15)
    stranger = sickness.take_session(lab.cluster, "node1", number, 7777)
    if not stranger:
        pytest.skip("the pid cannot be taken here")
    words = {"stop": ["stop", "r", "--grace", "1s"], "start": ["start", "job.yaml", "r", "--no-supervise"],
             "remove": ["remove", "r"], "status": ["status", "r"]}[verb]
    answer = lab.mt(*words)
    assert "7777" not in answer.out + answer.err, answer
    if verb == "start":
        lab.mt("stop", "r", "--grace", "1s")
    assert sickness.lives(stranger), answer
    sickness.end(stranger)


def inner_job(lab, name="inner.yaml", **keys):
    """A spec and the program in the home of node1, for a run that is started there."""
    home = lab.cluster.node_home("node1")
    lab.cluster.put(str(BINARY), ["node1"], "mtl")
    spec = {"launcher": "script", "hosts": "localhost", "program": ["sleep", "888"], "artifacts": "/home/lab/inner",
            "stop": {"grace": "1s"}}
    (home / name).write_text(json.dumps({**spec, **keys}))
    os.chown(home / name, UID, UID)


def on_node(lab, *words):
    return lab.cluster.exec("node1", "./mtl " + " ".join(words))


def inner_state(lab):
    done = on_node(lab, "status", "inner", "--json")
    return json.loads(done.stdout).get("state") if done.stdout else None


def start_outer(lab, line):
    lab.job(hosts="node1", program=["sh", "-c", f"cd; {line}"], stop={"grace": "2s"})
    lab.mt("start", "job.yaml", "outer", "--no-supervise")
    try:
        wait_for(lambda: inner_state(lab) == "running", "the inner run", 20, 0.5)
    except Exception:
        print(lab.log("outer", 0).decode(errors="replace"))
        raise


def check_inner_goes_on(lab, supervised=True):
    status = json.loads(on_node(lab, "status", "inner", "--json").stdout)
    assert status["state"] == "running", status
    assert not supervised or status["supervisor"]["alive"], status
    assert [p for p in lab.cluster.user_ps("node1") if p.argv == ["sleep", "888"]]
    assert "kept" not in (status["nodes"][0]["reason"] or "") and "keeper" not in (status["nodes"][0]["reason"] or "")
    assert on_node(lab, "stop", "inner").returncode == 0
    assert on_node(lab, "remove", "inner").returncode == 0
    lab.mt("remove", "outer")
    lab.assert_nothing_left()


def test_s7_a_run_started_inside_a_job_goes_on(lab):
    inner_job(lab)
    start_outer(lab, "./mtl start inner.yaml inner; sleep 600")
    answer = lab.mt("stop", "outer")
    assert "'inner'" in answer.out + answer.err, answer
    check_inner_goes_on(lab)


def test_s7_a_run_started_inside_a_job_over_ssh(lab):
    """The inner run's node is the same machine, reached by ssh."""
    home = lab.cluster.node_home("node1")
    (home / ".ssh").mkdir(exist_ok=True)
    for name in ("id_ed25519", "known_hosts"):
        (home / ".ssh" / name).write_bytes((lab.home / ".ssh" / name).read_bytes())
        (home / ".ssh" / name).chmod(0o600)
    lab.cluster.own(home / ".ssh")
    inner_job(lab, hosts="node1 ssh=always")
    start_outer(lab, "./mtl start inner.yaml inner; sleep 600")
    answer = lab.mt("stop", "outer")
    assert "'inner'" in answer.out + answer.err, answer
    check_inner_goes_on(lab)


@pytest.mark.parametrize("supervise", ["start inner.yaml inner --wait",
                                       "start inner.yaml inner --no-supervise && exec ./mtl supervise inner"])
def test_s7_a_supervisor_in_the_foreground_is_the_inner_runs(lab, supervise):
    """In a group of its own no signal of the outer stop reaches it: neither it nor its watches are the outer run's."""
    inner_job(lab)
    (lab.cluster.node_home("node1") / "in.sh").write_text(f"cd; ./mtl {supervise}\n")
    start_outer(lab, "setsid -f sh in.sh >/dev/null 2>&1 </dev/null; sleep 600")
    wait_for(lambda: [p for p in lab.cluster.user_ps("node1") if "mtl" in p.command and "inner" in p.command],
             "the supervisor", 10)
    wait_for(lambda: json.loads(on_node(lab, "status", "inner", "--json").stdout)["supervisor"], "its record", 10, 0.5)
    overseers = [p for p in lab.cluster.user_ps("node1") if p.environ.get("MTLAUNCH_KEEPS") == "-overseer.0.0"]
    assert [p for p in overseers if p.argv[:1] == ["./mtl"]] and [p for p in overseers if p.argv[:1] != ["./mtl"]]
    for process in lab.cluster.user_ps("node1"):
        outer = process.environ.get("MTLAUNCH_MARK", "").startswith("outer-")
        assert not outer or process.argv[:1] in (["sleep"], ["sh"]), process
    lab.mt("stop", "outer")
    check_inner_goes_on(lab)


def test_s7_exec_inside_a_job_is_the_jobs(lab):
    inner_job(lab)
    line = "./mtl exec --hosts localhost -- 'sleep 999 & sleep 998 & wait'; sleep 600"
    lab.job(hosts="node1", program=["sh", "-c", f"cd; {line}"], stop={"grace": "1s"})
    lab.mt("start", "job.yaml", "outer", "--no-supervise")
    wait_for(lambda: [p for p in lab.cluster.user_ps("node1") if p.argv == ["sleep", "998"]], "the command", 15)
    lab.mt("stop", "outer")
    lab.assert_nothing_left()


@pytest.mark.parametrize("options", [[], ["--stdin"]])
@pytest.mark.parametrize("sickness_of", ["limit", "awk", "grep", "sed", "xargs"])
def test_s1_a_time_limit_of_exec_on_a_sick_node(sick, options, sickness_of):
    """What a tool does not find is not gone: the guard looks by itself, without a fork where there is no room."""
    line = "sleep 1000 & (setsid sleep 1001 &); (trap '' TERM; sleep 1002; sleep 1003); sleep 1004"
    process = sick.spawn("exec", "-H", "node1", "--timeout", "4", *options, "--", line)
    wait_for(lambda: len([p for p in sick.cluster.user_ps("node1") if p.argv[:1] == ["sleep"]
                          and p.argv[1:2] in (["1000"], ["1001"], ["1002"])]) == 3, "the command", 15)
    if sickness_of == "limit":
        sickness.limit_processes(sick.cluster, "node1", 0, running=True)
    else:
        sickness.break_tool(sick.cluster, "node1", sickness_of, "killed")
    process.communicate(timeout=60)
    assert process.returncode == 5
    wait_for(lambda: not sick.left(), f"nothing left, but {sick.left()}", 20)
    sickness.lift_limit(sick.cluster, "node1")
    sickness.mend_tools(sick.cluster, "node1")
