"""Make torchrun obey USE_LIBUV=0 (Python reads this file when its folder is in PYTHONPATH).

From torch 2.4 on, torchrun creates its stores on libuv whatever USE_LIBUV says, and Debian's torch has no libuv.
"""
import os
import sys


class StoresWithoutLibuv:
    """Sees torch.distributed.rendezvous being imported: the class of the stores is there by then."""

    def find_spec(self, name, path=None, target=None):
        del path, target
        if name == "torch.distributed.rendezvous":
            sys.meta_path.remove(self)
            store = sys.modules["torch._C._distributed_c10d"].TCPStore
            create = store.__init__

            def create_without(this, *args, **options):
                options.setdefault("use_libuv", False)
                create(this, *args, **options)

            store.__init__ = create_without


if os.environ.get("USE_LIBUV") == "0":
    sys.meta_path.insert(0, StoresWithoutLibuv())
