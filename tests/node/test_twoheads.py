"""Two heads use one name: what another head's run left or lost must not mix with this one's (S6)."""
import os
import secrets
import shutil

import pytest

from conftest import alive, wait_for

SH = "/bin/sh"


def other_id():
    return f"r-{secrets.token_hex(4)}"


def assert_refused(foreign, node):
    assert foreign["run_id"] == node.run_id and foreign["lives"], foreign
    assert foreign["host"] == os.uname().nodename and foreign["user"] == "root" and alive(foreign["pid"])


@pytest.mark.parametrize("rank", [0, 1])
def test_a_run_without_its_record_keeps_its_name_s6(node, rank):
    """Whatever the rank: it is the same name."""
    first = node.start("/bin/sleep", "300")
    assert first["stage"] == "started"
    os.unlink(node.file("state"))
    second = other_id()
    probe = node.call("probe", run_id=second, rank=rank)
    assert_refused(probe["foreign"], node)
    answer = node.start("/bin/sleep", "301", run_id=second, rank=rank)
    assert answer["stage"] == "foreign", answer
    assert_refused(answer["foreign"], node)
    assert not os.path.exists(node.file("state", rank=rank)) and alive(first["pid"])
    assert node.observe()["life"] == "unrecorded"


def test_a_descendant_without_the_job_s6(node):
    """The job's command has ended and its child goes on, in a session of its own and with its output elsewhere."""
    node.start(SH, "-c", "setsid sleep 300 >/dev/null 2>&1 & exit 0",
               computed=[f"MTLAUNCH_ARTIFACTS={node.artifacts}"])
    node.wait_ended()
    os.unlink(node.file("state"))
    assert node.start("/bin/true", run_id=other_id())["stage"] == "foreign"


def test_another_folder_is_another_place_s6(node):
    node.start("/bin/sleep", "300", computed=[f"MTLAUNCH_ARTIFACTS={node.artifacts}"])
    os.unlink(node.file("state"))
    folder = node.artifacts + ".2"
    second = other_id()
    assert node.call("probe", run_id=second, artifacts=folder)["foreign"]["run_id"] is None
    assert node.start("/bin/sleep", "300", run_id=second, artifacts=folder)["stage"] == "started"
    node.stop(run_id=second, artifacts=folder, grace=0)
    os.symlink(node.artifacts, folder + ".link")
    assert node.start("/bin/true", run_id=second, artifacts=folder + ".link")["stage"] == "foreign"


def test_other_names_are_no_hindrance_s6(node):
    """A dot of a name is a dot; a name that begins alike is another."""
    node.start("/bin/sleep", "300", run="a.b", run_id=f"a.b-{node.hex}")
    os.unlink(node.file("state", run="a.b"))
    for name in ("axb", "a.b-c", "a"):
        answer = node.start("/bin/true", run=name, run_id=f"{name}-{secrets.token_hex(4)}")
        assert answer["stage"] == "started", (name, answer)


def test_an_earlier_attempt_without_its_record_s6(node):
    node.start("/bin/sleep", "300")
    os.unlink(node.file("state"))
    assert node.start("/bin/true", attempt=2)["stage"] == "live"


def replace_record(node, second):
    """Put another head's record there, as a start would have that could not see this run."""
    text = node.read("state").decode().replace(node.run_id, second)
    text = "".join("pid=\n" if line.startswith("pid=") else line + "\n" for line in text.splitlines())
    with open(node.file("state") + ".x", "w") as f:
        f.write(text)
    os.rename(node.file("state") + ".x", node.file("state"))


def test_a_keeper_that_is_no_longer_the_owner_writes_nothing_s6(node):
    go = os.path.join(node.folder, "go")
    node.start(SH, "-c", f'while [ ! -e "{go}" ]; do sleep 0.1; done; exit 7')
    keeper = int(node.state()["keeper"])
    replace_record(node, other_id())
    for suffix in ("exit", "seen", "pid"):
        with open(node.file(suffix), "w") as f:
            f.write("theirs\n")
    open(go, "w").close()
    wait_for(lambda: not alive(keeper), what="the keeper's end")
    for suffix in ("exit", "seen", "pid"):
        assert node.read(suffix) == b"theirs\n", suffix


def test_a_keeper_whose_record_was_removed_still_says_how_it_ended_s6(node):
    go = os.path.join(node.folder, "go")
    node.start(SH, "-c", f'while [ ! -e "{go}" ]; do sleep 0.1; done; exit 7')
    os.unlink(node.file("state"))
    open(go, "w").close()
    assert node.wait_ended()["status"] == 7


def test_a_run_whose_record_was_replaced_can_be_seen_and_stopped_s6(node):
    first = node.start("/bin/sleep", "300")
    second = other_id()
    replace_record(node, second)
    seen = node.observe()
    assert (seen["life"], seen["found_run_id"], seen["pid"]) == ("unrecorded", second, first["pid"])
    removed = node.call("remove", logs=1)
    assert not removed["removed"] and removed["live"]["total"] == 1, removed
    assert os.path.exists(node.file("log"))
    stopped = node.stop()
    assert stopped["was_alive"] and stopped["survivors"]["total"] == 0 and not alive(first["pid"])
    assert node.observe()["life"] == "none"
    assert node.state()["run_id"] == second, "the other's record stays"
    shutil.rmtree(node.artifacts)
