"""Nodes that only a jump host reaches: every command goes the same way, and a jump that fails is said once."""
import os

import pytest

from cluster import NETWORK, UID
from lab_base import keygen

BEHIND = ["node2", "node3", "node4"]
CONFIG = """Host gate
    HostName {gate}
    User root
    IdentityFile ~/.ssh/gate_key
Host node2 node3 node4
    ProxyJump gate
"""


def restart(lab):
    lab.cluster.stop_sshd("node1")
    lab.cluster.start_sshd("node1")


@pytest.fixture
def jump_lab(lab):
    """node2 to node4 have no route from the head; node1 takes another key and another user than they do."""
    ssh = lab.home / ".ssh"
    keys, server = (lab.cluster.etc("node1") / name for name in ("authorized_keys", "sshd_config"))
    before = keys.read_text(), server.read_text()
    if not (ssh / "gate_key").exists():
        keygen(ssh / "gate_key")
        os.chown(ssh / "gate_key", UID, UID)
    keys.write_text((ssh / "gate_key.pub").read_text())
    server.write_text(before[1] + "AllowUsers root\n")
    restart(lab)
    lab.write(".ssh/config", CONFIG.format(gate=lab.cluster.address("node1")))
    (ssh / "config").chmod(0o600)
    for number in (2, 3, 4):
        lab.cluster.in_head_net(["ip", "route", "add", "blackhole", f"{NETWORK}.{number}/32"])
    yield lab
    for number in (2, 3, 4):
        lab.cluster.in_head_net(["ip", "route", "del", "blackhole", f"{NETWORK}.{number}/32"])
    keys.write_text(before[0])
    server.write_text(before[1])
    restart(lab)
    for name in ("config", "gate_key", "gate_key.pub"):
        (ssh / name).unlink()


def job(lab, **keys):
    return lab.job(hosts=",".join(BEHIND), **keys)


def test_every_command_goes_through_the_jump(jump_lab):
    lab = jump_lab
    job(lab, program="echo hello from $NODE_RANK; exec sleep 600")
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    assert lab.states("r") == ["running"] * 3
    assert not [p for p in lab.cluster.ps("head") if p.name == "ssh"]
    assert lab.mt("logs", "r").out.splitlines() == [f"{n}: hello from {i}" for i, n in enumerate(BEHIND)]
    answer = lab.mt("exec", "-H", "node[2-4]", "--gather", "--", "echo", "same")
    assert "node[2-4]" in answer.out and "same" in answer.out
    lab.mt("stop", "r")
    lab.assert_nothing_left()
    lab.mt("remove", "r", "--artifacts")


def test_a_jump_that_dies_leaves_the_run_alone(jump_lab):
    lab = jump_lab
    job(lab)
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    lab.cluster.stop_sshd("node1")
    answer = lab.mt("status", "r", code=3)
    assert answer.out.count("jump host") + answer.err.count("jump host") >= 1
    assert lab.states("r") == ["lost"] * 3
    answer = lab.mt("exec", "-H", "node[2-4]", "--", "true", code=3)
    assert answer.err.count("jump host 'gate'") == 1 and "node[2-4]" in answer.err
    hosts = lab.mt("exec", "-H", "node[2-4]", "--json", "--", "true", code=3).json["hosts"]
    assert {h["error"]["kind"] for h in hosts} == {"jump-unreachable"}
    lab.cluster.start_sshd("node1")
    assert lab.states("r") == ["running"] * 3
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_jump_that_takes_another_key(jump_lab):
    lab = jump_lab
    lab.write(".ssh/config", CONFIG.format(gate=lab.cluster.address("node1")).replace("gate_key", "id_ed25519"))
    (lab.home / ".ssh" / "config").chmod(0o600)
    answer = lab.mt("exec", "-H", "node[2-4]", "--", "true", code=3)
    assert answer.err.count("jump host 'gate': login as 'root' is refused") == 1


def test_several_hops_and_the_specs_own_jump(jump_lab):
    lab = jump_lab
    lab.job(hosts="node4", program="exec sleep 600", ssh={"jump": "gate,node2,node3"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    assert lab.states("r") == ["running"]  # the record knows the way
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_a_jump_that_leads_to_itself_is_refused(jump_lab):
    lab = jump_lab
    lab.job(hosts="node2", ssh={"jump": "node2"})
    assert "jump 'node2' leads to itself" in lab.mt("start", "job.yaml", "r", code=2).err
    lab.write(".ssh/config", "Host *\n    ProxyJump gate\n")
    (lab.home / ".ssh" / "config").chmod(0o600)
    answer = lab.mt("exec", "-H", "node2", "--", "true", code=2)
    assert "jump 'gate' leads to itself" in answer.err and "config:2" in answer.err


def test_the_systems_ssh(jump_lab):
    lab = jump_lab
    job(lab, program="echo hello from $NODE_RANK; exec sleep 600", ssh={"client": "openssh"})
    lab.mt("start", "job.yaml", "r", "--no-supervise")
    assert lab.states("r") == ["running"] * 3
    assert lab.mt("logs", "r").out.splitlines() == [f"{n}: hello from {i}" for i, n in enumerate(BEHIND)]
    lab.mt("stop", "r")
    lab.assert_nothing_left()
    config = CONFIG.format(gate=lab.cluster.address("node1"))
    lab.write(".ssh/config", config.replace("ProxyJump gate", "ProxyCommand ssh -W %h:%p gate"))
    (lab.home / ".ssh" / "config").chmod(0o600)
    answer = lab.mt("exec", "-v", "-H", "node2", "--", "exit 3", code=3)
    assert "reached through the system's ssh, for ProxyCommand" in answer.err
    assert lab.mt("exec", "-H", "node2", "--json", "--", "exit 3", code=3).json["hosts"][0]["exit_status"] == 3
