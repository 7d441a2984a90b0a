"""The scan proves itself: a node that cannot look through its processes never says that nothing lives (S1). What took
a number of the run after its end is not the run's (S3), and neither is a run that was started inside it (S7)."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import PROGRAMS, Node, alive, own_uid, wait_for

ALL = os.environ.get("MTLAUNCH_SCAN_ALL") == "1"  # the whole matrix; else a slice that the seed chooses
SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))
TOOLS = ["awk", "grep", "sed", "xargs"]
FAULTS = ["killed", "missing", "half-0", "half-1"]


def slice_of(cases, count):
    return cases if ALL else random.Random(SEED).sample(cases, count)


def break_tool(node, tool, fault):
    """The tool is killed, is not there, or gives half an answer and ends with 0 or 1."""
    if node.shell == "busybox":
        real, folder = f"/usr/bin/busybox {tool}", node.path
        os.unlink(os.path.join(folder, tool))
    else:
        real, folder = shutil.which(tool, path="/usr/bin:/bin"), os.path.join(node.folder, "broken")
        os.makedirs(folder, exist_ok=True)
        node.path = folder + ":" + node.path
    body = {"killed": "kill -9 $$",
            "missing": f"echo 'sh: {tool}: not found' >&2\nexit 127",
            "half-0": f'out=$({real} "$@"); printf "%s" "$out" | /usr/bin/head -c $((${{#out}} / 2)); exit 0',
            "half-1": f'out=$({real} "$@"); printf "%s" "$out" | /usr/bin/head -c $((${{#out}} / 2)); exit 1'}[fault]
    path = os.path.join(folder, tool)
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\n{body}\n")
    os.chmod(path, 0o755)


def mend(node, path):
    if node.shell == "busybox":
        for tool in TOOLS:
            link = os.path.join(node.path, tool)
            if not os.path.islink(link):
                os.unlink(link)
                os.symlink("/usr/bin/busybox", link)
    node.path = path


def said(node, verb, **values):
    """What the call says, or the error of its answer."""
    out, err, _ = node.raw(verb, **values)
    return node.parse(verb, out), err


def check_no_wrong_word(node, pid, **values):
    """The job lives and the node is sick: none of the verbs may say that nothing lives."""
    answer, _ = said(node, "remove", **values)
    assert not answer.get("removed"), answer
    answer, _ = said(node, "probe", **values)
    assert "error" in answer or answer["live"]["total"] > 0, answer
    answer, _ = said(node, "start", arg=["/bin/true"], attempt=2, **values)
    assert "error" in answer or answer.get("stage") == "live", answer
    answer, _ = said(node, "observe", leftovers=1, **values)
    assert "error" in answer or answer["life"] in ("running", "unrecorded"), answer
    answer, _ = said(node, "stop", grace=0, **values)
    proven = "error" not in answer and answer["unproven"] is None and answer["survivors"]["total"] == 0
    assert not proven or not alive(pid), answer


@pytest.mark.parametrize("tool,fault", slice_of([(t, f) for t in TOOLS for f in FAULTS], 3))
def test_s1_a_broken_tool_is_no_proof(node, tool, fault):
    path = node.path
    pid = node.start("/bin/sleep", "300")["pid"]
    break_tool(node, tool, fault)
    check_no_wrong_word(node, pid)
    mend(node, path)
    answer = node.stop(grace=0)
    assert not alive(pid) and answer["survivors"]["total"] == 0 and answer["unproven"] is None


@pytest.mark.parametrize("tool,fault,why", [("awk", "killed", "awk was killed"), ("grep", "killed", "grep was killed"),
                                            ("grep", "missing", "grep is missing"),
                                            ("awk", "missing", "awk is missing")])
def test_s1_the_reason_is_named(dash, tool, fault, why):
    """And the job's group has its signal all the same."""
    pid = dash.start("/bin/sleep", "300")["pid"]
    path = dash.path
    break_tool(dash, tool, fault)
    answer = dash.stop(grace=1)
    assert answer["unproven"] == why
    assert not alive(pid)
    dash.path = path
    assert dash.stop(grace=0)["unproven"] is None


def test_s1_an_awk_that_met_a_process_on_its_way_out_is_asked_again(node):
    """mawk ends with 2 when a file in /proc cannot be read any more."""
    path = node.path
    break_tool(node, "awk", "killed")
    file = os.path.join(path if node.shell == "busybox" else node.path.split(":")[0], "awk")
    real = "/usr/bin/busybox awk" if node.shell == "busybox" else shutil.which("awk", path="/usr/bin:/bin")
    once = os.path.join(node.folder, "once")
    with open(file, "w") as f:
        f.write(f"#!/bin/sh\ncase $* in *getline*) [ -e {once} ] || {{ : >{once}; echo 'awk: read error (No such process)'"
                f" >&2; exit 2; }} ;; esac\nexec {real} \"$@\"\n")
    assert "error" not in said(node, "probe")[0]
    assert os.path.exists(once)
    mend(node, path)


def test_s1_a_removed_record_and_a_killed_awk(node):
    pid = node.start("/bin/sleep", "300")["pid"]
    os.unlink(node.file("state"))
    path = node.path
    break_tool(node, "awk", "killed")
    answer, _ = said(node, "observe")
    assert "error" in answer or answer["life"] == "unrecorded", answer
    answer = node.stop(grace=0)
    assert answer["unproven"]
    mend(node, path)
    node.stop(grace=0)
    assert not alive(pid)


def tasks_of(uid):
    count = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == uid:
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            pass
    return count


class Limited(Node):
    """A node of a user whose processes are limited: to room more than the user has, or to none that could be forked."""
    room = None

    def command(self):
        words = super().command()
        if self.room is None:
            return words
        limit = tasks_of(self.uid) + self.room if self.room > 1 else 1
        # behind the change of user, which a full user would not survive
        at = words.index("--clear-groups") + 1
        return words[:at] + ["/usr/bin/prlimit", f"--nproc={limit}:{limit}"] + words[at:]


@pytest.fixture
def limited(shell, open_folder):
    if os.geteuid() != 0:
        pytest.skip("another user's limit needs root")
    node = Limited(shell, open_folder, own_uid())
    yield node
    node.room = None
    node.close()


@pytest.mark.parametrize("room", slice_of(list(range(1, 16)), 4))
def test_s1_a_process_limit_is_no_proof(limited, room):
    if limited.shell == "bash" and not ALL and room not in (4, 7):
        pytest.skip("bash waits 15 s for each fork that fails: only two of the limits, all with MTLAUNCH_SCAN_ALL=1")
    pid = limited.start("/bin/sleep", "300")["pid"]
    limited.room = room
    check_no_wrong_word(limited, pid)
    limited.room = None
    answer = limited.stop(grace=0)
    assert not alive(pid) and answer["unproven"] is None and answer["survivors"]["total"] == 0


def test_s1_without_a_single_fork(limited):
    """A stop signals what it can, a probe names the limit, the state is still told."""
    if limited.shell == "bash" and not ALL:
        pytest.skip("bash waits 15 s for each fork that fails")
    pid = limited.start("/bin/sleep", "300")["pid"]
    limited.room = 1
    assert limited.observe()["life"] == "running"
    answer, _ = said(limited, "probe")
    assert answer["error"] == "scan-failed" and "cannot fork: the process limit" in answer["text"], answer
    answer = limited.stop(grace=2)
    assert answer["was_alive"] and answer["unproven"].startswith("cannot fork: the process limit")
    assert not alive(pid)
    limited.room = None
    assert limited.stop(grace=0)["unproven"] is None


def test_s1_a_keeper_that_cannot_fork_keeps_the_status(limited):
    if limited.shell == "bash" and not ALL:
        pytest.skip("bash waits 15 s for each fork that fails")
    go = os.path.join(limited.home, "go")
    limited.start("/bin/sh", "-c", 'while [ ! -e "$0" ]; do sleep 0.1; done; exit 7', go)
    keeper = int(limited.state()["keeper"])
    subprocess.run(["/usr/bin/setpriv", f"--reuid={limited.uid}", f"--regid={limited.uid}", "--clear-groups",
                    "/usr/bin/prlimit", "--nproc=1:1", f"--pid={keeper}"], check=True)
    open(go, "w").close()
    assert limited.wait_ended(30)["status"] == 7


def stranger_of(pid):
    """The member of a leaderless session with that number."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and entry != str(os.getpid()):
            try:
                with open(f"/proc/{entry}/stat", "rb") as f:
                    fields = f.read().rpartition(b") ")[2].split()
            except OSError:
                continue
            if int(fields[3]) == pid:
                return int(entry)
    return None


@pytest.mark.parametrize("which", ["pid", "keeper"])
@pytest.mark.parametrize("recorded", [True, False])
def test_s3_a_reused_session_is_a_strangers(dash, which, recorded):
    """Also when the keeper was killed before it could write the exit down."""
    if recorded:
        dash.start("/bin/sh", "-c", "sleep 1.5; exit 3")
        assert dash.wait_ended()["status"] == 3
    else:
        dash.start("/bin/sleep", "300")
        for name in ("keeper", "pid"):
            os.kill(int(dash.state()[name]), signal.SIGKILL)
    state = dash.state()
    number = int(state[which])
    wait_for(lambda: not os.path.exists(f"/proc/{number}") and stranger_of(number) is None, 15, "its end")
    # what the keeper had forked outlives it for a moment
    wait_for(lambda: dash.observe(leftovers=1)["leftovers"]["total"] == 0, 15, "the end of the keeper's children")
    if subprocess.run([sys.executable, os.path.join(PROGRAMS, "take_pid.py"), str(number), str(os.getuid()), "7777"]).returncode != 0:
        pytest.skip("the pid cannot be taken here")
    stranger = wait_for(lambda: stranger_of(number), 5, "the stranger")
    try:
        assert dash.observe(leftovers=1)["leftovers"]["total"] == 0
        assert dash.call("probe")["live"]["total"] == 0
        answer = dash.stop(grace=0)
        assert alive(stranger)
        assert answer["signalled"] == 0 and answer["survivors"]["total"] == 0
        assert dash.start("/bin/true", attempt=2)["stage"] == "started"
        assert dash.call("remove", attempt=2)["removed"]
        assert alive(stranger)
    finally:
        os.kill(stranger, signal.SIGKILL)


def test_s3_what_is_signalled_is_named(dash):
    """A process that outlives the command in its session, and what it starts, are the run's."""
    dash.start("/bin/sh", "-c", "(trap '' TERM; while :; do sleep 0.2; done) & sleep 1.2; exit 0")
    wait_for(lambda: dash.observe()["life"] == "exited", what="the end")
    answer = dash.stop(grace=1)
    assert answer["leftovers"]["total"] >= 1 and answer["survivors"]["total"] == 0


def inner_run(node):
    """A job that starts another run, as the local transport does."""
    inner = node.id_of("inner")
    node.runs.append(("inner", inner, 0))
    script = os.path.join(node.folder, "inner.in")
    with open(script, "wb") as f:
        f.write(node.build("start", run="inner", run_id=inner, arg=["/bin/sleep", "301"], mode="keep",
                           computed=[f"MTLAUNCH_MARK={inner}.1.0"]))
    command = node.command()
    remote = command[-1]
    line = f'sh -c "$1" <"$2" >"$2.out" 2>&1; exec sleep 300'
    answer = node.start("/bin/sh", "-c", line, "sh", remote, script)
    assert answer["stage"] == "started", answer
    wait_for(lambda: os.path.exists(node.file("pid", run="inner")) and node.observe(
        run="inner", run_id=inner)["life"] == "running", 20, "the inner run")
    return inner


def test_s7_a_run_inside_a_run_goes_on(node):
    inner = inner_run(node)
    pid, keeper = (int(node.state(run="inner")[key]) for key in ("pid", "keeper"))
    time.sleep(1.5)  # the outer run's notes hold them by now
    answer = node.stop(grace=1)
    assert answer["survivors"]["total"] == 0 and answer["unproven"] is None
    assert alive(pid) and alive(keeper)
    if node.reaper:
        assert answer["inner"] == [inner]
    seen = node.observe(run="inner", run_id=inner)
    assert seen["life"] == "running" and seen["keeper"]
    answer = node.stop(run="inner", run_id=inner, grace=1)
    assert answer["survivors"]["total"] == 0 and not alive(pid)
    wait_for(lambda: not alive(keeper), what="the end of the inner keeper")


def test_s7_the_inner_run_ends_alone(node):
    inner = inner_run(node)
    outer = int(node.state()["pid"])
    answer = node.stop(run="inner", run_id=inner, grace=1)
    assert answer["survivors"]["total"] == 0 and answer["inner"] == []
    assert alive(outer) and node.observe()["life"] == "running"
    assert node.stop(grace=1)["survivors"]["total"] == 0
    assert not alive(outer)


def test_s7_keepers_carry_no_mark_of_a_caller(node):
    inner_run(node)
    keeper = node.state(run="inner")["keeper"]
    with open(f"/proc/{keeper}/environ", "rb") as f:
        names = [word.split(b"=")[0] for word in f.read().split(b"\0")]
    assert b"MTLAUNCH_MARK" not in names and b"MTLAUNCH_KEEPS" in names
    with open(f"/proc/{node.state(run='inner')['pid']}/environ", "rb") as f:
        assert b"MTLAUNCH_KEEPS" not in f.read()


def test_a_long_command_line_is_cut(node):
    node.start("/bin/sh", "-c", "sleep 300; : " + "x" * 3000, "a b", "it's")
    shown = [process["command"] for process in node.call("probe")["live"]["items"]]
    assert [len(command) for command in shown if command.startswith("/bin/sh -c sleep 300; : xxx")] == [400], shown
