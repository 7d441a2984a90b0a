"""The watch: what it says, when it ends, what it costs."""
import fcntl
import os
import signal
import subprocess
import time
from urllib.parse import unquote

from conftest import NONCE, alive, stat_fields, wait_for


class Watch:
    """A watch and the frames it has sent."""

    def __init__(self, node, env=None, **values):
        self.process = node.popen("watch", env, **values)
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


SMI = """#!/bin/sh
echo . >>{calls}
{first}
case $* in
*uuid*) printf '%s\\n' '0, GPU-a' '1, GPU-b' ;;
*) printf '%s\\n' '0, 96, 61440, 143771' '1, 7, 2048, 143771' ;;
esac
"""


def fake_gpus(node, first=""):
    """nvidia-smi of two GPUs. Returns the file in which its calls are counted."""
    folder = os.path.join(node.home, "bin")
    os.mkdir(folder)
    calls = os.path.join(node.home, "calls")
    with open(os.path.join(folder, "nvidia-smi"), "w", encoding="ascii") as f:
        f.write(SMI.format(calls=calls, first=first))
    os.chmod(f.name, 0o755)
    node.path = folder + ":" + node.path
    return calls


def count(path):
    return os.path.getsize(path) // 2 if os.path.exists(path) else 0


def test_gpus_go_with_a_beat(node):
    calls = fake_gpus(node)
    node.start("sleep", "600", values=["CUDA_VISIBLE_DEVICES=1"])
    watch = Watch(node, beat=1, gpus_every=2)
    frames = wait_for(lambda: [f for f in watch.frames() if f.startswith("gpus")][:2], 10, "what the GPUs do")
    assert [unquote(frame).strip() for frame in frames] == ["gpus=0, 96, 61440, 143771\n1, 7, 2048, 143771", "gpus_own= 1"]
    at = [f.partition("=")[0] for f in watch.frames()]
    assert at[at.index("gpus"):][:3] == ["gpus", "gpus_own", "beat"]
    # six with each beat, for the sake of short jobs, then at the asked pace
    wait_for(lambda: sum(f.startswith("gpus=") for f in watch.frames()) >= 8, 30, "eight of them")
    words = [f.partition("=")[0] for f in watch.frames()]
    at = [i for i, word in enumerate(words) if word == "gpus"]
    assert "beat" in words[at[0]:at[1]] and words[at[6]:at[7]].count("beat") >= 2
    assert count(calls) <= words.count("beat") + 1
    watch.close()


def test_gpus_are_not_asked_for_unless_wanted(node):
    calls = fake_gpus(node)
    node.start("sleep", "600")
    watch = Watch(node, beat=1)
    wait_for(lambda: sum(f.startswith("beat=") for f in watch.frames()) >= 3, 15, "beats")
    assert count(calls) == 0
    watch.close()


def test_an_nvidia_smi_that_hangs_holds_up_nothing(node):
    calls = fake_gpus(node, "exec sleep 60")
    go = os.path.join(node.artifacts, "go")
    node.start("sh", "-c", 'until [ -e "$0" ]; do sleep 0.2; done', go)
    watch = Watch(node, beat=1, gpus_every=1)
    wait_for(lambda: count(calls) == 1, 10, "the first call")
    begun, beats = time.monotonic(), sum(f.startswith("beat=") for f in watch.frames())
    wait_for(lambda: sum(f.startswith("beat=") for f in watch.frames()) > beats, 10, "a beat")
    with open(go, "w", encoding="ascii"):
        pass
    watch.wait("life=exited")
    assert watch.wait_end() == 0 and time.monotonic() - begun < 30
    watch.close()


def test_an_nvidia_smi_that_fails_is_left_alone(node):
    calls = fake_gpus(node, "echo no devices were found; exit 6")
    node.start("sleep", "600")
    watch = Watch(node, beat=1, gpus_every=1)
    wait_for(lambda: count(calls) == 3, 15, "three calls")
    beats = sum(f.startswith("beat=") for f in watch.frames())
    wait_for(lambda: sum(f.startswith("beat=") for f in watch.frames()) >= beats + 4, 15, "more beats")
    assert count(calls) == 3
    assert not [f for f in watch.frames() if f.startswith("gpus")]
    watch.close()


def test_gpus_leave_no_files(dash):
    fake_gpus(dash)
    temp = os.path.join(dash.home, "temp")
    os.mkdir(temp)
    dash.start("sleep", "3")
    watch = Watch(dash, {"TMPDIR": temp}, beat=1, gpus_every=1)
    wait_for(lambda: [f for f in watch.frames() if f.startswith("gpus=")], 10, "what the GPUs do")
    assert os.listdir(temp)
    assert watch.wait_end() == 0
    assert not os.listdir(temp)
    watch.close()
