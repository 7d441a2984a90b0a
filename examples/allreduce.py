"""One all-reduce over all processes of the job: each gives its rank + 1, all must see the sum.

Ends with 0 when the sum is right. NCCL where every process has a GPU, gloo elsewhere.
"""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0, help="repeat the all-reduce for so long")
    options = parser.parse_args()

    local_rank = int(os.environ["LOCAL_RANK"])
    on_gpu = torch.cuda.is_available() and torch.cuda.device_count() > local_rank
    dist.init_process_group("nccl" if on_gpu else "gloo")
    device = torch.device("cuda", local_rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    rank, world = dist.get_rank(), dist.get_world_size()
    expected = world * (world + 1) // 2

    begin, step, going = time.monotonic(), 0, True
    while going:
        value = torch.tensor([float(rank + 1)], device=device)
        dist.all_reduce(value)
        total = int(value.item())
        step += 1
        print(f"rank {rank} of {world}: step {step}: sum {total}, expected {expected}", flush=True)
        if total != expected:
            sys.exit(f"rank {rank}: wrong sum {total}, expected {expected}")
        # Rank 0 decides for all whether there is a next step, or some would wait for it alone.
        more = torch.tensor([1.0 if time.monotonic() - begin < options.seconds else 0.0], device=device)
        dist.broadcast(more, 0)
        going = more.item() > 0
        if going:
            time.sleep(1)
    if rank == 0:
        print(f"all-reduce of {world} processes: {total} = 1 + ... + {world}, right", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
