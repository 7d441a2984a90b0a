"""Wait until the Ray cluster has all its nodes, then run one task on each of them."""
import socket
import sys
import time

import ray

wanted = int(sys.argv[1])
ray.init(address="auto")
deadline = time.monotonic() + 120
while sum(node["Alive"] for node in ray.nodes()) < wanted:
    if time.monotonic() > deadline:
        sys.exit(f"after 120 s the cluster has {len(ray.nodes())} of {wanted} nodes")
    time.sleep(0.5)


@ray.remote(num_cpus=0, scheduling_strategy="SPREAD")
def where():
    return socket.gethostname()


hosts = set()
while len(hosts) < wanted and time.monotonic() < deadline:
    hosts.update(ray.get([where.remote() for _ in range(4 * wanted)]))
print(f"{len(hosts)} of {wanted} nodes ran a task: {' '.join(sorted(hosts))}", flush=True)
sys.exit(len(hosts) != wanted)
