"""logs and wait: merged lines, exact bytes, following, attempts."""
import json
import re
import subprocess
import time

import pytest
from cluster import wait_for
from conftest import covered


def run_once(lab, program, run="r", hosts="node1,node2", **keys):
    lab.job(run + ".yaml", hosts=hosts, program=program, **keys)
    lab.mt("start", run + ".yaml", run)
    lab.mt("wait", run, code=None)


def test_nodes_follow_in_rank_order_with_their_names(lab):
    run_once(lab, "for i in 1 2 3; do echo line $i of $NODE_RANK; done", hosts="node3,node1")
    assert lab.mt("logs", "r").lines == [f"{h}: line {i} of {r}" for r, h in enumerate(["node3", "node1"]) for i in (1, 2, 3)]


def test_the_last_100_lines_a_node_unless_told(lab):
    run_once(lab, "seq 1 250")
    out = lab.mt("logs", "r").lines
    assert out == [f"{n}: {i}" for n in ("node1", "node2") for i in range(151, 251)]
    assert lab.mt("logs", "r", "-n", "2").lines == ["node1: 249", "node1: 250", "node2: 249", "node2: 250"]
    assert len(lab.mt("logs", "r", "-n", "all").lines) == 500
    assert lab.mt("logs", "r", "-n", "0").lines == []


def test_node_by_rank_and_by_name(lab):
    run_once(lab, "echo I am $NODE_RANK", hosts="node2,node1,node3")
    assert lab.mt("logs", "r", "--node", "1").lines == ["node1: I am 1"]
    assert lab.mt("logs", "r", "--node", "node3", "--node", "0").lines == ["node2: I am 0", "node3: I am 2"]
    assert "node9" in lab.mt("logs", "r", "--node", "node9", code=2).err
    lab.mt("logs", "r", "--node", "7", code=2)


def test_raw_gives_exact_bytes_of_one_node(lab):
    lab.program("bytes.py")
    run_once(lab, ["python3", "bytes.py"], hosts="node1,node2")
    expected = bytes(range(256)) * 3 + b"no newline"
    argv, env = lab.cluster.head_argv(["mtlaunch", "logs", "r", "--raw", "--node", "1", "-n", "all"], None, None, True)
    assert subprocess.run(argv, env=env, capture_output=True, check=True).stdout == expected
    assert lab.mt("logs", "r", "--raw", code=2).err


def test_control_characters_are_replaced_and_progress_bars_show_their_last_state(lab):
    run_once(lab, r"printf 'a\033[2Jb\007c\n'; printf '10%%\r50%%\r100%%\n'", hosts="node1")
    out = lab.mt("logs", "r").out
    assert "\x1b" not in out and "\x07" not in out and "\r" not in out
    assert out.splitlines()[1] == "node1: 100%"


def test_json_lines(lab):
    run_once(lab, 'echo "a \\"quoted\\" é"', hosts="node1,node2")
    lines = [json.loads(line) for line in lab.mt("logs", "r", "--json").lines]
    assert lines == [{"host": n, "rank": i, "text": 'a "quoted" é'} for i, n in enumerate(("node1", "node2"))]


ODD_LOG = r"""
import random, sys
rng = random.Random(int(sys.argv[1]))
parts = [b"loss: ", b"nan", b"\r", b"\r\n", b"\n", b"\n", b"\x00", b"\xff", b"\x1b[1m", "é".encode(), b"?", b"\t", b"x" * 50]
sys.stdout.buffer.write(b"".join(rng.choices(parts, k=120000)) + b"\nlast loss: nan")
"""


def run_odd(lab):
    run_once(lab, ["python3", "-c", ODD_LOG, "${{node_rank}}"], hosts="node1,node2,node3")


@pytest.mark.parametrize("expression", ["nan", "nothing at all", "loss: .*(nan|é)", "^loss", "é+x", "\\?nan$"])
def test_grep_shows_the_lines_that_match_whoever_looks_for_them(lab, expression):
    """Large logs are searched on their nodes first; more matches than are read ahead of the log that is printed."""
    run_odd(lab)
    everything = [json.loads(line) for line in lab.mt("logs", "r", "-n", "all", "--json").lines]
    wanted = [line for line in everything if re.search(expression, line["text"])]
    found = [json.loads(line) for line in lab.mt("logs", "r", "-n", "all", "--json", "--grep", expression).lines]
    assert found == wanted
    shown = lab.mt("logs", "r", "-n", "all", "--grep", expression).out.split("\n")[:-1]
    assert shown == [f"{line['host']}: {line['text']}" for line in wanted]


def test_grep_asks_for_all_lines_where_the_search_on_the_node_fails(lab):
    run_odd(lab)
    wanted = lab.mt("logs", "r", "-n", "all", "--grep", "nan").out
    lab.cluster.exec("node2", "cp /usr/bin/grep /run/grep", user=False, check=True)
    script = '#!/bin/sh\n[ -p /proc/self/fd/0 ] || exit 2\nexec /run/grep "$@"\n'
    with covered(lab, "node2", "/usr/bin/grep", script):
        assert lab.mt("logs", "r", "-n", "all", "--grep", "nan").out == wanted


def test_attempts(lab):
    run_once(lab, "echo try $MTLAUNCH_ATTEMPT", hosts="node1")
    run_once(lab, "echo try $MTLAUNCH_ATTEMPT", hosts="node1")
    assert lab.mt("logs", "r").lines == ["node1: try 2"]
    assert lab.mt("logs", "r", "--attempt", "1").lines == ["node1: try 1"]
    assert lab.mt("logs", "r", "--attempt", "9", code=None).code != 0


def test_follow_interleaves_whole_lines_and_ends_with_the_run(lab):
    program = "for i in 1 2 3 4 5; do printf 'first %s ' $i; sleep 0.2; echo second $i; done"
    lab.job(hosts="node1,node2,node3", program=program)
    lab.mt("start", "job.yaml", "r")
    done = lab.mt("logs", "r", "-f", "-n", "all")
    assert sorted(done.lines) == sorted(f"node{k}: first {i} second {i}" for k in (1, 2, 3) for i in range(1, 6))


def test_follow_shows_lines_while_they_come_and_ctrl_c_leaves_the_run(lab):
    lab.job(hosts="node1,node2", program="i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.2; done")
    lab.mt("start", "job.yaml", "r")
    follow = lab.spawn("logs", "r", "-f", "-n", "all")
    seen = [follow.stdout.readline() for _ in range(10)]
    assert all("tick" in line for line in seen)
    follow.send_signal(2)
    follow.communicate(timeout=20)
    assert follow.returncode == 130
    assert lab.status("r")["state"] == "running"
    lab.mt("stop", "r")


def test_follow_shows_a_line_without_end_after_a_second(lab):
    lab.job(hosts="node1", program="printf 'no end here'; sleep 600")
    lab.mt("start", "job.yaml", "r")
    follow = lab.spawn("logs", "r", "-f", "-n", "all")
    began = time.monotonic()
    line = follow.stdout.readline()
    assert line == "node1: no end here\n" and time.monotonic() - began < 10
    follow.kill()
    follow.communicate()
    lab.mt("stop", "r")


def test_follow_goes_on_after_the_connection_was_cut(lab):
    lab.job(hosts="node1", program="for i in $(seq 1 60); do echo line $i; sleep 0.2; done")
    lab.mt("start", "job.yaml", "r")
    follow = lab.spawn("logs", "r", "-f", "-n", "all")
    follow.stdout.readline()
    for process in lab.cluster.ps("node1"):
        if process.is_session:
            lab.cluster.end(process)
    assert follow.stdout.read().splitlines() == [f"node1: line {i}" for i in range(2, 61)]
    follow.communicate()


def test_a_node_that_does_not_answer_is_named_and_the_others_are_shown(lab):
    run_once(lab, "echo here", hosts="node1,node2")
    lab.cluster.cut("node1")
    answer = lab.mt("logs", "r", "--connect-timeout", "2s", code=3)
    assert answer.lines == ["node2: here"] and "node1" in answer.err


def test_a_deleted_log_is_said(lab):
    run_once(lab, "echo here", hosts="node1,node2")
    lab.node_file("node1", ".mtlaunch", "logs", "r_node0.log").unlink()
    answer = lab.mt("logs", "r", code=None)
    assert "node2: here" in answer.lines and "node1" in answer.err


def test_a_log_is_shown_when_the_node_prints_a_lot(lab):
    run_once(lab, "seq 1 200000", hosts="node1,node2")
    assert len(lab.mt("logs", "r", "-n", "all").lines) == 400_000


# --- logs --save ----------------------------------------------------------------------------------------

def saved(lab, *files):
    return [(lab.home / "out" / name).read_bytes() for name in files]


def test_save_writes_whole_logs_and_makes_the_folder(lab):
    lab.program("bytes.py")
    run_once(lab, ["python3", "bytes.py"], hosts="node1,node2,node3")
    answer = lab.mt("logs", "r", "--save", "out/deep", "--fanout", "2")
    content = bytes(range(256)) * 3 + b"no newline"
    assert answer.lines == [f"node{k + 1}: out/deep/r_node{k}.log: {len(content)} bytes, {len(content)} new" for k in range(3)]
    assert saved(lab, "deep/r_node0.log", "deep/r_node1.log", "deep/r_node2.log") == [content] * 3
    assert sorted(p.name for p in (lab.home / "out" / "deep").iterdir()) == [f"r_node{k}.log" for k in range(3)]
    lab.mt("logs", "r", "--save", "one", "--node", "node2")
    assert [p.name for p in (lab.home / "one").iterdir()] == ["r_node1.log"]
    lab.mt("logs", "r", "--save", "two", "--rank", "2")
    assert [p.name for p in (lab.home / "two").iterdir()] == ["r_node2.log"]


def test_save_goes_on_where_it_stopped(lab):
    run_once(lab, "seq 1 20000; echo end $NODE_RANK", hosts="node1,node2")
    first = lab.mt("logs", "r", "--save", "out", "--json").json
    assert set(first) == {"schema", "run", "attempt", "hosts"} and first["attempt"] == 1
    assert all(set(h) == {"host", "rank", "file", "bytes", "bytes_new", "older", "complete", "error"} for h in first["hosts"])
    for k in (0, 1):
        with lab.node_file(f"node{k + 1}", ".mtlaunch", "logs", f"r_node{k}.log").open("ab") as log:
            log.write(b"one more\0line")
    with (lab.home / "out" / "r_node1.log").open("r+b") as part:
        part.truncate(5000)     # the save was cut off in the middle
    second = lab.mt("logs", "r", "--save", "out", "--json").json
    whole = [b"".join(b"%d\n" % i for i in range(1, 20001)) + b"end %d\none more\0line" % k for k in (0, 1)]
    assert saved(lab, "r_node0.log", "r_node1.log") == whole
    assert [h["bytes_new"] for h in second["hosts"]] == [13, len(whole[1]) - 5000]
    assert [h["older"] for h in second["hosts"]] == [None, None]
    third = lab.mt("logs", "r", "--save", "out")
    assert [line.rsplit(", ", 1)[1] for line in third.lines] == ["0 new", "0 new"] and "kept" not in third.err


def test_save_keeps_the_older_file_when_the_log_is_another(lab):
    run_once(lab, "seq 1 3000; echo attempt $MTLAUNCH_ATTEMPT", hosts="node1,node2")
    lab.mt("logs", "r", "--save", "out")
    first = saved(lab, "r_node0.log", "r_node1.log")
    run_once(lab, "seq 1 3000; echo attempt $MTLAUNCH_ATTEMPT", hosts="node1,node2")
    answer = lab.mt("logs", "r", "--save", "out")
    assert "node[1-2]: the file that was there contains another attempt" in answer.err
    assert saved(lab, "r_node0.log.1", "r_node1.log.1") == first
    second = saved(lab, "r_node0.log")[0]
    assert second.endswith(b"attempt 2\n") and len(second) == len(first[0])
    log = lab.node_file("node1", ".mtlaunch", "logs", "r_node0.log")
    log.write_bytes(b"short\n")
    assert "node1: the log became shorter" in lab.mt("logs", "r", "--save", "out").err
    assert saved(lab, "r_node0.log", "r_node0.log.2") == [b"short\n", second]
    log.write_bytes(b"other bytes, and longer\n")
    assert "node1: the file that was there differs from the log" in lab.mt("logs", "r", "--save", "out").err
    assert saved(lab, "r_node0.log", "r_node0.log.3") == [b"other bytes, and longer\n", b"short\n"]
    lab.mt("remove", "r", "--artifacts")
    run_once(lab, "seq 1 3000; echo attempt $MTLAUNCH_ATTEMPT", hosts="node1,node2")
    assert "was not saved from this run" in lab.mt("logs", "r", "--save", "out").err
    assert saved(lab, "r_node0.log") == first[:1]


def test_save_says_what_could_not_be_written_or_reached(lab):
    run_once(lab, "echo here", hosts="node1,node2")
    lab.write("file", "x")
    assert "file" in lab.mt("logs", "r", "--save", "file", code=8).err
    lab.mt("logs", "r", "--save", "out")
    (lab.home / "out" / "r_node0.log").unlink()
    (lab.home / "out" / "r_node0.log").symlink_to("/dev/full")
    lab.mt("logs", "r", "--save", "out")
    assert (lab.home / "out" / "r_node0.log.1").is_symlink() and saved(lab, "r_node0.log") == [b"here\n"]
    lab.cluster.cut("node1")
    answer = lab.mt("logs", "r", "--save", "else", "--connect-timeout", "2s", "--json", code=3)
    assert answer.json["error"]["hosts"] == ["node1"]
    assert [(h["complete"], bool(h["error"])) for h in answer.json["hosts"]] == [(False, True), (True, False)]
    assert [p.name for p in (lab.home / "else").iterdir()] == ["r_node1.log"]


def test_save_on_a_full_disk_names_the_file_and_goes_on_later(lab):
    run_once(lab, "seq 1 30000", hosts="node1,node2")
    whole = b"".join(b"%d\n" % i for i in range(1, 30001))
    argv, env = lab.cluster.head_argv(["sh", "-c", "ulimit -f 100; trap '' XFSZ; exec mtlaunch logs r --save out"], None, None, True)
    full = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert full.returncode == 8 and "out/r_node0.log'" in full.stderr and "out/r_node1.log'" in full.stderr, full
    assert len(saved(lab, "r_node0.log")[0]) == 51200
    lab.mt("logs", "r", "--save", "out")
    assert saved(lab, "r_node0.log", "r_node1.log") == [whole, whole]


@pytest.mark.parametrize("more", [("-f",), ("-n", "3"), ("--raw", "--node", "0"), ("--grep", "x")])
def test_save_takes_whole_logs_alone(lab, more):
    assert "'--save'" in lab.mt("logs", "r", "--save", "out", *more, code=2).err


# --- wait -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("program,code,state", [
    ("sleep 2", 0, "finished"), ("sleep 2; exit 7", 1, "failed"), ("sleep 2; kill -9 $$", 1, "failed")])
def test_wait_ends_with_the_outcome(lab, program, code, state):
    lab.job(hosts="node1,node2", program=program)
    lab.mt("start", "job.yaml", "r")
    answer = lab.mt("wait", "r", "--json", code=code)
    assert answer.json["state"] == state
    status = {"sleep 2": 0, "sleep 2; exit 7": 7}.get(program, 137)
    assert answer.json["exit_status"] == status
    assert {n["signal"] for n in answer.json["nodes"]} <= ({"KILL", "TERM"} if status == 137 else {None, "TERM"})


def test_wait_timeout_leaves_the_run_alone(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    assert 1.5 < lab.mt("wait", "r", "--timeout", "2", code=5).seconds < 15
    assert lab.status("r")["state"] == "running"
    lab.mt("stop", "r")
    lab.mt("wait", "r", code=1)


def test_wait_ends_1_when_somebody_stops_the_run_and_ctrl_c_leaves_it(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    waiting = lab.spawn("wait", "r")
    time.sleep(1)
    waiting.send_signal(2)
    waiting.communicate(timeout=20)
    assert waiting.returncode == 130 and lab.status("r")["state"] == "running"
    waiting = lab.spawn("wait", "r")
    wait_for(lambda: [p for p in lab.cluster.ps("node1") if p.is_session], "wait to look", 10)
    lab.mt("stop", "r")
    waiting.communicate(timeout=30)
    assert waiting.returncode == 1


# --- logins that do not answer (S4) ---

HANGING_LOGINS = {
    "sleeps": "sleep 600\n",
    "drips": "while :; do printf .; sleep 1; done\n",
    "drips an answer": "printf '\\n@@'; while :; do printf 1; sleep 1; done\n",
}


@pytest.mark.parametrize("manner", HANGING_LOGINS)
def test_a_login_that_never_answers_keeps_no_other_log_back(make_lab, manner):
    lab = make_lab(3, shells={f"node{n}": "/bin/bash" for n in (1, 2, 3)})
    run_once(lab, "echo here is $NODE_RANK", hosts="node1,node2,node3")
    lab.node_file("node1", ".bashrc").write_text(HANGING_LOGINS[manner])
    answer = lab.mt("logs", "r", "--connect-timeout", "2", code=3, timeout=60)
    assert answer.lines == ["node2: here is 1", "node3: here is 2"]
    assert "node1: the login did not start the command within 6 s" in answer.err and "start-up files" in answer.err
    assert answer.seconds < 20
    lab.mt("exec", "-H", "node1", "--connect-timeout", "2", "--", "true", code=3)


def test_following_names_a_login_that_does_not_answer(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    lab.job("r.yaml", hosts="node1,node2", program="echo here is $NODE_RANK; sleep 300")
    lab.mt("start", "r.yaml", "r", "--no-supervise")
    lab.node_file("node1", ".bashrc").write_text("sleep 600\n")
    with lab.spawn("logs", "r", "-f", "--connect-timeout", "2") as process:
        try:
            assert process.stdout.readline() == "node2: here is 1\n"
            assert "node1: the login did not start the command within 6 s" in process.stderr.readline()
        finally:
            process.kill()
    lab.node_file("node1", ".bashrc").unlink()
    lab.mt("stop", "r", "--grace", "1s")
