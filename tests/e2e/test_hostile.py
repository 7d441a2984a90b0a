"""
S2: a node that answers anything at all, against every command, with mtlaunch built under ASan and UBSan: no crash, no
hang beyond the command's limits, no secret and no foreign memory in what is printed, no raw control character, and the
other node's results are shown.

A seeded slice runs by default (MTLAUNCH_SEED); MTLAUNCH_HOSTILE=all runs every mode against every command.
"""
import importlib.util
import os
import random
import re
import time

import pytest
from conftest import BINARY, HERE, ROOT, Lab, needs_namespaces
from cluster import Cluster

ASAN = ROOT / "build" / "asan" / "mtlaunch"
SPEC = importlib.util.spec_from_file_location("hostile", HERE / "programs" / "hostile.py")
HOSTILE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(HOSTILE)

SECRET = "tok-5ecret-of-the-job"
SHORT = ("--connect-timeout", "1", "--json")
# name: (words, seconds it may take, whether a node that never ends its answer is worth the wait)
COMMANDS = {
    "status": (("status", "live", *SHORT), 40, True),
    "logs": (("logs", "live", *SHORT), 50, True),
    "logs_text": (("logs", "live", "--connect-timeout", "1"), 50, False),
    "follow": (("logs", "live", "-f", "--connect-timeout", "1"), 20, True),
    "wait": (("wait", "live", "--timeout", "3", *SHORT), 40, True),
    "exec": (("exec", "-H", "node1,node2", "--timeout", "3", *SHORT, "--", "echo", "honest"), 30, True),
    "exec_text": (("exec", "-H", "node1,node2", "--timeout", "3", "--connect-timeout", "1", "--", "echo", "honest"), 30, True),
    "gather": (("exec", "--gather", "-H", "node1,node2", "--timeout", "3", "--connect-timeout", "1", "--", "echo", "honest"), 30,
               True),
    "start": (("start", "job.yaml", "other", "--no-supervise", "--connect-timeout", "1"), 90, False),
    "start_json": (("start", "job.yaml", "other", "--no-supervise", *SHORT), 90, False),
    "container": (("container", "status", "boxed.yaml", *SHORT), 90, False),
    "signal": (("signal", "live", "USR1", *SHORT), 60, False),
    "push": (("push", "large", "there", "-H", "node1,node2", *SHORT), 60, False),
    "push_relay": (("push", "large", "there", "-H", "node1,node2", "--relay", "--delete", *SHORT), 90, False),
    "pull": (("pull", ".mtlaunch/logs", "here", "-H", "node1,node2", "--connect-timeout", "1"), 60, False),
    "trust": (("hosts", "-H", "node1,node2", "--trust", "--yes", *SHORT), 40, False),
    "stop": (("stop", "live", "--grace", "1s", "--connect-timeout", "1"), 90, False),
    "stop_json": (("stop", "live", "--grace", "1s", *SHORT), 90, False),
    "remove": (("remove", "ended", "--connect-timeout", "1"), 60, False),
}
ENDLESS = {"mute", "slow_drip"}
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(name="hostile", scope="module")
def fixture_hostile():
    """Two nodes; the second answers in the mode its file says."""
    needs_namespaces()
    with Cluster(2, mtlaunch=ASAN if ASAN.exists() else BINARY) as cluster:
        lab = Lab(cluster)
        cluster.put(str(HERE / "programs" / "hostile.py"), ["node2"])
        set_mode(lab, "real")
        config = cluster.etc("node2") / "sshd_config"
        config.write_text(config.read_text() + "ForceCommand /usr/bin/python3 /home/lab/hostile.py\n")
        cluster.stop_sshd("node2")
        cluster.start_sshd("node2")
        lab.write("large", b"x" * (5 << 20))
        lab.job("job.yaml", program="echo line of $NODE_RANK; sleep 600", env={"API_TOKEN": SECRET})
        lab.job("boxed.yaml", program=["sleep", "600"], container={"name": "box"})
        lab.job("short.yaml", program=["true"])
        lab.mt("start", "short.yaml", "ended", "--no-supervise", timeout=180)
        lab.mt("start", "job.yaml", "live", "--no-supervise", timeout=180)
        lab.mt("status", "ended")
        yield lab
        lab.clean()


def set_mode(lab, mode):
    lab.node_file("node2", "mode").write_text(mode)


def key_lines(lab):
    """Lines of the private keys at the head."""
    text = "".join(p.read_text() for p in (lab.home / ".ssh").iterdir() if p.is_file() and "PRIVATE KEY" in p.read_text(errors="replace"))
    return [line for line in text.splitlines() if len(line) > 40 and "PRIVATE KEY" not in line]


def call(lab, name):
    words, limit, _ = COMMANDS[name]
    before = ("timeout", "-s", "INT", "6") if name == "follow" else ()
    env = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}
    begin = time.monotonic()
    done = lab.cluster.run(*before, "mtlaunch", *words, env=env, timeout=limit + 60)
    return done, time.monotonic() - begin


def check(lab, mode, name):
    set_mode(lab, mode)
    done, seconds = call(lab, name)
    what = f"{mode} against {name}: {done.returncode} after {seconds:.1f} s\n{done.stdout[-3000:]}\n--\n{done.stderr[-3000:]}"
    assert done.returncode in (0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130), what
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, what
    assert seconds < COMMANDS[name][1], what
    for text in (done.stdout, done.stderr):
        assert not CONTROLS.search(text), what + repr(CONTROLS.search(text))
        assert SECRET not in text and not any(line in text for line in key_lines(lab)), what
        if name not in ("exec_text", "gather", "logs_text", "follow"):  # those show lines of the node, behind its name
            assert not re.search(r"^FORGED", text, re.M), what
    honest = {"status": '"running"', "logs": "line of 0", "logs_text": "line of 0", "follow": "line of 0",
              "exec": "honest\\n", "exec_text": "node1: honest", "gather": "honest", "push": '"host":"node1"', "pull": "node1: "}.get(name)
    assert honest is None or honest in done.stdout, what
    if name == "start" and done.returncode == 0:
        assert "started" in done.stdout + done.stderr, what


def cases():
    every = [(mode, name) for name, (_, _, endless) in COMMANDS.items() for mode in HOSTILE.MODES
             if mode != "real" and (endless or mode not in ENDLESS)]
    if os.environ.get("MTLAUNCH_HOSTILE") == "all":
        return every
    chance = random.Random(int(os.environ.get("MTLAUNCH_SEED", "1")))
    always = [("copy_frames", "push"), ("copy_door", "push_relay"), ("copy_without_end", "pull"), ("copy_nasty", "pull"),
              ("copy_frames", "push_relay"), ("moving_buffer", "exec"), ("nasty_values", "status"), ("number_port", "start"), ("nasty_values", "stop"),
              ("runs_nasty", "exec_text"), ("body_nasty", "logs_text"), ("slow_drip", "logs")]
    return always + chance.sample([case for case in every if case not in always and case[0] not in ENDLESS], 25)


def test_a_master_port_outside_its_range(hostile):
    """S11: rank 0 says what port is free there; the other nodes are not told any number it says."""
    for mode in ("number_port", "port_40000"):
        set_mode(hostile, mode)
        done = hostile.mt("start", "job.yaml", "ranged", "-H", "node2,node1", "--no-supervise", code=(3, 4))
        assert "40000" in done.err or "999999" in done.err, repr(done)
        assert not hostile.marked("ranged", "node1")
    set_mode(hostile, "real")


@pytest.mark.parametrize("mode,name", cases())
def test_hostile_answers(hostile, mode, name):
    check(hostile, mode, name)
    if name in ("start", "start_json"):  # what the honest node was told to start goes on there
        set_mode(hostile, "real")
        hostile.cluster.run("mtlaunch", "stop", "other", "--grace", "1s", "--give-up", timeout=120)
        hostile.cluster.run("mtlaunch", "remove", "other", timeout=120)
    if name in ("stop", "stop_json", "signal"):  # USR1 ends a shell that does not expect it
        set_mode(hostile, "real")
        hostile.cluster.run("mtlaunch", "stop", "live", "--grace", "1s", timeout=120)
        hostile.mt("start", "job.yaml", "live", "--no-supervise", timeout=180)
    if name == "remove":
        set_mode(hostile, "real")
        hostile.cluster.run("mtlaunch", "remove", "ended", timeout=120)
        hostile.mt("start", "short.yaml", "ended", "--no-supervise", timeout=180)
        hostile.mt("status", "ended")
