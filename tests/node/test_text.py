"""The text of a call: what travels to every node."""
import os
import shutil
import subprocess
from urllib.parse import unquote_to_bytes

import pytest

from conftest import Node

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/node/script")
VERBS = ["probe", "start", "observe", "watch", "stop", "signal", "remove", "tail", "grep", "inventory"]
JOB = {"arg": ["/bin/sleep", "300"], "computed": ["MTLAUNCH_MARK=r-00000000.1.0"]}
# of a job that is nearly nothing; without comments and indentation
BYTES = {"probe": 47_000, "start": 48_000, "watch": 40_000, "stop": 40_000}


def run(shell, text, *parts):
    """Standard output of a text in that shell, behind these parts of the script."""
    command = ["busybox", "sh"] if shell == "busybox" else [shell]
    lines = "".join(f". {SCRIPT}/{part}.sh\n" for part in parts)
    done = subprocess.run([*command, "-c", f"unset IFS\n{lines}{text}"], stdout=subprocess.PIPE, check=True)
    return done.stdout


@pytest.fixture(params=["dash", "bash", "busybox"])
def any_shell(request):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_sent_can_be_read_by_each_shell(any_shell, tmp_path, verb):
    node = Node("dash", tmp_path)
    text = node.build(verb, **JOB).partition(b"\n")[2]
    command = ["busybox", "sh"] if any_shell == "busybox" else [any_shell]
    done = subprocess.run([*command, "-n"], input=text, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stderr == b""
    for part in (b"mt_shared_text=", b"mt_keeper_text="):
        assert (part in text) == (verb == "start")


def test_what_is_sent_is_short(dash):
    sizes = {verb: len(dash.build(verb, look_job=1, command="sleep", **JOB)) for verb in BYTES}
    assert {verb: size for verb, size in sizes.items() if size > BYTES[verb]} == {}


def test_here_documents_and_programs_survive_what_is_left_out(dash):
    """Comments and indentation are no part of what is sent; a list's end stands alone on its line."""
    text = dash.build("stop").decode()
    lines = text.splitlines()
    assert "MT_LIST" in lines and lines.count("MT_LIST") == sum(line.endswith("<<MT_LIST") for line in lines)
    assert not [line for line in lines if line.startswith(("#", " ", "\t"))]


def test_frames_hold_every_byte(any_shell):
    """Short values of printable characters without a fork, others through od."""
    for values in ([bytes([code]) for code in range(1, 256)],
                   [b"a%41b", b"it's \"x\"\n\ty\\z", bytes(range(1, 256)), b"\n", b"x\n\n", "é日".encode(), b"-n", b""]):
        for value in values:
            quoted = "'" + os.fsdecode(value).replace("'", "'\\''") + "'"
            out = run(any_shell, f"mt_encode {quoted}\nprintf '<%s>' \"$mt_coded\"", "10-frame")
            assert unquote_to_bytes(out[1:-1]) == value and b"\n" not in out


@pytest.mark.parametrize("count", [3, 2000, 2001, 4500])
def test_a_table_of_many_processes(any_shell, spawned, count):
    """Environments are searched 2000 at a time; names that might be too long for arguments go through a pipe."""
    text = 'mt_print_table "$@" end && mt_find_marks && printf "%s\\n" "$mt_table" "$mt_marks"'
    spawned.append(subprocess.Popen(["/bin/sleep", "300"], env={"MTLAUNCH_MARK": "r-00000000.1.0"}))
    command = ["busybox", "sh"] if any_shell == "busybox" else [any_shell]
    parts = "".join(f". {SCRIPT}/{part}.sh\n" for part in ("15-stat", "17-write", "20-proc", "22-scan"))
    out = subprocess.run([*command, "-c", f"unset IFS\n{parts}{text}", "sh", *[f"/proc/{spawned[0].pid}"] * count],
                         stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    assert sum(line.startswith("proc ") for line in out) == count
    envs = [line.split() for line in out if line.startswith("env ")]
    assert [len(words) - 2 for words in envs] == [2000] * (count // 2000) + [count % 2000] * (count % 2000 > 0)
    assert all(words[-1] == "/proc/self/cmdline" for words in envs)
    assert sum(line.endswith(" MTLAUNCH_MARK=r-00000000.1.0") for line in out) == count


@pytest.mark.parametrize("said, hits", [
    ("/proc/self/cmdline:MTLAUNCH_SCAN=end", []),
    ("/proc/7/environ:MTLAUNCH_MARK=a-1.2.3/proc/self/cmdline:MTLAUNCH_SCAN=end", ["mark 7 MTLAUNCH_MARK=a-1.2.3"]),
    ("grep: a warning of /etc/x\n/proc/7/environ:RANK=1/proc/self/cmdline:MTLAUNCH_SCAN=end", ["mark 7 RANK=1"]),
    ("/proc/7/environ:MTLAUNCH_SCAN=end/proc/self/cmdline:MTLAUNCH_SCAN=end", []),
    ("", None), ("/proc/7/environ:MTLAUNCH_MARK=a-1.2.3", None), ("/proc/self/cmdline:MTLAUNCH_SCAN=en", None),
    ("grep: out of memory", None), ("/proc/self/cmdline:MTLAUNCH_SCAN=end\ngrep: x", None),
    ("/proc/self/cmdline:MTLAUNCH_SCAN=end/proc/7/environ:RANK=1", None),
    ("/proc/7/environ:MTLAUNCH_MARK=a-1.grep: x\n2.3/proc/self/cmdline:MTLAUNCH_SCAN=end", None),
    ("/proc/7/environ:RANK=1/etc/8/environ:RANK=2/proc/self/cmdline:MTLAUNCH_SCAN=end", None),
    ("/proc/x y/environ:RANK=1/proc/self/cmdline:MTLAUNCH_SCAN=end", None),
])
def test_s1_only_a_whole_word_of_grep_counts(any_shell, said, hits):
    text = "mt_hits=\nmt_take_hits \"$MT_SAID\" && printf '%s.' \"$mt_hits\" || printf cut"
    os.environ["MT_SAID"] = said
    out = run(any_shell, text, "22-scan").decode()
    assert out == ("cut" if hits is None else "".join(hit + "\n" for hit in hits) + ".")
