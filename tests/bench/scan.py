"""One gigabyte of log through the scanner, beside grep with the same patterns, each on one core (run by make bench).

    python3 tests/bench/scan.py MTLAUNCH PATTERNS-PROGRAM [--megabytes 1024]

Two logs: one as eight ranks of a training write it, and one that is a flood of a single known message. Seconds are
those of the CPU: they hold on a machine that does other things, too.
"""
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS_BUDGET, MEMORY_BUDGET = 4.0, 32  # of the first log, a GiB; MiB
GREP_LIMIT = 300

ITERATION = (" [2026-11-29 16:{m:02}:{s:02}] iteration {i:8}/ 2000000 | consumed samples: {n:12} | elapsed time per iteration (ms): {t:.1f} | "
             "throughput per GPU (TFLOP/s/GPU): 412.3 | learning rate: 1.500000E-04 | global batch size:  1024 | lm loss: {l:.6E} | "
             "loss scale: 1.0 | grad norm: 0.731 | number of skipped iterations:   0 | number of nan iterations:   0 |\n")
INFO = "g0033:{p}:{q} [{r}] NCCL INFO Channel {c:02}/16 : {r}[{r}] -> {u}[{u}] [send] via NET/IB/{r}/GDRDMA\n"
WARNING = "[rank{r}]:W1129 16:{m:02}:{s:02}.{i:06} {p} torch/_dynamo/convert_frame.py:906] [7/8] torch._dynamo hit config.recompile_limit ({n})\n"
BAR = "\r{w:3}%|{b:<10}| {i}/2000000 [04:06<1:18:08,  4.94s/it]"
LINE = "[default{r}]:step {i}: loss {l:.4f}, {n} tokens, data from /ssd1/shards/shard_{c:05}.bin, {t:.1f} ms\n"
END = """[rank5]: Traceback (most recent call last):
[rank5]:   File "/apps/train.py", line 17, in main
[rank5]:     step(batch)
[rank5]: ValueError: shape mismatch
"""
FLOOD = "[rank{r}]: RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.{c}]:{p}\n"


def block(forms, size=8 << 20):
    parts, length, i = [], 0, 0
    while length < size:
        values = {"i": i, "m": i % 60, "s": i * 7 % 60, "n": i * 1024, "t": 480 + i % 97, "l": 10 / (1 + i / 1e5), "p": 9000 + i % 999, "q": 9000 + i % 97,
                  "r": i % 8, "u": (i + 8) % 64, "c": i % 16, "w": i % 101, "b": "#" * (i % 11)}
        parts.append(forms[i % len(forms)].format(**values))
        length += len(parts[-1])
        i += 1
    return "".join(parts).encode()


def write_log(path, forms, megabytes):
    piece = block(forms)
    with open(path, "wb") as file:
        for _ in range(megabytes * (1 << 20) // len(piece)):
            file.write(piece)
        file.write(END.encode())


def peak_memory(pid):
    """MiB. The kernel's own figure for an ended process counts that of the process it was forked from."""
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def measure(core, output, *command):
    """CPU seconds, wall seconds and MiB of a command on one core. Its output is a file: grep that writes to /dev/null
    ends with its first match."""
    begun, memory = time.monotonic(), 0.0
    with open(output, "wb") as out:
        process = subprocess.Popen(["taskset", "-c", str(core), *command], stdout=out, env=dict(os.environ, LC_ALL="C"))
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime, time.monotonic() - begun, memory
        if time.monotonic() - begun > 0.05:  # taskset has become the command
            memory = max(memory, peak_memory(process.pid))
        if time.monotonic() - begun > GREP_LIMIT:
            process.kill()
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtlaunch")
    parser.add_argument("patterns")
    parser.add_argument("--megabytes", type=int, default=1024)
    options = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    late = []
    with tempfile.TemporaryDirectory(prefix="mtlaunch-bench-") as folder:
        patterns, log, out = Path(folder, "patterns"), Path(folder, "node0.log"), Path(folder, "out")
        patterns.write_bytes(subprocess.run([options.patterns], stdout=subprocess.PIPE, check=True).stdout)
        print(f"{len(patterns.read_text().splitlines())} patterns, {options.megabytes} MiB of log, one core")
        print("log       program                  CPU s   wall s      MiB")
        for name, forms in (("training", [ITERATION, INFO, INFO, WARNING, BAR * 8, LINE, LINE, LINE]), ("flood", [FLOOD])):
            write_log(log, forms, options.megabytes)
            measure(core, out, "wc", "-l", log)  # into the page cache
            cpu, wall, memory = measure(core, out, options.mtlaunch, "diagnose", "--logs", log)
            print(f"{name:9} {'mtlaunch diagnose':22} {cpu:7.2f}  {wall:7.2f}  {memory:7.1f}", flush=True)
            if name == "training" and cpu > SECONDS_BUDGET * options.megabytes / 1024:
                late.append(f"{cpu:.2f} s of CPU for the training's log")
            if memory > MEMORY_BUDGET:
                late.append(f"{memory:.1f} MiB")
            cpu, wall, memory = measure(core, out, "grep", "-aE", "-c", "-f", patterns, log)
            over = " (ended at the limit)" if wall > GREP_LIMIT else ""
            print(f"{name:9} {'grep -E -f':22} {cpu:7.2f}  {wall:7.2f}  {memory:7.1f}{over}", flush=True)
    if late:
        sys.exit(f"over its budget: {', '.join(late)}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
