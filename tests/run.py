"""Run test programs and pytest files several at a time, one line each; run what failed once more, alone.

    python3 tests/run.py [-j N] ITEM...

An ITEM is a command line of a test program, or a pytest file with options; NAME=VALUE words before it are its
environment. The longest of the last run begin first. What a passed item printed is not shown. A test that passed only
on its second run is counted and named on the last lines, and in $SECOND_RUNS, a file that callers may join.
Environment: BUILD (logs and times), PYTEST (the command).
"""
import argparse
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
TIMES = BUILD / "tests" / "times.json"
RUNNING = set()  # leaders of the process groups that are not over
LIMIT_S = 900  # no item takes longer; a test has limits of its own
COUNTS = (r"^\[ {2}PASSED {2}\] (\d+) test", r"(\d+) passed", r"(\d+) skipped", r"^\[ {2}SKIPPED \] (\d+) test")
FAILED = (r"^\[ {2}FAILED {2}\] ([a-z]\w*)$", r"^(?:FAILED|ERROR) (\S+::\S+)", r"^FAILED: (\S+)")


class Item:
    """One program or pytest file, and what came of it."""

    def __init__(self, line):
        self.line = line
        words = shlex.split(line)
        self.env = {}
        while re.match(r"[A-Z][A-Z0-9_]*=", words[0]):
            name, _, value = words.pop(0).partition("=")
            self.env[name] = value
        self.pytest = words[0].endswith(".py") or "::" in words[0] or os.path.isdir(words[0])
        self.name = " ".join([*self.env.values(), *words]) if self.pytest else words[0]
        self.words = words
        slug = re.sub(r"\W+", "-", self.name).strip("-")
        self.log = BUILD / "tests" / "logs" / f"{slug}.log"
        self.cache = BUILD.resolve() / "tests" / "pytest" / slug
        self.code = None
        self.seconds = self.cpu = 0.0
        self.text = ""

    def command(self, again):
        if not self.pytest:
            return self.words
        last = ["--lf", "--lfnf=all"] if again else []
        return [*shlex.split(os.environ.get("PYTEST", "python3 -m pytest -q")), "-o", f"cache_dir={self.cache}",
                "-rfEs", *last, *self.words]

    def run(self, again=False):
        began = time.monotonic()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as log:
            process = subprocess.Popen(self.command(again), stdout=log, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, start_new_session=True, env={**os.environ, **self.env})
            RUNNING.add(process.pid)
            self.code = self.wait_for(process)
            RUNNING.discard(process.pid)
            if self.code is None:
                log.write(f"\nFAILED: {self.name} did not end within {LIMIT_S} s\n".encode())
                self.code = 124
        if self.pytest and self.code == 5:  # all tests of the file are left out by its options
            self.code = 0
        self.seconds = time.monotonic() - began
        self.text = self.log.read_text(errors="replace")

    def wait_for(self, process):
        """Its exit status, and in cpu the processor time of it and its children; None when it was ended at the limit."""
        end = time.monotonic() + LIMIT_S
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                self.cpu = usage.ru_utime + usage.ru_stime
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode if time.monotonic() < end else None
            if time.monotonic() >= end:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.05)

    def failures(self):
        """Names of the tests that failed; the item itself when it says none."""
        found = [m for pattern in FAILED for m in re.findall(pattern, self.text, re.M)]
        return [name if "::" in name else f"{self.name}: {name}" for name in dict.fromkeys(found)] or [self.name]

    def counts(self):
        passed, passed_too, skipped, skipped_too = (
            sum(int(n) for n in re.findall(p, self.text, re.M)) for p in COUNTS)
        return (passed or passed_too), max(skipped, skipped_too)

    def report(self):
        passed, skipped = self.counts()
        said = ", ".join(f"{n} {word}" for n, word in ((passed, "passed"), (skipped, "skipped")) if n)
        print(f"{'ok    ' if self.code == 0 else 'FAILED'} {self.seconds:6.1f} s {self.cpu:6.1f} s cpu  {self.name}{': ' if said else ''}{said}")
        if self.code != 0:
            print(self.text)
        for line in re.findall(r"^(?:SKIPPED |skipped: ).*", self.text, re.M):
            print(f"{'':28}{line}")
        sys.stdout.flush()


def read_times():
    try:
        return json.loads(TIMES.read_text())
    except (OSError, ValueError):
        return {}


def run_all(items, jobs):
    """Run items in jobs threads, the longest of the last run first; those never timed before all others."""
    times = read_times()
    waiting, lock = queue.SimpleQueue(), threading.Lock()
    for item in sorted(items, key=lambda one: -times.get(one.line, LIMIT_S)):
        waiting.put(item)

    def work():
        while True:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            item.run()
            with lock:
                times[item.line] = round(item.seconds, 1)
                item.report()

    workers = [threading.Thread(target=work) for _ in range(min(jobs, len(items)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    TIMES.write_text(json.dumps(times, indent=0, sort_keys=True))


def run_again(failed):
    """One after another: limits of time may pass on a busy machine. Names of what passed now."""
    passed = []
    for item in failed:
        names = item.failures()
        print(f"once more, alone: {', '.join(names)}")
        item.run(again=True)
        item.report()
        still = set(item.failures()) if item.code else set()
        passed += [name for name in names if item.code == 0 or name not in still and item.name not in still]
    return passed


def end_all(_number, _frame):
    """An interrupt ends what runs: each part has a session of its own, which no Ctrl-C reaches."""
    for pid in list(RUNNING):
        try:
            os.killpg(pid, signal.SIGINT)  # pytest ends what its tests have started
        except ProcessLookupError:
            pass
    os._exit(130)


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_all)
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("items", nargs="+", metavar="ITEM")
    options = parser.parse_args()
    began = time.monotonic()
    items = [Item(line) for line in options.items]
    run_all(items, options.jobs)
    second = run_again([item for item in items if item.code])
    failed = [item.name for item in items if item.code != 0]  # None: it was never run
    if second:
        print(f"passed only on the second run: {len(second)}: {', '.join(second)}")
        if os.environ.get("SECOND_RUNS"):
            with open(os.environ["SECOND_RUNS"], "a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in second)
    counts = [item.counts() for item in items]
    print(f"{len(items)} parts: {sum(c[0] for c in counts)} tests passed, {sum(c[1] for c in counts)} skipped, "
          f"{len(failed)} parts failed, in {time.monotonic() - began:.0f} s ({sum(item.cpu for item in items):.0f} s cpu)"
          f"{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
