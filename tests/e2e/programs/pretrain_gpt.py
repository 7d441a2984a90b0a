"""Stands in for Megatron-LM's: says with what it was called, and that all ranks met (gloo). Ends with 0."""
import json
import os
import sys

import torch
import torch.distributed as dist

NAMES = ("CUDA_DEVICE_MAX_CONNECTIONS", "ZERO_STAGE", "MASTER_ADDR", "NODE_RANK", "NCCL_NET", "NCCL_DEBUG", "TRAIN_ARGS")


def main():
    dist.init_process_group("gloo")
    met = torch.ones(1)
    dist.all_reduce(met)
    seen = {"rank": dist.get_rank(), "world": int(met.item()), "argv": sys.argv[1:],
            "env": {name: os.environ.get(name) for name in NAMES}}
    sys.stdout.write("seen " + json.dumps(seen) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()


main()
