"""The demo, as make demo runs it."""
import os
import shlex
import subprocess

from conftest import BINARY, ROOT, needs_namespaces, wait_for


def shell(line, limit=120, **options):
    return subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False,
                          stdin=subprocess.DEVNULL, **options)


def test_u21_keep_leaves_the_nodes_up_and_what_it_prints_works():
    needs_namespaces()
    demo = shell(f"exec sh tests/e2e/demo.sh {shlex.quote(str(BINARY))}", 400, env=dict(os.environ, KEEP="1"))
    commands = [line.strip() for line in demo.stdout.splitlines() if line.startswith("    ") and "--dir " in line]
    folder = commands[-1].split("--dir ")[1]
    try:
        assert demo.returncode == 0, demo.stdout + demo.stderr
        function, on_node, down = commands
        printed = [line.strip() for line in demo.stdout.splitlines() if line.startswith("    lab mtlaunch ")]
        assert [line.split()[2] for line in printed] == ["hosts", "start", "status", "logs", "stop"]
        hosts, start, status, _, stop = [f"{function}\n{line}" for line in printed]
        assert "node4" in shell(hosts).stdout
        started = shell(start)
        assert started.returncode == 0, started.stdout + started.stderr
        assert "running" in shell(status).stdout
        wait_for(lambda: "allreduce.py" in shell(on_node).stdout, "the job on node1", 20)
        assert shell(stop).returncode == 0
        assert shell(f"{function}\nlab sh -c 'ls hello.yaml hosts.txt'").returncode == 0
    finally:
        ended = shell(f"python3 tests/e2e/cluster.py down --dir {folder}")
    assert ended.returncode == 0 and down == f"python3 tests/e2e/cluster.py down --dir {folder}"
    assert not os.path.exists(folder)
    assert not shell(f"python3 tests/e2e/cluster.py left --dir {folder}").stdout
