"""Full and read-only disks: what a run wrote down before still tells how it ended (S5)."""
import os
import shlex
import subprocess
import urllib.parse

import pytest

from conftest import alive, wait_for

SH = "/bin/sh"
WAIT = 'while [ ! -e "$0" ]; do sleep 0.1; done; '


def mount(folder, size="64k"):
    if os.geteuid() != 0:
        pytest.skip("a small disk needs root")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder]).returncode != 0:
        pytest.skip("tmpfs cannot be mounted here")
    return folder


@pytest.fixture
def small(node):
    """The folder of the state files is a disk of 64 KiB."""
    folder = mount(os.path.join(node.artifacts, "run_state"))
    yield folder
    node.close()
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    fd = os.open(os.path.join(folder, "filler"), os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(fd, b"x" * 4096):
            pass
    except OSError:
        pass
    os.close(fd)


def drop_rooms(folder):
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(".new"):
            os.unlink(os.path.join(folder, name))


def start_and_wait(node, small, status=5):
    """A job that ends with the status when the returned file appears, and its pid."""
    go = os.path.join(node.folder, "go")
    assert node.start(SH, "-c", f"{WAIT}exit {status}", go)["stage"] == "started"
    return go, int(node.state()["pid"])


def end(go, pid):
    open(go, "w").close()
    wait_for(lambda: not alive(pid), what="the job's end")


def test_a_job_that_ends_on_a_full_disk_has_its_exit_record_s5(node, small):
    go, pid = start_and_wait(node, small)
    fill(small)
    end(go, pid)
    seen = node.wait_ended()
    assert seen["status"] == 5 and seen["ended"] > 0
    assert "status=5" in node.read("exit").decode().splitlines()
    wait_for(lambda: not node.observe()["keeper"], what="the keeper's end")
    assert {n for n in os.listdir(small) if n.startswith(".")} == set(), "what was set aside is gone"


def test_what_was_set_aside_goes_when_it_was_not_needed_s5(node, small):
    go, pid = start_and_wait(node, small)
    rooms = [n for n in os.listdir(small) if n.startswith(".r_node0.exit")]
    assert rooms and os.path.getsize(os.path.join(small, rooms[0])) >= 128
    end(go, pid)
    assert node.wait_ended()["status"] == 5
    wait_for(lambda: not node.observe()["keeper"], what="the keeper's end")
    assert {n for n in os.listdir(small) if n.startswith(".")} == set()
    assert {k for k, _ in (line.split("=", 1) for line in node.read("exit").decode().splitlines())} == \
        {"status", "signal", "ended", "uptime", "run_id", "attempt"}


def test_a_living_keeper_without_an_exit_record_is_still_ending_s5(node, small):
    """Somebody removed the room; the keeper goes on trying, and says why it cannot."""
    go, pid = start_and_wait(node, small, 0)
    drop_rooms(small)
    fill(small)
    end(go, pid)
    seen = node.observe()
    assert seen["life"] == "running" and seen["keeper"] and seen["ending"] == "no space left on device", seen
    os.unlink(os.path.join(small, "filler"))
    seen = node.wait_ended()
    assert seen["status"] == 0 and seen["ending"] is None


def test_a_read_only_disk_when_the_job_ends_s5(node, small):
    go, pid = start_and_wait(node, small, 3)
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    end(go, pid)
    seen = node.observe()
    assert seen["life"] == "running" and seen["ending"] == "read-only file system", seen
    subprocess.run(["mount", "-o", "remount,rw", small], check=True)
    assert node.wait_ended()["status"] == 3


def test_descendants_are_noted_on_a_full_disk_s5(node, small):
    """Once and again: what was set aside serves more than one note."""
    more = os.path.join(node.folder, "more")
    node.start(SH, "-c", f'{WAIT}setsid sleep 300 & {WAIT.replace("$0", "$0.2")}setsid sleep 301 & exec sleep 302', more)
    fill(small)
    for path, count in ((more, 1), (more + ".2", 2)):
        open(path, "w").close()
        wait_for(lambda n=count: sum(w[2:] != [] for w in sleepers(node)) >= n, 20, "the note")
    node.stop()


def sleepers(node):
    """Lines of .seen that name a living sleep 300 or 301."""
    found = []
    for line in node.read("seen").decode().splitlines()[1:]:
        words = line.split()
        if words and alive(words[0]):
            with open(f"/proc/{words[0]}/cmdline") as f:
                if f.read() in ("sleep\x00300\x00", "sleep\x00301\x00"):
                    found.append(words)
    return found


def test_a_start_on_a_full_disk_fails_and_says_why_s5(node, small):
    fill(small)
    answer = node.start("/bin/true")
    assert answer["stage"] == "claim" and small in answer["problem"], answer
    assert "no space left" in answer["problem"]
    assert os.listdir(small) == ["filler"]


@pytest.mark.parametrize("left", [4096, 8192, 12288, 20480])
def test_a_start_without_room_for_all_its_files_s5(node, small, left):
    """Room for some of the files only: nothing is started and nothing stays."""
    fill(small)
    os.truncate(os.path.join(small, "filler"), 65536 - left)
    answer = node.start("/bin/true")
    assert answer["stage"] == "claim" and "no space left" in answer["problem"], answer
    assert os.listdir(small) == ["filler"]
    assert not os.path.exists(node.file("log"))


def test_a_start_on_a_read_only_disk_s5(node, small):
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    answer = node.start("/bin/true")
    assert answer["stage"] == "claim" and "read-only file system" in answer["problem"], answer


def test_a_probe_of_a_full_disk_s5(node, small):
    fill(small)
    probe = node.call("probe")
    assert not probe["writable"] and "no space left" in probe["problem"], probe


def test_a_probe_with_a_full_temporary_folder_s5(node, small):
    """Its own files go elsewhere then; with no room at all that is what is said, and not the working folder's fault."""
    full = mount(os.path.join(node.folder, "full"), "8k")
    try:
        fill(full)
        probe = node.call("probe", env={"TMPDIR": full}, look_job=1, program="/bin/true")
        assert not probe["setup_failed"], probe
        fill(small)
        out, _, _ = node.raw("probe", env={"TMPDIR": full}, look_job=1)
        assert "no space left" in urllib.parse.unquote(out.decode()), out
    finally:
        subprocess.run(["umount", "-l", full], check=True)


def test_setup_lines_that_fill_the_disk_s5(node, small):
    """How far the start has come is still written down: it is no time-out."""
    filler = os.path.join(small, "filler")
    answer = node.start("/bin/sleep", "300", setup=[f"! dd if=/dev/zero of={shlex.quote(filler)} bs=4096 2>/dev/null"])
    assert answer["stage"] == "started", answer
    answer = node.observe()
    assert answer["life"] == "running"


def test_remove_takes_everything_s5(node, small):
    """Also what a keeper left that was killed; files of other names stay."""
    go, pid = start_and_wait(node, small)
    subprocess.run(["kill", "-9", node.state()["keeper"], str(pid)], check=True)
    node.stop(grace=0)
    for name in (".r_node0.seen.new", ".r_node0.exit.123", ".r_node0.state.room.9", ".r_node0_node0.exit.new",
                 ".r_node0.x", ".r_node00.exit.new"):
        open(os.path.join(small, name), "w").close()
    assert node.call("remove", logs=1)["removed"]
    assert set(os.listdir(small)) == {".r_node0_node0.exit.new", ".r_node0.x", ".r_node00.exit.new"}
