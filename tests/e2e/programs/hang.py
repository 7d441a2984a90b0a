"""A training loop of which one rank hangs. hang.py RANK sleep|stop|fifo|spin"""
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist


def load_batch(how):
    if how == "sleep":
        time.sleep(600)
    elif how == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif how == "fifo":
        path = os.path.join(tempfile.mkdtemp(), "fifo")
        os.mkfifo(path)
        with open(path, encoding="utf-8") as data:
            data.read()
    while True:
        pass


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dist.all_reduce(torch.ones(1))
    print("ready", flush=True)
    if rank == int(sys.argv[1]):
        load_batch(sys.argv[2])
    dist.all_reduce(torch.ones(1))


main()
