"""What a call costs a node: processes made and CPU time of each verb of its script (run by make bench).

    python3 tests/bench/node.py NODE_CALL [--calls 5]

NODE_CALL is build/tests/node/node_call. It runs in a PID namespace of its own, where nobody else makes processes, and under
/bin/sh of this machine. "By hand" is a shell that starts the same job in the background and prints its pid, and one that
kills it. CPU is that of the call, not that of the job and of its keeper.
"""
import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "node"))
from forks import cost  # noqa: E402  pylint: disable=wrong-import-position

INSIDE = "MTLAUNCH_BENCH_INSIDE"


def calls(node, attempt):
    job = {"arg": ["/bin/sleep", "300"], "attempt": attempt, "computed": [f"MTLAUNCH_MARK={node.run_id}.{attempt}.0"]}
    found = {}
    for verb, values in (("probe", {"look_job": 1, "command": "sleep", "look_port": 1, **job}), ("start", job),
                         ("observe", {"attempt": attempt}), ("stop", {"grace": 20, "attempt": attempt})):
        text = node.build(verb, **values)
        forks, cpu, out = cost(node, node.command(), text)
        assert "error" not in node.parse(verb, out), out
        found[verb] = forks, cpu, len(text)
        time.sleep(1 if verb == "start" else 0)  # the noter's first looks
    return found


def by_hand(node):
    begin = cost(node, ["/bin/sh"], b"mkdir -p run && cd run && nohup sleep 300 >log 2>&1 & echo $!\n")
    end = cost(node, ["/bin/sh"], b"kill %d\n" % int(begin[2].split()[-1]))
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
