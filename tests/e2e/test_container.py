"""Runs inside containers: a real docker engine behind every node that is used."""
import json
import os
import signal
import time
from pathlib import Path

import pytest
from cluster import wait_for
from conftest import CommandLines
from engines import PROGRAMS, SMALL, TREE, Engines, missing
from test_exact import NASTY, as_spec, dump
from test_stop import TRICKS

NODES = ("node1", "node2")
CONTAINER = {"name": "train", "user": "lab"}


@pytest.fixture(scope="module")
def engines(big_cluster):
    why = missing()
    if why and os.environ.get("CI") == "true":
        pytest.fail(why)
    if why:
        pytest.skip(why)
    with Engines(big_cluster, NODES) as made:
        yield made


@pytest.fixture
def two(lab, engines):
    """A lab with an empty engine on two nodes, and a container `train` on each."""
    engines.clear()
    for node in NODES:
        engines.make(node, "train")
    lab.engines = engines
    yield lab
    engines.clear()


def start(lab, run="r", hosts="node1,node2", code=0, args=(), **keys):
    keys.setdefault("container", CONTAINER)
    keys.setdefault("program", ["sh", "-c", "echo here; exec sleep 600"])
    lab.job(run + ".yaml", hosts=hosts, **keys)
    # alone: what a supervisor does has a test of its own
    return lab.mt("start", run + ".yaml", run, "--no-supervise", *args, code=code)


def node_of(lab, run, rank=0):
    return lab.status(run)["nodes"][rank]


def test_a_run_lives_in_the_container(two):
    start(two, program=["sh", "-c", "id -un; echo $HOME; pwd; exec sleep 600"])
    status = two.status("r")
    assert status["state"] == "running"
    for rank, node in enumerate(NODES):
        found = two.engines.marked(node, "r")
        assert status["nodes"][rank]["pid"] in [p.pid for p in found]
        assert not two.marked("r", node), "a process of the run stands outside the container"
        pid = two.node_file(node, ".mtlaunch", "run_state", f"r_node{rank}.pid").read_text()
        assert int(pid) == status["nodes"][rank]["pid"]
        state = dict(line.split("=", 1) for line in
                     two.node_file(node, ".mtlaunch", "run_state", f"r_node{rank}.state").read_text().splitlines())
        inspected = json.loads(two.engines.docker(node, "inspect", "train").stdout)[0]
        assert state["container"] == inspected["Id"]
        assert state["container_started"] == inspected["State"]["StartedAt"]
    logs = two.mt("logs", "r").lines
    assert logs == [f"{n}: {text}" for n in NODES for text in ("lab", "/home/lab", "/")]
    two.mt("stop", "r")
    assert two.status("r")["state"] == "stopped"
    assert not [p for n in NODES for p in two.engines.marked(n, "r")]


def test_no_process_survives_a_stop(two):
    two.program("tricks.py")
    start(two, workdir="/home/lab", program=["python3", "tricks.py", *TRICKS], stop={"grace": "1s"})
    found = {}
    for node in NODES:
        folder = two.node_file(node, "pids", "r")
        wait_for(lambda f=folder: (f / "root").exists(), f"the tree on {node}", 30)
        ticks = {p.pid: p.ticks for p in two.engines.inside(node)}
        for name in ["root"] + TRICKS:
            pid = int((folder / name).read_text())
            found[node, pid] = ticks[pid]
    stop = two.mt("stop", "r", "--json").json
    now = {(n, p.pid): p.ticks for n in NODES for p in two.engines.inside(n)}
    assert not [key for key, ticks in found.items() if now.get(key) == ticks]
    assert stop["state"] == "stopped" and stop["survivors"] == []
    # what else lives there is untouched: the container's first process
    assert [[p.command for p in two.engines.inside(n)] for n in NODES] == [["sleep infinity"]] * 2


def test_the_exec_client_may_die(two):
    start(two, program=["sh", "-c", "sleep 2; echo on; exec sleep 600"], setup=["sleep 1.5"], args=["--no-check"],
          hosts="node1", start_timeout="30s")
    assert two.status("r")["state"] == "running"
    for process in two.cluster.ps("node1"):
        assert process.argv[:2] != ["docker", "exec"], "a client stays behind a start"
    follower = two.spawn("logs", "r", "-f")
    wait_for(lambda: [p for p in two.cluster.ps("node1") if "exec -i" in p.command], "the follower's client")
    for process in two.cluster.ps("node1"):
        if "exec -i" in process.command:
            two.cluster.end(process)
    wait_for(lambda: not [p for p in two.engines.inside("node1") if p.argv[:1] == ["/bin/sh"] and "-s" in p.argv],
             "the follower's shell to end inside")
    follower.kill()
    follower.communicate()
    assert two.status("r")["state"] == "running"
    two.mt("stop", "r")


def test_a_follower_leaves_nothing_inside(two):
    start(two, hosts="node1")
    follower = two.spawn("logs", "r", "-f")
    wait_for(lambda: [p for p in two.engines.inside("node1") if p.argv == ["/bin/sh", "-s"]], "the follower inside")
    follower.send_signal(signal.SIGINT)
    follower.communicate(timeout=10)
    wait_for(lambda: not [p for p in two.engines.inside("node1") if p.argv == ["/bin/sh", "-s"]],
             "the follower's shell to end inside", 10)
    two.mt("stop", "r")


def test_arguments_and_secrets_arrive_and_show_on_no_command_line(two):
    two.program("dump.py")
    two.job(hosts="node1", workdir="/home/lab", program=["python3", "dump.py"], args=as_spec(NASTY), pass_env=["HF_*"],
            container=CONTAINER)
    with CommandLines() as lines:
        two.mt("start", "job.yaml", "r", "--wait", env={"HF_TOKEN": "geheim77"})
    argv, env = dump(two, "node1")
    assert argv == [t.encode() for t in NASTY]
    assert env["HF_TOKEN"] == b"geheim77"
    assert not [line for line in lines.seen if b"geheim77" in line]


@pytest.mark.parametrize("change, reason", [
    ("restart", "container-replaced"), ("remake", "container-replaced"), ("remove", "container-missing"),
    ("stop", "container-stopped"), ("kill", "container-stopped")])
def test_a_container_that_changes_in_mid_run(two, change, reason):
    start(two)
    if change == "restart":
        two.engines.docker("node2", "restart", "-t", "0", "train")
    elif change == "stop":
        two.engines.docker("node2", "stop", "-t", "0", "train")
    elif change == "kill":
        two.engines.docker("node2", "kill", "train")
    else:
        two.engines.docker("node2", "rm", "-f", "train")
        if change == "remake":
            two.engines.make("node2", "train", "-e", "MTLAUNCH_MARK=other.1.1")
    before = [(p.pid, p.ticks) for p in two.engines.inside("node2")]
    status = two.mt("status", "r", "--json", code=1).json
    assert [n["state"] for n in status["nodes"]] == ["running", "failed"]
    assert status["nodes"][1]["reason"].startswith(reason)
    two.mt("stop", "r", code=0)
    assert node_of(two, "r", 1)["state"] == "failed"
    assert [(p.pid, p.ticks) for p in two.engines.inside("node2")] == before, "the new container was touched"
    assert not two.engines.marked("node1", "r")


def test_a_stop_finds_the_container_replaced_by_itself(two):
    start(two)
    two.engines.docker("node2", "restart", "-t", "0", "train")
    before = [(p.pid, p.ticks) for p in two.engines.inside("node2")]
    stop = two.mt("stop", "r", "--json").json
    assert [n["state"] for n in stop["nodes"]] == ["stopped", "failed"]
    assert stop["nodes"][1]["reason"].startswith("container-replaced")
    assert [(p.pid, p.ticks) for p in two.engines.inside("node2")] == before
    start(two)  # another attempt runs in what is there now
    assert two.status("r")["attempt"] == 2
    two.mt("stop", "r")


def test_a_renamed_container_is_still_the_one(two):
    start(two, hosts="node1")
    two.engines.docker("node1", "rename", "train", "other")
    two.engines.make("node1", "train")
    assert two.status("r")["state"] == "running"
    two.mt("stop", "r")
    assert not two.engines.marked("node1", "r")


@pytest.mark.parametrize("container, kind", [
    ({"name": "nope"}, "container-missing"), ({"name": "idle"}, "container-stopped"),
    ({"name": "train", "engine": "podman"}, "engine-missing"),
    ({"name": "train", "sudo": True}, "engine-missing"),
    ({"name": "train", "user": "nobody-here"}, "container-failed")])
def test_what_stands_in_the_way_is_found_before_the_start(two, container, kind):
    two.engines.docker("node1", "create", "--name", "idle", TREE, "true")
    answer = start(two, hosts="node1", container=container, code=4, args=["--json"])
    assert answer.error["kind"] == kind and answer.error["hosts"] == ["node1"]
    assert answer.json["state"] == "failed"
    assert not two.engines.marked("node1", "r")


def test_a_folder_that_is_not_inside(two):
    assert start(two, hosts="node1", workdir="/nope", code=4, args=["--json"]).error["kind"] == "workdir-missing"
    inner = dict(CONTAINER, workdir="/nope2")
    assert start(two, hosts="node1", container=inner, code=4, args=["--json"]).error["kind"] == "workdir-missing"
    start(two, hosts="node1", container=dict(CONTAINER, workdir="/work"), program=["sh", "-c", "pwd; sleep 600"])
    assert two.mt("logs", "r").lines == ["node1: /work"]
    two.mt("stop", "r")


def test_a_user_without_permission_and_an_engine_that_is_down(two):
    two.cluster.exec("node1", "chgrp root /run/docker.sock", user=False, check=True)
    assert start(two, code=4, args=["--json"]).error["kind"] == "docker-permission"
    two.cluster.exec("node1", "chgrp lab /run/docker.sock", user=False, check=True)
    start(two, run="s")
    two.engines.end("node1", signal.SIGKILL)
    answer = two.mt("status", "s", "--json", code=(1, 3)).json
    assert answer["nodes"][0]["state"] == "lost" and answer["nodes"][1]["state"] == "running"
    assert start(two, run="t", hosts="node1", code=4, args=["--json"]).error["kind"] == "engine-missing"
    two.mt("stop", "s", code=7)
    two.engines.launch("node1")
    two.engines.wait("node1")
    two.mt("stop", "s", code=0)
    assert not [p for n in NODES for p in two.engines.marked(n, "s")]


def test_artifacts_on_no_volume_are_warned_of(two):
    answer = start(two, artifacts="/var/artifacts", container={"name": "train"})
    assert "node[1-2]: artifacts '/var/artifacts' lie on no mount of container 'train'" in " ".join(answer.err.split())
    two.mt("stop", "r")
    assert "artifacts" not in start(two, run="s").err
    two.mt("stop", "s")


def test_busybox_alone_is_enough(two):
    two.engines.make("node1", "small", image=SMALL, command=("sleep", "100000"))
    start(two, hosts="node1", container={"name": "small"}, program=["sh", "-c", "echo small; sleep 600 & sleep 600"],
          stop={"grace": "1s"})
    assert two.mt("logs", "r").lines == ["node1: small"]
    assert len(two.engines.marked("node1", "r")) >= 2
    two.mt("stop", "r")
    assert not two.engines.marked("node1", "r")


def test_gpus_are_those_inside_and_a_hanging_tool_holds_nobody_up(two):
    tool = two.write("nvidia-smi", "#!/bin/sh\n[ \"$1\" = -L ] && { echo 'GPU 0: a'; echo 'GPU 1: b'; exit 0; }\n"
                     "[ -e /home/lab/hang ] && sleep 600\nprintf '0, 97, 1024, 143771\\n1, [N/A], 0, 143771\\n'\n")
    tool.chmod(0o755)
    two.cluster.put(str(tool))
    two.engines.docker("node1", "rm", "-f", "train")
    two.engines.make("node1", "train", "-v", "/home/lab/nvidia-smi:/opt/bin/nvidia-smi:ro", "-e",
                     "PATH=/opt/bin:/usr/bin:/bin")
    start(two, hosts="node1", program=["sh", "-c", "echo $NPROC_PER_NODE; exec sleep 600"])
    assert two.mt("logs", "r").lines == ["node1: 2"]
    assert node_of(two, "r")["gpus"] == [
        {"index": 0, "utilization": 97, "memory_used": 1 << 30, "memory_total": 143771 << 20},
        {"index": 1, "utilization": None, "memory_used": 0, "memory_total": 143771 << 20}]
    assert "2: 97% 1.0G/140G" in two.mt("status", "r").out
    two.node_file("node1", "hang").touch()
    begin = time.monotonic()
    assert node_of(two, "r")["gpus"] is None
    assert time.monotonic() - begin < 12
    assert not [p for p in two.engines.inside("node1") if "nvidia-smi" in p.command]
    two.mt("stop", "r")


def test_an_all_reduce_between_containers(two, newer_torch):
    """`check --comm` takes the way of the job: the interpreter is that inside."""
    place = Path(newer_torch).parent.parent
    for node in NODES:
        two.engines.docker(node, "rm", "-f", "train")
        two.engines.make(node, "train", "-v", f"{place}:/opt/torch:ro")
    two.job("j.yaml", hosts="node1,node2", container=CONTAINER, launcher="torchrun", program="train.py", nproc_per_node=1,
            python="/opt/torch/bin/python")
    answer = two.mt("check", "j.yaml", "--only", "reach", "--comm", "--json", timeout=300).json
    pair, = answer["comm"]["pairs"]
    assert pair["hosts"] == ["node1", "node2"] and pair["bytes_per_second"] > 1e6
    assert [(f["severity"], f["hosts"]) for f in answer["findings"] if f["id"] == "comm"] == [("ok", ["node1", "node2"])]
    assert not [p for n in NODES for p in two.engines.inside(n) if "python" in p.command]


def spec(**keys):
    run = {"image": TREE, "command": ["sleep", "infinity"], "network": "host", "ipc": "host", "shm_size": "1g",
           "cap_add": ["IPC_LOCK"], "ulimit": ["nofile=4096"], "devices": ["/dev/null:/dev/lab"],
           "volumes": [PROGRAMS[1], PROGRAMS[3], "/home/lab:/home/lab"], "env": {"LAB_KEY": "geheim 88"},
           "user": "lab", "workdir": "/work"}
    run.update(keys)
    return {"name": "made", "run": run}


def test_up_status_and_down(two):
    two.job("j.yaml", hosts="node1,node2", container=spec(), program=["sh", "-c", "id -un; pwd; exec sleep 600"])
    missing_ = two.mt("container", "status", "j.yaml", "--json", code=4).json
    assert [h["state"] for h in missing_["hosts"]] == ["missing", "missing"]
    with CommandLines() as lines:
        made = two.mt("container", "up", "j.yaml", "--json").json
    assert [(h["state"], h["action"], h["job"]) for h in made["hosts"]] == [("running", "made", "j")] * 2
    assert not [line for line in lines.seen if b"geheim" in line]
    again = two.mt("container", "up", "j.yaml", "--json").json
    assert [(h["id"], h["action"]) for h in again["hosts"]] == [(h["id"], "kept") for h in made["hosts"]]
    status = two.mt("container", "status", "j.yaml", "--json").json
    assert [h["differences"] for h in status["hosts"]] == [[], []]
    assert two.engines.docker("node1", "exec", "made", "printenv", "LAB_KEY").stdout == "geheim 88\n"
    two.engines.docker("node2", "stop", "-t", "0", "made")
    assert [h["action"] for h in two.mt("container", "up", "j.yaml", "--json").json["hosts"]] == ["kept", "started"]
    two.mt("start", "j.yaml", "r")
    assert two.mt("logs", "r").lines == [f"{n}: {t}" for n in NODES for t in ("lab", "/work")]
    refused = two.mt("container", "down", "j.yaml", "--json", code=6).json
    assert refused["error"]["kind"] == "run-live" and refused["hosts"][0]["runs"] == ["r"]
    two.mt("stop", "r")
    assert [h["action"] for h in two.mt("container", "down", "j.yaml", "--json").json["hosts"]] == ["removed"] * 2
    two.mt("container", "down", "j.yaml")
    assert two.engines.docker("node1", "ps", "-aq", "--filter", "name=made").stdout == ""


def test_up_names_what_differs_and_replaces_only_when_told(two):
    two.job("j.yaml", hosts="node1,node2", container=spec())
    first = two.mt("container", "up", "j.yaml", "--json").json
    changed = spec(network="none", shm_size="2G", env={"LAB_KEY": "new"}, command=["sleep", "1000"],
                   volumes=[PROGRAMS[1], PROGRAMS[3]], privileged=True)
    two.job("j.yaml", hosts="node1,node2", container=changed)
    answer = two.mt("container", "up", "j.yaml", "--json", code=4)
    assert answer.error["kind"] == "container-differs" and answer.error["hosts"] == ["node1", "node2"]
    differences = answer.json["hosts"][0]["differences"]
    assert [d.split()[0] for d in differences] == ["command", "network", "shm_size", "privileged", "volumes", "env"]
    assert "geheim" not in answer.out + answer.err
    assert [h["id"] for h in answer.json["hosts"]] == [h["id"] for h in first["hosts"]]
    changed["run"]["privileged"] = False
    two.job("j.yaml", hosts="node1,node2", container=changed)
    second = two.mt("container", "up", "j.yaml", "--replace", "--json").json
    assert [h["action"] for h in second["hosts"]] == ["replaced", "replaced"]
    assert second["hosts"][0]["id"] != first["hosts"][0]["id"]


def test_containers_of_others_and_ones_that_cannot_be_made(two):
    two.job("j.yaml", hosts="node1", container={"name": "train"})
    assert two.mt("container", "down", "j.yaml", "--json", code=4).error["kind"] == "container-foreign"
    assert two.mt("container", "up", "j.yaml", "--json", code=2).error["kind"] == "plan"
    two.mt("container", "down", "j.yaml", "--replace")
    two.job("j.yaml", hosts="node1", container=spec(image="lab/none"))
    assert two.mt("container", "up", "j.yaml", "--json", code=4).error["kind"] == "image-missing"
    two.job("j.yaml", hosts="node1", container=spec(command=["/nope"]))
    assert two.mt("container", "up", "j.yaml", "--json", code=4).error["kind"] == "container-failed"
    assert two.engines.docker("node1", "ps", "-aq").stdout == ""


def test_a_command_in_every_container(two):
    hosts = ["--hosts", "node1,node2", "--container", "train"]
    answer = two.mt("exec", *hosts, "--json", "--", "sh", "-c", "echo a b; echo c >&2; exit 3", code=3).json
    assert [(h["exit_status"], h["stdout"], h["stderr"]) for h in answer["hosts"]] == [(3, "a b\n", "c\n")] * 2
    assert sorted(two.mt("exec", *hosts, "--label", "--", "cat /proc/1/cmdline | tr '\\0' ' '; echo").lines) == [
        f"{n}: sleep infinity " for n in NODES]
    two.engines.docker("node2", "rm", "-f", "train")
    answer = two.mt("exec", *hosts, "--json", "--", "echo on", code=(3, 4)).json
    assert answer["hosts"][0]["stdout"] == "on\n" and answer["hosts"][0]["error"] is None
    assert answer["hosts"][1]["error"]["kind"] == "container-missing"
    begin = time.monotonic()
    two.mt("exec", "--hosts", "node1", "--container", "train", "--timeout", "1s", "--", "sleep 300", code=5)
    assert time.monotonic() - begin < 10
    assert not [p for p in two.engines.inside("node1") if p.command == "sleep 300"]


def test_a_supervised_run_follows_its_container(two):
    """The supervisor's channel stays open into the container, and tells when that goes."""
    two.job("r.yaml", hosts="node1,node2", container=CONTAINER, program=["sh", "-c", "echo here; exec sleep 600"])
    two.mt("start", "r.yaml", "r")
    wait_for(lambda: two.status("r")["supervisor"]["alive"], "the supervisor")
    wait_for(lambda: all(two.engines.watchers(n) for n in NODES), "a watch inside both containers")
    first = {n: [p.pid for p in two.engines.watchers(n)] for n in NODES}
    time.sleep(1.5)  # a watch that ends is begun anew: it must be the same one
    assert {n: [p.pid for p in two.engines.watchers(n)] for n in NODES} == first
    two.engines.docker("node2", "restart", "-t", "0", "train")
    status = two.wait_state("r", "failed", limit=40)
    assert status["nodes"][1]["reason"].startswith("container-replaced")
    assert not two.engines.marked("node1", "r")
    wait_for(lambda: not two.engines.watchers("node1"), "the watch to end inside")
