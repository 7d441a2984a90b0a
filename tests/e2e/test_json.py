"""JSON of every command has the keys of the contract, never fewer; exit codes are the table's."""
import json
import re

import pytest

STATUS = {"schema", "run", "job", "run_id", "state", "attempt", "reason", "exit_status", "started", "ended", "supervisor",
          "nodes", "progress", "left_over", "attempts", "events"}
NODE = {"rank", "host", "addr", "state", "last_output", "reason", "pid", "exit_status", "signal", "started", "ended", "log", "gpus"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def check_status(status, extra=frozenset()):
    assert set(status) == STATUS | set(extra)
    assert all(set(n) == NODE for n in status["nodes"])
    assert all(set(a) == {"attempt", "state", "started", "ended", "reason", "nodes"} for a in status["attempts"])
    assert all(set(e) == {"time", "event", "host", "text"} for e in status["events"])
    for value in [status["started"], status["ended"]] + [n["started"] for n in status["nodes"]]:
        assert value is None or TIME.match(value)
    assert status["progress"] is None or set(status["progress"]) >= {"iteration", "total", "loss"}
    assert status["supervisor"] is None or set(status["supervisor"]) == {"host", "pid", "alive"}


def test_status_start_stop_wait(lab):
    lab.job(hosts="node1,node2", program=["sleep", "600"])
    check_status(lab.mt("start", "job.yaml", "r", "--json").json)
    check_status(lab.mt("status", "r", "--json").json)
    stop = lab.mt("stop", "r", "--json").json
    check_status(stop, {"survivors"})
    check_status(lab.mt("wait", "r", "--json", code=1).json)
    status = lab.status("r")
    assert status["nodes"][0]["log"] == "/home/lab/.mtlaunch/logs/r_node0.log"
    assert status["nodes"][0]["addr"] in ("node1", "10.77.0.1")
    assert re.fullmatch(r"r-[0-9a-f]{8}", status["run_id"])


def test_list_and_status_without_a_run(lab):
    assert lab.mt("list", "--json").json == {"schema": "mtlaunch/1", "runs": []}
    lab.job(hosts="node1", program="true")
    lab.mt("start", "job.yaml", "b", "--wait")
    lab.mt("start", "job.yaml", "a", "--wait")
    for command in ("list", "status"):
        runs = lab.mt(command, "--json").json["runs"]
        assert sorted(r["run"] for r in runs) == ["a", "b"]
        assert all(set(r) == STATUS - {"schema", "nodes", "attempts", "events"} for r in runs)
    assert "a" in lab.mt("list").out


def test_last_output_is_when_a_log_grew(lab):
    lab.job(hosts="node1,node2", program="[ $NODE_RANK = 1 ] || echo hello; sleep 600")
    lab.mt("start", "job.yaml", "r")
    said, silent = lab.status("r")["nodes"]
    assert TIME.match(said["last_output"]) and silent["last_output"] is None
    lab.mt("stop", "r", "--grace", "1s")


def test_show_asks_nobody(lab):
    lab.job(hosts="node1,node2", program=["sleep", "600"], env={"NOTE": "a b", "API_TOKEN": "s3cr3t"})
    lab.mt("start", "job.yaml", "r")
    lab.cluster.cut("node1")
    answer = lab.mt("show", "r", "--json")
    show = answer.json
    assert set(show) == {"schema", "run", "job", "spec", "plan", "events", "findings"} and answer.seconds < 2
    assert show["plan"]["command"] == ["sleep", "600"] and [n["host"] for n in show["plan"]["nodes"]] == ["node1", "node2"]
    assert show["plan"]["env"]["NOTE"] == "a b" and "s3cr3t" not in answer.out
    assert "started" in [e["event"] for e in show["events"]]
    text = lab.mt("show", "r").out
    for part in ("spec\n", "plan\n", "events\n", "NODE  HOST", "NOTE: a b", "program:\n"):
        assert part in text, text
    assert "s3cr3t" not in text
    events = lab.mt("show", "r", "--events").out
    assert "started" in events and "spec\n" not in events and "NODE" not in events
    assert "no run 'x'" in lab.mt("show", "x", code=6).err
    lab.cluster.restore("node1")


def test_the_spec_of_a_run_starts_the_same(lab):
    lab.job(hosts="node[1-4]", program="train.sh --x 'a b'", args=["--lr", "1e-4"], env={"NOTE": "a: b", "API_TOKEN": "s3cr3t"},
            setup=["export X=1"], ssh={"user": "lab"}, on_failure="keep", stop={"grace": "3s"}, restart={"no_restart_on": ["oom"]},
            prepare=[{"name": "make", "command": "echo made; touch made", "creates": "made"}],
            notify=[{"url": "https://127.0.0.1:9/hook/s3cr3t", "on": ["failed"]}],
            profiles={"short": {"program": "echo hello; exec sleep", "args": None}})
    lab.mt("start", "job.yaml", "r", "--profile", "short", "--nodes", "2", "-e", "MORE=1", "--", "300", "300s")
    shown = lab.mt("show", "r", "--spec")
    assert "s3cr3t" not in shown.out and "API_TOKEN: " in shown.out and shown.out.startswith("# run r, attempt 1; ")
    spec = lab.mt("show", "r", "--json").json["spec"]
    assert spec["program"] == "echo hello; exec sleep" and spec["args"] == ["300", "300s"]
    assert spec["hosts"] == ["node1", "node2"] and spec["nproc_per_node"] == 1
    assert spec["env"] == {"NOTE": "a: b", "API_TOKEN": "***", "MORE": "1"}
    assert spec["prepare"] == [{"name": "make", "on": "first", "command": "echo made; touch made", "creates": "made", "timeout": 3600}]
    assert spec["notify"] == [{"url": "https://127.0.0.1:9/***", "on": ["failed"], "format": "json", "allow_http": False}]
    assert spec["on_failure"] == "keep" and spec["stop"] == {"grace": 3} and spec["ssh"] == {"user": "lab"}
    lab.write("again.yaml", shown.out)
    keys = ("nnodes", "master_addr", "launcher", "job")
    plans = [lab.mt("start", *words, "other", "--dry-run", "--json").json for words in (
        ("job.yaml", "--profile", "short", "--nodes", "2", "-e", "MORE=1"), ("again.yaml",))]
    assert [plans[0][key] for key in keys] == [plans[1][key] for key in keys]
    assert [n["host"] for n in plans[0]["nodes"]] == [n["host"] for n in plans[1]["nodes"]]
    again = lab.mt("start", "again.yaml", "again", env={"API_TOKEN": "s3cr3t"})
    assert "'API_TOKEN' is '***', as a secret is shown" in again.err
    assert lab.states("again") == ["running"] * 2
    assert lab.mt("show", "again", "--json").json["spec"] == spec
    lab.mt("stop", "r", "again")


def test_exit_status_is_of_the_node_that_failed_first(lab):
    trap = "trap 'exit 9' TERM; sleep 60 & wait"
    specs = {"keep": dict(program="[ $NODE_RANK = 0 ] || { sleep 2; exit 7; }; sleep 4; exit 3", on_failure="keep"),
             "killed": dict(program=f"[ $NODE_RANK = 0 ] || {{ {trap}; }}; sleep 2; kill -9 $$"),
             "done": dict(program=f"[ $NODE_RANK = 0 ] || {{ {trap}; }}; sleep 2", finish_on="rank0"),
             "limit": dict(program=trap, time_limit="2s"),
             "stopped": dict(program=trap)}
    for name, keys in specs.items():
        lab.job(name + ".yaml", hosts="node1,node2", **keys)
        lab.mt("start", name + ".yaml", name)
        assert lab.status(name)["exit_status"] is None
    lab.mt("stop", "stopped")
    for name in ("keep", "killed", "done", "limit"):
        lab.mt("wait", name, code=None)
    runs = {r["run"]: r for r in lab.mt("list", "--json").json["runs"]}
    assert {name: (run["state"], run["exit_status"]) for name, run in runs.items()} == {
        "keep": ("failed", 7), "killed": ("failed", 137), "done": ("finished", 0), "limit": ("stopped", None),
        "stopped": ("stopped", None)}
    assert lab.status("stopped")["nodes"][0]["exit_status"] == 9 and lab.status("keep")["exit_status"] == 7


def test_list_asks_nobody(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r")
    lab.cluster.cut("node1")
    answer = lab.mt("list", "--json")
    assert answer.json["runs"][0]["state"] == "running" and answer.seconds < 2


def test_hosts(lab):
    found = lab.mt("hosts", "-H", "node[1-3] slots=4 env.A=b", "--json").json
    assert set(found) == {"schema", "hosts", "folded"} and found["folded"] == "node[1-3]"
    assert [set(h) for h in found["hosts"]] == [{"rank", "name", "user", "port", "addr", "slots", "ifname", "local", "env"}] * 3
    assert found["hosts"][2] == {"rank": 2, "name": "node3", "user": None, "port": None, "addr": found["hosts"][2]["addr"],
                                 "slots": 4, "ifname": None, "local": False, "env": {"A": "b"}} or \
        found["hosts"][2]["port"] == 22


def test_dry_run(lab):
    lab.job("t.yaml", launcher="torchrun", program="x.py", nproc_per_node="2", env={"A": "b", "X_TOKEN": "hide-me"})
    answer = lab.mt("start", "t.yaml", "r", "--dry-run", "--json")
    plan = answer.json
    assert set(plan) == {"schema", "job", "run", "launcher", "nnodes", "nproc_per_node", "world_size", "master_addr",
                         "master_port", "rendezvous_id", "nodes", "batch", "warnings"}
    assert (plan["nnodes"], plan["nproc_per_node"], plan["world_size"], plan["master_port"]) == (4, 2, 8, 29500)
    assert plan["rendezvous_id"] is None
    for rank, node in enumerate(plan["nodes"]):
        assert set(node) == {"rank", "host", "command", "shell", "env", "workdir", "log", "container"}
        assert node["command"][:3] == ["python3", "-m", "torch.distributed.run"]
        assert f"--node_rank={rank}" in node["command"] or \
            node["command"][node["command"].index("--node_rank") + 1] == str(rank)
        env = {e["name"]: e for e in node["env"]}
        assert all(set(e) == {"name", "value", "source"} for e in node["env"])
        assert env["NODE_RANK"]["value"] == str(rank)
        assert env["OMP_NUM_THREADS"] == {"name": "OMP_NUM_THREADS", "value": None, "source": "on start"}
        assert env["X_TOKEN"]["value"] == "***" and "hide-me" not in answer.out
    again = lab.mt("start", "t.yaml", "r", "--dry-run", "--json")
    assert again.out == answer.out
    assert lab.mt("list", "--json").json["runs"] == []


def test_dry_run_contacts_no_node(lab):
    for node in lab.names:
        lab.cluster.cut(node)
    lab.job()
    assert lab.mt("start", "job.yaml", "r", "--dry-run", "--json").seconds < 2


def test_version_remove_and_errors(lab):
    assert set(lab.mt("version", "--json").json) >= {"schema", "version"}
    lab.job(hosts="node1", program="true")
    lab.mt("start", "job.yaml", "r", "--wait")
    lab.mt("remove", "r", "--json").json
    error = lab.mt("status", "r", "--json", code=6).json
    assert set(error) == {"schema", "error"}
    assert set(error["error"]) == {"kind", "code", "message", "hint", "hosts", "file", "line", "column"}
    assert error["error"]["code"] == 6
    assert lab.mt("help", "--json", code=2)
    lab.write("bad.yaml", "program: x\nlaunchr: script\n")
    error = lab.mt("start", "bad.yaml", "r", "--json", code=2).error
    assert error["file"].endswith("bad.yaml") and (error["line"], error["column"]) == (2, 1)
    assert "launcher" in error["message"] + (error["hint"] or "")


@pytest.mark.parametrize("words,code", [
    (["help"], 0), (["version"], 0), (["--help"], 0), (["list"], 0),
    ([], 2), (["strat"], 2), (["start"], 2), (["start", "job.yaml", "r", "x"], 2), (["start", "job.yaml", "r", "--wat"], 2),
    (["start", "nosuch.yaml", "r"], 2), (["start", "job.yaml", "bad name"], 2), (["start", "job.yaml", "-x"], 2),
    (["start", "job.yaml", "r", "--nodes", "9"], 2), (["start", "job.yaml", "r", "--exclude", "node[1-4]"], 2),
    (["start", "job.yaml", "r", "-H", "a", "--hostfile", "hosts.txt"], 2), (["hosts", "--hostfile", "nofile"], 2),
    (["status", "never"], 6), (["stop", "never"], 6), (["logs", "never"], 6), (["wait", "never"], 6), (["remove", "never"], 6),
    (["check", "nosuch.yaml"], 2), (["diagnose", "never"], 6), (["diagnose", "--logs", "nofile"], 2), (["container", "up", "job.yaml"], 2), (["supervise", "never"], 6), (["compare", "never"], 6), (["compare", "ne*"], 6),
    (["start", "job.yaml", "r", "--set", "on_failure=restart"], 2), (["start", "job.yaml", "r", "--timeout", "5x"], 2),
])
def test_exit_codes(lab, words, code):
    lab.job()
    lab.mt(*words, code=code)
    lab.assert_nothing_left()


def test_the_nearest_name_is_told(lab):
    lab.job()
    assert "start" in lab.mt("strat", code=2).err
    assert "--wait" in lab.mt("start", "job.yaml", "r", "--wiat", code=2).err


def test_status_codes_follow_the_states(lab):
    lab.job(hosts="node1,node2", program="[ $NODE_RANK = 0 ] || { sleep 2; exit 5; }; exec sleep 600", on_failure="keep")
    lab.mt("start", "job.yaml", "r")
    lab.wait_state("r", "degraded")
    lab.mt("status", "r", code=1)
    lab.mt("remove", "r", code=6)
    lab.cluster.cut("node1")
    lab.mt("status", "r", "--connect-timeout", "2s", code=3)
    lab.cluster.restore("node1")
    lab.mt("stop", "r", code=0)
    lab.mt("remove", "r")
    lab.mt("status", "r", code=6)


def test_local_trouble_is_8(lab):
    lab.job(hosts="node1", program="true")
    lab.mt("start", "job.yaml", "r", env={"XDG_STATE_HOME": "/proc/nowhere"}, code=8)
    lab.mt("start", "job.yaml", "r", "--wait")
    record = lab.home / ".local/state/mtlaunch/runs/r/run.json"
    data = json.loads(record.read_text())
    data["format"] = 999
    record.write_text(json.dumps(data))
    lab.mt("status", "r", code=8)


def test_progress_and_messages_go_to_stderr_and_quiet_is_quiet(lab):
    lab.job(hosts="node1,node2", program="true")
    answer = lab.mt("start", "job.yaml", "r", "-q")
    assert answer.err == ""
    assert not re.search(r"\x1b", lab.mt("status", "r").out)
    assert re.search(r"\x1b\[", lab.mt("status", "r", "--color", "always").out)


def test_remove_with_artifacts_leaves_no_file_of_the_run(lab):
    lab.job(hosts="node1,node2", program="echo x")
    lab.mt("start", "job.yaml", "r", "--wait")
    lab.mt("start", "job.yaml", "r", "--wait")
    lab.mt("start", "job.yaml", "r_node0", "--wait")
    lab.mt("remove", "r", "--artifacts")
    for node in ("node1", "node2"):
        names = [f.name for f in lab.node_file(node, ".mtlaunch").rglob("*") if f.is_file()]
        assert names and all(n.startswith("r_node0_node") for n in names)
    lab.mt("start", "job.yaml", "r", "--wait")
