"""`mtlaunch check`: what is asked of the hosts of a job before it is started, and how it is said."""
import time

import pytest
from check_help import bad, findings, job, only, pair, put, smi


def test_all_is_well(lab):
    job(lab, hosts="node[1-3]")
    found = findings(lab)
    assert all(f["severity"] != "fail" for many in found.values() for f in many), found
    assert found["reach"][0]["folded"] == "node[1-3]" and found["port"][0]["hosts"] == ["node1"]
    text = lab.mt("check", "job.yaml").out
    assert "reach " in text and "ok 3" in text
    lab.assert_nothing_left()


@pair("program")
def test_a_problem_is_told_once_with_its_hosts_and_what_to_do(lab):
    put(lab, "only1", "x", ["node1"])
    job(lab, hosts="node[1-4]", launcher="torchrun", program="only1", nproc_per_node=1, python="python3")
    assert "fail program: node[2-4]" in lab.mt("check", "job.yaml", "--only", "program", code=4).out
    answer = lab.mt("check", "job.yaml", "--only", "program,workdir", code=4)
    lines = answer.out.splitlines()
    assert [line.split() for line in lines[:3]] == [["CHECK", "RESULT"], ["workdir", "ok", "4"], ["program", "ok", "1", "·", "fail", "node[2-4]"]]
    assert lines[3] == "fail program: node[2-4]: only1: no such file (in /home/lab)"
    assert lines[4] == "    put it there, or set 'workdir' to the folder that holds it"
    assert len(lines) == 5


@pair("reach")
def test_a_host_that_cannot_be_reached_is_a_finding_and_ends_3(lab):
    job(lab)
    lab.cluster.stop_sshd("node2")
    try:
        found = findings(lab, code=3)
    finally:
        lab.cluster.start_sshd("node2")
    assert sorted((f["severity"], f["hosts"]) for f in found["reach"]) == [("fail", ["node2"]), ("ok", ["node1"])]
    assert found["workdir"][0]["hosts"] == ["node1"]


def test_only_and_skip(lab):
    job(lab)
    assert set(findings(lab, "--only", "port,workdir", "--skip", "port")) == {"workdir"}
    assert "port" not in findings(lab, "--skip", "port,gpus")
    error = lab.mt("check", "job.yaml", "--only", "prt", code=2).err
    assert "--only: unknown check 'prt'" in error and "did you mean 'port'?" in error
    assert "'check' needs JOB" in lab.mt("check", code=2).err


def test_the_list_of_checks(lab):
    listed = lab.mt("check", "--list", "--json").json["checks"]
    assert {"reach", "port", "gpus"} <= {c["id"] for c in listed}
    text = lab.mt("check", "--list").out
    assert all(c["id"] in text and c["title"] in text for c in listed)


def test_a_login_that_talks(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    lab.node_file("node2", ".bashrc").write_text("echo Welcome to node2\n")
    notes = [f for f in only(lab, "reach") if f["severity"] == "note"]
    assert [(f["hosts"], f["title"]) for f in notes] == \
        [(["node2"], "the login prints something before a command: 'Welcome to node2'")]


def test_a_tool_that_hangs_costs_only_its_own_row(lab):
    put(lab, "bin/nvidia-smi", "#!/bin/sh\nexec sleep 1000\n", ["node2"])
    began = time.monotonic()
    job(lab, setup=["PATH=$HOME/bin:$PATH"], launcher="torchrun", program="job.py", nproc_per_node="auto")
    put(lab, "job.py", "")
    found = findings(lab, code=4)
    assert time.monotonic() - began < 40
    assert [f["hosts"] for f in found["gpus"] if f["severity"] == "fail"] == [["node2"]]
    assert [f["hosts"] for f in found["program"]] == [["node1", "node2"]]
    lab.assert_nothing_left()


@pytest.mark.parametrize("command", [["check", "--list", "x"], ["check", "a", "b"]])
def test_wrong_use(lab, command):
    assert lab.mt(*command, code=2).err


# --- one test a check: it fails, and it passes -----------------------------------------------------------------


@pair("paths")
def test_paths(lab):
    put(lab, "data/a.txt", "x", ["node1"])
    required = {"require": {"paths": ["/etc/passwd", "data/a.txt"]}, "workdir": "/home/lab"}
    assert bad(only(lab, "paths", code=4, **required)) == [("fail", "node2", "'data/a.txt' is not there")]
    put(lab, "data/a.txt", "x", ["node2"])
    assert bad(only(lab, "paths", **required)) == []
    # a start asks for it, too
    job(lab, require={"paths": ["/no/such"]})
    answer = lab.mt("start", "job.yaml", "r", code=4)
    assert "mtlaunch: node[1-2]: '/no/such' is not there\n" in answer.err


def test_paths_that_arguments_name(lab):
    keys = {"program": ["sleep", "1", "--tokenizer-model", "/no/tokenizer.json"]}
    assert bad(only(lab, "paths", **keys)) == \
        [("warn", "node[1-2]", "'/no/tokenizer.json' is not there (an argument names it)")]


@pair("commands")
def test_commands(lab):
    assert "'no-such-tool' not found" in bad(only(lab, "commands", code=4, require={"commands": ["sh", "no-such-tool"]}))[0][2]
    put(lab, "bin/no-such-tool", "#!/bin/sh\n")
    assert bad(only(lab, "commands", require={"commands": ["sh", "no-such-tool"]}, setup=["PATH=$PATH:$HOME/bin"])) == []


@pair("same")
def test_same_content_120(lab):
    """Nodes without shared storage would resume from different steps."""
    keys = {"hosts": "node[1-3]", "workdir": "/home/lab", "require": {"same": ["ckpt/latest_checkpointed_iteration.txt", "src"]}}
    put(lab, "src/a/train.py", "print(1)\n")
    put(lab, "ckpt/latest_checkpointed_iteration.txt", "5000")
    put(lab, "ckpt/latest_checkpointed_iteration.txt", "4000", ["node3"])
    found = [f for f in only(lab, "same", code=4, **keys) if f["severity"] == "fail"]
    assert [(f["folded"], f["evidence"]) for f in found] == [("node3", "content '4000' on node3; content '5000' on the others")]
    put(lab, "ckpt/latest_checkpointed_iteration.txt", "5000", ["node3"])
    assert bad(only(lab, "same", **keys)) == []
    put(lab, "src/a/train.py", "print(2)\n", ["node2"])
    assert [(f["folded"], f["title"]) for f in only(lab, "same", code=4, **keys) if f["severity"] == "fail"] == \
        [("node2", "'src' is not the same as on the other nodes")]
    lab.node_file("node2", "src", "a", "train.py").unlink()
    (lab.node_file("node2", "src", "a")).rmdir()
    (lab.node_file("node2", "src")).rmdir()
    assert ("fail", "node2", "'src' is not there, or cannot be read") in bad(only(lab, "same", code=4, **keys))


@pair("disk")
def test_disk(lab):
    assert bad(only(lab, "disk", code=4, require={"free_disk": "9000T"})) == \
        [("fail", "node[1-2]", "less than 9000 TiB is free in '/home/lab/.mtlaunch'")]
    assert bad(only(lab, "disk", require={"free_disk": "1M"})) == []


@pair("shm")
def test_shm_81(make_lab):
    """Docker's default of 64 MiB."""
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    assert bad(only(lab, "shm")) == []
    assert "9000 TiB are required" in bad(only(lab, "shm", code=4, require={"shm": "9000T"}))[0][2]
    put(lab, "bin/df", "#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted on\n"
                       "echo shm 65536 0 65536 0% /dev/shm\n", ["node2"])
    lab.node_file("node2", ".bashrc").write_text("PATH=$HOME/bin:$PATH\n")
    found = only(lab, "shm")
    assert bad(found) == [("warn", "node2", "/dev/shm has only 64.0 MiB")]
    assert "size=16G" in [f["remedy"] for f in found if f["severity"] == "warn"][0]


@pair("limits")
def test_limits_82(make_lab):
    """As the job gets them: through ssh, after the setup lines."""
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    assert [f["severity"] for f in only(lab, "limits", setup=["ulimit -n 65536 || true"])] == ["ok"]
    assert bad(only(lab, "limits", setup=["ulimit -n 256"])) == [("warn", "node[1-2]", "a process may open only 256 files")]
    root = lab.node_file("node2", "root")
    (root / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    lab.node_file("node2", ".bashrc").write_text("export MTLAUNCH_TEST_ROOT=$HOME/root\n")
    found = bad(only(lab, "limits", setup=["ulimit -l 64"]))
    assert ("warn", "node2", "a process may lock only 65536 bytes of memory, RDMA needs more") in found


@pair("clock")
def test_clock_80(make_lab):
    lab = make_lab(3, shells={f"node{i}": "/bin/bash" for i in (1, 2, 3)})
    assert bad(only(lab, "clock", hosts="node[1-3]")) == []
    put(lab, "bin/date", "#!/bin/sh\nnow=$(/bin/date +%s.%N)\necho $((${now%.*} - 5)).${now#*.}\n", ["node2"])
    lab.node_file("node2", ".bashrc").write_text("PATH=$HOME/bin:$PATH\n")
    (severity, hosts, title), = bad(only(lab, "clock", hosts="node[1-3]"))
    assert (severity, hosts) == ("warn", "node2")
    assert title in ("its clock is -5.0 s off the other nodes'", "its clock is -5.1 s off the other nodes'",
                     "its clock is -4.9 s off the other nodes'")


@pair("names")
def test_names_66_67(lab):
    assert bad(only(lab, "names")) == []
    assert bad(only(lab, "names", code=4, master={"addr": "no-such-host.invalid"})) == \
        [("fail", "node[1-2]", "the name 'no-such-host.invalid' of node 0 is not found there")]


@pair("connect")
def test_w5_a_firewall_that_drops_the_master_port(lab):
    keys = {"hosts": "node[1-3]", "launcher": "torchrun", "program": "x.py", "nproc_per_node": 1}
    assert bad(only(lab, "connect", **keys)) == []
    rule = "iptables -I INPUT -p tcp --dport 29500 -j DROP"
    if lab.cluster.exec("node1", rule, user=False).returncode != 0:
        pytest.skip("no iptables")
    found = [f for f in only(lab, "connect", code=4, **keys) if f["severity"] == "fail"]
    assert [(f["folded"], f["title"]) for f in found] == [("node[2-3]", "cannot connect to node1 port 29500")]
    lab.cluster.exec("node1", rule.replace("-I", "-D"), user=False)
    assert found[0]["evidence"] == "nothing answers: a firewall drops it, or there is no route"


def test_w5_two_nodes_whose_packets_are_lost_between_them(lab):
    assert bad(only(lab, "connect", hosts="node[2-4]")) == []
    there = lab.cluster.address("node4") + " dev eth0"
    lost = f"ip neigh replace {there} lladdr 02:00:00:00:00:99 nud permanent"
    assert lab.cluster.exec("node3", lost, user=False).returncode == 0
    found = bad(only(lab, "connect", code=4, hosts="node[2-4]"))
    lab.cluster.exec("node3", f"ip neigh del {there}", user=False)
    assert found and all(s == "fail" and h in ("node3", "node4") for s, h, _ in found), found
    assert any("cannot connect to node4 port" in t for _, h, t in found if h == "node3")


@pair("nic")
def test_w5_an_interface_that_is_not_there(lab):
    found = bad(only(lab, "nic", code=4, hosts="node[1-2] ifname=bond9"))
    assert {(s, h) for s, h, _ in found} == {("fail", "node[1-2]")}
    assert any("GLOO_SOCKET_IFNAME=bond9 names nothing that exists there" in t for _, _, t in found)
    assert bad(only(lab, "nic", hosts="node[1-2] ifname=eth0")) == []


@pair("memory")
def test_memory_109(lab):
    setup = {"setup": ["PATH=$HOME/bin:$PATH"], "hosts": "node[1-3]"}
    smi(lab)
    assert bad(only(lab, "memory", **setup)) == []
    smi(lab, ["node2"], "echo '0, 25000, 143771, 0, 550.54, NVIDIA H200'", "echo '1, 25000'")
    found = [f for f in only(lab, "memory", code=4, **setup) if f["severity"] == "fail"]
    assert [(f["folded"], f["title"]) for f in found] == [("node2", "GPU 0 is in use: 25000 of 143771 MiB")]
    assert found[0]["evidence"].startswith("pid 1 of ") and "25000 MiB" in found[0]["evidence"]
    smi(lab, ["node2"], "echo '0, 4, 143771, 0, 535.98, NVIDIA H200'")
    assert bad(only(lab, "memory", **setup)) == \
        [("warn", "node2", "its GPUs or their driver differ from those of the other nodes")]
    smi(lab, ["node2"], "echo 'Failed to initialize NVML: Unknown Error'; exit 255")
    assert bad(only(lab, "memory", code=4, **setup)) == \
        [("fail", "node2", "nvidia-smi fails: Failed to initialize NVML: Unknown Error")]
    assert "2 needed" in bad(only(lab, "memory", code=4, require={"gpus": 2}))[0][2]


@pair("ib")
def test_ib(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    assert bad(only(lab, "ib")) == []
    assert bad(only(lab, "ib", code=4, require={"ib": True})) == \
        [("fail", "node[1-2]", "there is no InfiniBand or RoCE port")]
    for node, rate in (("node1", "400 Gb/sec (4X NDR)"), ("node2", "100 Gb/sec (2X HDR)")):
        port = lab.node_file(node, "root", "sys", "class", "infiniband", "mlx5_0", "ports", "1")
        port.mkdir(parents=True)
        for name, text in (("state", "4: ACTIVE"), ("rate", rate), ("link_layer", "InfiniBand")):
            (port / name).write_text(text + "\n")
        verbs = lab.node_file(node, "root", "dev", "infiniband")
        verbs.mkdir(parents=True)
        (verbs / "uverbs0").write_text("")
        lab.node_file(node, ".bashrc").write_text("export MTLAUNCH_TEST_ROOT=$HOME/root\n")
    found = bad(only(lab, "ib", require={"ib": True}))
    assert found == [("warn", "node2", "its fast ports differ from the other nodes'")] or \
        found == [("warn", "node1", "its fast ports differ from the other nodes'")]
    lab.node_file("node2", "root", "dev", "infiniband", "uverbs0").unlink()
    assert any("no /dev/infiniband/uverbs*" in title for _, _, title in bad(only(lab, "ib")))


@pair("debugging")
def test_settings_left_from_debugging(lab):
    assert bad(only(lab, "debugging")) == []
    found = bad(only(lab, "debugging", env={"NCCL_P2P_DISABLE": "1", "NCCL_NET": "Socket"}))
    assert [t.partition(":")[0] for _, _, t in found] == ["NCCL_P2P_DISABLE=1", "NCCL_NET=Socket"]


PYTHON = """#!/bin/sh
case $2 in
*find_spec\\(sys.argv*) exit 0 ;;
*importlib.metadata*) echo python 3.11.2; echo torch {torch}; echo end 1 ;;
*) exec /usr/bin/python3 "$@" ;;
esac
"""


@pair("versions")
def test_versions_79(lab):
    keys = {"hosts": "node[1-4]", "setup": ["PATH=$HOME/bin:$PATH"], "launcher": "torchrun", "program": "t.py", "nproc_per_node": 1}
    put(lab, "bin/python3", PYTHON.format(torch="2.4.0"))
    assert bad(only(lab, "versions", **keys)) == []
    put(lab, "bin/python3", PYTHON.format(torch="2.1.0"), ["node3"])
    found = [f for f in only(lab, "versions", code=4, **keys) if f["severity"] == "fail"]
    assert [(f["folded"], f["title"], f["evidence"]) for f in found] == \
        [("node3", "its torch differs from that of the other nodes", "2.1.0 on node3; 2.4.0 on the others")]


@pair("shared")
def test_w4_a_folder_of_checkpoints_that_is_not_shared(lab):
    keys = {"hosts": "node[1-3]", "program": ["sleep", "1", "--save", "/home/lab/ckpt", "--load", "/home/lab/ckpt"]}
    found = only(lab, "shared", **keys)
    assert [(f["severity"], f["folded"]) for f in found] == [("warn", "node[2-3]")]
    assert "is not the folder that node1 sees" in found[0]["title"]
    shared = ["sleep", "1", "--save", "/mnt/shared/ckpt", "--load", "/mnt/shared/ckpt"]
    assert bad(only(lab, "shared", hosts="node[1-3]", program=shared)) == []
    put(lab, "ckpt/latest_checkpointed_iteration.txt", "50", ["node1"])
    lab.cluster.exec("node1", "chown -R lab /home/lab/ckpt", user=False)
    found = [f for f in only(lab, "shared", code=4, **keys) if f["severity"] == "fail"]
    assert [(f["folded"], f["evidence"]) for f in found] == [("node1", "step 50 on node1; nothing on the others")]
    assert "nodes would resume from different steps" in found[0]["title"]
    for node in ("node1", "node2"):  # nothing is left
        assert not [p for p in lab.node_file(node).iterdir() if "mtlaunch-check" in p.name]


def test_checks_that_the_spec_leaves_out(lab):
    job(lab, checks={"skip": ["port", "clock"]})
    assert not {"port", "clock"} & set(findings(lab))
    job(lab, checks={"skip": ["prt"]})
    assert "'checks.skip': unknown check 'prt'" in lab.mt("check", "job.yaml", code=2).err


def test_the_findings_of_a_start_are_kept_and_shown(lab):
    job(lab, program=["sleep", "100"])
    lab.mt("start", "job.yaml", "one", "--no-supervise")
    answer = lab.mt("start", "job.yaml", "two", "--no-supervise")
    warnings = [line for line in answer.err.splitlines() if "is running there too" in line]
    assert warnings == ["mtlaunch: warning: node[1-2]: run 'one' of user 'lab' is running there too"], answer.err
    shown = lab.mt("show", "two", "--json").json["findings"]
    assert [(f["id"], f["severity"], f["folded"]) for f in shown] == [("others", "warn", "node[1-2]")]
    assert "warn others: node[1-2]: run 'one' of user 'lab' is running there too" in lab.mt("show", "two").out
    assert lab.mt("show", "one", "--json").json["findings"] == []
    lab.mt("stop", "one", "two")
    job(lab, require={"paths": ["/no/such"]})
    lab.mt("start", "job.yaml", "three", code=4)
    assert [f["id"] for f in lab.mt("show", "three", "--json").json["findings"]] == ["paths"]


def test_many_nodes_are_asked_at_once(make_lab):
    """One session and one command a node, at the same time on all."""
    lab = make_lab(16)
    put(lab, "bin/nvidia-smi", "#!/bin/sh\nsleep 4\necho '0, 4, 143771, 0, 550.54, NVIDIA H200'\n")
    job(lab, hosts="node[1-16]", setup=["PATH=$HOME/bin:$PATH"], nproc_per_node=1)

    def count(node):
        log = lab.cluster.exec(node, "cat /run/lab/sshd.log", user=False).stdout
        return log.count("Accepted publickey"), log.count("Starting session")

    before = {node: count(node) for node in lab.names}
    began = time.monotonic()
    found = findings(lab)
    assert time.monotonic() - began < 16 * 4  # not one after the other
    assert found["reach"][0]["folded"] == found["memory"][0]["folded"] == "node[1-16]"
    after = {node: count(node) for node in lab.names}
    assert {(after[n][0] - before[n][0], after[n][1] - before[n][1]) for n in lab.names} == {(1, 1)}
