"""Tail, probe, remove."""
import os
import random
import re
import socket
import subprocess
import time

import pytest

from conftest import NONCE, PYTHON, alive, can_mount, wait_for


def tail(node, **values):
    out, _, _ = node.raw("tail", **values)
    return node.parse("tail", out)


def with_log(node, body):
    node.start("/bin/true")
    node.wait_ended()
    with open(node.file("log"), "wb") as f:
        f.write(body)


def test_a_missing_log(node):
    header, body = tail(node)
    assert header["missing"] and body == b""


BODY = b"".join(b"line %d \xff\x00\r@@%s end=ok\n" % (i, NONCE.encode()) for i in range(3000)) + b"no end"


@pytest.mark.parametrize("values, begin", [
    ({}, 0),
    ({"lines": 0}, len(BODY)),
    ({"lines": 1}, BODY.rindex(b"\n") + 1),
    ({"lines": 3}, BODY.index(b"line 2998 ")),
    ({"lines": 2500}, BODY.index(b"line 501 ")),
    ({"lines": 100000}, 0),
    ({"offset": 0}, 0),
    ({"bytes": 100}, len(BODY) - 100),
    ({"bytes": 10000000}, 0),
    ({"offset": 70001}, 70001),
    ({"offset": len(BODY)}, len(BODY)),
    ({"offset": len(BODY) + 5}, 0),  # U7: it became shorter: from its start
])
def test_exact_bytes(node, values, begin):
    with_log(node, BODY)
    header, body = tail(node, **values)
    assert body == BODY[begin:]
    assert (header["offset"], header["size"]) == (begin, len(BODY))
    assert header["log"] == node.file("log")


def test_a_line_longer_than_any_window(dash):
    body = b"first\n" + b"x" * 3_000_000 + b"\nlast\n"
    with_log(dash, body)
    assert tail(dash, lines=2)[1] == body[6:]
    assert tail(dash, lines=1)[1] == b"last\n"


def test_the_end_of_a_huge_log_is_found_quickly(dash):
    with_log(dash, b"")
    with open(dash.file("log"), "wb") as f:
        f.truncate(20 << 30)
        f.seek(20 << 30)
        f.write(b"\nlast\n")
    began = time.monotonic()
    header, body = tail(dash, lines=1)
    assert body == b"last\n" and header["size"] == (20 << 30) + 6
    assert time.monotonic() - began < 10


def odd_log(seed):
    """Lines of every kind, longer than what is sent without a search; the last one has no end."""
    rng = random.Random(seed)
    parts = [b"loss: ", b"nan", b"\r", b"\r\n", b"\n", b"\x00", b"\xff", b"\x1b[1m", b"a.c", b"abc", "é".encode(), b"\xc3", b"\xa9",
             b"?", b"\t", b"\x80", b"x" * 70, b"step 12 " * 20]
    return b"".join(rng.choices(parts, k=60000)) + b"\nloss: \xff a.c nan"


@pytest.mark.parametrize("kind, patterns, wanted", [
    ("filter_fixed", "nan", rb"nan"),
    ("filter_fixed", "loss: n\na.c\né", "loss: n|a\\.c|é".encode()),
    ("filter_fixed", "not there", rb"not there"),
    ("filter_extended", "loss: .*a\\.c.*nan", rb"(?s)loss: .*a\.c.*nan"),
    ("filter_extended", "é.*é\nabc.*\t", "(?s)é.*é|abc.*\t".encode()),
])
def test_a_filter_leaves_out_other_lines(node, kind, patterns, wanted):
    log = odd_log(f"{kind} {patterns}")
    with_log(node, log)
    header, body = tail(node, **{kind: patterns})
    assert header["size"] == len(log)
    if node.shell == "busybox" and not header["filtered"]:  # a line ends at NUL for its grep -F
        assert body == log
        return
    assert header["filtered"]
    lines = log.split(b"\n")
    assert body == b"".join(line + b"\n" for line in lines if re.search(wanted, line))
    lines = lines[-5000:]
    header, body = tail(node, lines=5000, **{kind: patterns})
    assert body == b"".join(line + b"\n" for line in lines if re.search(wanted, line))


def test_a_short_log_is_not_searched(node):
    with_log(node, b"some\nlines\nmore" * 1000)
    header, body = tail(node, filter_fixed="lines")
    assert not header["filtered"] and body == b"some\nlines\nmore" * 1000


@pytest.mark.parametrize("script", [
    'exec /usr/bin/grep "$@" | tr -d "\\000"',  # one for text alone
    "exec /usr/bin/grep --color=always \"$@\"",
    "exit 2",
])
def test_a_grep_that_cannot_be_trusted_is_not_used(dash, tmp_path, script):
    (tmp_path / "grep").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "grep").chmod(0o755)
    log = odd_log(script)
    with_log(dash, log)
    header, body = tail(dash, filter_fixed="nan", env={"PATH": f"{tmp_path}:{dash.path}"})
    assert not header["filtered"] and body == log


@pytest.mark.parametrize("ending", ["kill -9 $$", "exit 2", "head -c 1000 >/dev/null; exit 0"])
def test_a_search_that_ends_early_is_not_taken_for_all(dash, tmp_path, ending):
    """One that reads the log is another than the one that is tried before: its standard input is a file."""
    (tmp_path / "grep").write_text(f'#!/bin/sh\n[ -p /proc/self/fd/0 ] && exec /usr/bin/grep "$@"\n{ending}\n')
    (tmp_path / "grep").chmod(0o755)
    with_log(dash, odd_log(ending))
    out, _, code = dash.raw("tail", filter_fixed="nan", env={"PATH": f"{tmp_path}:{dash.path}"})
    assert b" filtered=1" in out and b" lines=all" not in out
    assert code == 74
    assert dash.parse("tail", out)[0] == {"error": "node-answer"}


def test_follow_sends_all_and_ends_with_the_job(node):
    go = os.path.join(node.folder, "go")
    node.start("/bin/sh", "-c", 'echo one; while [ ! -e "$0" ]; do sleep 0.1; done; echo two; printf three', go)
    process = node.popen("tail", follow=1)
    got = b""
    while b"one\n" not in got:
        got += os.read(process.stdout.fileno(), 65536)
    assert process.poll() is None
    open(go, "w").close()
    rest, _ = process.communicate(timeout=20)
    assert node.parse("tail", got + rest)[1] == b"one\ntwo\nthree"


def test_follow_keeps_to_a_log_that_is_renamed(dash):
    dash.start("/bin/sh", "-c", "echo one; sleep 2; echo two")
    process = dash.popen("tail", follow=1)
    time.sleep(0.5)
    os.rename(dash.file("log"), dash.file("log.9"))
    out, _ = process.communicate(timeout=20)
    assert dash.parse("tail", out)[1] == b"one\ntwo\n"


def test_follow_ends_when_nothing_lives(dash):
    answer = dash.start("/bin/sleep", "100")
    process = dash.popen("tail", follow=1)
    time.sleep(0.3)
    os.kill(int(dash.state()["keeper"]), 9)
    os.kill(answer["pid"], 9)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_follow_ends_when_nobody_reads(node):
    node.start("/bin/sh", "-c", "while :; do echo tick; sleep 0.1; done")
    process = node.popen("tail", follow=1)
    os.read(process.stdout.fileno(), 100)
    process.stdout.close()
    process.wait(timeout=15)


def test_follow_ends_when_its_parent_is_gone(dash):
    dash.start("/bin/sleep", "100")
    with open(os.path.join(dash.folder, "input"), "wb") as f:
        f.write(dash.build("tail", follow=1))
    pid_file = os.path.join(dash.folder, "pid")
    remote = dash.command()[-1]
    parent = subprocess.Popen([PYTHON, "-c",
                               "import subprocess,sys,time\n"
                               "p = subprocess.Popen(['/bin/sh','-c',sys.argv[1]], stdin=open(sys.argv[2]),"
                               " stdout=open('/dev/null','w'))\n"
                               "open(sys.argv[3],'w').write(str(p.pid))\ntime.sleep(100)",
                               remote, f.name, pid_file], env=dash.environment())
    wait_for(lambda: os.path.exists(pid_file) and os.path.getsize(pid_file), what="the follower")
    time.sleep(0.5)
    with open(pid_file) as f:
        follower = int(f.read())
    parent.kill()
    parent.wait()
    wait_for(lambda: not alive(follower), what="the follower's end")


def probe(node, **values):
    return node.call("probe", look_job=1, **values)


def test_a_probe_of_a_good_node(node):
    answer = probe(node, interpreter="sh", setup=["export PATH=/x:$PATH"])
    assert answer["home"] == node.home and answer["host"] == os.uname().nodename
    assert answer["artifacts"] == node.artifacts and answer["writable"] and answer["problem"] is None
    assert answer["uid"] == os.getuid() and answer["cores"] >= 1
    assert answer["interpreter_found"] and answer["interpreter"].endswith("/sh")
    assert answer["path"] == "/x:" + node.path
    assert not answer["setup_failed"] and answer["workdir"] == node.home
    assert answer["live"]["total"] == 0 and answer["foreign"]["run_id"] is None
    assert answer["python"] == (node.shell != "busybox")
    assert os.listdir(os.path.join(node.artifacts, "run_state")) == []


def test_a_probe_leaves_no_temporary_file(dash, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    probe(dash, env={"TMPDIR": str(own)}, setup=["mktemp >made; sleep 3 &"])
    with open(os.path.join(dash.home, "made"), encoding="utf-8") as made:
        assert os.listdir(own) == [os.path.basename(made.read().strip())]  # temporary files are made there, and one stays


@pytest.mark.parametrize("program, exists", [("train.py", True), ("no.py", False), ("a b'/x.py", True), ("..", False)])
def test_the_program(node, program, exists):
    os.makedirs(os.path.join(node.home, "work/a b'"))
    for name in ("train.py", "a b'/x.py"):
        open(os.path.join(node.home, "work", name), "w").close()
    assert probe(node, workdir="work", program=program)["program_exists"] == exists


def test_the_interpreter_is_that_of_the_environment_after_setup(node):
    os.makedirs(os.path.join(node.home, "env/bin"))
    path = os.path.join(node.home, "env/bin/python9")
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.chmod(path, 0o755)
    missing = probe(node, interpreter="python9")
    assert not missing["interpreter_found"] and missing["interpreter"] is None and missing["path"] == node.path
    found = probe(node, interpreter="python9", setup=["PATH=$HOME/env/bin:$PATH"])
    assert found["interpreter_found"] and found["interpreter"] == path


def test_the_probe_looks_below_the_home_folder_u10(node):
    os.makedirs(os.path.join(node.home, "e'nv"))
    path = os.path.join(node.home, "e'nv", "python9")
    with open(path, "w") as f:
        f.write(f'#!/bin/sh\ncase $0 in "{path}") exit 0 ;; esac\nexit 1\n')
    wanted = {"program": "~/e'nv/python9", "interpreter": "~/e'nv/python9", "command": "~/e'nv/python9", "module": "any",
              "look_exec": "~/e'nv/python9", "setup": ["HOME=/nowhere", "cd /"]}
    faulty = probe(node, **wanted)
    assert (faulty["fault"], faulty["fault_file"]) == ("mode", "~/e'nv/python9")
    os.chmod(path, 0o755)
    found = probe(node, **wanted)
    assert found["program_exists"] and found["interpreter"] == path and found["module_found"] and found["fault"] is None
    missing = probe(node, **{**wanted, "interpreter": "~/no", "command": "~/no", "program": "~/no"})
    assert not missing["program_exists"] and not missing["interpreter_found"]
    assert not probe(node, command="~/no")["program_exists"] and probe(node, command="sh")["program_exists"]


def test_a_module_is_looked_for_where_the_interpreter_does(node):
    os.makedirs(os.path.join(node.home, "lib/my_module"))
    assert probe(node, interpreter="/usr/bin/python3", module="json")["module_found"]
    assert not probe(node, interpreter="/usr/bin/python3", module="my_module")["module_found"]
    assert probe(node, interpreter="/usr/bin/python3", module="my_module",
                 setup=["export PYTHONPATH=$HOME/lib"])["module_found"]


def test_a_setup_line_that_fails_in_the_probe(node):
    answer = probe(node, setup=["true", "echo because; exit 5"])
    assert (answer["setup_failed"], answer["setup_line"], answer["setup_status"]) == (True, 2, 5)
    assert answer["setup_output"] == "because"


def test_a_setup_line_that_never_ends_in_the_probe(node):
    began = time.monotonic()
    sleep = f"sleep {100000 + int(node.hex, 16)}"
    answer = probe(node, setup=[sleep], setup_timeout=1)
    assert (answer["setup_failed"], answer["setup_line"], answer["setup_status"]) == (True, 1, -1)
    assert time.monotonic() - began < 10
    out = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True).stdout
    assert sleep not in out


def test_a_missing_working_folder(node):
    answer = probe(node, workdir="/no/such")
    assert not answer["workdir_exists"] and answer["workdir"] == "/no/such"


def test_artifacts_that_cannot_be_written(node):
    with open(os.path.join(node.home, "file"), "w"):
        pass
    answer = probe(node, artifacts="file")
    assert not answer["writable"] and "ile" in answer["problem"]


def test_default_artifacts(node):
    assert probe(node, artifacts="")["artifacts"] == node.home + "/.mtlaunch"
    assert probe(node, artifacts="~/x")["artifacts"] == node.home + "/x"


def fake_gpus(node, script):
    folder = os.path.join(node.home, "bin")
    os.mkdir(folder)
    with open(os.path.join(folder, "nvidia-smi"), "w") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(f.name, 0o755)
    node.path = folder + ":" + node.path


GPUS = 'for i in 0 1 2 3; do echo "GPU $i: NVIDIA H200 (UUID: GPU-$i)"; done\n'


@pytest.mark.parametrize("visible, count", [(None, 4), ("0,2", 2), ("", 0), ("3", 1), ("0,9,1", 1), ("-1", 0), ("GPU-1,GPU-2", 2)])
def test_gpus_within_what_is_visible(node, visible, count):
    fake_gpus(node, GPUS)
    values = {} if visible is None else {"values": [f"CUDA_VISIBLE_DEVICES={visible}"]}
    assert node.call("probe", look_gpus=1, **values)["gpus"] == count
    if visible is not None:
        assert node.call("probe", {"CUDA_VISIBLE_DEVICES": visible}, look_gpus=1)["gpus"] == count
        assert probe(node, look_gpus=1, setup=[f"export CUDA_VISIBLE_DEVICES={visible}"])["gpus"] == count


def test_no_gpus(node):
    answer = node.call("probe", look_gpus=1)
    assert (answer["gpus"], answer["gpus_problem"]) == (0, None)

SICK = "echo 'Failed to initialize NVML: Driver/library version mismatch'; echo 'NVML library version: 535.98'; exit 18"


@pytest.mark.parametrize("script, words", [
    (SICK, "nvidia-smi ended with status 18: Failed to initialize NVML: Driver/library version mismatch NVML library version"),
    (GPUS + "exit 14", "nvidia-smi ended with status 14: GPU 0: NVIDIA H200"),
    (GPUS + "echo 'Unable to determine the device handle for GPU 0000:41:00.0: GPU is lost.'", "an incomplete list of GPUs: GPU 0"),
    (GPUS + "printf 'GPU 4: NVIDIA H200 (UUID: GPU-4'", "incomplete list"),
    ("echo 'GPU 1: NVIDIA H200 (UUID: GPU-1)'", "incomplete list"),
    ("head -c 3000 /dev/urandom", "incomplete list"),
    ("", "incomplete list"),
    ("exit 127", "status 127"),
    ("kill -SEGV $$", "status 139"),
])
def test_w7_a_sick_nvidia_smi_is_no_count(node, script, words):
    fake_gpus(node, script + "\n")
    answer = probe(node, look_gpus=1)
    assert answer["gpus"] == 0 and words in answer["gpus_problem"]
    # nothing has to be counted where the job sees none, or names them by their ids
    assert node.call("probe", look_gpus=1, values=["CUDA_VISIBLE_DEVICES="])["gpus_problem"] is None
    answer = node.call("probe", look_gpus=1, values=["CUDA_VISIBLE_DEVICES=GPU-1,GPU-2"])
    assert (answer["gpus"], answer["gpus_problem"]) == (2, None)
    assert words in node.call("probe", look_gpus=1, values=["CUDA_VISIBLE_DEVICES=0,1"])["gpus_problem"]


def test_w7_a_hanging_nvidia_smi_is_no_count(dash):
    fake_gpus(dash, "exec sleep 60\n")
    began = time.monotonic()
    assert "did not end within 15 s" in dash.call("probe", look_gpus=1)["gpus_problem"]
    assert time.monotonic() - began < 25


def test_w7_nvidia_smi_of_the_environment_after_setup(node):
    fake_gpus(node, "[ \"$LD_LIBRARY_PATH\" = /opt/driver ] || exit 9\n" + GPUS)
    node.path = node.path.partition(":")[2]
    assert node.call("probe", look_gpus=1)["gpus"] == 0
    answer = probe(node, look_gpus=1, setup=["export PATH=$PATH:$HOME/bin LD_LIBRARY_PATH=/opt/driver"])
    assert (answer["gpus"], answer["gpus_problem"]) == (4, None)


def test_w7_mig_devices_stand_below_their_gpu(node):
    fake_gpus(node, "echo 'GPU 0: A100 (UUID: GPU-0)'; echo '  MIG 1g.5gb     Device  0: (UUID: MIG-0)'; echo 'GPU 1: A100'\n")
    assert (lambda a: (a["gpus"], a["gpus_problem"]))(probe(node, look_gpus=1)) == (2, None)


DEVICE = ("mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work && mount -t overlay -o"
          " lowerdir=/dev,upperdir=/mnt/up,workdir=/mnt/work overlay /dev && : >/dev/nvidia0")
DRIVER = "mount -t tmpfs tmpfs /proc/driver && mkdir /proc/driver/nvidia"


@pytest.mark.skipif(not can_mount(), reason="needs root and mount namespaces")
@pytest.mark.parametrize("mounts, device", [(DEVICE, "/dev/nvidia0"), (DRIVER, "/proc/driver/nvidia")])
def test_w7_a_gpu_without_nvidia_smi(dash, mounts, device):
    dash.mounts = mounts
    assert probe(dash, look_gpus=1)["gpus_problem"] == f"there is a GPU ({device}), but no nvidia-smi in PATH"
    fake_gpus(dash, "echo No devices were found\n")
    assert "an incomplete list of GPUs: No devices were found" in probe(dash, look_gpus=1)["gpus_problem"]


def listener():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    return server


def test_ports(node):
    server = listener()
    port = server.getsockname()[1]
    taken = node.call("probe", look_port=1, master_port=port)
    assert (taken["port"], taken["port_taken"], taken["port_pid"]) == (port, True, os.getpid())
    assert "pytest" in taken["port_command"]
    server.close()
    free = node.call("probe", look_port=1, master_port=port)
    assert (free["port"], free["port_taken"]) == (port, False)
    assert 29500 <= node.call("probe", look_port=1)["port"] <= 29999


def test_the_port_of_a_run_that_does_not_listen_yet(node):
    port = node.call("probe", look_port=1)["port"]
    node.start("/bin/sleep", "100", run="other", master_port=port)
    assert node.call("probe", look_port=1)["port"] > port
    taken = node.call("probe", look_port=1, master_port=port)
    assert taken["port_taken"] and taken["port_command"] == "run " + node.id_of("other")
    answer = node.start("/bin/sleep", "100", master_port=port)
    assert answer["stage"] == "port" and node.id_of("other") in answer["problem"]
    assert not os.path.exists(node.file("state"))
    node.stop(run="other")
    assert node.start("/bin/sleep", "100", master_port=port)["stage"] == "started"


def test_interfaces(node):
    assert node.call("probe", master_addr="127.0.0.5")["interface"] == "lo"
    assert node.call("probe", master_addr="::1", is_master=1)["interface"] == "lo"
    assert node.call("probe", master_addr="no-such-name.invalid")["interface"] is None
    assert node.call("probe")["interface"] is None


def route():
    out = subprocess.run(["ip", "-o", "-4", "addr", "show", "scope", "global"], stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        return words[1], words[3].split("/")[0]
    pytest.skip("this machine has no address but loopback's")


@pytest.mark.parametrize("with_ip", [True, False])
def test_the_interface_that_holds_the_address(node, with_ip):
    name, address = route()
    if not with_ip:
        if node.shell != "busybox":
            pytest.skip("only the busybox node can do without ip")
        os.unlink(os.path.join(node.path, "ip"))
    assert node.call("probe", master_addr=address, is_master=1)["interface"] == name
    parts = address.split(".")
    neighbour = ".".join(parts[:3] + [str((int(parts[3]) ^ 1))])
    assert node.call("probe", master_addr=neighbour)["interface"] == name


def test_processes_of_an_earlier_attempt(node):
    answer = node.start("/bin/sleep", "100")
    seen = node.call("probe", attempt=2)
    assert [item["pid"] for item in seen["live"]["items"]] == [answer["pid"]]
    assert node.call("probe", run_id="r-other")["foreign"]["run_id"] == node.run_id


def test_a_node_without_a_tool(dash, tmp_path):
    path = tmp_path / "few"
    path.mkdir()
    for name in os.listdir("/usr/bin"):
        if name not in ("setsid", "awk"):
            (path / name).symlink_to("/usr/bin/" + name)
    dash.path = str(path)
    answer = dash.observe()
    assert answer["error"] == "node-unsupported" and "setsid awk" in answer["text"]


def test_remove(node):
    for attempt in (1, 2):
        node.start("/bin/sh", "-c", "echo x", attempt=attempt)
        node.wait_ended(attempt=attempt)
    node.start("/bin/true", run="r_node0")
    open(node.file("log.1_node0.log"), "w").close()
    assert node.call("remove", attempt=2)["removed"]
    assert sorted(os.listdir(os.path.join(node.artifacts, "logs"))) == [
        "r_node0.log", "r_node0.log.1", "r_node0.log.1_node0.log", "r_node0_node0.log"]
    assert not any(name.startswith("r_node0.") for name in os.listdir(os.path.join(node.artifacts, "run_state")))
    assert node.call("remove", attempt=2, logs=1)["removed"]
    assert sorted(os.listdir(os.path.join(node.artifacts, "logs"))) == ["r_node0.log.1_node0.log", "r_node0_node0.log"]


def test_remove_refuses_what_lives(node):
    answer = node.start("/bin/sleep", "100")
    removal = node.call("remove", logs=1)
    assert not removal["removed"] and removal["live"]["items"][0]["pid"] == answer["pid"]
    assert os.path.exists(node.file("state"))
    assert not node.call("remove", run_id="r-other", logs=1)["removed"]
