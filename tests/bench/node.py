"""What a call costs a node: processes made and CPU time of each verb of its script (run by make bench).

    python3 tests/bench/node.py NODE_CALL [--calls 5]

NODE_CALL is build/tests/node/node_call. It runs in a PID namespace of its own, where nobody else makes processes, and under
/bin/sh of this machine. "By hand" is a shell that starts the same job in the background and prints its pid, and one that
kills it. CPU is that of the call, not that of the job and of its keeper.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LITERALS = ["NCCL version ", "Using network ", "Bootstrap: Using ", "Bootstrap : Using ", "via NET/IB"]
INSIDE = "MTLAUNCH_BENCH_INSIDE"


def next_pid():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def cost(command, text, node):
    """(processes made after the first one, CPU seconds, bytes sent, its output)"""
    before, used = next_pid(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=node.home,
                          env=node.environment(), timeout=60, check=False)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return next_pid() - before - 2, cpu, len(text), done.stdout


def calls(node, attempt):
    job = {"arg": ["/bin/sleep", "300"], "attempt": attempt, "computed": [f"MTLAUNCH_MARK={node.run_id}.{attempt}.0"]}
    found = {}
    for verb, values in (("probe", {"look_job": 1, "command": "sleep", "look_port": 1, **job}), ("start", job),
                         ("observe", {"attempt": attempt}), ("stop", {"grace": 20, "attempt": attempt})):
        found[verb] = cost(node.command(), node.build(verb, **values), node)
        assert "error" not in node.parse(verb, found[verb][3]), found[verb]
        time.sleep(1 if verb == "start" else 0)  # the noter's first looks
    return found


def by_hand(node):
    begin = cost(["/bin/sh"], b"mkdir -p run && cd run && nohup sleep 300 >log 2>&1 & echo $!\n", node)
    end = cost(["/bin/sh"], b"kill %d\n" % int(begin[3].split()[-1]), node)
    return {"start": begin, "stop": end}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("node_call", type=os.path.abspath)
    parser.add_argument("--calls", type=int, default=5)
    options = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, *sys.argv])
    os.environ["NODE_CALL"] = options.node_call
    sys.path.insert(0, str(ROOT / "tests" / "node"))
    from conftest import Node  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        node = Node("dash", folder)
        node.artifacts = os.path.join(folder, "artifacts")
        rows = [(calls(node, attempt), by_hand(node)) for attempt in range(1, options.calls + 1)]
        node.close()
    print(f"{'call':<9} {'processes':>10} {'CPU ms':>8} {'bytes':>8}   by hand: processes, CPU ms   (best of {options.calls})")
    for verb in rows[0][0]:
        best = [min(row[0][verb][k] for row in rows) for k in range(3)]
        hand = [min(row[1][verb][k] for row in rows) for k in range(2)] if verb in rows[0][1] else None
        peer = f"{hand[0]:>18} {1000 * hand[1]:>8.1f}" if hand else ""
        print(f"{verb:<9} {best[0]:>10} {1000 * best[1]:>8.1f} {best[2]:>8}   {peer}")


if __name__ == "__main__":
    main()
