"""W6: status shows the GPUs of the job; what others use on the node stands apart."""
import pytest

# Four GPUs; the second is busy with somebody else's work.
SMI = """#!/bin/sh
case $1 in
-L) for i in 0 1 2 3; do echo "GPU $i: NVIDIA H200 (UUID: GPU-aa0$i)"; done ;;
*uuid*) for i in 0 1 2 3; do echo "$i, GPU-aa0$i"; done ;;
*) printf '%s\\n' '0, 0, 4, 143771' '1, 96, 61440, 143771' '2, 7, 2048, 143771' '3, 0, 4, 143771' ;;
esac
"""


@pytest.fixture
def gpu_lab(lab):
    """nvidia-smi in the PATH of every login on node1, not seen by other tests."""
    path = lab.write("nvidia-smi", SMI)
    path.chmod(0o755)
    lab.cluster.put(str(path), ["node1"], target="bin/nvidia-smi")
    lab.cluster.exec("node1", "mount -t tmpfs tmpfs /usr/local/bin && cp /home/lab/bin/nvidia-smi /usr/local/bin/", user=False,
                     check=True)
    yield lab
    lab.cluster.exec("node1", "umount -l /usr/local/bin", user=False)


def gpus(lab):
    return [gpu["index"] for gpu in lab.status("r")["nodes"][0]["gpus"]]


@pytest.mark.parametrize("keys, own", [
    ({"hosts": "node1 gpus=2"}, [2]),
    ({"env": {"CUDA_VISIBLE_DEVICES": "0,2"}}, [0, 2]),
    ({"setup": ["export CUDA_VISIBLE_DEVICES=GPU-aa03"]}, [3]),
    ({"program": "for i in 0 2; do CUDA_VISIBLE_DEVICES=$i sleep 600 & done; wait"}, [0, 2]),
    ({"env": {"CUDA_VISIBLE_DEVICES": "2,9,0"}}, [2]),
    ({"env": {"CUDA_VISIBLE_DEVICES": ""}}, []),
    ({}, [0, 1, 2, 3]),
])
def test_w6_the_gpus_of_the_job(gpu_lab, keys, own):
    lab = gpu_lab
    lab.job(**{"hosts": "node1", "program": ["sleep", "600"], **keys})
    lab.mt("start", "job.yaml", "r", "--no-check")  # of the GPUs, which others use
    for _ in range(30):
        if gpus(lab) == own:
            break
    assert gpus(lab) == own
    text = lab.mt("status", "r").out
    assert ("others" in text) == (1 not in own)
    if own == [2]:
        assert " 1: 7% 2.0G/140G, others 1: 96%\n" in text
    if not own:
        assert " others 2: 51%\n" in text
    lab.mt("stop", "r")
