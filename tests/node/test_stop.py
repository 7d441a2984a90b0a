"""Stop: all that is the run's, nothing else, and the proof."""
import os
import signal
import subprocess
import time

import pytest

from conftest import PROGRAMS, PYTHON, Node, alive, own_uid, start_ticks, stat_fields, wait_for

TRICKS = os.path.join(PROGRAMS, "tricks.py")
ALONE = ["plain", "term", "setsid", "fork", "clear", "title"]
TOGETHER = ["setsid+fork", "term+setsid", "term+setsid+fork", "clear+setsid", "clear+fork", "term+title",
            "setsid+fork+title"]
ESCAPE = ["clear+setsid+fork", "term+setsid+fork+clear"]  # only a subreaper holds these


def start_tricks(node, names, **values):
    folder = os.path.join(node.folder, f"pids-{values.get('run', 'r')}")
    os.mkdir(folder)
    assert node.start(PYTHON, TRICKS, folder, *names, **values)["stage"] == "started"

    def all_there():
        return all(os.path.exists(os.path.join(folder, name)) for name in ["job", *names])
    wait_for(all_there, 30, f"children in {folder}")
    pids = {}
    for name in ["job", *names]:
        with open(os.path.join(folder, name)) as f:
            pids[name] = int(f.read())
        assert alive(pids[name]), name
    return pids


def gone(pids):
    return {name: pid for name, pid in pids.items() if alive(pid)} == {}


@pytest.mark.parametrize("name", ALONE + TOGETHER)
def test_each_trick_alone(dash, name):
    pids = start_tricks(dash, [name])
    answer = dash.stop(grace=2)
    assert gone(pids)
    assert answer["was_alive"] and answer["survivors"]["total"] == 0
    assert answer["signalled"] == 2
    if "term" in name:
        assert answer["killed"] == 1


def test_a_removed_record_changes_nothing(node):
    """The signal goes to the job's group once, what it starts meanwhile is left its grace, its status is found."""
    line = "trap 'sleep 3; exit 5' TERM; while :; do sleep 0.1; done"
    node.start("sh", "-c", line)
    os.unlink(node.file("state"))
    answer = node.stop(grace=20)
    assert answer["was_alive"] and answer["status"] == 5 and answer["killed"] == 0
    assert answer["survivors"]["total"] == 0 and answer["leftovers"]["total"] == 0


def test_a_stop_of_an_earlier_attempt_leaves_the_next_alone_s8(node):
    """The pending cleanup of attempt 1 runs while attempt 2 of the same run is already live there."""
    node.start("sleep", "600", attempt=2)
    pid = int(open(node.file("pid")).read())
    stray = subprocess.Popen(["sleep", "601"], env={**os.environ, "MTLAUNCH_MARK": f"{node.run_id}.1.0"})
    try:
        answer = node.stop(grace=1, attempt=1, only_attempt=1)
        assert alive(pid) and not alive(stray.pid)
        assert (answer["signalled"], answer["was_alive"], answer["survivors"]["total"]) == (1, False, 0), answer
        assert node.observe(attempt=2)["life"] == "running"
        os.unlink(node.file("state"))
        assert node.stop(grace=1, attempt=1, only_attempt=1)["signalled"] == 0 and alive(pid)
    finally:
        stray.kill()
        stray.wait()
    assert node.stop(grace=1, attempt=2, only_attempt=1)["signalled"] == 1 and not alive(pid)


def test_a_removed_record_of_what_has_ended(node):
    node.start("sh", "-c", "exit 3")
    node.wait_ended()
    os.unlink(node.file("state"))
    answer = node.stop(grace=1)
    assert not answer["was_alive"] and answer["status"] == 3


def test_all_tricks_together(node):
    names = ALONE + TOGETHER + (ESCAPE if node.reaper else [])
    pids = start_tricks(node, names)
    answer = node.stop(grace=2)
    assert gone(pids), {n: p for n, p in pids.items() if alive(p)}
    assert answer["survivors"]["total"] == 0 and answer["signalled"] == len(names) + 1
    assert node.observe(leftovers=1)["leftovers"]["total"] == 0


def path_without(folder, *names):
    """A PATH of links to everything but these."""
    os.mkdir(folder)
    for name in os.listdir("/usr/bin"):
        if not name.startswith(names):
            os.symlink("/usr/bin/" + name, os.path.join(folder, name))
    return folder


def test_the_subreaper_is_perl_or_python(dash):
    """Perl is tried first; a node whose perl lacks its modules has python."""
    folder = path_without(os.path.join(dash.folder, "path"), "perl")
    with open(os.path.join(folder, "perl"), "w") as f:
        f.write("#!/bin/sh\nexit 1\n")
    os.chmod(os.path.join(folder, "perl"), 0o755)
    for run, path in (("perl", dash.path), ("python", folder)):
        dash.path = path
        dash.hide_perl = run == "python"
        pids = start_tricks(dash, ESCAPE, run=run)
        assert dash.stop(run=run, grace=1)["survivors"]["total"] == 0
        assert gone(pids)


def test_a_stop_waits_for_a_job_that_saves_its_work(node):
    script = 'trap "sleep 1; echo saved; exit 0" TERM; while :; do sleep 0.1; done'
    node.start("/bin/sh", "-c", script)
    began = time.monotonic()
    answer = node.stop(grace=20)
    assert time.monotonic() - began < 12
    assert (answer["killed"], answer["status"], answer["signal"]) == (0, 0, None)
    assert node.read("log").endswith(b"saved\n")


@pytest.mark.parametrize("name", ["INT", "USR1", "QUIT", "HUP", "KILL"])
def test_the_signal_is_the_one_asked_for(dash, name):
    dash.start("/bin/sleep", "100")
    answer = dash.stop(signal=name, grace=10)
    assert (answer["signal"], answer["killed"]) == (name, 0)


def test_the_signal_goes_to_the_whole_group(node):
    node.start("/bin/sh", "-c", 'sh -c \'trap "echo child; exit" TERM; while :; do sleep 0.1; done\' & '
                                'trap "wait; echo parent; exit 4" TERM; while :; do sleep 0.1; done')
    assert node.stop(grace=10)["status"] == 4
    assert {b"child", b"parent"} <= set(node.read("log").split())


def test_another_run_here_is_untouched(node, spawned):
    bystander = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
    spawned.append(bystander)
    # names that one could take for the first run's
    others = [("r_node0", node.id_of("r_node0")), ("r.1", node.run_id + ".1"), ("r-0", node.run_id + "0"),
              ("R", node.run_id.upper())]
    before = {}
    for run, run_id in others:
        before[run] = start_tricks(node, ["setsid", "term"], run=run, run_id=run_id)
    ticks = {pid: start_ticks(pid) for pids in before.values() for pid in pids.values()}
    mine = start_tricks(node, ["setsid", "term"])
    assert node.stop(grace=1)["survivors"]["total"] == 0
    assert gone(mine)
    assert all(alive(pid) and start_ticks(pid) == t for pid, t in ticks.items())
    assert alive(bystander.pid)
    for run, run_id in others:
        assert node.observe(run=run, run_id=run_id)["life"] == "running"


def test_a_reused_pid_is_untouched(node, spawned):
    answer = node.start("/bin/true")
    assert answer["ended"]
    bystander = subprocess.Popen(["/bin/sh", "-c", "sleep 300 & wait"], start_new_session=True)
    spawned.append(bystander)
    state = node.read("state").decode()
    pid = str(answer["pid"])
    with open(node.file("state"), "w") as f:
        f.write(state.replace(f"pid={pid}\n", f"pid={bystander.pid}\n"))
    os.unlink(node.file("exit"))
    with open(node.file("seen"), "a") as f:
        f.write(f"{bystander.pid} 12345 {bystander.pid}\n")
    seen = node.observe(leftovers=1)
    assert (seen["life"], seen["pid_reused"], seen["leftovers"]["total"]) == ("gone", True, 0)
    stopped = node.stop(grace=1)
    assert not stopped["was_alive"] and stopped["signalled"] == 0 and stopped["killed"] == 0
    assert alive(bystander.pid)
    os.killpg(bystander.pid, signal.SIGKILL)


def test_a_record_of_another_boot_signals_nothing(node, spawned):
    bystander = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
    spawned.append(bystander)
    answer = node.start("/bin/true")
    state = node.read("state").decode()
    state = state.replace(f"pid={answer['pid']}\n", f"pid={bystander.pid}\n")
    lines = [f"start_ticks={start_ticks(bystander.pid)}" if line.startswith("start_ticks=") else
             "boot_id=00000000-0000-0000-0000-000000000000" if line.startswith("boot_id=") else line
             for line in state.splitlines()]
    with open(node.file("state"), "w") as f:
        f.write("\n".join(lines) + "\n")
    os.unlink(node.file("exit"))
    seen = node.observe(leftovers=1)
    assert (seen["life"], seen["rebooted"], seen["leftovers"]["total"]) == ("gone", True, 0)
    assert node.stop(grace=1)["signalled"] == 0
    assert alive(bystander.pid)


def test_a_mark_in_a_value_is_no_mark(node, spawned):
    mark = f"{node.run_id}.1.0"
    bystanders = [{"X": f"MTLAUNCH_MARK={mark}"}, {"MTLAUNCH_MARK": mark + "x"}, {"MTLAUNCH_MARK": "x" + mark},
                  {"MTLAUNCH_MARK": node.run_id + ".1"}, {"X": f"a\nMTLAUNCH_MARK={mark}\n"}]
    for env in bystanders:
        spawned.append(subprocess.Popen(["/bin/sleep", "300"], env=env, start_new_session=True))
    node.start("/bin/sleep", "100")
    assert node.stop(grace=1)["signalled"] == 1
    assert all(alive(process.pid) for process in spawned)


def test_marks_of_every_attempt_and_rank_are_the_runs(node, spawned):
    for mark in ("1.0", "7.0", "2.3"):
        spawned.append(subprocess.Popen(["/bin/sleep", "300"], env={"MTLAUNCH_MARK": f"{node.run_id}.{mark}"},
                                        start_new_session=True))
    answer = node.stop(attempt=3, grace=0)
    assert answer["leftovers"]["total"] == 3 and answer["survivors"]["total"] == 0
    assert sorted(item["command"] for item in answer["leftovers"]["items"]) == ["/bin/sleep 300"] * 3
    for process in spawned:
        process.wait(timeout=5)


def test_ranks_on_one_machine_have_their_own_stop(dash):
    first = dash.start("/bin/sleep", "100", rank=0)
    second = dash.start("/bin/sleep", "100", rank=1)
    assert dash.stop(rank=0, grace=1)["signalled"] == 1
    assert not alive(first["pid"]) and alive(second["pid"])
    assert dash.observe(rank=0, leftovers=1)["leftovers"]["total"] == 0
    assert dash.stop(rank=1, grace=1)["signalled"] == 1


def test_leftovers_of_an_ended_run_are_named_and_killed(node):
    node.start("/bin/sh", "-c", "setsid sh -c 'trap : TERM; while :; do sleep 0.2; done' & sleep 1.5; exit 0")
    node.wait_ended()
    seen = node.observe(leftovers=1)
    assert (seen["life"], seen["status"]) == ("exited", 0)
    assert seen["leftovers"]["total"] >= 1
    stopped = node.stop(grace=1)
    assert not stopped["was_alive"] and stopped["leftovers"]["total"] >= 1 and stopped["killed"] >= 1
    assert stopped["survivors"]["total"] == 0
    assert (stopped["status"], node.observe(leftovers=1)["leftovers"]["total"]) == (0, 0)


def test_a_killed_keeper_and_then_a_killed_job(node):
    answer = node.start(PYTHON, "-c", "import time; time.sleep(300)")
    keeper = int(node.state()["keeper"])
    os.kill(keeper, signal.SIGKILL)
    seen = wait_for(lambda: not (o := node.observe())["keeper"] and o, what="the keeper's end")
    assert (seen["life"], seen["pid"]) == ("running", answer["pid"])
    os.kill(answer["pid"], signal.SIGKILL)
    seen = wait_for(lambda: (o := node.observe(leftovers=1))["life"] == "gone" and o, what="the end")
    assert (seen["status"], seen["rebooted"], seen["pid_reused"], seen["leftovers"]["total"]) == (-1, False, False, 0)
    stopped = node.stop(grace=1)
    assert not stopped["was_alive"] and stopped["survivors"]["total"] == 0


def test_a_stop_without_its_keeper_leaves_nothing(node):
    pids = start_tricks(node, ["setsid", "term+setsid", "clear+setsid"])
    keeper = int(node.state()["keeper"])
    wait_for(lambda: len(node.read("seen").splitlines()) >= 5, what="descendants noted")
    os.kill(keeper, signal.SIGKILL)
    assert node.stop(grace=1)["survivors"]["total"] == 0
    assert gone(pids)
    session = str(keeper).encode()
    left = [p for p in filter(str.isdigit, os.listdir("/proc")) if alive(p) and stat_session(p) == session]
    assert left == []


def stat_session(pid):
    try:
        return stat_fields(pid)[3]
    except (FileNotFoundError, ProcessLookupError):
        return b""


def test_nothing_of_the_keeper_is_left_after_a_stop(node):
    node.start("/bin/sleep", "100")
    keeper = node.state()["keeper"].encode()
    assert node.stop(grace=1)["survivors"]["total"] == 0
    assert [p for p in filter(str.isdigit, os.listdir("/proc")) if alive(p) and stat_session(p) == keeper] == []


def test_descendants_are_noted(node):
    pids = start_tricks(node, ["plain", "setsid"])
    def noted():
        return {int(line.split()[0]) for line in node.read("seen").splitlines()[1:]}
    wait_for(lambda: set(pids.values()) <= noted(), what="the notes")
    for line in node.read("seen").decode().splitlines()[1:]:
        pid, ticks, _ = line.split()
        assert start_ticks(pid) == ticks


def test_many_descendants_are_noted(node):
    """Beyond some fifty another way of looking is taken: it must find the same, also what comes later."""
    late = os.path.join(node.folder, "late")
    script = ("i=0; while [ $i -lt 60 ]; do sleep 300 & i=$((i + 1)); done;"
              " while [ ! -e \"$1\" ]; do sleep 0.1; done; env -i setsid sleep 301 & wait")
    assert node.start("/bin/sh", "-c", script, "sh", late)["stage"] == "started"

    def noted():
        return [line.split() for line in node.read("seen").decode().splitlines()[1:]]

    def command(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                return f.read()
        except OSError:
            return b""

    wait_for(lambda: len(noted()) > 60, what="the notes")
    with open(late, "w"):
        pass
    wait_for(lambda: [p for p, _, _ in noted() if command(p) == b"sleep\x00301\x00"], 30, "the late one's note")
    lines = [line for line in noted() if command(line[0]).startswith(b"sleep\x0030")]
    assert len(lines) == 61
    for pid, ticks, sid in lines:
        assert start_ticks(pid) == ticks and stat_session(pid) == sid.encode()
    assert node.stop(grace=2)["survivors"]["total"] == 0
    assert not [pid for pid, _, _ in lines if alive(pid)]


def test_a_stop_of_nothing(node):
    answer = node.stop(grace=1)
    assert (answer["was_alive"], answer["signalled"], answer["killed"], answer["status"]) == (False, 0, 0, -1)
    assert not os.path.exists(node.artifacts)


def test_a_stop_goes_on_without_its_head(dash):
    pids = start_tricks(dash, ["term"])
    process = dash.popen("stop", grace=1)
    time.sleep(0.3)
    process.stdout.close()
    process.stderr.close()
    process.wait(timeout=30)
    assert gone(pids)


def test_a_job_that_forks_while_it_is_killed(node):
    code = "import os,signal,time\nsignal.signal(15, signal.SIG_IGN)\nend = time.time() + 60\n" \
           "while time.time() < end:\n" \
           "    if os.fork():\n        time.sleep(0.05)\n        os._exit(0)\n    os.setsid()\n    time.sleep(0.5)\n"
    node.start(PYTHON, "-c", code)
    time.sleep(0.5)
    assert node.stop(grace=0)["survivors"]["total"] == 0
    assert node.observe(leftovers=1)["leftovers"]["total"] == 0


def test_another_users_process_is_a_survivor(open_folder):
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    user = Node("dash", open_folder, own_uid())
    answer = user.start("/bin/sleep", "100")
    # a process of root in the job's session: KILL is refused there
    foreign = subprocess.Popen([PYTHON, "-c", "import ctypes,os,time\ntime.sleep(60)"], start_new_session=True)
    try:
        with open(user.file("seen"), "a") as f:
            f.write(f"{foreign.pid} {start_ticks(foreign.pid)} {foreign.pid}\n")
        began = time.monotonic()
        stopped = user.stop(grace=0)
        assert time.monotonic() - began < 15
        assert not alive(answer["pid"])
        assert [s["pid"] for s in stopped["survivors"]["items"]] == [foreign.pid]
        assert stopped["survivors"]["items"][0]["state"] in ("S", "R")  # it may still import
        assert PYTHON in stopped["survivors"]["items"][0]["command"]
    finally:
        foreign.kill()
        foreign.wait()
        user.close()


def test_zombies_count_as_gone(dash, spawned):
    zombie = subprocess.Popen(["/bin/true"], env={"MTLAUNCH_MARK": f"{dash.run_id}.1.0"}, start_new_session=True)
    spawned.append(zombie)
    wait_for(lambda: not alive(zombie.pid), what="the zombie")
    assert dash.stop(grace=0)["survivors"]["total"] == 0


def test_a_leader_that_is_gone_while_its_threads_run(dash):
    code = "import ctypes,threading,time\nthreading.Thread(target=time.sleep, args=(300,)).start()\n" \
           "ctypes.CDLL(None).pthread_exit(None)\n"
    answer = dash.start(PYTHON, "-c", code)
    wait_for(lambda: not alive(answer["pid"]), what="the main thread's end")
    assert dash.observe()["life"] == "running"
    stopped = dash.stop(grace=5)
    assert stopped["was_alive"] and stopped["survivors"]["total"] == 0


def test_the_keeper_reaps_the_orphans_it_adopts(node):
    node.start("/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do (setsid sh -c 'sleep 0.3' &); done; sleep 100")
    keeper = node.state()["keeper"].encode()

    def zombies():
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = stat_fields(pid)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[0] == b"Z" and fields[1] == keeper:
                found.append(pid)
        return found
    time.sleep(1)  # they have all ended by then, whoever their parent is
    wait_for(lambda: not zombies(), 5, "the zombies' end")
