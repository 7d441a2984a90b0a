"""The samples that a supervisor keeps of a run: how far the training is, and how busy the GPUs of its nodes are."""
import os
import signal
import struct

import pytest

from cluster import wait_for

# Two GPUs; the job uses the second.
SMI = """#!/bin/sh
case $* in
-L) printf 'GPU %s: NVIDIA H200 (UUID: GPU-aa0%s)\\n' 0 0 1 1 ;;
*uuid*) printf '%s\\n' '0, GPU-aa00' '1, GPU-aa01' ;;
*) printf '%s\\n' '0, 3, 16, 143771' '1, 96, 61440, 143771' ;;
esac
"""
STEPS = 'i=0; while :; do i=$((i + 1)); echo "step $i/1000 loss 2.$i"; sleep 1; done'


@pytest.fixture
def gpu_lab(lab):
    """nvidia-smi in the PATH of every login on node1, not seen by other tests."""
    lab.write("nvidia-smi", SMI).chmod(0o755)
    lab.cluster.put(str(lab.home / "nvidia-smi"), ["node1"], target="bin/nvidia-smi")
    lab.cluster.exec("node1", "mount -t tmpfs tmpfs /usr/local/bin && cp /home/lab/bin/nvidia-smi /usr/local/bin/", user=False,
                     check=True)
    yield lab
    lab.cluster.exec("node1", "umount -l /usr/local/bin", user=False)


def frames(path):
    """The header's words and the payloads of a file of samples."""
    if not path.exists():
        return [], []
    header, _, rest = path.read_bytes().partition(b"\n")
    found = []
    while rest:
        length = struct.unpack_from("<I", rest)[0]
        assert len(rest) >= 8 + length, "a frame is not whole"
        found.append(rest[8:8 + length])
        rest = rest[8 + length:]
    return header.decode().split(), found


def test_samples_of_training_and_gpus_outlive_the_supervisor(gpu_lab):
    lab = gpu_lab
    lab.job(hosts="node1 gpus=1,node2", program=STEPS, progress={"pattern": r"step (?P<iteration>\d+)/(?P<total>\d+) loss (?P<loss>\S+)"})
    lab.mt("start", "job.yaml", "r", "--no-check")
    folder = lab.home / ".local/state/mtlaunch/runs/r"
    training, gpus = folder / "training.samples", folder / "gpus.samples"
    wait_for(lambda: len(frames(training)[1]) >= 1 and len(frames(gpus)[1]) >= 1, "samples of both kinds", 60, 0.5)
    assert frames(training)[0] == ["mtlaunch", "samples", "1", "training", "10000"]
    assert frames(gpus)[0] == ["mtlaunch", "samples", "1", "gpus", "30000"]
    time_ms, attempt, busy, busiest, _, used, total, *other = struct.unpack("<qIBBHHHBBHHH", frames(gpus)[1][0])
    assert time_ms > 1e12 and attempt == 1
    assert (busy, busiest, used * 16, total * 16) == (96, 96, 61440, 143776)
    assert other == [255, 255, 65535, 65535, 65535]  # node2 has none
    process = [p for p in lab.cluster.ps("head") if "supervise" in p.argv and "r" in p.argv]
    os.kill(process[0].host_pid, signal.SIGKILL)
    wait_for(lambda: not lab.status("r")["supervisor"]["alive"], "the supervisor to be gone", 5)
    before = len(frames(training)[1])
    with open(training, "ab") as file:
        file.write(b"\x50\0\0\0torn")  # as a crash may leave it
    supervisor = lab.spawn("supervise", "r")
    wait_for(lambda: b"torn" not in training.read_bytes() and len(frames(training)[1]) > before, "a sample of the next supervisor", 60, 0.5)
    steps = [struct.unpack_from("<qIq2d", frame) for frame in frames(training)[1]]
    assert len(steps) > before
    assert [s[2] for s in steps] == sorted({s[2] for s in steps}) and all(s[3] == float(f"2.{s[2]}") for s in steps)
    lab.mt("stop", "r")
    supervisor.communicate(timeout=30)
    lab.mt("remove", "r")
    assert not folder.exists()
