"""The clusters the end-to-end tests run on, and the ways they call mtlaunch and look at nodes."""
import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
from cluster import UID, Cluster, kill_quietly, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from json_schema import check_output  # noqa: E402  pylint: disable=wrong-import-position
from python_env import TORCH, Unavailable, python_env  # noqa: E402  pylint: disable=wrong-import-position
from torch_env import SHIM, torch_options  # noqa: E402  pylint: disable=wrong-import-position

BINARY = Path(os.environ.get("MTLAUNCH", ROOT / "mtlaunch"))
TORCH_ENV = torch_options()

# What runs in the background of a script, or under nohup, has these ignored, and whatever it starts inherits that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


class Answer:
    """What one mtlaunch call gave."""

    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds

    @property
    def json(self):
        """stdout as exactly one JSON object of our schema."""
        value = json.loads(self.out)
        assert value["schema"] == "mtlaunch/1"
        return value

    @property
    def error(self):
        return self.json["error"]

    @property
    def lines(self):
        return self.out.splitlines()

    def __repr__(self):
        return f"mtlaunch {' '.join(map(str, self.args))} -> {self.code}\n--stdout\n{self.out}\n--stderr\n{self.err}"


class Lab:
    """A cluster seen by a test."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.home = cluster.head_home
        self.names = cluster.names

    # mtlaunch

    def mt(self, *args, code=0, env=None, cwd=None, timeout=120, input=None):
        """Run mtlaunch on the head; its exit code must be `code` (a number, several, or None: any)."""
        begin = time.monotonic()
        done = self.cluster.run("mtlaunch", *args, env=env, cwd=cwd, timeout=timeout, input=input)
        answer = Answer(args, done.returncode, done.stdout, done.stderr, time.monotonic() - begin)
        check_output(args, answer.out)
        if code is not None:
            assert answer.code in (code if isinstance(code, tuple) else (code,)), repr(answer)
        return answer

    def spawn(self, *args, env=None, cwd=None):
        """Start mtlaunch on the head and leave it running; its pid is the process's own."""
        process = self.cluster.popen("mtlaunch", *args, env=env, cwd=cwd, text=True, errors="replace")
        plain = process.communicate

        def communicate(*words, **options):
            out, err = plain(*words, **options)
            if process.returncode >= 0:  # what a killed one printed may be half a line
                check_output(args, out)
            return out, err

        process.communicate = communicate
        return process

    def status(self, run, code=None):
        return self.mt("status", run, "--json", code=code).json

    def states(self, run):
        return [node["state"] for node in self.status(run)["nodes"]]

    def wait_state(self, run, *states, limit=60):
        return wait_for(lambda: (lambda s: s if s.get("state") in states else None)(self.status(run)),
                        f"run {run} to be {' or '.join(states)}", limit, 0.3)

    # files

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.chown(path, UID, UID)
        return path

    def job(self, name="job.yaml", **keys):
        """Write a spec (JSON is YAML) and return its path; a script on all nodes unless keys say otherwise."""
        spec = {"launcher": "script", "hosts": ",".join(self.names), "program": ["sleep", "600"]}
        spec.update(keys)
        self.write(name, json.dumps({k: v for k, v in spec.items() if v is not None}, ensure_ascii=False, indent=1))
        return name

    def program(self, name):
        """Put one of tests/e2e/programs (or a path) into every node's home."""
        source = HERE / "programs" / name
        self.cluster.put(str(source))
        return name

    def node_file(self, node, *parts):
        """A file of a node's home as seen from outside."""
        return self.cluster.node_home(node).joinpath(*parts)

    def log(self, run, rank, node=None):
        return self.node_file(node or self.names[rank], ".mtlaunch", "logs", f"{run}_node{rank}.log").read_bytes()

    # processes

    def marked(self, run, node):
        """Processes on a node whose environment names the run."""
        return [p for p in self.cluster.ps(node) if p.environ.get("MTLAUNCH_RUN") == run]

    def left(self, *nodes):
        """Processes of the lab user on nodes (all when none is named), sshd's own apart."""
        return [(n, p) for n in nodes or self.names for p in self.cluster.user_ps(n)]

    def assert_nothing_left(self, *nodes):
        # mtlaunch's connections end with it; what a session leaves takes a moment to be reaped.
        wait_for(lambda: not self.left(*nodes), f"no process on the nodes, but: {self.left(*nodes)}", 5)

    def clean(self):
        """Back to a bare cluster: no processes, no files, all links up."""
        for process in self.cluster.ps("head"):
            if process.uid == UID:
                kill_quietly(process.host_pid, signal.SIGKILL)
        for node in self.names:
            self.cluster.thaw(node)
            self.cluster.restore(node)
            for process in self.cluster.ps(node):
                if process.uid == UID or process.name in ("sleep", "python3", "nc"):
                    kill_quietly(process.host_pid, signal.SIGKILL)
            if not [p for p in self.cluster.ps(node) if "[listener]" in p.command]:
                self.cluster.start_sshd(node)
            empty(self.cluster.node_home(node))
        empty(self.home, keep={".ssh", "hosts.txt"})
        empty(self.cluster.dir / "shared")


def empty(folder, keep=frozenset()):
    for item in Path(folder).iterdir():
        if item.name in keep:
            continue
        if item.is_dir() and not item.is_symlink():
            item.chmod(0o700)
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)


class CommandLines(threading.Thread):
    """Collects every command line that shows up in /proc while it runs."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self.done = set(), threading.Event()

    def run(self):
        while not self.done.is_set():
            for entry in os.listdir("/proc"):
                if entry.isdigit():
                    try:
                        self.seen.add(Path(f"/proc/{entry}/cmdline").read_bytes())
                    except OSError:
                        pass

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.done.set()
        self.join()


@contextlib.contextmanager
def covered(lab, node, path, text=None):
    """Another file (by default one that nobody can run) stands at path of the node."""
    place = lab.node_file(node, "cover")
    place.write_text(text or "")
    place.chmod(0o755 if text else 0o644)
    real = lab.cluster.exec(node, f"readlink -f $(command -v {path})", check=True).stdout.strip()
    own = "/run/cover." + os.path.basename(path)
    lab.cluster.exec(node, f"cp --preserve=mode /home/lab/cover {own} && rm /home/lab/cover && mount --bind {own} {real}",
                     user=False, check=True)
    try:
        yield
    finally:
        lab.cluster.exec(node, f"umount -l {real}", user=False, check=True)


def needs_namespaces():
    if not Cluster.permitted():
        text = "needs root and namespaces (network, pid, mount, overlay)"
        if os.environ.get("CI") == "true":
            pytest.fail(text)
        pytest.skip(text)
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not built: make all")


SLICE = os.environ.get("E2E_SLICE", "1/1")  # the first of three: 1/3


def pytest_collection_modifyitems(config, items):
    """Of a file that takes long, the slice that was asked for."""
    number, count = map(int, SLICE.split("/"))
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % count != number - 1])
    items[:] = items[number - 1::count]


@pytest.fixture(scope="session")
def newer_torch():
    """The interpreter of an environment with PyTorch from PyPI, accelerate and DeepSpeed."""
    try:
        return str(python_env("torch", TORCH))
    except Unavailable as error:
        pytest.skip(f"torch, accelerate and deepspeed cannot be installed from PyPI: {error}")


@pytest.fixture(scope="session")
def big_cluster():
    """Four nodes for the whole session."""
    needs_namespaces()
    with Cluster(4, mtlaunch=BINARY) as cluster:
        yield cluster


@pytest.fixture
def lab(big_cluster):
    """A clean cluster of four nodes."""
    one = Lab(big_cluster)
    one.clean()
    if "USE_LIBUV=0" in TORCH_ENV:
        big_cluster.put(str(SHIM))
    yield one
    one.clean()


@pytest.fixture
def make_lab():
    """make_lab(count, **options): a cluster of the test's own."""
    needs_namespaces()
    made = []

    def make(count, **options):
        made.append(Cluster(count, mtlaunch=BINARY, **options).start())
        return Lab(made[-1])

    yield make
    for cluster in made:
        cluster.down()


@pytest.fixture
def torch_lab(lab):
    """The cluster with the example's all-reduce in every node's home."""
    lab.cluster.put(str(ROOT / "examples" / "allreduce.py"))
    for name in ("allreduce.py", "torchrun_allreduce.yaml", "hello.yaml"):
        lab.write(name, (ROOT / "examples" / name).read_bytes())
    return lab
