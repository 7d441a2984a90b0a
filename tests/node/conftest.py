"""A node to test the script on: one machine, one folder, one of the shells as /bin/sh.

Other shells than the machine's own are mounted over /bin/sh in a mount namespace (root only). The busybox node has
busybox alone in its PATH: no bash for setup lines, no perl or python for a subreaper.

As root the tests have process ids of their own: a scan meets no process of other tests.
"""
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

import pytest

import pid_namespace

HERE = os.path.dirname(os.path.abspath(__file__))
NODE_CALL = os.environ.get("NODE_CALL", os.path.join(HERE, "../../build/tests/node/node_call"))
NONCE = "0123456789abcdef0123456789abcdef"

# What runs in the background of a script, or under nohup, has these ignored, and whatever it starts inherits that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
PROGRAMS = os.path.join(HERE, "programs")


def wait_for(condition, seconds=15, what="the condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {seconds} s")


def stat_fields(pid):
    with open(f"/proc/{pid}/stat", "rb") as f:
        return f.read().rpartition(b") ")[2].split()


def alive(pid):
    try:
        return stat_fields(pid)[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def start_ticks(pid):
    return stat_fields(pid)[19].decode()


def can_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def own_uid():
    """A user of this test alone: limits of processes count those of a user on the whole machine."""
    return 20000 + secrets.randbelow(40000)


class Node:
    def __init__(self, shell, folder, uid=None):
        """uid: that of its login, root's by default; it need not be in /etc/passwd."""
        self.shell = shell
        self.folder = str(folder)
        self.home = os.path.join(self.folder, "home")
        self.artifacts = os.path.join(self.folder, "arti facts'")
        self.uid = uid
        self.user = "root" if uid is None else str(uid)
        os.makedirs(self.home, exist_ok=True)
        self.path = PATH
        # marks of processes are looked for on the whole machine: no two tests may share an id
        self.hex = secrets.token_hex(4)
        self.run_id = f"r-{self.hex}"
        self.runs = [("r", self.run_id, 0)]
        self.reaper = True
        self.hide_perl = False
        self.mounts = None  # a shell line run in a mount namespace of the call's own
        if shell == "busybox":
            self.path = os.path.join(self.folder, "bb")
            os.mkdir(self.path)
            for applet in subprocess.check_output(["busybox", "--list"], text=True).split():
                os.symlink("/usr/bin/busybox", os.path.join(self.path, applet))
            self.reaper = False
        if uid is not None:
            os.chown(self.home, uid, -1)
            self.artifacts = os.path.join(self.home, "artifacts")

    def close(self):
        if pid_namespace.end_all():
            return
        for run, run_id, rank in self.runs:
            self.stop(run=run, run_id=run_id, rank=rank, grace=0)

    def environment(self, extra=None):
        env = {"HOME": self.home, "PATH": self.path, "USER": self.user, "LOGNAME": self.user}
        env.update(extra or {})
        return env

    def build(self, verb, **values):
        """values holds what the job's environment sets ("env" is the caller's own)."""
        words = []
        values.setdefault("artifacts", self.artifacts)
        values.setdefault("run_id", self.id_of(values.get("run", "r")))
        for key, value in values.items():
            key = "env" if key == "values" else key
            for one in value if isinstance(value, list) else [value]:
                words.append(os.fsencode(f"{key}=") + (one if isinstance(one, bytes) else str(one).encode()))
        return subprocess.run([NODE_CALL, "build", verb, *words], stdout=subprocess.PIPE, check=True).stdout

    def command(self):
        remote = subprocess.check_output([NODE_CALL, "command", NONCE], text=True).strip()
        words = ["/bin/sh", "-c", remote]
        if self.uid is not None:
            words = ["/usr/bin/setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *words]
        if self.hide_perl:
            words = ["/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c",
                     'mount --bind /bin/false /usr/bin/perl && exec "$@"', "sh", *words]
        if self.mounts:
            words = ["/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c", self.mounts + ' && exec "$@"',
                     "sh", *words]
        if self.shell != "dash" or os.path.realpath("/bin/sh") != "/usr/bin/dash":
            words = ["/usr/bin/unshare", "-m", "--propagation", "private", "/usr/bin/bash", "-c",
                     'mount --bind "$0" "$(readlink -f /bin/sh)" && exec "$@"', f"/usr/bin/{self.shell}", *words]
        return words

    def popen(self, verb, env=None, **values):
        """The call as a process whose input has been given; stdout is a pipe."""
        process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment(env), cwd=self.home)
        try:
            process.stdin.write(self.build(verb, **values))
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        return process

    def raw(self, verb, env=None, limit=90, **values):
        process = self.popen(verb, env, **values)
        out, err = process.communicate(timeout=limit)
        return out, err.decode(errors="replace"), process.returncode

    @staticmethod
    def parse(verb, out):
        parsed = subprocess.run([NODE_CALL, "parse", verb, NONCE], input=out, stdout=subprocess.PIPE).stdout
        if verb in ("tail", "grep"):
            header, _, body = parsed.partition(b"\n")
            return json.loads(header), body
        return json.loads(parsed)

    def call(self, verb, env=None, limit=90, **values):
        out, err, _ = self.raw(verb, env, limit, **values)
        assert "not found" not in err and "bad" not in err.lower(), err
        return self.parse(verb, out)

    def id_of(self, run):
        return f"{run}-{self.hex}"

    def start(self, *argv, run="r", run_id=None, rank=0, attempt=1, **values):
        run_id = run_id or self.id_of(run)
        if (run, run_id, rank) not in self.runs:
            self.runs.append((run, run_id, rank))
        computed = [f"MTLAUNCH_MARK={run_id}.{attempt}.{rank}", *values.pop("computed", [])]
        return self.call("start", arg=list(argv), run=run, run_id=run_id, rank=rank, attempt=attempt,
                         computed=computed, env=values.pop("caller", None), **values)

    def stop(self, **values):
        return self.call("stop", **values)

    def observe(self, **values):
        return self.call("observe", **values)

    def file(self, suffix, run="r", rank=0):
        folder = "logs" if suffix.startswith("log") else "run_state"
        return os.path.join(self.artifacts, folder, f"{run}_node{rank}.{suffix}")

    def read(self, suffix, **which):
        with open(self.file(suffix, **which), "rb") as f:
            return f.read()

    def state(self, **which):
        lines = self.read("state", **which).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def wait_ended(self, seconds=15, **values):
        return wait_for(lambda: (o := self.observe(**values))["life"] == "exited" and o, seconds, "the end")


def pytest_cmdline_main(config):
    if os.geteuid() != 0 or config.option.collectonly:
        return None
    try:
        return pid_namespace.enter()
    except OSError:
        return None  # a container that may not: among the processes of all


SHELLS_ALL = ["dash", "bash", "busybox"]
SHELLS = os.environ.get("NODE_SHELLS", " ".join(SHELLS_ALL)).split()
SLICE = os.environ.get("NODE_SLICE", "1/1")  # the first of three: 1/3
CASES = int(os.environ.get("NODE_CASES", "0"))  # of a test with many, the seed chooses as many; 0: all
SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))


def chosen(items):
    """All, or CASES of each test that has more."""
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [item for name, cases in tests.items()
            for item in (random.Random(f"{SEED} {name}").sample(cases, CASES) if 0 < CASES < len(cases) else cases)]


def pytest_collection_modifyitems(config, items):
    """What does not depend on the shell runs with dash only; of the rest, what belongs to the slice. A test is in the
    same slice whatever other tests are collected."""
    number, count = map(int, SLICE.split("/"))
    wanted = [item for item in chosen([item for item in items if "dash" in SHELLS or "shell" in item.fixturenames])
              if zlib.crc32(item.nodeid.encode()) % count == number - 1]
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted


@pytest.fixture(params=SHELLS)
def shell(request):
    if shutil.which(request.param, path="/usr/bin:/bin") is None:
        pytest.skip(f"{request.param} is not installed")
    if request.param != "dash" and not can_mount():
        pytest.skip("mounting another shell over /bin/sh needs root")
    return request.param


@pytest.fixture
def open_folder():
    """A folder that other users reach. pytest's own is closed to them whenever another pytest starts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        yield folder


@pytest.fixture
def node(shell, tmp_path):
    node = Node(shell, tmp_path)
    yield node
    node.close()


@pytest.fixture
def dash(tmp_path):
    """For what does not depend on the shell."""
    node = Node("dash", tmp_path)
    yield node
    node.close()


@pytest.fixture
def spawned():
    """Processes of the test itself, ended with it."""
    started = []
    yield started
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait()
