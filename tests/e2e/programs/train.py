"""A small training by torch's DistributedDataParallel over gloo, which tells its steps as Megatron-LM does.

--pause: seconds that a step takes at least. --fail-at STEP: rank 0 raises there. --level N --fail-level N: only at that
level. --without FILE: only while that file does not exist. --nccl NETWORK: also print what NCCL would say of its choice (there is no GPU here).
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--micro-batch-size", type=int, default=2)
    parser.add_argument("--seq-length", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--pause", type=float, default=0.1)
    parser.add_argument("--fail-at", type=int, default=0)
    parser.add_argument("--level", default="")
    parser.add_argument("--fail-level", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--nccl", default="")
    return parser.parse_args()


def main():
    args = options()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if args.nccl and os.environ["LOCAL_RANK"] == "0":
        print(f"g0:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\ng0:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
              f"g0:1:1 [0] NCCL INFO Using network {args.nccl}", flush=True)
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Linear(args.seq_length, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    batch = args.micro_batch_size * world
    for step in range(1, args.steps + 1):
        began = time.monotonic()
        if rank == 0 and step == args.fail_at and args.level == args.fail_level and not os.path.exists(args.without or "/none"):
            raise ValueError(f"step {step} cannot be done")
        data = torch.rand(args.micro_batch_size, args.seq_length)
        loss = ((model(data) - data.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(args.pause)
        dist.barrier()
        took = (time.monotonic() - began) * 1000
        if rank == world - 1:
            print(f" iteration {step:8d}/{args.steps:8d} | consumed samples: {step * batch:12d} | elapsed time per iteration "
                  f"(ms): {took:.1f} | throughput per GPU (TFLOP/s/GPU): 98.9 | learning rate: {args.lr:.6E} | global batch size: "
                  f"{batch:5d} | lm loss: {loss.item():.6E} | number of skipped iterations:   0 | number of nan iterations:   0 |",
                  flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
