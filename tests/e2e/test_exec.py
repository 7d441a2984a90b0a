"""exec: exact words, exit codes, what is printed how, bounded memory, and nothing left whatever happens."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from cluster import wait_for
from conftest import BINARY, UID, needs_namespaces
from lab_process import processes_where

# Size of the big output, in MiB; the long check asks for more.
BIG_MIB = int(os.environ.get("MTLAUNCH_EXEC_MIB", "64"))
RSS_MAX_KIB = 32 * 1024
PROGRAMS = Path(__file__).resolve().parent / "programs"

NASTY = [
    "", " ", "a b", "  two  blanks  ", "tab\there", "new\nline", "\n", "trailing\n", "cr\rhere", "'", "''", "it's",
    '"', "\\", "\\\\", "\\n", "back\\", "$HOME", "${PATH}", "$(id)", "`id`", "*", "?[a-z]*", "~", "~root", "!", "!!",
    "a!b", "#c", "a#b", ";", "&", "|", "a;b&c|d", "<", ">", ">&2", "(x)", "{a,b}", "=ls", "a=b", "--", "-n", "-e",
    "%s%n%d", "%", "^x^y", "é", "日本語", "\udcff", "\udcfe\udc80x", "\udce4", "\udce4\n", "\x01\x02\x1b[31m", "\x7f",
    "x" * 5000, "@@frame x=1",
]
SHOW = "import os,sys;print([os.fsencode(a).hex() for a in sys.argv[1:]])"


def hexed(words):
    return str([os.fsencode(w).hex() for w in words]) + "\n"


def nodes(count):
    return f"node[1-{count}]" if count > 1 else "node1"


LINE = "a line of output that is neither long nor short"


def big_command(mib):
    return f"yes '{LINE}' | head -c {mib * 1024 * 1024}"


def start_endless(lab, *options, line="sleep 1000", count=4, stdin=None):
    """Start exec on all nodes and wait until sleep runs on each; the process is returned."""
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(count), *options, "--", line,
                                **({"stdin": stdin} if stdin else {}))
    wait_for(lambda: all(any(p.name == "sleep" for p in lab.cluster.user_ps(n)) for n in lab.names[:count]),
             "the command on all nodes")
    return process


def finish(process, limit=20):
    out, err = process.communicate(timeout=limit)
    return process.returncode, out.decode(), err.decode()


# --- words ---

def test_words_arrive_byte_for_byte(lab):
    answer = lab.mt("exec", "-H", "node1", "--", "python3", "-c", SHOW, *NASTY)
    assert answer.out == hexed(NASTY)
    assert answer.err == ""


def test_words_through_every_login_shell(make_lab):
    shells = {"node1": "/bin/sh", "node2": "/bin/bash", "node3": "/usr/bin/zsh", "node4": "/usr/bin/tcsh",
              "node5": "/usr/bin/fish"}
    lab = make_lab(5, shells=shells)
    noise = {"node2": (".bashrc", "echo noise; echo noise >&2"), "node3": (".zshenv", "echo noise; echo noise >&2"),
             "node4": (".cshrc", "echo noise"), "node5": (".config/fish/config.fish", "echo noise; echo noise >&2")}
    for node, (name, text) in noise.items():
        file = lab.node_file(node, *name.split("/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    answer = lab.mt("exec", "-H", nodes(5), "--gather", "--", "python3", "-c", SHOW, *NASTY)
    assert answer.out == "-" * 15 + "\nnode[1-5] (5)\n" + "-" * 15 + "\n" + hexed(NASTY)
    assert answer.err == ""
    # A line is for /bin/sh, whatever the login shell.
    answer = lab.mt("exec", "-H", nodes(5), "--gather", "--", "for i in 1 2; do printf '%s ' \"$i\"; done; echo !\\!")
    assert answer.out.splitlines()[1:] == ["node[1-5] (5)", "-" * 15, "1 2 !!"]
    # Status, and standard input that is not eaten.
    assert lab.mt("exec", "-H", nodes(5), "--", "exit 9", code=9).out == ""
    answer = lab.mt("exec", "-H", nodes(5), "--stdin", "--gather", "--", "md5sum", input="x\n" * 50000)
    assert answer.out.splitlines()[1] == "node[1-5] (5)"
    assert answer.out.splitlines()[3] == hashlib.md5(b"x\n" * 50000).hexdigest() + "  -"


def test_a_startup_file_that_reads_or_ends(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    lab.node_file("node1", ".bashrc").write_text("read -r x\n")
    lab.node_file("node2", ".bashrc").write_text("echo go away; exit 0\n")
    answer = lab.mt("exec", "-H", nodes(2), "--json", "--", "echo ran", code=3)
    first, second = answer.json["hosts"]
    assert first["error"]["kind"] == second["error"]["kind"] == "node-answer"
    assert (first["stdout"], second["stdout"]) == ("", "")
    assert "go away" in second["error"]["hint"]


def test_a_startup_file_that_takes_the_input(make_lab):
    """Neither does exec wait for it for ever, nor do lines meant for our shell become the command's input."""
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    lab.node_file("node1", ".bashrc").write_text("cat >/dev/null\n")
    lab.node_file("node2", ".bashrc").write_text("exec bash --norc\n")
    answer = lab.mt("exec", "-H", nodes(2), "--connect-timeout", "2", "--json", "--", "echo ran >>ran", code=3)
    first, second = answer.json["hosts"]
    assert "did not start the command within 6 s" in first["error"]["message"] and answer.seconds < 20
    assert "did not reach its shell completely" in second["error"]["message"]
    answer = lab.mt("exec", "-H", "node2", "--stdin", "--json", "--", "cat >ran", code=3, input="data\n")
    assert answer.json["hosts"][0]["error"]["kind"] == "node-answer"
    answer = lab.mt("exec", "-H", "node1", "--timeout", "2", "--", "echo ran >>ran", code=5)
    assert "did not start the command within 2s" in answer.err
    assert not lab.node_file("node1", "ran").exists() and not lab.node_file("node2", "ran").exists()


# --- exit codes ---

def test_the_largest_status(lab):
    answer = lab.mt("exec", "-H", nodes(4), "--", "exit $(uname -n | tr -dc 34)", code=4)
    assert answer.err.splitlines() == ["mtlaunch: node3: exit status 3", "mtlaunch: node4: exit status 4"]
    answer = lab.mt("exec", "-H", nodes(4), "-q", "--", "kill -KILL $$", code=137)
    assert answer.out == answer.err == ""
    assert lab.mt("exec", "-H", "node1", "--", "no-such-command", code=127).err.count("not found") == 1
    assert lab.mt("exec", "-H", nodes(4), "--", "true").err == ""


def test_an_unreachable_host_beside_good_ones(lab):
    lab.cluster.stop_sshd("node2")
    lab.cluster.stop_sshd("node3")
    answer = lab.mt("exec", "-H", nodes(4), "--", "uname -n; exit 7", code=3)
    assert sorted(answer.lines) == ["node1: node1", "node4: node4"]
    assert "mtlaunch: node[2-3]: connection to port 22 is refused" in answer.err
    assert "mtlaunch: node[1,4]: exit status 7" in answer.err
    hosts = lab.mt("exec", "-H", nodes(4), "--json", "--", "uname -n; exit 7", code=3).json["hosts"]
    assert [h["error"] and h["error"]["kind"] for h in hosts] == [None, "refused", "refused", None]
    assert [h["exit_status"] for h in hosts] == [7, None, None, 7]
    assert hosts[1]["seconds"] is None and hosts[0]["seconds"] >= 0


def test_every_address_of_a_name_is_tried(lab):
    """The name's first address is the head's own loopback, where nobody listens."""
    config = lab.home / ".ssh" / "config"
    config.write_text("Host twice\n    HostKeyAlias node1\n")
    lines = f"127.0.0.1 twice\\n{lab.cluster.address('node1')} twice\\n"
    lab.cluster.run("sh", "-c", f"printf '{lines}' >>/etc/hosts", user=False, check=True)
    try:
        assert lab.mt("exec", "-H", "twice", "--", "uname -n").out == "node1\n"
    finally:
        config.unlink()
        lab.cluster.run("sed", "-i", "/twice/d", "/etc/hosts", user=False, check=True)


def test_usage(lab):
    for words, text in [
            ([], "'exec' needs a command to run on the hosts"),
            (["--"], "'exec' needs a command to run on the hosts"),
            (["--", ""], "the command is empty"),
            (["--label", "--gather", "--", "x"], "'--label' and '--gather' cannot be used together"),
            (["--timeout", "0", "--", "x"], "'0' for --timeout leaves no time to run"),
            (["--timeout", "100d", "--", "x"], "'8640000s' for --timeout is above"),
    ]:
        assert text in lab.mt("exec", "-H", "node1", *words, code=2).err


# --- what is printed ---

def test_the_command_begins_at_the_first_word(lab):
    """U2: as with ssh, without '--'; its own options are not mtlaunch's."""
    assert lab.mt("exec", "-H", "node1", "hostname").out == "node1\n"
    assert "Mounted on" in lab.mt("exec", "-H", "node1", "df", "-h", "/").out
    assert lab.mt("exec", "-H", "node1", "printf '%s' one-line").out == "one-line"
    assert lab.mt("exec", "-H", "node1", "printf", "%s.", "--json", "--", "-x").out == "--json.--.-x."


def test_hosts_of_a_job_and_of_a_run(lab):
    lab.job(hosts="node2,node3")
    assert sorted(lab.mt("exec", "--job", "job.yaml", "hostname").lines) == ["node2: node2", "node3: node3"]
    lab.mt("start", "job.yaml", "r1")
    assert sorted(lab.mt("exec", "--run", "r1", "hostname").lines) == ["node2: node2", "node3: node3"]
    assert lab.mt("exec", "--run", "r1", "--exclude", "node2", "hostname").out == "node3\n"
    assert "cannot be used together" in lab.mt("exec", "--run", "r1", "--job", "job.yaml", "id", code=2).err
    assert "cannot be used together" in lab.mt("exec", "--run", "r1", "-H", "node1", "id", code=2).err
    assert "no run 'r2'" in lab.mt("exec", "--run", "r2", "id", code=6).err
    lab.mt("stop", "r1", "--grace", "1s")


def test_labels(lab):
    line = "printf 'one\\ntwo'; echo err >&2"
    answer = lab.mt("exec", "-H", "node[1-2]", "--", line)
    assert sorted(answer.lines) == ["node1: one", "node1: two", "node2: one", "node2: two"]
    assert sorted(answer.err.splitlines()) == ["node1: err", "node2: err"]
    answer = lab.mt("exec", "-H", "node1", "--", line)
    assert (answer.out, answer.err) == ("one\ntwo", "err\n")
    assert lab.mt("exec", "-H", "node1", "--label", "--", line).out == "node1: one\nnode1: two\n"


def test_gather_folds_the_same(lab):
    answer = lab.mt("exec", "-H", nodes(4), "--gather", "--",
                    "case $(uname -n) in node2) echo other; echo bad >&2; exit 2;; *) echo same; echo; esac", code=2)
    rule = "-" * 15
    assert answer.lines == [rule, "node[1,3-4] (3)", rule, "same", "", rule, "node2", rule, "other"]
    assert answer.err.splitlines() == [rule, "node2", rule, "bad", "mtlaunch: node2: exit status 2"]


def test_controls_and_bytes(lab):
    line = "printf 'a\\033[31mb\\302\\233c\\377d\\nold\\rnew\\n'"
    assert lab.mt("exec", "-H", "node1", "--", line).out == "a?[31mb?c\ufffdd\nnew\n"
    assert lab.mt("exec", "-H", "node1", "--gather", "--", line).lines[3:] == ["a?[31mb?c\ufffdd", "new"]
    host = lab.mt("exec", "-H", "node1", "--json", "--", line + "; printf 'x\\000y' >&2").json["hosts"][0]
    assert host["stdout"] == "a\033[31mb\x9bc\ufffdd\nold\rnew\n"
    assert host["stderr"] == "x\0y"


def test_json(lab):
    answer = lab.mt("exec", "-H", "node[1-2]", "--json", "--",
                    "case $(uname -n) in node1) head -c 3000000 /dev/zero | tr '\\0' x; echo e >&2;; *) kill -TERM $$; esac",
                    code=143)
    assert len(answer.lines) == 1
    assert list(answer.json) == ["schema", "hosts"]
    first, second = answer.json["hosts"]
    assert list(first) == ["host", "exit_status", "signal", "error", "stdout", "stderr", "truncated", "seconds"]
    assert (first["host"], first["exit_status"], first["signal"], first["error"]) == ("node1", 0, None, None)
    assert first["stdout"] == "x" * 1048576 and first["truncated"] is True and first["stderr"] == "e\n"
    assert (second["exit_status"], second["signal"], second["truncated"]) == (143, "TERM", False)


# --- standard input ---

def test_without_stdin_there_is_none(lab):
    assert lab.mt("exec", "-H", "node[1-2]", "--", "cat; echo end", input="ours").lines.count("node1: end") == 1


def test_stdin_goes_to_every_host(lab):
    data = "".join(f"{i:07d}\n" for i in range(500000))
    # node2 leaves at once, node3 does not read for a while: neither harms the others.
    line = "case $(uname -n) in node2) exit 0;; node3) sleep 1;; esac; sha256sum"
    answer = lab.mt("exec", "-H", nodes(4), "--stdin", "--gather", "--fanout", "2", "--", line, input=data)
    assert answer.lines[1] == "node[1,3-4] (3)"
    assert answer.lines[3] == hashlib.sha256(data.encode()).hexdigest() + "  -"
    lab.assert_nothing_left()


# --- ends ---

TREE = "sleep 1001 & setsid sleep 1002 & (trap '' TERM; sleep 1003; sleep 1004); sleep 1000"


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_remote_side(lab, number, code):
    process = start_endless(lab, line=TREE)
    begin = time.monotonic()
    process.send_signal(number)
    got, _, err = finish(process)
    assert got == code, err
    assert time.monotonic() - begin < 6
    assert err.count("mtlaunch: node[1-4]: ") == 1
    lab.assert_nothing_left()


def test_an_interrupt_in_json(lab):
    process = start_endless(lab, "--json", count=2)
    process.send_signal(signal.SIGINT)
    code, out, _ = finish(process)
    assert code == 130
    assert [h["error"]["kind"] for h in json.loads(out)["hosts"]] == ["interrupted"] * 2
    lab.assert_nothing_left()


@pytest.mark.parametrize("stdin", [False, True], ids=["plain", "stdin"])
def test_a_killed_head_leaves_nothing(lab, stdin):
    reading, writing = os.pipe()
    process = start_endless(lab, *["--stdin"] * stdin, line="sleep 1000 & setsid sleep 1001 & wait",
                            stdin=reading if stdin else None)
    process.kill()
    finish(process)
    os.close(reading)
    os.close(writing)
    lab.assert_nothing_left()


def test_an_interrupt_with_stdin(lab):
    reading, writing = os.pipe()
    process = start_endless(lab, "--stdin", stdin=reading, line=TREE)
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    os.close(reading)
    os.close(writing)
    lab.assert_nothing_left()


def test_a_time_limit(lab):
    line = f"case $(uname -n) in node4) echo quick;; *) {TREE}; esac"
    answer = lab.mt("exec", "-H", nodes(4), "--timeout", "1s", "--", line, code=5)
    assert answer.out == "node4: quick\n"
    assert answer.err.count("mtlaunch: node[1-3]: the command ran longer than 1s and was ended") == 1
    assert answer.seconds < 7
    lab.assert_nothing_left()
    hosts = lab.mt("exec", "-H", "node1", "--timeout", "1", "--json", "--stdin", "--", "sleep 1000", code=5,
                   input="").json["hosts"]
    assert hosts[0]["error"]["kind"] == "time-limit" and hosts[0]["exit_status"] is None
    lab.assert_nothing_left()


def test_a_time_limit_on_a_host_that_is_cut_off(lab):
    lab.write("note", "")
    process = start_endless(lab, "--timeout", "2", count=2)
    lab.cluster.cut("node1")
    code, _, err = finish(process)
    assert code == 5, err
    assert "node1: the command ran longer than 2s and may still be running" in err
    wait_for(lambda: not lab.left("node1"), "the node's own limit", 12)


def test_what_is_left_in_the_background_stays(lab):
    lab.mt("exec", "-H", "node1", "--", "sleep 1000 >/dev/null 2>&1 </dev/null & echo started")
    time.sleep(0.5)  # the guard would have acted by now
    assert [p.argv for p in lab.cluster.user_ps("node1")] == [["sleep", "1000"]]


def test_a_network_that_stands_still_loses_nothing(lab):
    """The server says how the command ended before it has said all that the command said."""
    program = lab.write("stalling_relay.py", (PROGRAMS / "stalling_relay.py").read_text(encoding="utf-8"))
    relay = lab.cluster.popen("python3", str(program), "2222", lab.cluster.address("node1"), text=True)
    config = lab.home / ".ssh" / "config"
    config.write_text("Host slow\n    HostName 127.0.0.1\n    Port 2222\n    HostKeyAlias node1\n")
    try:
        assert relay.stdout.readline() == "ready\n"
        answer = lab.mt("exec", "-H", "slow", "--", "head -c 400000 /dev/zero | tr '\\0' x; echo END")
    finally:
        config.unlink()
        relay.kill()
        relay.communicate()
    assert len(answer.out) == 400004 and answer.out.endswith("END\n")


def test_a_reader_that_leaves(lab):
    process = start_endless(lab, line="echo x; sleep 0.2; while echo y; do sleep 0.1; done")
    process.stdout.read(1)
    process.stdout.close()
    process.stdout = None
    assert process.wait(20) == 8
    process.stderr.close()
    lab.assert_nothing_left()


# --- memory ---

def peak_kib(pid):
    """The most memory the process itself has had; 0 once it has ended and only waits to be reaped."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmHWM"].split()[0]) if "VmHWM" in fields else 0


def test_memory_is_bounded_with_a_big_output(lab):
    line = f"case $(uname -n) in node1) {big_command(BIG_MIB)};; *) for i in 1 2 3; do echo $i; sleep 0.2; done; esac"
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(4), "--", line)
    sizes, errors = {}, []
    thread = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    thread.start()
    tail = b""
    peak = 0
    while True:
        piece = process.stdout.read(1 << 20)
        if not piece:
            break
        peak = max(peak, peak_kib(process.pid)) if process.poll() is None else peak
        lines = (tail + piece).split(b"\n")
        tail = lines.pop()
        for text in lines:
            sizes[text[:5]] = sizes.get(text[:5], 0) + len(text) - len(b"nodeN: ")
    assert process.wait(60) == 0, errors
    thread.join()
    whole, part = divmod(BIG_MIB * 1024 * 1024, len(LINE) + 1)
    assert sizes[b"node1"] == whole * len(LINE) + part
    assert {sizes[n] for n in (b"node2", b"node3", b"node4")} == {3}
    assert 0 < peak < RSS_MAX_KIB


def test_a_reader_that_stands_still(lab):
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(4), "--", "yes")
    process.stdout.read(1000)
    time.sleep(2)  # time in which memory would grow
    assert peak_kib(process.pid) < RSS_MAX_KIB
    process.send_signal(signal.SIGINT)
    wait_for(lambda: not lab.left(), "yes to be ended while nobody reads", 5)
    _, _, err = finish(process)
    assert process.returncode == 130 and "mtlaunch: node[1-4]: interrupted" in err


# --- the node's /bin/sh ---

@pytest.fixture(params=["dash", "bash", "busybox"])
def own_sh(request, tmp_path):
    """A function that runs mtlaunch on this machine alone, where /bin/sh is that shell."""
    needs_namespaces()
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    path = "/usr/bin:/bin"
    if request.param == "busybox":
        path = str(tmp_path / "applets")
        os.mkdir(path)
        for applet in subprocess.check_output(["busybox", "--list"], text=True).split():
            os.symlink(shutil.which("busybox"), os.path.join(path, applet))
    home = tmp_path / "home"
    home.mkdir()

    def run(*words, stdin="", first=None):
        return subprocess.run(
            ["unshare", "-m", "--propagation", "private", "/bin/bash", "-c",
             'mount --bind "$0" "$(readlink -f /bin/sh)" && exec "$@"', shutil.which(request.param), str(BINARY), *words],
            input=stdin, capture_output=True, text=True, errors="surrogateescape", timeout=60, check=False,
            env={"HOME": str(home), "PATH": f"{first}:{path}" if first else path, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
    run.path = path
    return run


def test_every_shell_of_a_node(own_sh):
    python = shutil.which("python3", path="/usr/bin")
    answer = own_sh("exec", "-q", "--", python, "-c", SHOW, *NASTY)
    assert (answer.stdout, answer.stderr, answer.returncode) == (hexed(NASTY), "", 0)
    answer = own_sh("exec", "-q", "--json", "--stdin", "--", "cat; kill -USR1 $$", stdin="x\n" * 3000)
    host = json.loads(answer.stdout)["hosts"][0]
    assert (host["stdout"], host["signal"], host["stderr"]) == ("x\n" * 3000, "USR1", "")
    mark = f"MARK={os.getpid()}"
    for options in ([], ["--stdin"]):
        line = "sleep 1000 & (setsid sleep 1001 &); (trap '' TERM; sleep 1002; sleep 1003); sleep 1004"
        answer = own_sh("exec", "-q", "--timeout", "1", *options, "--", "env", mark, "sh", "-c", line)
        assert answer.returncode == 5, answer
        wait_for(lambda: not marked(mark), f"no process, but: {marked(mark)}", 5)
    answer = own_sh("exec", "-q", "--", "no-such-command", "x")
    assert answer.returncode == 127 and "not found" in answer.stderr
    for line in ("-x", "--help", "+e"):  # a line for the shell, no option of it
        answer = own_sh("exec", "-q", "--", line)
        assert answer.returncode == 127 and "not found" in answer.stderr, answer


@pytest.mark.parametrize("tool", ["awk", "grep", "xargs"])
def test_s1_every_shells_guard_looks_by_itself_where_a_tool_is_killed(own_sh, tmp_path, tool):
    """The tool is killed from the command on; what has left the session is found by its mark all the same."""
    mark, folder = f"MARK={tmp_path}", tmp_path / "broken"
    folder.mkdir()
    broken, real = folder / tool, shutil.which(tool, path=own_sh.path)
    broken.write_text(f"#!/bin/sh\n[ ! -e {tmp_path}/now ] || kill -9 $$\nexec {real} \"$@\"\n")
    broken.chmod(0o755)
    line = (f"sleep 1000 & (setsid sleep 1001 &); (trap '' TERM; sleep 1002; sleep 1003) & : >{tmp_path}/now; "
            "exec sleep 1004")
    for options in ([], ["--stdin"]):
        answer = own_sh("exec", "-q", "--timeout", "1", *options, "--", "env", mark, "sh", "-c", line, first=folder)
        assert answer.returncode == 5, answer
        wait_for(lambda: not marked(mark), f"no process, but: {marked(mark)}", 8)
        (tmp_path / "now").unlink()


def marked(text):
    """Processes of this machine with text in their environment."""
    return [p for p in processes_where("ns/pid", os.readlink("/proc/self/ns/pid"))
            if text in (f"{k}={v}" for k, v in p.environ.items())]


# --- one message for many hosts (U19) ---

@pytest.mark.parametrize("client", ["builtin", "openssh"])
def test_a_failure_of_all_hosts_is_one_message(lab, client):
    key = lab.home / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    os.chown(key, UID, UID)
    config = lab.home / ".ssh" / "config"
    config.write_text(f"Host *\n  IdentityFile {key}\n  IdentitiesOnly yes\n")
    try:
        lab.job("r.yaml", hosts=nodes(4), program="true", ssh={"client": client})
        answer = lab.mt("start", "r.yaml", "r", code=3)
        assert answer.err.count("mtlaunch: node[1-4]: ") == 1 and answer.err.count("  hint: ") <= 2, answer
        assert "refused" in answer.err or "Permission denied" in answer.err
    finally:
        config.unlink()
