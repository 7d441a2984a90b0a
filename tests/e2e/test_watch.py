"""`status --watch` on a terminal, which is a pty and a model of a screen."""
import os
import re
import signal
import threading
import time

import pytest

from cluster import wait_for
from terminal import Terminal

STEPS = ("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); "
         "echo \"step $i/3000 loss $((9000-i*3)).5 step_time 0.2\"; sleep 0.2; done")
PATTERN = "step (?P<iteration>[0-9]+)/(?P<total>[0-9]+) loss (?P<loss>[0-9.]+) step_time (?P<step_time>[0-9.]+)"
UNTOUCHED = "the run was not touched"


@pytest.fixture
def watch(lab):
    """watch(*words): mtlaunch on the head, on a terminal."""
    opened = []

    def start(*words, rows=24, columns=80, argv=("mtlaunch",), env=None):
        command, values = lab.cluster.head_argv([*argv, *words], env, None, True)
        opened.append(Terminal(command, {**values, "TERM": "xterm"}, rows, columns))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.fixture
def run(lab):
    lab.mt("start", lab.job(program=STEPS, progress={"pattern": PATTERN}), "r")
    return "r"


def is_picture(screen):
    return re.search(r"^r: running .* \d\d:\d\d:\d\d$", screen.lines[0]) and "node4" in screen.text


def test_a_run_is_drawn_in_place(lab, run, watch):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    terminal.wait("0.2 s/step", "progress")
    terminal.wait(lambda s: re.search(r"^loss: [▁-█]+ from 8\d+ to 8\d+ in \d+s$", s.text, re.M), "how the loss went", 90)
    row = re.compile(r"^ *[0-3]  node[1-4]  running +\d+ +\d+s +\d+s$", re.M)  # state, pid, time, age of the last output
    terminal.wait(lambda s: len(row.findall(s.text)) == 4, "a row for each node, once the frame is whole")
    assert terminal.screen.lines[-1].startswith("q quit")
    assert terminal.screen.frames >= 3 and terminal.screen.cleared == 0
    frames = terminal.output.split(b"\x1b[H")[1:]
    assert all(frame.count(b"\r\n") == 23 for frame in frames[:-1])  # every row once, and nothing else
    terminal.type("q")
    assert terminal.end() == 0
    assert terminal.is_plain() and "node4" not in terminal.screen.text
    assert lab.status(run)["state"] == "running"


def steps(screen):
    return [int(step) for step in re.findall(r"^step (\d+)/", screen.text, re.M)]


def test_the_log_of_a_node(run, watch):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    terminal.type("l")
    terminal.wait(lambda s: s.lines[0].startswith("r: log of node 0, node1") and steps(s), "log")
    last = steps(terminal.screen)[-1]
    terminal.wait(lambda s: steps(s) and steps(s)[-1] >= last + 8, "log that goes on")
    terminal.type("\x1b[C")
    terminal.wait(lambda s: "log of node 1, node2" in s.lines[0] and steps(s), "next log")
    terminal.type("3l")
    terminal.wait(lambda s: "log of node 3, node4" in s.lines[0] and len(steps(s)) == 22, "log of node 3")
    terminal.type("\x1b[H")
    terminal.wait(lambda s: re.match(r"1-22 of ", s.lines[-1]), "its first lines")
    top, shown = steps(terminal.screen)[0], terminal.screen.lines[-1]
    terminal.wait(lambda s: s.lines[-1] != shown, "more lines below")
    assert steps(terminal.screen) == list(range(top, top + 22))
    terminal.type("7l")
    terminal.wait("run 'r' has 4 nodes: 0 to 3", "message")
    terminal.type("\x1b[F")
    terminal.wait(lambda s: steps(s) and steps(s)[0] > top, "last lines")
    last = steps(terminal.screen)[-1]
    terminal.wait(lambda s: steps(s) and steps(s)[-1] >= last + 4, "log that goes on again")
    terminal.type("\x1b")
    terminal.wait(is_picture, "picture again")
    terminal.type("q")
    assert terminal.end() == 0 and terminal.is_plain()


def test_stacks(lab, watch):
    lab.mt("start", lab.job(program=["python3", "-c", "import time; time.sleep(600)"],
                            setup=["export RANK=$NODE_RANK"]), "r")
    terminal = watch("status", "r", "--watch")
    terminal.wait(is_picture, "picture")
    terminal.type("s")
    terminal.wait(lambda s: re.search(r"^(4 ranks|ranks 0-3) .*", s.text, re.M), "stacks", 120)
    assert terminal.screen.lines[0].startswith("r: stacks")
    terminal.type("\x7f")
    terminal.wait(is_picture, "picture again")
    terminal.type("q")
    assert terminal.end() == 0 and terminal.is_plain()


@pytest.mark.parametrize("number,code,text", [
    (signal.SIGINT, 130, f"interrupted; {UNTOUCHED}"),
    (signal.SIGTERM, 143, f"terminated; {UNTOUCHED}"),
    (signal.SIGHUP, 129, f"ended by SIGHUP; {UNTOUCHED}"),
])
def test_a_signal_gives_the_terminal_back(lab, run, watch, number, code, text):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    if number == signal.SIGINT:
        terminal.type("\x03")
    else:
        os.kill(terminal.pid, number)
    assert terminal.end() == code
    assert terminal.is_plain() and text in terminal.screen.text
    assert lab.status(run)["state"] == "running"


def test_it_is_stopped_and_goes_on(run, watch):
    terminal = watch("-i", argv=("bash", "--norc"), env={"PS1": "prompt> "})
    terminal.wait("prompt>", "prompt")
    terminal.type(f"mtlaunch status {run} --watch\n")
    terminal.wait(is_picture, "picture")
    terminal.type("\x1a")
    terminal.wait(lambda s: not s.other and "Stopped" in s.text, "prompt while it is stopped")
    terminal.type("stty -a | tr ' ' '\\n' | grep -c -x -e icanon -e echo\n")
    terminal.wait(lambda s: "\n2\n" in s.text, "whole lines and echo")
    terminal.type("fg\n")
    terminal.wait(lambda s: s.other and is_picture(s), "picture again")
    terminal.type("q")
    terminal.wait(lambda s: not s.other and s.lines[-1] or s.text.rstrip().endswith("prompt>"), "prompt")
    terminal.type("echo code $?; exit\n")
    terminal.wait("code 0", "exit code")
    assert terminal.end() == 0


def test_its_size_changes(run, watch):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    terminal.size(8, 60)
    terminal.wait(lambda s: re.search(r"^1-6 of \d+  q quit", s.lines[-1]), "small screen")
    terminal.type("\x1b[B\x1b[B")
    terminal.wait(lambda s: s.lines[-1].startswith("3-8 of"), "two lines further down")
    terminal.type("\x1b[F")
    terminal.wait(lambda s: s.lines[-2].startswith("logs: ") or "node4" in s.lines[-2] or "node[1-4]" in s.text, "end")
    terminal.size(30, 120)
    terminal.wait(lambda s: is_picture(s) and s.lines[-1].startswith("q quit"), "large screen")
    terminal.type("q")
    assert terminal.end() == 0 and terminal.is_plain()


def test_the_run_ends(lab, watch):
    lab.mt("start", lab.job(program="sleep 8; test $NODE_RANK != 2"), "r")
    terminal = watch("status", "r", "--watch")
    terminal.wait(is_picture, "picture")
    assert terminal.end(60) == 1
    assert terminal.is_plain()
    assert "r: failed" in terminal.screen.text and re.search(r"node3 +failed", terminal.screen.text)


def test_a_log_is_read_on_when_the_run_ends(lab, watch):
    lab.mt("start", lab.job(program="sleep 6; echo the last line"), "r")
    terminal = watch("status", "r", "--watch")
    terminal.wait(is_picture, "picture")
    terminal.type("l")
    terminal.wait("the last line", "log")
    lab.wait_state("r", "finished")
    time.sleep(3)  # it would have left by now
    terminal.type("\x1b[C")
    terminal.wait(lambda s: "log of node 1" in s.lines[0] and "the last line" in s.text, "another log")
    terminal.type("\x1b")
    assert terminal.end() == 0
    assert terminal.is_plain() and "r: finished" in terminal.screen.text


def test_it_is_left_while_a_node_is_silent(lab, run, watch):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    lab.cluster.cut("node2")
    time.sleep(3)  # it is being asked
    begin = time.monotonic()
    terminal.type("q")
    assert terminal.end() == 0
    assert time.monotonic() - begin < 5
    assert terminal.is_plain()


def test_an_error_gives_the_terminal_back(lab, run, watch):
    terminal = watch("status", run, "--watch")
    terminal.wait(is_picture, "picture")
    record = lab.home / ".local/state/mtlaunch/runs/r/run.json"
    over = threading.Event()

    def keep_away():  # the supervisor writes it again
        while not over.wait(0.05):
            if record.exists():
                record.rename(record.with_suffix(".gone"))

    thread = threading.Thread(target=keep_away)
    thread.start()
    try:
        assert terminal.end() == 6
    finally:
        over.set()
        thread.join()
        record.with_suffix(".gone").rename(record)
    assert terminal.is_plain() and "no run 'r'" in terminal.screen.text


def test_all_runs(lab, run, watch):
    lab.mt("start", "job.yaml", "other")
    terminal = watch("status", "--watch")
    terminal.wait(lambda s: s.lines[0].startswith("all runs") and re.search(r"^other +running", s.text, re.M) and
                  re.search(r"^r +running", s.text, re.M), "list")
    terminal.type("l")
    terminal.wait(lambda s: s.frames >= 4, "another frame")
    assert terminal.screen.lines[0].startswith("all runs")
    terminal.type("q")
    assert terminal.end() == 0 and terminal.is_plain()


def test_without_keys_it_is_drawn_too(run, watch):
    terminal = watch("-c", f"exec mtlaunch status {run} --watch </dev/null", argv=("sh",))
    terminal.wait(is_picture, "picture")
    assert terminal.screen.lines[-1].startswith("Ctrl-C ends it")
    terminal.type("\x03")
    assert terminal.end() == 130 and terminal.is_plain()


def test_where_nothing_can_be_drawn_it_is_printed_again(lab, run, watch):
    piped = lab.spawn("status", run, "--watch")
    dumb = watch("-c", f"TERM=dumb exec mtlaunch status {run} --watch --color never", argv=("sh",))
    dumb.wait(lambda s: s.text.count("r: running") >= 1 and not s.other and s.frames == 0, "picture")
    wait_for(lambda: dumb.read(0.2) and dumb.output.count(b"r: running") >= 2, "two pictures", 30)
    time.sleep(3)  # the other one has begun at about the same time, and prints every two seconds
    piped.send_signal(signal.SIGINT)
    out, err = piped.communicate()
    assert piped.returncode == 130 and UNTOUCHED in err
    assert out.count("r: running") >= 2 and "\x1b" not in out
    assert b"\x1b[H" not in dumb.output
