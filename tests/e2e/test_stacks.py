"""stacks: where the ranks of a hanging run stand, and which one is elsewhere. Real torchrun over gloo."""
import shutil
from pathlib import Path

import pytest
from cluster import wait_for
from conftest import TORCH_ENV
from python_env import PY_SPY, Unavailable, python_env

PROGRAM = Path(__file__).resolve().parent / "programs" / "hang.py"
LINES = PROGRAM.read_text().splitlines()


@pytest.fixture(scope="module")
def py_spy():
    """The one of this machine, else PyPI's."""
    try:
        return shutil.which("py-spy") or str(python_env("py-spy", PY_SPY).parent / "py-spy")
    except Unavailable as error:
        pytest.skip(f"py-spy is not to be had: {error}")


def line_of(text):
    return max(n for n, line in enumerate(LINES, 1) if text in line)


def hang(lab, rank, how, run="hang"):
    lab.cluster.put(str(PROGRAM))
    lab.job(run + ".yaml", hosts="node1,node2", launcher="torchrun", program="hang.py", nproc_per_node=2,
            args=[str(rank), how], stop={"grace": "1s"})
    lab.mt("start", run + ".yaml", run, *TORCH_ENV)
    wait_for(lambda: lab.mt("logs", run, "-n", "all").out.count("ready") == 4, "four ranks in their loop", 120, 0.5)


def odd_state(answer, rank):
    """Is that rank the odd one, and in which state?"""
    assert answer["errors"] == [] and answer["odd"] == [rank], answer
    first = answer["groups"][0]
    assert first["ranks"] == [rank]
    assert sorted(r for group in answer["groups"] for r in group["ranks"]) == [0, 1, 2, 3]
    return first


def check_without_py_spy(lab, rank, state):
    def seen():
        return lab.mt("stacks", "hang", "--json").json

    wait_for(lambda: seen()["odd"] == [rank], f"rank {rank} to be the odd one", 30, 0.5)
    group = odd_state(seen(), rank)
    assert group["source"] == "proc" and group["frames"] == [] and group["state"].startswith(state)
    assert "no Python stack" in lab.mt("stacks", "hang").out


def check_with_py_spy(lab, rank, how, line):
    def seen():
        return lab.mt("stacks", "hang", "--py-spy", "~/py-spy", "--json").json

    wait_for(lambda: seen()["odd"] == [rank], f"rank {rank} to be the odd one", 30, 0.5)
    group = odd_state(seen(), rank)
    assert group["source"] == "py-spy" and group["hosts"] == [f"node{rank // 2 + 1}"]
    own = [f for f in group["frames"] if f["file"].endswith("hang.py")]
    assert own[0]["function"] == "load_batch"
    assert own[0]["line"] in (line_of(line), line_of("        pass"))
    assert (group["state"] == "stopped by a signal") == (how == "stop")
    text = lab.mt("stacks", "hang", "--py-spy", "~/py-spy").out
    assert text.startswith(f"3 ranks at hang.py:{line_of('dist.all_reduce')} in all_reduce; rank {rank} "), text
    assert "at hang.py:" in text.splitlines()[0].split("; ")[1] and "in load_batch" in text.splitlines()[0]
    assert text.splitlines()[2].startswith(f"rank {rank} on node{rank // 2 + 1}: ")
    one = lab.mt("stacks", "hang", "--py-spy", "~/py-spy", "--rank", str(rank), "--full")
    assert "/hang.py:" in one.out and "all_reduce" not in one.out
    assert lab.status("hang")["state"] == "running"


@pytest.mark.parametrize("rank, how, line, state", [
    (3, "spin", "while True", "running"), (2, "stop", "SIGSTOP", "stopped by a signal"), (1, "fifo", "with open", "sleeping"),
    (0, "sleep", "time.sleep", "sleeping in hrtimer_nanosleep")])
def test_the_stacks_name_the_rank(lab, request, rank, how, line, state):
    """The kernel tells without py-spy; with it, the line of the program is named."""
    hang(lab, rank, how)
    check_without_py_spy(lab, rank, state)
    try:
        lab.cluster.put(request.getfixturevalue("py_spy"))
        check_with_py_spy(lab, rank, how, line)
    finally:
        lab.mt("stop", "hang")
    assert "run 'hang' is stopped" in lab.mt("stacks", "hang", code=6).err


def test_wrong_words_and_runs_without_ranks(lab):
    lab.job("plain.yaml", hosts="node1,node2", program="exec sleep 600", stop={"grace": "1s"})
    lab.mt("start", "plain.yaml", "plain")
    bare = lab.mt("stacks", "plain", "--json", code=6).json
    assert bare["groups"] == [] and [e["host"] for e in bare["errors"]] == ["node1", "node2"]
    assert "has RANK in its environment" in bare["errors"][0]["text"]
    for words, code, text in (
            (("nosuch",), 6, "no run 'nosuch'"), (("plain", "--node", "node9"), 2, "no node 'node9'"),
            (("plain", "--rank", "x"), 2, "'x' for --rank is not"), ((), 2, "RUN")):
        assert text in lab.mt("stacks", *words, code=code).err
    lab.cluster.cut("node2")
    cut = lab.mt("stacks", "plain", "--json", "--connect-timeout", "3", code=3)
    lab.cluster.restore("node2")
    assert cut.json["error"]["code"] == 3
    lab.mt("stop", "plain")


@pytest.mark.parametrize("rank, how, spies, place", [
    (2, "stop", False, "rank 2 stopped by a signal"), (3, "spin", False, "rank 3 running"),
    (0, "sleep", True, f"rank 0 at hang.py:{line_of('time.sleep')} in load_batch"),
    (1, "fifo", True, f"rank 1 at hang.py:{line_of('with open')} in load_batch")])
def test_a_stall_says_where_the_ranks_stand(lab, request, rank, how, spies, place):
    """The event and, where the run is stopped for it, the reason name the odd rank; py-spy is found on the node."""
    lab.cluster.put(str(PROGRAM))
    if spies:
        lab.cluster.put(request.getfixturevalue("py_spy"))
        lab.mt("exec", "-H", "node[1-2]", "mkdir -p ~/.local/bin && mv ~/py-spy ~/.local/bin/")
    lab.job("stall.yaml", hosts="node1,node2", launcher="torchrun", program="hang.py", nproc_per_node=2,
            args=[str(rank), how], stop={"grace": "1s"}, stall="25s", on_stall="stop")
    lab.mt("start", "stall.yaml", "stall", *TORCH_ENV)
    lab.wait_state("stall", "stopped", limit=180)
    status = lab.status("stall")
    assert "no log has grown for 25 s: 3 ranks " in status["reason"] and place in status["reason"], status["reason"]
    (stalled,) = [e["text"] for e in status["events"] if e["event"] == "stalled"]
    assert place in stalled.splitlines()[0]
    lab.assert_nothing_left()


def test_nodes_that_resume_from_different_steps_are_told(lab):
    """W4: only node1 has a checkpoint, on its own disk."""
    lab.cluster.put(str(PROGRAM.with_name("local_checkpoint.py")))
    lab.mt("exec", "--hosts", "node1", "--", "sh", "-c", "echo 50 >~/checkpoint.txt")
    lab.job("resume.yaml", hosts="node[1-3]", launcher="torchrun", program="local_checkpoint.py", nproc_per_node=1,
            stall="25s", on_stall="stop", stop={"grace": "1s"})
    lab.mt("start", "resume.yaml", "resume", *TORCH_ENV)
    wait_for(lambda: lab.mt("logs", "resume", "-n", "all").out.count(" step ") >= 12, "four steps of each", 120, 0.5)
    cause = "node[2-3]: started from step 0, but node1 from step 50: the checkpoint folder is not shared"
    answer = lab.mt("diagnose", "resume", "--json").json
    assert answer["cause"]["id"] == "STEPS_DIFFER" and answer["cause"]["hosts"] == ["node2", "node3"], answer
    lab.wait_state("resume", "stopped", limit=120)
    assert lab.status("resume")["reason"].startswith("no log has grown for 25 s: " + cause), lab.status("resume")["reason"]
