"""How the checks of a node run: side by side, each within its time, and what hangs costs only its own row."""
import os
import subprocess
import time


def stand_in(node, name, script):
    folder = os.path.join(node.home, "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(path, 0o755)
    if not node.path.startswith(folder + ":"):
        node.path = folder + ":" + node.path


def processes_with(text):
    out = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True).stdout
    return [line for line in out.splitlines() if text in line]


def test_a_check_that_hangs_costs_only_its_own_row(node):
    number = str(100000 + int(node.hex, 16) % 100000)
    stand_in(node, "getent", f"sleep {number}\n")
    began = time.monotonic()
    answer = node.call("probe", master_addr="some-name", look_job=1, look_port=1, row_limit=3, setup_timeout=2)
    assert time.monotonic() - began < 20
    assert answer["late"] == ["route"] and answer["interface"] is None
    assert answer["writable"] and answer["path"] and answer["port"] >= 29500
    assert processes_with("sleep " + number) == []


def test_the_rest_of_its_lane_goes_on(node):
    number = str(100000 + int(node.hex, 16) % 100000)
    stand_in(node, "mkdir", f"exec sleep {number}\n")
    answer = node.call("probe", look_job=1, row_limit=3, setup_timeout=2)
    assert answer["late"] == ["artifacts"] and not answer["writable"]
    assert answer["ran"].count("logout") == 1 and answer["path"]
    assert "artifacts" not in answer["ran"]
    assert processes_with("sleep " + number) == []


def test_slow_checks_run_side_by_side(node):
    stand_in(node, "getent", "sleep 2\necho '127.0.0.9 STREAM'\n")
    stand_in(node, "nvidia-smi", "sleep 2\necho 'GPU 0: one (UUID: GPU-0)'\n")
    began = time.monotonic()
    answer = node.call("probe", master_addr="some-name", look_gpus=1)
    assert time.monotonic() - began < 3.8
    assert (answer["gpus"], answer["interface"], answer["late"]) == (1, "lo", [])


def test_a_lane_that_cannot_write_is_no_answer(node, tmp_path):
    """What a check says goes through a file: a disk that fills up meanwhile must not turn half an answer into a whole."""
    stand_in(node, "getent", "rm -rf \"$TMPDIR\"/tmp.*/lane.*\nmkdir \"$(echo \"$TMPDIR\"/tmp.*)/lane.2.now\"\n")
    answer = node.call("probe", {"TMPDIR": str(tmp_path)}, master_addr="some-name")
    assert answer["error"] in ("artifacts-unwritable", "scan-failed"), answer
