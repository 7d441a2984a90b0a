"""A gloo job under torch's @record in which rank 1 raises, deep in its own calls: recorded.py."""
import datetime

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record


def read_even(depth):
    return read_odd(depth - 1)


def read_odd(depth):
    if depth <= 0:
        raise LookupError("sample 4711 is damaged")
    return read_even(depth - 1)


@record
def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    values = torch.ones(4)
    for step in range(1000):
        if step == 3 and dist.get_rank() == 1:
            read_even(39)
        dist.all_reduce(values)


main()
