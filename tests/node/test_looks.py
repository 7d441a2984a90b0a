"""What the parts of the script see of processes that are unlike others, on nodes that are."""
import os
import shutil
import subprocess
import sys
import time

import pytest

from conftest import Node, alive, own_uid, wait_for
from test_text import SCRIPT, any_shell, run  # noqa: F401 a fixture

PARTS = ["10-frame", "15-stat", "17-write", "20-proc", "22-scan", "45-keeper"]
MARK = {"MTLAUNCH_MARK": "r-00000000.1.0"}
SCAN = "mt_attempts='[0-9]+' mt_root= mt_keeper= mt_memory=\nmt_scan r-00000000 0 ''\n" \
       "printf '%s %s\\n' $? \"$mt_unproven\" && printf '%s\\n' \"$mt_found\""
ODD = {"A": bytes(range(1, 256)), "B": b"\xff\n/proc/1/environ:MTLAUNCH_MARK=a-00000000.1.1", "C": b"x" * 130_000,
       "MTLAUNCH_SCAN": b"end", "D": b"/proc/self/cmdline:MTLAUNCH_SCAN=end", "E": b"\n", "BASH_FUNC_x%%": b"() { :\n}"}


def found(out):
    """(status and reason of a scan, the pids that it found)"""
    head, *lines = out.decode().splitlines()
    return head.strip(), {int(line.split()[0]) for line in lines if line}


@pytest.fixture(params=["awk", "gawk", "mawk", "busybox"])
def awk(request, tmp_path, monkeypatch):
    """That awk, and its environment's words are UTF-8."""
    path = shutil.which(request.param)
    if not path:
        pytest.skip(f"{request.param} is not installed")
    os.symlink(path, tmp_path / "awk")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def test_s1_what_the_loader_says_hides_no_process(any_shell, spawned, monkeypatch):
    """A library that cannot be preloaded is told by each program before it says anything of its own."""
    spawned.append(subprocess.Popen(["/bin/sleep", "300"], env=MARK))
    monkeypatch.setenv("LD_PRELOAD", "/nowhere/libx.so")
    assert found(run(any_shell, SCAN, *PARTS)) == ("0", {spawned[0].pid})


def test_s1_what_the_loader_says_changes_no_answer(node):
    loader = {"LD_PRELOAD": "/nowhere/libx.so"}
    pid = node.start("/bin/sleep", "300", mode="keep", caller=loader)["pid"]
    os.unlink(node.file("state"))
    assert not node.call("remove", env=loader).get("removed")
    answer = node.call("probe", env=loader)
    assert "error" not in answer and answer["live"]["total"] == 1, answer
    assert node.call("observe", env=loader)["life"] == "unrecorded"
    answer = node.call("stop", env=loader, grace=5)
    assert answer["signalled"] == 1 and answer["unproven"] is None and not alive(pid)


@pytest.mark.parametrize("table", ["begin table\nproc 1 0 1 1 1 1 S\nend table", "warning: env /proc/self/cmdline\nstuck\nend table"])
def test_s1_a_table_without_environments_is_no_proof(any_shell, table):
    text = f"mt_table='{table}'\nmt_find_marks\nprintf '%s %s' $? \"$mt_unproven\""
    assert run(any_shell, text, *PARTS) == b"1 the output of awk was cut"


@pytest.mark.parametrize("extra", [{}, ODD, {f"V{i}": "y\n" * 60_000 for i in range(12)}], ids=["plain", "odd", "large"])
def test_a_mark_among_odd_variables_is_found(any_shell, spawned, extra):
    spawned.append(subprocess.Popen(["/bin/sleep", "300"], env={**extra, **MARK}))
    for near in (b"a\nMTLAUNCH_MARK=r-00000000.1.0", b"a\nMTLAUNCH_MARK=r-00000000.1.0\nb"):
        spawned.append(subprocess.Popen(["/bin/sleep", "300"], env={"X": near}))
    assert found(run(any_shell, SCAN, *PARTS)) == ("0", {spawned[0].pid})


@pytest.mark.parametrize("name", [b"a b) c (d", b"x\ny) S 1 1 1", "训练训练训练".encode()[:14], b"\x81\x88) R 1", b"\xff\xfe) ) )",
                                  b"\\n\\ *[a-z]", b"\n\n"])
def test_a_process_of_any_name_is_found(any_shell, awk, spawned, name):
    """A name of 15 bytes may end in the middle of a character."""
    spawned.append(subprocess.Popen(["/bin/sleep", "300"], env=MARK))
    program = "import ctypes, sys, time; ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1])); print(flush=True); time.sleep(300)"
    spawned.append(subprocess.Popen([sys.executable, "-c", program, name.hex()], env=MARK, stdout=subprocess.PIPE))
    spawned[1].stdout.readline()
    assert found(run(any_shell, SCAN, *PARTS)) == ("0", {process.pid for process in spawned})


@pytest.mark.parametrize("names, noted", [(3, 0), (3, 6000), (2500, 0), (2500, 6000)])
def test_many_processes_are_noted(any_shell, awk, spawned, names, noted):
    """Of thousands of processes, and behind thousands that were noted before."""
    spawned.append(subprocess.Popen(["/bin/sleep", "300"]))
    pid = spawned[0].pid
    text = f"""
        mt_stat {pid}
        mt_s_pid= mt_s_start_ticks= mt_adopted= mt_noted=$(i=0; while [ $i -lt {noted} ]; do
            i=$((i + 1)); echo "$((4000000 + i)) 1234567890 $((4000000 + i))"; done; echo "{pid} $mt_st_ticks 1")
        set -- $(i=0; while [ $i -lt {names} ]; do i=$((i + 1)); echo /proc/{pid}; done)
        mt_names=$*
        mt_walk() {{ {walk_of_names()} }}
        mt_walk && printf '%s' "$mt_text" | sort -u"""
    out = run(any_shell, text, *PARTS).split()
    assert out[:1] == [str(pid).encode()] and len(out) == 3


def walk_of_names():
    """mt_walk_table of processes given, in place of all."""
    with open(f"{SCRIPT}/45-keeper.sh", encoding="utf-8") as f:
        body = f.read().partition("mt_walk_table() {")[2].partition("\n}\n")[0]
    assert "set -- /proc/[0-9]* end" in body
    return body.replace("/proc/[0-9]* end", "$mt_names end") + "\n"


def test_a_long_command_line_is_cut_at_once(any_shell, spawned):
    spawned.append(subprocess.Popen(["/bin/sleep", "300", *["0" * 100_000] * 12]))
    wait_for(lambda: b"sleep" in open(f"/proc/{spawned[0].pid}/cmdline", "rb").read(), 5)
    begun = time.monotonic()
    out = run(any_shell, f"mt_nonce=n\nmt_frame_process live {spawned[0].pid} S", *PARTS).strip().decode()
    assert time.monotonic() - begun < 10
    value = out.removeprefix(f"@@n live={spawned[0].pid} S ")
    assert value.startswith("/bin/sleep 300 000") and len(value) == 400


def test_notes_are_frequent_again_without_a_keeper(any_shell):
    """Nothing above the job catches what escapes any more."""
    text = """
        sleep() { echo "$1" >&3; }
        mt_still_ours() { :; }
        mt_find_adopted() { mt_same=30; }
        mt_note() { mt_looks=$((mt_looks + 1)); }
        mt_alive() { case $1 in k) [ "$mt_looks" -lt 6 ] ;; *) [ "$mt_looks" -lt 8 ] ;; esac; }
        mt_looks=0 mt_keeper=k mt_s_pid=j mt_keeper_ticks=1 mt_s_start_ticks=1 mt_reaped=1
        (mt_note_on) 3>&1 >/dev/null 2>&1 || :"""
    assert run(any_shell, text, *PARTS).split() == [b"0.2", b"0.5", b"1", b"10", b"10", b"10", b"10", b"3"]


def count_of(path):
    with open(path, encoding="utf-8") as f:
        return len(f.read())


def fake_perl(node, body):
    folder = os.path.join(node.folder, "perls")
    os.mkdir(folder)
    path = os.path.join(folder, "perl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\ncase $* in *select*) printf x >>'{node.folder}/calls'; {body} ;; esac\nexec /usr/bin/perl \"$@\"\n")
    os.chmod(path, 0o755)
    node.path = f"{folder}:{node.path}"
    return os.path.join(node.folder, "calls")


@pytest.mark.parametrize("body", ["exit 0", "exit 1", "kill -9 $$", ":"])
def test_a_watch_pauses_whatever_perl_does(dash, body):
    """And the end is told within 2 s."""
    calls = fake_perl(dash, body)
    pid = dash.start("/bin/sleep", "300")["pid"]
    watch = dash.popen("watch")
    try:
        wait_for(lambda: os.path.exists(calls), 10)
        time.sleep(4)
        assert count_of(calls) <= 3
        os.kill(pid, 9)
        watch.wait(timeout=4)
        assert b"life=exited" in watch.stdout.read()
    finally:
        watch.kill()
        watch.communicate()


def test_a_watch_pauses_where_proc_hides_its_parent(open_folder):
    """hidepid: sshd is another's process."""
    if os.geteuid() != 0:
        pytest.skip("a mount needs root")
    node = Node("dash", open_folder, own_uid())
    calls = fake_perl(node, ":")
    os.chmod(node.folder, 0o777)
    words = node.command()
    node.command = lambda: ["/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c",
                            "mount -t proc -o hidepid=2 proc /proc && \"$@\"; exit $?", "sh", *words]
    watch = None
    try:
        assert node.start("/bin/sleep", "300")["stage"] == "started"
        watch = node.popen("watch")
        wait_for(lambda: os.path.exists(calls), 10)
        time.sleep(5)
        assert count_of(calls) <= 3
    finally:
        if watch:
            watch.kill()
            watch.communicate()
        node.close()
