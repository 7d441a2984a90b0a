"""A gloo job that hangs: one rank waits for data, and each writes what its flight recorder holds. recorder.py RANK

NCCL writes its recorder's dumps itself, when its pipe is written to or a collective times out; gloo records alike."""
import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace


def write_dump(rank):
    time.sleep(5)
    path = os.environ["TORCH_FR_DUMP_TEMP_FILE"] + str(rank)
    with open(path + ".new", "wb") as file:
        file.write(_dump_fr_trace())
    os.rename(path + ".new", path)


def wait_for_data():
    time.sleep(600)


def main():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    dist.init_process_group("gloo")
    threading.Thread(target=write_dump, args=(dist.get_rank(),), daemon=True).start()
    values = torch.ones(4)
    for _ in range(3):
        dist.all_reduce(values)
    if dist.get_rank() == int(sys.argv[1]):
        wait_for_data()
    dist.all_reduce(values)


main()
