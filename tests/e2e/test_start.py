"""start: all or nothing, one at a time, whatever the nodes' shells print."""
import json
import time

import pytest
from cluster import wait_for


def test_start_leaves_a_running_run_and_the_files_of_the_contract(lab):
    lab.job(program=["sleep", "600"])
    answer = lab.mt("start", "job.yaml", "r", "--json")
    assert answer.json["state"] == "running" and answer.json["attempt"] == 1
    for rank, node in enumerate(lab.names):
        folder = lab.node_file(node, ".mtlaunch")
        pid = int((folder / "run_state" / f"r_node{rank}.pid").read_text())
        process = [p for p in lab.cluster.ps(node) if p.pid == pid][0]
        assert process.argv == ["sleep", "600"]
        state = dict(line.split("=", 1) for line in (folder / "run_state" / f"r_node{rank}.state").read_text().splitlines())
        assert set(state) >= {"format", "run_id", "host", "uid", "boot_id", "pid", "start_ticks", "pgid", "container",
                              "container_started", "attempt", "started", "master_port", "version"}
        assert (state["host"].strip("'"), state["pid"].strip("'")) == (node, str(pid))
        assert state["start_ticks"].strip("'") == str(process.ticks)
        assert (folder / "logs" / f"r_node{rank}.log").exists()
        mark = f"{answer.json['run_id']}.1.{rank}"
        assert process.environ["MTLAUNCH_MARK"] == mark
    lab.mt("stop", "r")
    exit_file = lab.node_file("node1", ".mtlaunch", "run_state", "r_node0.exit").read_text()
    assert {line.split("=", 1)[0] for line in exit_file.splitlines()} >= {"status", "signal", "ended", "uptime"}


def test_the_job_has_its_own_session_no_terminal_and_no_input(lab):
    lab.job(hosts="node1", program="readlink /proc/self/fd/0; ps -o tty=,sid=,pid= -p $$; grep SigIgn /proc/self/status")
    lab.mt("start", "job.yaml", "r", "--wait")
    text = lab.log("r", 0).decode().splitlines()
    assert text[0] == "/dev/null"
    tty, sid, _pid = text[1].split()
    assert tty == "?" and sid != "0"
    # 32 and 33 are libc's own and no program may set them; what GNU make starts has them ignored
    assert int(text[2].split()[1], 16) & ~(3 << 31) == 0


def test_a_node_that_refuses_and_the_others_are_rolled_back(lab):
    lab.job(program=["sleep", "600"])
    lab.cluster.etc("node3").joinpath("authorized_keys").rename(lab.cluster.etc("node3") / "away")
    try:
        answer = lab.mt("start", "job.yaml", "r", code=3)
    finally:
        lab.cluster.etc("node3").joinpath("away").rename(lab.cluster.etc("node3") / "authorized_keys")
    assert "node3" in answer.err
    lab.assert_nothing_left()
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")


def test_a_command_that_fails_at_once_rolls_the_others_back(lab):
    lab.job(program="[ $NODE_RANK != 2 ] || exit 9; exec sleep 600", on_failure="keep")
    answer = lab.mt("start", "job.yaml", "r", code=1)
    assert "node3" in answer.err and "9" in answer.err
    lab.assert_nothing_left()
    status = lab.status("r", code=1)
    assert status["state"] == "failed" and status["exit_status"] == 9
    assert status["nodes"][2]["state"] == "failed"
    lab.mt("start", "job.yaml", "r", code=1)
    assert lab.status("r")["attempt"] == 2


def test_a_failing_setup_line_ends_the_start(lab):
    lab.job(hosts="node1,node2", setup=["true", "[ $NODE_RANK = 0 ] || (echo no conda here; exit 4)"])
    answer = lab.mt("start", "job.yaml", "r", code=1)
    assert "node2" in answer.err and "setup" in answer.err
    lab.assert_nothing_left()


def test_a_dead_node_ends_the_start_in_time(lab):
    lab.job(program=["sleep", "600"])
    lab.cluster.cut("node4")
    answer = lab.mt("start", "job.yaml", "r", "--connect-timeout", "2s", code=3)
    assert "node4" in answer.err and answer.seconds < 20
    lab.assert_nothing_left("node1", "node2", "node3")


def test_an_unknown_host_name_is_named(lab):
    lab.job(hosts="node1,doesnotexist")
    answer = lab.mt("start", "job.yaml", "r", code=3)
    assert "doesnotexist" in answer.err
    lab.assert_nothing_left()


@pytest.mark.parametrize("keys,word", [
    ({"workdir": "/nowhere/here"}, "/nowhere/here"),
    ({"program": ["/usr/bin/nosuchprogram"]}, "nosuchprogram"),
    ({"launcher": "torchrun", "program": "missing.py"}, "missing.py"),
    ({"launcher": "torchrun", "program": "x.py", "python": "/opt/nopython"}, "/opt/nopython"),
    ({"artifacts": "/proc/art"}, "/proc/art"),
], ids=["workdir", "program", "script", "interpreter", "artifacts"])
def test_the_probe_before_the_start(lab, keys, word):
    lab.write("x.py", "")
    lab.job(**keys)
    answer = lab.mt("start", "job.yaml", "r", code=4)
    assert word in answer.err
    lab.assert_nothing_left()


def test_the_home_folder_on_the_node_u10(lab):
    """A "~/" that begins program, workdir and artifacts is the user's home on the node; an argument is no path."""
    for name in ("node1", "node2"):
        folder = lab.cluster.node_home(name) / "my tools"
        folder.mkdir()
        (folder / "show").write_text('#!/bin/sh\nprintf "%s|" "$0" "$PWD" "$@"\n')
        (folder / "show").chmod(0o755)
        lab.cluster.own(folder, folder / "show")
    lab.job(hosts=["node1", "node2"], workdir="~/my tools", artifacts="~/my tools/art",
            program=["~/my tools/show", "~/my tools/show"], args=["~/x", "~"])
    lab.mt("start", "job.yaml", "r", "--wait")
    shown = lab.node_file("node1", "my tools", "art", "logs", "r_node0.log").read_text()
    program, folder, *words = shown.rstrip("|").split("|")
    assert program == f"{folder}/show" and folder.startswith("/") and words == ["~/my tools/show", "~/x", "~"]
    (lab.cluster.node_home("node2") / "my tools" / "show").unlink()
    assert "'~/my tools/show' not found" in lab.mt("start", "job.yaml", "r2", code=4).err


def test_the_probe_never_runs_the_program(lab):
    """With 'python: none' it is the interpreter that is asked for torch; whether torchrun can then run it is its own."""
    tool = lab.cluster.node_home("node1") / "tool"
    tool.write_text('#!/bin/sh\necho "$1" >>"$HOME/ran"\n')
    tool.chmod(0o755)
    lab.cluster.own(tool)
    lab.job(hosts="node1", launcher="torchrun", python="none", program="~/tool", args=["go"], nproc_per_node=1)
    lab.mt("start", "job.yaml", "r", "--wait", code=(0, 1, 4))
    ran = lab.cluster.node_home("node1") / "ran"
    assert not ran.exists() or ran.read_text() == "go\n"


def test_a_taken_master_port_is_refused_and_auto_takes_another(lab):
    lab.cluster.exec("node1", "setsid -f python3 -c 'import socket,time; s=socket.socket();"
                     "s.setsockopt(1,2,1); s.bind((\"\",29500)); s.listen(); time.sleep(300)' </dev/null >/dev/null 2>&1")
    wait_for(lambda: "29500" in lab.cluster.exec("node1", "grep -i :733C /proc/net/tcp; ss -ltn").stdout, "the listener", 10)
    lab.job(program=["sleep", "600"])
    assert "29500" in lab.mt("start", "job.yaml", "r", "--master-port", "29500", code=4).err
    assert "29500" in lab.mt("start", "job.yaml", "r", "--master-port", "29500", "--no-check", code=4).err
    lab.mt("start", "job.yaml", "r")
    assert {p.environ["MASTER_PORT"] for n in lab.names for p in lab.marked("r", n)} == {"29501"}
    lab.mt("stop", "r")


def test_a_live_run_is_not_started_again_and_an_ended_one_is(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.job("other.yaml", job="other", hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    assert lab.mt("start", "job.yaml", "r", "--json", code=6).error["kind"] == "run-live"
    lab.mt("stop", "r")
    lab.mt("start", "other.yaml", "r", code=6)
    lab.mt("start", "job.yaml", "r")
    status = lab.status("r")
    assert status["attempt"] == 2 and [a["attempt"] for a in status["attempts"]] == [1, 2]
    logs = lab.node_file("node1", ".mtlaunch", "logs")
    assert {p.name for p in logs.iterdir()} == {"r_node0.log", "r_node0.log.1"}
    lab.mt("stop", "r")


def test_two_starts_at_once_give_one_run(lab):
    lab.job(program=["sleep", "600"])
    both = [lab.spawn("start", "job.yaml", "r") for _ in range(2)]
    outs = [p.communicate(timeout=60) for p in both]
    assert sorted(p.returncode for p in both) == [0, 6], outs
    assert all(len([p for p in lab.cluster.user_ps(n) if p.argv == ["sleep", "600"]]) == 1 for n in lab.names)
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_start_and_stop_at_once_end_in_one_truth(lab):
    lab.job(program=["sleep", "600"])
    begun = lab.spawn("start", "job.yaml", "r")
    wait_for(lambda: lab.status("r", code=None).get("state") or begun.poll() is not None, "the run to be there", 20, 0.02)
    lab.mt("stop", "r", code=0)
    begun.communicate(timeout=60)
    assert lab.status("r")["state"] in ("stopped", "failed")
    lab.assert_nothing_left()


def test_two_stops_at_once(lab):
    lab.job(program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    both = [lab.spawn("stop", "r") for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)
    assert [p.returncode for p in both] == [0, 0]
    lab.assert_nothing_left()


def test_two_heads_cannot_start_one_name_on_the_same_nodes(lab):
    lab.job(hosts="node1,node2", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    other = {"XDG_STATE_HOME": str(lab.home / "other-state")}
    answer = lab.mt("start", "job.yaml", "r", env=other, code=6)
    assert "node1" in answer.err and lab.status("r")["run_id"] in answer.err
    assert lab.states("r") == ["running", "running"]
    lab.mt("stop", "r")


def test_a_head_that_is_not_in_the_list_starts_nothing_on_itself(lab):
    lab.job(program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    assert not [p for p in lab.cluster.user_ps("head") if p.argv == ["sleep", "600"]]
    lab.mt("stop", "r")


def test_a_head_that_is_in_the_list_is_a_node_without_ssh(lab):
    lab.job(hosts="node1,head,node2", program="echo $NODE_RANK $(uname -n); exec sleep 600")
    lab.mt("start", "job.yaml", "r")
    assert [p.environ["NODE_RANK"] for p in lab.cluster.user_ps("head") if p.argv == ["sleep", "600"]] == ["1"]
    assert (lab.home / ".mtlaunch/logs/r_node1.log").read_text() == "1 head\n"
    assert sorted(lab.mt("logs", "r").lines) == ["head: 1 head", "node1: 0 node1", "node2: 2 node2"]
    lab.mt("stop", "r")
    assert not [p for p in lab.cluster.user_ps("head") if p.argv == ["sleep", "600"]]


def test_no_host_list_runs_here_alone(lab):
    lab.job(hosts=None, program="echo $NNODES $MASTER_ADDR")
    answer = lab.mt("start", "job.yaml", "r", "--wait")
    assert "no host list: running on this machine alone" in answer.err
    assert answer.lines == ["head: 1 127.0.0.1"]


def test_shared_artifacts_and_a_second_node_of_the_same_rank(lab):
    lab.job(artifacts="/mnt/shared/art", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    state = lab.cluster.dir / "shared" / "art" / "run_state"
    assert sorted(p.name for p in state.glob("*.pid")) == [f"r_node{i}.pid" for i in range(4)]
    # Another head, the same name, nodes in another order: the files are another host's, not shown dead.
    lab.job("turned.yaml", hosts="node4,node3,node2,node1", artifacts="/mnt/shared/art", program=["sleep", "600"])
    answer = lab.mt("start", "turned.yaml", "r", env={"XDG_STATE_HOME": str(lab.home / "other")}, code=6)
    assert "node1" in answer.err
    assert lab.states("r") == ["running"] * 4
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_login_shells_that_print_noise_or_read(make_lab):
    shells = {"node1": "/bin/bash", "node2": "/usr/bin/zsh", "node3": "/usr/bin/fish", "node4": "/bin/tcsh"}
    lab = make_lab(4, shells=shells)
    noise = {"node1": (".bashrc", "echo hello 123; echo '@@ status=0'; echo to err >&2\n"),
             "node2": (".zshenv", "print -r -- 'pid=17'; echo noise >&2\n"),
             "node3": (".config/fish/config.fish", "echo state=running\n"),
             "node4": (".tcshrc", "echo 'welcome, user'\n")}
    for node, (name, text) in noise.items():
        path = lab.node_file(node, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    lab.program("dump.py")
    lab.job(program=["python3", "dump.py", "it's", "$HOME", "*", 'a "b"'], env={"X": "a b 'c' $(id)"})
    lab.mt("start", "job.yaml", "r", "--wait")
    dumps = [json.loads(lab.node_file(n, "dump.json").read_text()) for n in lab.names]
    assert all(d["argv"] == dumps[0]["argv"] for d in dumps)
    assert [bytes.fromhex(a).decode() for a in dumps[0]["argv"]] == ["it's", "$HOME", "*", 'a "b"']
    assert all(d["env"][b"X".hex()] == b"a b 'c' $(id)".hex() for d in dumps)
    status = lab.status("r")
    assert status["state"] == "finished" and all(n["pid"] > 1 for n in status["nodes"])
    lab.mt("start", "job.yaml", "s", "--set", "program=[sleep, '600']")
    lab.mt("stop", "s")
    lab.assert_nothing_left()


@pytest.mark.parametrize("config", ["", "Host *\n    CanonicalizeHostname yes\n"], ids=["builtin", "openssh"])
def test_a_banner_of_sshd_is_no_answer(lab, config):
    """Neither of the two clients takes what sshd says before the login for what the command says."""
    etc, ssh_config = lab.cluster.etc("node1"), lab.home / ".ssh" / "config"
    before = (etc / "sshd_config").read_text()
    (etc / "banner").write_text("hello 123\n\n@@ status=0 pid=17\npid=17\n")
    (etc / "sshd_config").write_text(before + "Banner /run/lab/banner\n")
    lab.write(".ssh/config", config).chmod(0o600)
    lab.cluster.stop_sshd("node1")
    lab.cluster.start_sshd("node1")
    try:
        line = "echo out; echo err >&2; exit 7"
        answer = lab.mt("exec", "-v", "-H", "node1", "--", line, code=7)
        assert answer.out == "out\n" and ("system's ssh" in answer.err) == bool(config), answer
        host = lab.mt("exec", "-H", "node1", "--json", "--", line, code=7).json["hosts"][0]
        assert [host[key] for key in ("stdout", "stderr", "exit_status", "error")] == ["out\n", "err\n", 7, None]
        lab.job(hosts="node1", program=["sleep", "600"])
        lab.mt("start", "job.yaml", "r", "--no-supervise")
        pids = [p.pid for p in lab.cluster.user_ps("node1") if p.argv == ["sleep", "600"]]
        assert [n["pid"] for n in lab.status("r")["nodes"]] == pids
        lab.mt("stop", "r")
        lab.assert_nothing_left()
    finally:
        ssh_config.unlink()
        (etc / "sshd_config").write_text(before)
        lab.cluster.stop_sshd("node1")
        lab.cluster.start_sshd("node1")


@pytest.mark.parametrize("text,rc", [("exit 0\n", 3), ("read line\n", (0, 3)), ("sleep 3\n", 0)],
                         ids=["exit", "read", "slow"])
def test_startup_files_that_break_commands(make_lab, text, rc):
    lab = make_lab(1, shells={"node1": "/bin/bash"})
    lab.node_file("node1", ".bashrc").write_text(text)
    lab.job(program="echo fine")
    answer = lab.mt("start", "job.yaml", "r", "--wait", code=rc)
    assert answer.code == 0 or "node1" in answer.err
    lab.assert_nothing_left()


def test_an_interrupted_start_stops_what_it_began(lab):
    lab.job(program=["sleep", "600"], setup=["sleep 30"])
    begun = lab.spawn("start", "job.yaml", "r")
    wait_for(lambda: all(lab.marked("r", n) for n in lab.names), "the nodes to begin", 20)
    begun.send_signal(2)
    out, err = begun.communicate(timeout=60)
    assert begun.returncode == 130, (out, err)
    lab.assert_nothing_left()
    assert lab.status("r")["state"] in ("stopped", "failed")


def test_term_during_wait_stops_the_run(lab):
    lab.job(program="echo begun; exec sleep 600", stop={"grace": "2s"})
    begun = lab.spawn("start", "job.yaml", "r", "--wait")
    wait_for(lambda: lab.status("r", code=None).get("state") == "running", "the run", 30, 0.2)
    begun.terminate()
    begun.communicate(timeout=60)
    assert begun.returncode == 143
    lab.assert_nothing_left()


def test_wait_with_a_time_limit_stops_the_run_and_ends_5(lab):
    lab.job(program=["sleep", "600"], stop={"grace": "2s"})
    answer = lab.mt("start", "job.yaml", "r", "--wait", "--timeout", "5", code=5)
    assert answer.seconds < 30
    lab.assert_nothing_left()
    assert lab.status("r")["state"] == "stopped"
    waited = lab.mt("wait", "r", code=5)
    assert "its time limit of 5 s has passed" in waited.err


def test_start_timeout_ends_a_start_that_takes_too_long(lab):
    lab.job(hosts="node1,node2", setup=["[ $NODE_RANK = 0 ] || sleep 300"], start_timeout="3s")
    began = time.monotonic()
    answer = lab.mt("start", "job.yaml", "r", code=(1, 5))
    assert time.monotonic() - began < 40 and "node2" in answer.err
    lab.assert_nothing_left()


def test_on_failure_stop_and_keep(lab):
    program = "[ $NODE_RANK = 1 ] || exec sleep 600; sleep 2; exit 3"
    lab.job(program=program, stop={"grace": "2s"})
    answer = lab.mt("start", "job.yaml", "r", "--wait", "--json", code=1)
    assert answer.json["state"] == "failed" and answer.json["exit_status"] == 3
    assert [n["state"] for n in answer.json["nodes"]] == ["stopped", "failed", "stopped", "stopped"]
    lab.assert_nothing_left()
    lab.job("keep.yaml", program=program, on_failure="keep")
    lab.mt("start", "keep.yaml", "k")
    status = lab.wait_state("k", "degraded")
    assert [n["state"] for n in status["nodes"]] == ["running", "failed", "running", "running"]
    lab.mt("status", "k", code=1)
    lab.mt("stop", "k")


def test_ssh_config_names_ports_users_and_keys(make_lab):
    lab = make_lab(1)
    lab.write(".ssh/config", "Host train\n  HostName 10.77.0.1\n  User lab\n  IdentityFile ~/.ssh/other\n")
    (lab.home / ".ssh/id_ed25519").rename(lab.home / ".ssh/other")
    lab.job(hosts="train", program="echo hello $MTLAUNCH_HOST")
    assert lab.mt("start", "job.yaml", "r", "--wait").lines == ["train: hello train"]


def test_host_keys_are_verified(make_lab):
    lab = make_lab(1)
    known = lab.home / ".ssh/known_hosts"
    text = known.read_text()
    known.write_text("")
    lab.job()
    assert lab.mt("start", "job.yaml", "r", "--json", code=3).error["kind"] == "hostkey-unknown"
    assert known.read_text() == ""
    known.write_text(text)
    lab.cluster.change_host_key("node1")
    assert lab.mt("start", "job.yaml", "r", "--json", code=3).error["kind"] == "hostkey-changed"
    lab.assert_nothing_left()


def test_a_node_whose_logind_kills_at_logout_is_named(lab):
    lab.job(hosts="node1,node2", program="sleep 600")
    lab.cluster.exec("node2", "mkdir -p /etc/systemd && printf '[Login]\\nKillUserProcesses=yes\\n' >/etc/systemd/logind.conf",
                     user=False, check=True)
    try:
        warned = lab.mt("start", "job.yaml", "run").err
        assert "warning: node2: systemd-logind" in warned and "enable-linger" in warned
        lab.mt("stop", "run")
        lab.cluster.exec("node2", "mkdir -p /var/lib/systemd/linger && : >/var/lib/systemd/linger/lab", user=False,
                         check=True)
        assert "logind" not in lab.mt("start", "job.yaml", "run").err
        lab.mt("stop", "run")
    finally:
        lab.cluster.exec("node2", "rm -f /etc/systemd/logind.conf /var/lib/systemd/linger/lab", user=False)


def test_a_connection_lost_in_the_start_makes_it_failed(lab):
    """The way back stops what had started; the run has failed all the same."""
    lab.job(hosts="node1,node2", setup=["if [ -e probed ]; then sleep 6; fi; touch probed"],
            program=["sleep", "600"])
    starting = lab.spawn("start", "job.yaml", "r")
    for node in ("node1", "node2"):
        wait_for(lambda name=node: lab.cluster.pids_with(name, "sleep 6"), f"setup on {node}")
        for process in lab.cluster.ps(node):
            if process.is_session:
                lab.cluster.end(process)
    assert starting.wait(timeout=90) == 3, starting.stderr.read()
    status = lab.status("r", code=1)
    assert status["state"] == "failed" and status["reason"]
    lab.assert_nothing_left()


def test_too_few_open_files_are_said_before_any_node_is_touched(lab):
    lab.job(program=["sleep", "600"])
    few = 'ulimit -n 24; exec mtlaunch "$@"'
    refused = lab.cluster.run("sh", "-c", few, "sh", "start", "job.yaml", "r", "--json")
    error = json.loads(refused.stdout)["error"]
    assert (refused.returncode, error["code"], error["kind"]) == (8, 8, "local")
    assert "4 hosts at once need" in error["message"] and "ulimit" in error["hint"]
    assert lab.mt("list", "--json").json["runs"] == []
    lab.assert_nothing_left()
    # Nobody who watches needs them all at once.
    started = lab.cluster.run("sh", "-c", few, "sh", "start", "job.yaml", "r", "--no-supervise")
    assert started.returncode == 0, started.stderr
    assert lab.cluster.run("sh", "-c", few, "sh", "stop", "r").returncode == 0


# --- what a login says in place of an answer (W8) ---

@pytest.mark.parametrize("said, remedy", [
    ("echo 'bash: fork: retry: Resource temporarily unavailable' >&2; exit 254", "process limit"),
    ("echo 'WARNING: Your password has expired.' >&2; exit 1", "chage -M"),
    ("echo 'This account is currently not available.'; exit 1", "chsh"),
    (r"printf 'come back\033[2J later\n' >&2; exit 3", None)])
@pytest.mark.parametrize("client", ["builtin", "openssh"])
def test_what_a_login_says_is_in_the_message(make_lab, said, remedy, client):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    lab.job("good.yaml", hosts="node[1-2]", program="sleep 300", ssh={"client": client})
    lab.mt("start", "good.yaml", "good", "--no-supervise")
    for node in ("node1", "node2"):
        lab.node_file(node, ".bashrc").write_text(said + "\n")
    quoted = "come back" if remedy is None else said.split("'")[1]
    lab.job("r.yaml", hosts="node[1-2]", program="true", ssh={"client": client})
    for words in (["start", "r.yaml", "r", "--no-supervise"], ["exec", "-H", "node[1-2]", "--", "true"], ["logs", "good"],
                  ["stop", "good"]):
        answer = lab.mt(*words, code=None)
        assert answer.code in (3, 4, 7) and quoted in answer.err, answer
        assert "\033" not in answer.err and (remedy is None or remedy in answer.err), answer
        assert answer.err.count("  hint: ") <= 2
    for node in ("node1", "node2"):
        lab.node_file(node, ".bashrc").unlink()
    lab.mt("stop", "good", "--grace", "1s")
