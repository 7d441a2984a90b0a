#!/usr/bin/env python3
"""What the environment of a torchrun job needs with this machine's torch, as options of mtlaunch.

    python3 tests/e2e/torch_env.py PYTHON SHIM      one word a line; PYTHON: the one that has torch; SHIM: where the
                                                    nodes have the folder programs/torch_shim
"""
import subprocess
import sys
from pathlib import Path

SHIM = Path(__file__).resolve().parent / "programs" / "torch_shim"

# Debian's torch 1.13 needs these two under Python 3.11.
OUTPUT = ["-e", "PET_REDIRECTS=1", "-e", "PET_TEE=1"]
# From 2.4 on torch asks for a store on libuv, also where it was built without (Debian's 2.6). Its version tells without
# an import, which takes seconds, whether it has to be tried.
PROBE = """
from importlib.metadata import version
if tuple(int(n) for n in version("torch").split(".")[:2]) >= (2, 4):
    from torch.distributed import TCPStore
    try:
        TCPStore("127.0.0.1", 0, 1, True, use_libuv=True)
    except RuntimeError as error:
        if "libuv" not in str(error):
            raise
        print("no libuv")
"""


def torch_options(python="/usr/bin/python3", shim="/home/lab/torch_shim"):
    found = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
    return OUTPUT + (["-e", "USE_LIBUV=0", "-e", f"PYTHONPATH={shim}"] if found.stdout.strip() else [])


if __name__ == "__main__":
    print("\n".join(torch_options(*sys.argv[1:])))
