"""A little training job for the tests of launchers: every rank says where it stands and what all of them add up to."""
import argparse
import json
import os
import time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["torch", "accelerate", "deepspeed"])
    parser.add_argument("mode", choices=["end", "fail", "sleep"])
    parser.add_argument("--deepspeed_config")
    parser.add_argument("--local_rank", type=int, default=-1)
    return parser.parse_args()


def with_torch(_args):
    import torch
    torch.distributed.init_process_group("gloo")
    total = torch.tensor([torch.distributed.get_rank() + 1.0])
    torch.distributed.all_reduce(total)
    return {"sum": total.item()}


def with_accelerate(_args):
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    total = accelerator.reduce(torch.tensor([accelerator.process_index + 1.0]), "sum")
    return {"sum": total.item(), "processes": accelerator.num_processes}


def with_deepspeed(args):
    import deepspeed
    import torch
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it would be compiled on every node
    model = torch.nn.Linear(4, 4)
    engine, *_ = deepspeed.initialize(config=args.deepspeed_config, model=model,
                                      optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    loss = engine(torch.ones(engine.train_micro_batch_size_per_gpu(), 4)).pow(2).mean()
    engine.backward(loss)
    engine.step()
    total = torch.tensor([torch.distributed.get_rank() + 1.0])
    torch.distributed.all_reduce(total)
    return {"sum": total.item(), "stage": engine.zero_optimization_stage(), "config": args.deepspeed_config}


def main():
    args = parse()
    seen = {"torch": with_torch, "accelerate": with_accelerate, "deepspeed": with_deepspeed}[args.kind](args)
    import torch
    rank = torch.distributed.get_rank()
    names = ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "MTLAUNCH_HOST", "MASTER_ADDR", "MASTER_PORT", "PET_STRAY", "TORCHELASTIC_STRAY",
             "ACCELERATE_MIXED_PRECISION")
    print("seen " + json.dumps({"rank": rank, **seen, **{n: os.environ.get(n) for n in names}}), flush=True)
    if args.mode == "fail" and rank == 1:
        raise ValueError("rank 1 fails as it was told")
    torch.distributed.barrier()
    time.sleep(600 if args.mode == "sleep" else 0)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
