"""The test cluster itself: what the other tests rely on."""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from cluster import Cluster, Loopback, load, start_ticks, sweep_crashed, wait_for
from conftest import HERE, needs_namespaces


def ssh(cluster, node, command, timeout=20):
    return cluster.run("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=3", node, command, timeout=timeout)


@pytest.fixture
def pair():
    needs_namespaces()
    with Cluster(2) as cluster:
        yield cluster


def test_nodes_have_names_pids_homes_boot_ids_and_addresses_of_their_own(pair):
    ask = "uname -n; id -un; pwd; cat /proc/sys/kernel/random/boot_id; ip -br addr show eth0; ls /proc | grep -c '^[0-9]'"
    one, two = (ssh(pair, n, ask).stdout.splitlines() for n in ("node1", "node2"))
    assert one[:3] == ["node1", "lab", "/home/lab"] and two[0] == "node2"
    assert one[3] != two[3]
    assert "10.77.0.1/24" in one[4] and "10.77.0.2/24" in two[4]
    assert int(one[5]) < 20
    assert ssh(pair, "node1", "touch here; getent hosts node2").stdout.startswith("10.77.0.2")
    assert pair.node_home("node1").joinpath("here").exists() and not pair.node_home("node2").joinpath("here").exists()


def test_a_cut_link_is_silent_and_comes_back(pair):
    pair.cut("node1")
    assert ssh(pair, "node1", "true").returncode == 255
    pair.restore("node1")
    assert ssh(pair, "node1", "true").returncode == 0


def test_frozen_node_answers_tcp_only(pair):
    pair.freeze("node1")
    began = time.monotonic()
    assert ssh(pair, "node1", "true").returncode == 255
    assert time.monotonic() - began > 2
    pair.thaw("node1")
    assert ssh(pair, "node1", "true").returncode == 0


def test_stopped_sshd_leaves_processes_and_reboot_does_not(pair):
    ssh(pair, "node1", "setsid -f sleep 500 </dev/null >/dev/null 2>&1")
    boot = ssh(pair, "node1", "cat /proc/sys/kernel/random/boot_id").stdout
    assert [p.command for p in pair.user_ps("node1")] == ["sleep 500"]
    pair.stop_sshd("node1")
    assert ssh(pair, "node1", "true").returncode == 255
    assert len(pair.user_ps("node1")) == 1
    pair.reboot("node1")
    assert not pair.user_ps("node1")
    assert ssh(pair, "node1", "cat /proc/sys/kernel/random/boot_id").stdout not in ("", boot)


def test_changed_host_key_is_refused_by_ssh(pair):
    pair.change_host_key("node1")
    assert "HOST IDENTIFICATION HAS CHANGED" in ssh(pair, "node1", "true").stderr


def test_down_leaves_no_process_and_no_file():
    needs_namespaces()
    cluster = Cluster(2).start()
    folder, holders = cluster.dir, [(p, start_ticks(p)) for p in cluster.holders.values()]
    ssh(cluster, "node1", "setsid -f sleep 500 </dev/null >/dev/null 2>&1")
    inner = cluster.user_ps("node1")[0].host_pid
    ticks = start_ticks(inner)
    cluster.down()
    assert not folder.exists()
    assert all(start_ticks(pid) != t for pid, t in holders + [(inner, ticks)])


def test_a_crashed_cluster_is_cleared_by_the_next():
    needs_namespaces()
    code = ("import sys, os, signal; sys.path.insert(0, sys.argv[1]); from cluster import Cluster; "
            "c = Cluster(1).start(); print(c.dir, *c.holders.values(), flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    done = subprocess.run([sys.executable, "-c", code, str(HERE)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    folder, *pids = done.stdout.split()
    assert Path(folder).exists() and all(start_ticks(p) for p in pids)
    sweep_crashed()
    assert not Path(folder).exists() and not any(start_ticks(p) for p in pids)


def test_loopback_nodes_work_without_namespaces(tmp_path):
    with Loopback(2, tmp_path / "lab") as cluster:
        config = cluster.head_home / ".ssh" / "config"
        for node in cluster.names:
            done = cluster.run("ssh", "-F", config, node, "echo $LAB_NODE $HOME")
            assert done.stdout.split() == [node, str(cluster.node_home(node))]
        cluster.run("ssh", "-F", config, "node1", "setsid -f sleep 400 </dev/null >/dev/null 2>&1")
        assert "sleep 400" in [p.command for p in cluster.ps("node1")]
        pids = list(cluster.holders.values())
    assert not [p for p in pids if os.path.exists(f"/proc/{p}")]


def test_command_line_up_ps_exec_down():
    needs_namespaces()
    folder = tempfile.gettempdir() + f"/mtlaunch-lab-test-{os.getpid()}"  # a folder that the lab user can reach

    def call(*words):
        return subprocess.run([sys.executable, str(HERE / "cluster.py"), *words], capture_output=True, text=True, check=False)

    assert call("up", "2", "--dir", folder).stdout == "node1 10.77.0.1\nnode2 10.77.0.2\n"
    pids = list(load(folder).holders.values())
    assert call("exec", "head", "--dir", folder, "--", "ssh", "node2", "uname -n").stdout == "node2\n"
    assert call("exec", "node1", "--dir", folder, "--", "sh", "-c", "exit 3").returncode == 3
    assert "[listener]" in call("ps", "node1", "--dir", folder).stdout
    assert call("down", "--dir", folder).returncode == 0
    wait_for(lambda: not any(start_ticks(p) for p in pids), "the cluster's processes to end")
    assert not os.path.exists(folder)
