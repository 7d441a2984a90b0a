"""The watch: what it says, when it ends, what it costs."""
import fcntl
import os
import signal
import subprocess
import time

from conftest import NONCE, alive, stat_fields, wait_for


class Watch:
    """A watch and the frames it has sent."""

    def __init__(self, node, **values):
        self.process = node.popen("watch", **values)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.bytes = b""

    def frames(self):
        try:
            self.bytes += self.process.stdout.read() or b""
        except BlockingIOError:
            pass
        prefix = f"@@{NONCE} ".encode()
        return [line[len(prefix):].decode() for line in self.bytes.split(b"\n") if line.startswith(prefix)]

    def wait(self, frame, seconds=10):
        return wait_for(lambda: frame in self.frames(), seconds, frame)

    def wait_end(self, seconds=10):
        return self.process.wait(timeout=seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_says_how_it_is_and_that_it_ended(node):
    node.start("sh", "-c", "sleep 3; exit 7")
    watch = Watch(node)
    watch.wait("life=running")
    begun = time.monotonic()
    watch.wait("life=exited")
    assert time.monotonic() - begun < 6
    watch.wait("status=7")
    assert watch.wait_end() == 0
    assert watch.frames()[-1] == "end=ok"
    watch.close()


def test_an_exit_is_said_within_two_seconds(node):
    node.start("sleep", "600")
    watch = Watch(node)
    watch.wait("life=running")
    os.kill(int(node.state()["pid"]), signal.SIGKILL)
    begun = time.monotonic()
    watch.wait("life=exited")
    assert time.monotonic() - begun < 2.5
    watch.wait("status=137")
    watch.close()


def test_beats_tell_how_long_the_log_is(node):
    node.start("sh", "-c", "echo hello; sleep 600")
    watch = Watch(node, beat=1)
    watch.wait("beat=6")
    with open(node.file("log"), "ab") as log:
        log.write(b"x" * 100)
    watch.wait("beat=106")
    watch.close()


def test_a_removed_record_is_not_an_end(node):
    """Whoever tidies up the folder of a live run must not end it."""
    go = os.path.join(node.artifacts, "go")
    node.start("sh", "-c", 'until [ -e "$0" ]; do sleep 0.2; done; exit 3', go)
    watch = Watch(node, beat=1)
    watch.wait("life=running")
    os.unlink(node.file("state"))
    watch.wait("life=unrecorded")
    with open(go, "w", encoding="ascii"):
        pass
    watch.wait("life=exited")  # the exit record tells it all the same
    watch.wait("status=3")
    assert watch.wait_end() == 0
    watch.close()


def test_a_removed_record_of_another_attempt_is_nothing(node):
    node.start("sleep", "600")
    os.unlink(node.file("state"))
    assert node.observe()["life"] == "unrecorded"
    assert node.observe(attempt=2)["life"] == "none"


def test_of_nothing_it_says_so_and_ends(node):
    watch = Watch(node)
    watch.wait("life=none")
    assert watch.wait_end() == 0
    watch.close()


def test_a_new_attempt_ends_the_watch_of_the_old_one(node):
    node.start("sh", "-c", "sleep 2")
    watch = Watch(node, beat=1)
    watch.wait("life=running")
    node.wait_ended()
    node.start("sleep", "600", attempt=2)
    assert watch.wait_end() == 0
    watch.close()


def test_ends_with_its_reader(node):
    node.start("sleep", "600")
    watch = Watch(node, beat=1)
    watch.wait("life=running")
    watch.process.stdout.close()
    watch.process.wait(timeout=10)
    assert alive(int(node.state()["pid"]))


def test_ends_when_its_parent_has_gone(node):
    """As the session process of an ssh server goes: nothing is written, so nothing fails."""
    node.start("sleep", "600")
    script = os.path.join(node.folder, "watch.sh")
    with open(script, "wb") as f:
        f.write(node.build("watch", beat=60))
    parent = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" <"$0" & echo $!; wait', script, *node.command()],
                              stdout=subprocess.PIPE, cwd=node.home, env=node.environment())
    watch = int(parent.stdout.readline())
    os.set_blocking(parent.stdout.fileno(), False)
    wait_for(lambda: b"life=running" in (parent.stdout.read() or b""), 10, "the first message")
    assert alive(watch)
    parent.kill()
    parent.wait()
    wait_for(lambda: not alive(watch), 5, "the watch to end")
    assert alive(int(node.state()["pid"]))
    parent.stdout.close()


def test_ends_when_it_cannot_write(node):
    node.start("sleep", "600")
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(write, True)
    process = subprocess.Popen(node.command(), stdin=subprocess.PIPE, stdout=write, env=node.environment(),
                               cwd=node.home)
    process.stdin.write(node.build("watch", beat=1, patience=2))
    process.stdin.close()
    os.close(write)
    assert process.wait(timeout=15) == 0
    os.close(read)
    assert alive(int(node.state()["pid"]))


def children_ticks(pid):
    fields = stat_fields(pid)
    return sum(int(fields[i]) for i in (11, 12, 13, 14))


def test_costs_little_at_rest(dash):
    """Under half a percent of a core, own time and that of its pauses."""
    dash.start("sleep", "600")
    watch = Watch(dash)
    watch.wait("life=running")
    before, begun = children_ticks(watch.process.pid), time.monotonic()
    wait_for(lambda: sum(f.startswith("beat=") for f in watch.frames()) >= 1, 15, "a beat")
    used = (children_ticks(watch.process.pid) - before) / os.sysconf("SC_CLK_TCK")
    assert used / (time.monotonic() - begun) < 0.01  # ticks are coarse; the aim is half of it
    watch.close()
