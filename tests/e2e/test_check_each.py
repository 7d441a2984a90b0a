"""`mtlaunch check`, one test a check: it fails, and it passes. Those with more to show are in test_check.py."""
import re
from pathlib import Path

import pytest
from check_help import bad, job, only, pair, put
from cluster import wait_for
from engines import PROGRAMS, TREE, Engines, missing

TORCHRUN = {"launcher": "torchrun", "program": "train.py", "nproc_per_node": 1}


def test_every_check_has_a_test_in_which_it_fails_and_one_in_which_it_passes(lab):
    listed = {c["id"] for c in lab.mt("check", "--list", "--json").json["checks"]}
    covered = {"comm"}  # test_comm.py
    for file in Path(__file__).parent.glob("test_*.py"):
        for ids in re.findall(r"^@pair\(([^)]*)\)", file.read_text(), re.MULTILINE):
            covered |= set(re.findall(r'"([a-z_]+)"', ids))
    assert covered == listed


@pair("earlier")
def test_earlier(lab):
    """A start of a name that still lives there under another record."""
    job(lab, program=["sleep", "600"])
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    state = lab.home / ".local/state/mtlaunch/runs"
    (state / "r").rename(state / "away")
    answer = lab.mt("start", "job.yaml", "r", "--no-supervise", code=6)
    assert all(f"{node}: another run named 'r' is running there" in answer.err for node in ("node1", "node2"))
    assert bad(only(lab, "earlier")) == []
    for node in ("node1", "node2"):
        for process in lab.marked("r", node):
            lab.cluster.end(process)


@pair("artifacts")
def test_artifacts(lab):
    assert bad(only(lab, "artifacts")) == []
    put(lab, "taken", "a file", ["node2"])
    (severity, hosts, title), = bad(only(lab, "artifacts", code=4, artifacts="/home/lab/taken"))
    assert (severity, hosts) == ("fail", "node2") and "/home/lab/taken" in title


@pair("logout")
def test_logout_92(lab):
    assert bad(only(lab, "logout")) == []
    write = "mkdir -p /etc/systemd/logind.conf.d && printf '[Login]\\nKillUserProcesses=yes\\n' >/etc/systemd/logind.conf.d/x.conf"
    lab.cluster.exec("node2", write, user=False, check=True)
    found = bad(only(lab, "logout"))
    lab.cluster.exec("node2", "mkdir -p /var/lib/systemd/linger && touch /var/lib/systemd/linger/lab", user=False, check=True)
    lingering = bad(only(lab, "logout"))
    lab.cluster.exec("node2", "rm /etc/systemd/logind.conf.d/x.conf /var/lib/systemd/linger/lab", user=False)
    assert [(s, h) for s, h, _ in found] == [("warn", "node2")] and "KillUserProcesses=yes" in found[0][2]
    assert lingering == []


@pair("others")
def test_others(lab):
    assert bad(only(lab, "others")) == []
    job(lab, hosts="node2", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "first", "--no-supervise")
    assert bad(only(lab, "others")) == [("warn", "node2", "run 'first' of user 'lab' is running there too")]
    lab.mt("stop", "first")


@pair("port")
def test_port_74(lab):
    keys = {**TORCHRUN, "master": {"port": 29777}}
    assert bad(only(lab, "port", **keys)) == []
    put(lab, "listen.py", "import socket, time\ns = socket.create_server(('', 29777))\nprint('on', flush=True)\ntime.sleep(600)\n", ["node1"])
    lab.cluster.exec("node1", "setsid python3 listen.py >listening 2>&1 </dev/null &", check=True)
    wait_for(lambda: lab.node_file("node1", "listening").exists() and lab.node_file("node1", "listening").read_text(), "a listener", 20)
    (severity, hosts, title), = bad(only(lab, "port", code=4, **keys))
    assert (severity, hosts) == ("fail", "node1")
    assert title.startswith("master port 29777 of node1 is taken there") or "29777" in title and "listen.py" in title


@pair("workdir")
def test_workdir(lab):
    assert bad(only(lab, "workdir", workdir="/tmp")) == []
    assert [(s, h) for s, h, _ in bad(only(lab, "workdir", code=4, workdir="/no/such"))] == [("fail", "node[1-2]")]


@pair("setup")
def test_setup(lab):
    assert bad(only(lab, "setup", setup=["true"])) == []
    found = only(lab, "setup", code=4, setup=["true", "source /no/such/activate"])
    assert [(s, h) for s, h, _ in bad(found)] == [("fail", "node[1-2]")]
    assert "source /no/such/activate" in bad(found)[0][2]


@pair("fault")
def test_fault(lab):
    put(lab, "run.sh", "#!/bin/sh\ntrue\n")
    assert bad(only(lab, "fault", program=["./run.sh"])) == []
    put(lab, "run.sh", "#!/bin/sh\r\ntrue\r\n", ["node2"])
    assert bad(only(lab, "fault", code=4, program=["./run.sh"])) == [("fail", "node2", "'./run.sh' has Windows line ends")]


@pair("interpreter")
def test_interpreter(lab):
    assert bad(only(lab, "interpreter", python="python3", **TORCHRUN)) == []
    (severity, hosts, title), = bad(only(lab, "interpreter", code=4, python="/opt/none/python", **TORCHRUN))
    assert (severity, hosts) == ("fail", "node[1-2]") and "/opt/none/python" in title


@pair("module")
def test_module(lab):
    put(lab, "py", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    put(lab, "lib/torch/__init__.py", "")
    keys = {"python": "~/py", "setup": ["export PYTHONPATH=$HOME/lib"], **TORCHRUN}
    assert bad(only(lab, "module", **keys)) == []
    put(lab, "py", "#!/bin/sh\nexec /usr/bin/python3 -I -S \"$@\"\n", ["node2"])
    (severity, hosts, title), = bad(only(lab, "module", code=4, **keys))
    assert (severity, hosts) == ("fail", "node2") and "torch" in title


@pair("gpus")
def test_w7_gpus(lab):
    put(lab, "bin/nvidia-smi", "#!/bin/sh\necho 'GPU 0: NVIDIA H200 (UUID: GPU-1)'\n")
    keys = {"setup": ["PATH=$HOME/bin:$PATH"], **TORCHRUN, "nproc_per_node": "auto"}
    assert bad(only(lab, "gpus", **keys)) == []
    put(lab, "bin/nvidia-smi", "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\nexit 18\n", ["node2"])
    (severity, hosts, title), = bad(only(lab, "gpus", code=4, **keys))
    assert (severity, hosts) == ("fail", "node2")
    assert "Driver/library version mismatch" in title and "18" in title


def test_a_start_warns_of_gpus_in_use_109(lab):
    """nvidia-smi is asked anyway when it decides how many processes start."""
    text = "#!/bin/sh\ncase $* in -L) echo 'GPU 0: NVIDIA H200 (UUID: GPU-1)' ;; *query-gpu*) echo '0, 25000, 143771, 0, 550.54, H200' ;; esac\n"
    put(lab, "bin/nvidia-smi", text, ["node2"])
    put(lab, "bin/nvidia-smi", text.replace("25000", "4"), ["node1"])
    job(lab, setup=["PATH=$HOME/bin:$PATH"], program=["sleep", "600"], nproc_per_node="auto")
    answer = lab.mt("start", "job.yaml", "r", "--no-supervise")
    assert "warning: node2: GPU 0 is in use: 25000 of 143771 MiB\n" in answer.err
    assert ("memory", "warn", "node2") in [(f["id"], f["severity"], f["folded"]) for f in lab.mt("show", "r", "--json").json["findings"]]
    lab.mt("stop", "r")


@pair("route")
def test_route(lab):
    assert bad(only(lab, "route")) == []
    assert bad(only(lab, "route", master={"addr": "203.0.113.7"})) == \
        [("note", "node[1-2]", "no interface was found that leads to 203.0.113.7")]


SCRIPT = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float)
parser.add_argument("--steps", type=int)
args = parser.parse_args()
"""
MEGATRON = {
    "pretrain_gpt.py": "from megatron.training import pretrain\n",
    "megatron/core/package_info.py": "MAJOR = 0\nMINOR = 13\nPATCH = 1\n",
    "megatron/training/arguments.py": "group.add_argument('--micro-batch-size', type=int)\ngroup.add_argument('--use-custom-fsdp')\n",
    "megatron/core/transformer_config.py": "class TransformerConfig:\n    bias_dropout_fusion: bool = False\n",
}


@pair("flags")
def test_flags(lab):
    put(lab, "train.py", SCRIPT)
    keys = {**TORCHRUN, "args": {"learning-rate": "1e-4", "steps": 10}}
    assert bad(only(lab, "flags", **keys)) == []
    keys["args"] = {"learning-rat": "1e-4", "stepz": 10}  # argparse takes a beginning
    found = only(lab, "flags", **keys)
    assert bad(found) == [("warn", "node[1-2]", "'train.py' knows no '--stepz'")]
    assert found[0]["remedy"] == "did you mean '--steps'?"
    for name, text in MEGATRON.items():
        put(lab, name, text)
    keys = {"launcher": "megatron", "program": "pretrain_gpt.py", "nproc_per_node": 1, "checks": {"skip": []}}
    well = {"micro-batch-size": 1, "no-bias-dropout-fusion": True}
    assert bad(only(lab, "flags", args=well, **keys)) == []
    found = only(lab, "flags", code=4, args={"micro-batchsize": 1}, zero_stage=2, **keys)
    assert {(f["title"], f["remedy"]) for f in found if f["severity"] == "fail"} >= {
        ("Megatron-LM there does not know '--micro-batchsize'", "did you mean '--micro-batch-size'?"),
        ("Megatron-LM there does not know '--use-megatron-fsdp'",
         "this version has --use-custom-fsdp: set megatron.sharding to custom-fsdp")}


@pair("cores")
def test_cores(lab):
    put(lab, "train.py", "")
    keys = {**TORCHRUN, "env": {"OMP_NUM_THREADS": "1"}}
    assert bad(only(lab, "cores", **keys)) == []
    keys = {**TORCHRUN, "env": {"OMP_NUM_THREADS": "4000"}}
    (severity, hosts, title), = bad(only(lab, "cores", **keys))
    assert (severity, hosts) == ("warn", "node[1-2]")
    assert title.startswith("1 process with OMP_NUM_THREADS=4000 needs more than the ")
    (_, _, title), = bad(only(lab, "cores", args={"num-workers": 5000}, **TORCHRUN))
    assert "5000 data loader workers" in title


@pair("kernel")
def test_kernel(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    put(lab, "bin/dmesg", "#!/bin/sh\nread up rest </proc/uptime\n"
                          "echo \"[ 1.0] x\"\n[ ! -e ~/xid ] || echo \"[${up%.*}.5] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\"\n")
    for node in ("node1", "node2"):
        lab.node_file(node, ".bashrc").write_text("PATH=$HOME/bin:$PATH\n")
    assert bad(only(lab, "kernel")) == []
    lab.node_file("node2", "xid").write_text("")
    found = only(lab, "kernel")
    assert bad(found) == [("warn", "node2", "the GPU driver has reported 1 fault within a day (Xid)")]
    assert "79, GPU has fallen off the bus" in [f["evidence"] for f in found if f["evidence"]][0]


@pair("container", "volume")
def test_container(lab):
    why = missing()
    if why:
        pytest.skip(why)
    with Engines(lab.cluster, ("node1", "node2")) as engines:
        for node in ("node1", "node2"):
            engines.make(node, "train", "--shm-size", "1g")
        keys = {"container": {"name": "train", "user": "lab"}}
        found = only(lab, "container", **keys)
        engines.docker("node2", "rm", "-f", "train")
        engines.docker("node2", "run", "-dit", "--name", "train", "--network", "none", "--shm-size", "1g", *PROGRAMS, "-v", "/home/lab:/home/lab", TREE,
                       "sleep", "infinity")
        own = only(lab, "container", code=4, **keys)
        volume = only(lab, "volume", artifacts="/tmp/there", **keys)
        well = only(lab, "volume", **keys)
    images = "its container is made from another image than on the other nodes"  # each engine here made its own
    assert [f for f in bad(found) if f[2] != images] == []
    assert [f for f in bad(own) if f[2] != images] == \
        [("fail", "node2", "the container has its own network ('none'): other nodes cannot connect to it")]
    assert [(s, h) for s, h, _ in bad(volume)] == [("warn", "node[1-2]")]
    assert bad(well) == []
