"""Start, exit, files, environment."""
import os
import signal
import subprocess
import time

import pytest

from conftest import NODE_CALL, PROGRAMS, PYTHON, Node, alive, own_uid, wait_for

SH = "/bin/sh"


def test_start_runs_the_command_and_records_its_end(node):
    answer = node.start(SH, "-c", "echo out; echo err >&2; sleep 2; exit 7")
    assert answer["stage"] == "started" and answer["pid"] > 1
    assert answer["log"] == node.file("log")
    state = node.state()
    assert state["pid"] == state["pgid"] == str(answer["pid"])
    assert (state["format"], state["run_id"], state["attempt"], state["host"]) == ("1", node.run_id, "1",
                                                                                  os.uname().nodename)
    assert node.read("pid") == b"%d\n" % answer["pid"]
    seen = node.observe()
    assert seen["life"] == "running" and seen["keeper"] and seen["pid"] == answer["pid"]
    ended = node.wait_ended()
    assert (ended["status"], ended["signal"], ended["never_ran"]) == (7, None, False)
    assert node.read("log") == b"out\nerr\n"
    assert ended["started"] <= ended["ended"] <= ended["now"]
    assert 0 < ended["uptime"] <= ended["uptime_now"]
    wait_for(lambda: not node.observe()["keeper"], what="the keeper's end")


def test_the_job_has_a_session_of_its_own_no_terminal_and_no_input(node):
    code = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0), os.readlink('/proc/self/fd/0'), " \
           "sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))"
    node.start(PYTHON, "-c", code)
    node.wait_ended()
    assert node.read("log") == b"True /dev/null ['0', '1', '2'] 4\n"  # the fourth is listdir's own


def test_signals_have_their_default_dispositions(node):
    node.start("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
    node.wait_ended()
    blocked, ignored = node.read("log").split()[1::2]
    # 32 and 33 are libc's own and no program may set them; what GNU make starts has them ignored
    assert (int(blocked, 16), int(ignored, 16) & ~(3 << 31)) == (0, 0)


def test_a_start_that_already_ended_with_0_is_started(node):
    answer = node.start("/bin/true")
    assert (answer["stage"], answer["ended"]) == ("started", True)


@pytest.mark.parametrize("argv, stage, status, name", [
    (["/bin/sh", "-c", "echo why; exit 3"], "command", 3, None),
    (["/bin/sh", "-c", "kill -9 $$"], "command", 137, "KILL"),
    (["/bin/sh", "-c", "kill -SEGV $$"], "command", 139, "SEGV"),
    (["/no/such/program"], "exec", 127, None),
    (["no-such-program"], "exec", 127, None),
    (["/etc/passwd"], "exec", 126, None),
])
def test_failed_starts(node, argv, stage, status, name):
    answer = node.start(*argv)
    assert (answer["stage"], answer["status"], answer["signal"]) == (stage, status, name)
    if stage == "command" and name is None:
        assert answer["output"] == "why"
    ended = node.observe()
    assert (ended["life"], ended["status"], ended["signal"]) == ("exited", status, name)


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 10, 15])
def test_the_signal_that_ended_the_job_is_recorded(dash, number):
    answer = dash.start("/bin/sleep", "100")
    os.kill(answer["pid"], number)
    ended = dash.wait_ended()
    assert (ended["status"], ended["signal"]) == (128 + number, signal.Signals(number).name[3:])


def test_setup_lines_run_in_the_shell_of_the_job(node):
    answer = node.start(SH, "-c", "echo $A/$B/$(pwd); umask", setup=["export A=1", "B=$A$A\nexport B", "cd /usr",
                                                                    "umask 027", "true # comment"])
    assert answer["stage"] == "started"
    node.wait_ended()
    assert node.read("log") == b"1/11//usr\n0027\n"


@pytest.mark.parametrize("lines, line, status", [
    (["true", "false", "touch never"], 2, 1),
    (["exit 0"], 1, 1),
    (["true", "exit 9"], 2, 9),
    (["set -e; false; true"], 1, 1),
    (["true", "if"], 2, None),
    (["no-such-command"], 1, 127),
])
def test_a_setup_line_that_fails_is_named(node, lines, line, status):
    answer = node.start("/bin/sleep", "50", setup=["echo text", *lines])
    assert (answer["stage"], answer["setup_line"]) == ("setup", line + 1)
    assert answer["status"] == status or status is None and answer["status"] > 0
    assert answer["output"].startswith("text")
    ended = node.observe()
    assert (ended["life"], ended["never_ran"], ended["setup_line"]) == ("exited", True, line + 1)
    assert not os.path.exists(os.path.join(node.home, "never"))


def test_setup_runs_in_bash_where_there_is_one(node):
    node.start(SH, "-c", "echo $X", setup=["export X=${BASH_VERSION:+bash}"])
    node.wait_ended()
    assert node.read("log") == (b"\n" if node.shell == "busybox" else b"bash\n")


def test_a_named_shell(dash):
    dash.start(SH, "-c", "echo $X", setup=["export X=${BASH_VERSION:+bash}"], shell="sh")
    dash.wait_ended()
    assert dash.read("log") == b"\n"
    answer = dash.start("/bin/true", run="s", shell="no-such-shell")
    assert answer["stage"] == "setup" and "no-such-shell" in answer["problem"]


def test_a_missing_working_folder(node):
    answer = node.start("/bin/true", workdir="/no/such folder")
    assert (answer["stage"], answer["setup_line"]) == ("setup", 0)
    assert "/no/such folder" in answer["output"]


def test_the_working_folder(node):
    os.mkdir(os.path.join(node.home, "a 'b"))
    for index, (workdir, where) in enumerate([(None, node.home), ("a 'b", node.home + "/a 'b"),
                                              ("~/a 'b", node.home + "/a 'b"), ("/usr", "/usr")]):
        values = {} if workdir is None else {"workdir": workdir}
        node.start(SH, "-c", "pwd", run=f"w{index}", **values)
        node.wait_ended(run=f"w{index}")
        assert node.read("log", run=f"w{index}").decode() == where + "\n"


def test_the_home_folder_of_program_and_interpreter_u10(node):
    """A "~/" that begins the interpreter or the program is the login's home; as an argument it stays as it stands."""
    os.makedirs(os.path.join(node.home, "my 'env"))
    run = os.path.join(node.home, "my 'env", "run")
    with open(run, "w") as f:
        f.write('#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    os.chmod(run, 0o755)
    word = "~/my 'env/run"
    answer = node.start(word, word, word, "~/x", "~", home_word=[0, 1], setup=["HOME=/nowhere", "cd /"])
    assert answer["stage"] == "started", answer
    node.wait_ended()
    assert node.read("log").decode() == f"{run}|{run}|{word}|~/x|~|"


def test_a_start_that_takes_too_long(node):
    answer = node.start("/bin/true", setup=["sleep 60"], timeout=1)
    assert (answer["stage"], answer["setup_line"]) == ("timeout", 1)
    assert node.observe()["life"] == "starting"
    stopped = node.stop()
    assert stopped["was_alive"] and stopped["survivors"]["total"] == 0


NASTY = ["", " ", "a b", "it's", '"', "\\", "\\\\n", "$HOME", "$(id)", "`id`", "*", "?", "[a]", "{a,b}", "~", "~root", ";",
         "&", "|", ">", "<", "(x)", "!", "!!", "#", "%", "%s%n", "-n", "--", "a\nb", "\n", "tab\there", "\r",
         "é日本", '{"a": [1, "b c", null]}', "x" * 100_000, "\x01\x7f\x1b[31m", "@@0123456789abcdef0123456789abcdef end=ok",
         "'''", "a'b\"c`d$e\\f", "MT_LIST", "MT_LIST\n", "\\'"]


def test_nasty_values_arrive_byte_for_byte(node):
    with open(os.path.join(node.home, "dump.py"), "w") as f:
        f.write("import os, sys\nwith open('got', 'wb') as f:\n"
                "    f.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])) + b'\\0\\0' + "
                "b'\\0'.join(os.environb[b'N%d' % i] for i in range(int(sys.argv[1]))))\n")
    argv = [str(len(NASTY)), *NASTY, b"\xff\xfe\x80"]
    answer = node.start(PYTHON, "dump.py", *argv, values=[f"N{i}={value}" for i, value in enumerate(NASTY)])
    assert answer["stage"] == "started", answer["output"]
    node.wait_ended()
    with open(os.path.join(node.home, "got"), "rb") as f:
        got_argv, _, got_env = f.read().partition(b"\xff\xfe\x80\0\0")
    want = b"\0".join(a if isinstance(a, bytes) else a.encode() for a in argv)
    assert got_argv + b"\xff\xfe\x80" == want
    assert got_env == b"\0".join(v.encode() for v in NASTY)


def test_the_environment_in_order(node):
    caller = {"KEEP": "1", "GONE": "1", "SET": "theirs", "D2": "theirs", "mt_x": "1"}
    answer = node.start("/usr/bin/env", caller=caller, unset=["GONE"], values=["SET=ours"],
                        default=["D1=default", "D2=default", "LANG=C.UTF-8"], computed=["C=computed"],
                        setup=["export C=user LATE=1"])
    assert answer["stage"] == "started"
    node.wait_ended()
    lines = node.read("log").decode().splitlines()
    env = dict(line.partition("=")[::2] for line in lines)
    assert env["KEEP"] == "1" and "GONE" not in env
    assert (env["D1"], env["D2"], env["LANG"]) == ("default", "theirs", "C.UTF-8")
    assert (env["C"], env["LATE"], env["SET"]) == ("computed", "1", "ours")
    added = {"PWD", "OLDPWD", "SHLVL", "_", "C", "D1", "LANG", "LATE", "MTLAUNCH_MARK"}
    assert set(env) - added == {"HOME", "PATH", "USER", "LOGNAME", "KEEP", "SET", "D2", "mt_x"}
    assert env["PATH"] == node.path and env["mt_x"] == "1"


def test_lang_waits_for_lc_all(dash):
    assert dash.start("env", caller={"LC_ALL": "C"}, default=["LANG=C.UTF-8"])["stage"] == "started"
    dash.wait_ended()
    assert b"LANG=" not in dash.read("log")


@pytest.mark.parametrize("mode", ["keep", "clean"])
def test_modes_of_a_local_node(node, mode):
    caller = {"PET_X": "1", "RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "1", "GROUP_RANK": "1", "RANKED": "1",
              "TORCHELASTIC_RUN_ID": "x", "MTLAUNCH_MARK": "other-1.1.0", "MINE": "a\nb", "SHELL": "/bin/zsh"}
    assert node.start("/usr/bin/env", "-0", caller=caller, mode=mode)["stage"] == "started"
    node.wait_ended()
    names = {pair.partition(b"=")[0].decode() for pair in node.read("log").split(b"\0")}
    assert f"MTLAUNCH_MARK={node.run_id}.1.0".encode() in node.read("log").split(b"\0")
    names -= {"PWD", "OLDPWD", "SHLVL", "_", "", "MTLAUNCH_MARK"}
    if mode == "keep":
        assert names == {"HOME", "PATH", "USER", "LOGNAME", "RANKED", "MINE", "SHELL"}
    else:
        assert names == {"HOME", "PATH", "USER", "LOGNAME", "SHELL"}


def test_no_value_of_the_environment_on_a_command_line(node):
    build = node.build("start", arg=["/bin/sleep", "30"], setup=["sleep 1"], computed=["TOKEN=s3cr3t-value"])
    process = subprocess.Popen(node.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=node.environment())
    process.stdin.write(build)
    process.stdin.close()
    seen = False
    while process.poll() is None:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    seen = seen or b"s3cr3t-value" in f.read()
            except OSError:
                pass
        time.sleep(0.01)
    process.stdout.close()
    assert not seen
    for folder, _, files in os.walk(node.artifacts):
        for name in files:
            with open(os.path.join(folder, name), "rb") as f:
                assert b"s3cr3t-value" not in f.read(), name


def test_logs_are_renamed_to_their_attempts(node):
    for attempt in (1, 2, 3):
        answer = node.start(SH, "-c", f"echo {attempt}", attempt=attempt)
        assert answer["stage"] == "started"
        node.wait_ended(attempt=attempt)
    assert [node.read(s) for s in ("log.1", "log.2", "log")] == [b"1\n", b"2\n", b"3\n"]
    # another run named counts on, and finds its own by its attempt
    for attempt in (1, 2):
        node.start(SH, "-c", f"echo new {attempt}", run_id=node.run_id + "1", attempt=attempt)
        node.wait_ended(run_id=node.run_id + "1", attempt=attempt)
    assert [node.read(s) for s in ("log.3", "log.4", "log")] == [b"3\n", b"new 1\n", b"new 2\n"]
    for attempt in (1, 2):
        out, _, _ = node.raw("tail", run_id=node.run_id + "1", tail_attempt=attempt)
        assert node.parse("tail", out)[1] == b"new %d\n" % attempt


def test_logs_without_state_count_on_from_the_highest(node):
    os.makedirs(os.path.join(node.artifacts, "logs"))
    for suffix in ("log", "log.7", "log.x", "log.007a"):
        with open(node.file(suffix), "w") as f:
            f.write(suffix)
    node.start(SH, "-c", "echo new")
    node.wait_ended()
    assert (node.read("log.7"), node.read("log.8"), node.read("log")) == (b"log.7", b"log", b"new\n")


def test_a_second_start_of_the_same_run_is_refused(node):
    node.start("/bin/sleep", "100")
    pid = node.state()["pid"]
    assert node.start("/bin/sleep", "100", attempt=2)["stage"] == "live"
    assert node.state()["pid"] == pid and alive(pid)


def test_a_live_run_of_another_id_is_refused_and_named(node):
    first = node.start("/bin/sleep", "100")
    answer = node.start("/bin/true", run_id=node.run_id + "2")
    assert answer["stage"] == "foreign"
    foreign = answer["foreign"]
    assert (foreign["run_id"], foreign["host"], foreign["pid"], foreign["lives"]) == (
        node.run_id, os.uname().nodename, first["pid"], True)
    assert foreign["user"] and alive(first["pid"])


def write_state(node, **changed):
    os.makedirs(os.path.join(node.artifacts, "run_state"), mode=0o700, exist_ok=True)
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot_id = f.read().strip()
    fields = {"format": 1, "run_id": node.run_id + "9", "host": os.uname().nodename, "uid": os.getuid(), "user": "root",
              "boot_id": boot_id, "pid": os.getpid(), "start_ticks": 1, "pgid": os.getpid(), "attempt": 1, "started": 1,
              **changed}
    with open(node.file("state"), "w") as f:
        f.write("".join(f"{key}={value}\n" for key, value in fields.items()))


@pytest.mark.parametrize("changed, stage", [
    ({}, "started"),  # the pid is somebody else's: start ticks differ
    ({"pid": 4194303, "start_ticks": 7}, "started"),
    ({"boot_id": "another"}, "started"),
    ({"host": "elsewhere"}, "foreign"),
])
def test_states_that_are_dead_and_states_that_cannot_be_shown_dead(node, changed, stage):
    write_state(node, **changed)
    answer = node.start("/bin/sleep", "20")
    assert answer["stage"] == stage
    if stage == "foreign":
        assert (answer["foreign"]["host"], answer["foreign"]["lives"]) == ("elsewhere", False)


def test_a_state_of_another_host_that_wrote_its_end_is_dead(dash):
    write_state(dash, host="elsewhere")
    with open(dash.file("exit"), "w") as f:
        f.write(f"status=0\nsignal=\nended=5\nuptime=1.00\nrun_id={dash.run_id}9\nattempt=1\n")
    assert dash.start("/bin/true")["stage"] == "started"


@pytest.mark.parametrize("planted", ["run_state", "state", "log"])
def test_a_planted_link_is_refused(node, planted):
    target = os.path.join(node.folder, "target")
    os.makedirs(os.path.join(node.artifacts, "logs"))
    if planted == "run_state":
        os.mkdir(target)
        os.symlink(target, os.path.join(node.artifacts, "run_state"))
    else:
        os.makedirs(os.path.join(node.artifacts, "run_state"), mode=0o700)
        os.symlink(target, node.file(planted))
    answer = node.start("/bin/true")
    assert answer["stage"] == "claim" and "symbolic link" in answer["problem"]
    assert not os.path.exists(target) or os.listdir(target) == []


def test_a_folder_of_another_owner_is_refused(dash):
    if os.geteuid() != 0:
        pytest.skip("giving a folder away needs root")
    os.makedirs(os.path.join(dash.artifacts, "run_state"))
    os.chown(os.path.join(dash.artifacts, "run_state"), 12345, -1)
    answer = dash.start("/bin/true")
    assert answer["stage"] == "claim" and "another user (uid 12345" in answer["problem"]


def test_run_state_is_closed_to_others(node):
    node.start("/bin/true")
    assert os.stat(os.path.join(node.artifacts, "run_state")).st_mode & 0o777 == 0o700


def test_four_nodes_on_one_folder(dash):
    code = "for i in 1 2 3 4 5 6 7 8 9; do echo node$0 line $i; done"
    for rank in range(4):
        assert dash.start(SH, "-c", code, str(rank), rank=rank)["stage"] == "started"
    for rank in range(4):
        dash.wait_ended(rank=rank)
        want = "".join(f"node{rank} line {i}\n" for i in range(1, 10))
        assert dash.read("log", rank=rank).decode() == want


def test_two_starts_at_one_moment_give_one_job(node):
    calls = [node.popen("start", arg=["/bin/sleep", "50"], run_id=f"{node.run_id}{i}",
                        computed=[f"MTLAUNCH_MARK={node.run_id}{i}.1.0"])
             for i in range(4)]
    node.runs += [("r", f"{node.run_id}{i}", 0) for i in range(4)]
    answers = [node.parse("start", call.communicate(timeout=60)[0]) for call in calls]
    assert all("stage" in answer for answer in answers), answers
    stages = [answer["stage"] for answer in answers]
    assert sorted(stages) == ["foreign", "foreign", "foreign", "started"]


def test_a_killed_starter_leaves_a_true_state(node):
    process = node.popen("start", arg=["/bin/sleep", "50"], setup=["sleep 2"],
                         computed=[f"MTLAUNCH_MARK={node.run_id}.1.0"])
    wait_for(lambda: os.path.exists(node.file("pid")), what="the pid")
    process.kill()
    process.communicate()
    assert node.observe()["life"] == "starting"
    wait_for(lambda: node.observe()["life"] == "running", what="the job")
    stopped = node.stop()
    assert stopped["was_alive"] and stopped["survivors"]["total"] == 0


def test_a_cut_script_runs_nothing(node):
    whole = node.build("start", arg=["/bin/sh", "-c", "echo ran >ran"])
    for cut in (60, len(whole) // 2, len(whole) - 8):
        done = subprocess.run(node.command(), input=whole[:cut], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=node.environment(), cwd=node.home)
        assert b"@@" not in done.stdout
    assert not os.path.exists(node.artifacts) and not os.path.exists(os.path.join(node.home, "ran"))


def test_login_noise_before_and_after(node):
    out, _, _ = node.raw("observe")
    noisy = b"Welcome!\n@@ not a frame\n\x00\xff no newline" + out + b"logout\n"
    assert node.parse("observe", noisy)["life"] == "none"


def test_a_login_that_eats_the_first_line(node):
    build = node.build("observe")
    done = subprocess.run(["/bin/sh", "-c", "read eaten; " + node.command()[-1]], input=build, stdout=subprocess.PIPE)
    assert done.returncode == 97
    assert node.parse("observe", done.stdout)["error"] == "node-answer"


@pytest.mark.parametrize("login", ["bash", "dash", "zsh", "fish", "tcsh"])
def test_login_shells(dash, login):
    if subprocess.run(["which", login], stdout=subprocess.DEVNULL).returncode != 0:
        pytest.skip(f"{login} is not installed")
    done = subprocess.run([login, "-c", dash.command()[-1]], input=dash.build("observe"), stdout=subprocess.PIPE)
    assert dash.parse("observe", done.stdout)["life"] == "none"


def test_a_normal_user(open_folder):
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    user = Node("dash", open_folder, own_uid())
    try:
        answer = user.start("/bin/sleep", "100")
        assert answer["stage"] == "started"
        assert os.stat(f"/proc/{answer['pid']}").st_uid == user.uid
        assert user.stop()["survivors"]["total"] == 0
    finally:
        user.close()


def test_the_program_of_the_tests_is_there():
    assert os.access(NODE_CALL, os.X_OK), "make node-test builds it"
    assert os.path.isdir(PROGRAMS)


def test_the_recorders_folder_is_made_anew_and_removed(node):
    """Only where the job's environment names it, and a start or a removal takes away an earlier one."""
    folder = node.file("fr")
    pipe = f"TORCH_NCCL_DEBUG_INFO_PIPE_FILE={folder}/pipe_"
    node.start("sh", "-c", "echo dump >${TORCH_NCCL_DEBUG_INFO_PIPE_FILE}0", default=[pipe])
    node.wait_ended()
    assert os.listdir(folder) == ["pipe_0"] and os.stat(folder).st_mode & 0o777 == 0o700
    node.start("true", attempt=2, default=[pipe])
    node.wait_ended(attempt=2)
    assert os.listdir(folder) == []
    assert node.call("remove", attempt=2)["removed"]
    assert not os.path.exists(folder)
    node.start("true", attempt=3)
    assert not os.path.exists(folder)
