"""A gloo job of all-reduces in which one rank, or all ranks of one node, fail on purpose: crash.py KIND RANK."""
import datetime
import os
import signal
import sys
import time

kind, culprit = sys.argv[1], int(sys.argv[2])
rank = int(os.environ["RANK"])
if kind == "module":
    import crash_extra  # noqa: F401  pylint: disable=import-error,unused-import

import torch  # noqa: E402  pylint: disable=wrong-import-position
import torch.distributed as dist  # noqa: E402  pylint: disable=wrong-import-position


def compare_shapes():
    raise ValueError("shape mismatch: 3 and 4")


def fail(loss):
    if kind == "raise":
        compare_shapes()
    if kind == "assert":
        assert loss < 0, "loss is positive"
    if kind == "oom":
        # in pieces: real messages come from C++, and do not stand in the source that a traceback quotes
        raise RuntimeError("CUDA out of " + "memory. Tried to allocate 8.00 GiB (GPU 0; 139.80 GiB total capacity; "
                           "130.00 GiB already allocated; 7.96 GiB free; 131.00 GiB reserved in total by PyTorch)")
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "agent":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    if kind == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "status":
        os._exit(7)  # pylint: disable=protected-access


dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
values = torch.ones(4)
for step in range(1000):
    if step == 20 and kind == "file":
        open("shard_7.bin", "rb").close()  # pylint: disable=consider-using-with
    if step == 20 and rank == culprit:
        fail(float(values.sum()))
    dist.all_reduce(values)
    values.fill_(1.0)
    if rank == 0 and step % 10 == 0:
        print("step", step, flush=True)
    time.sleep(0.02)
