"""A job with a child that tries to get away: tricks.py FOLDER TRICK[+TRICK]...

Each trick list is one child. The child writes its pid to FOLDER/TRICKS and sleeps; so does the job ("job").
Tricks: term (ignores TERM), setsid, fork (double fork), clear (empty environment), title (overwrites its environment).
"""
import ctypes
import os
import signal
import sys
import time


def note(folder, name):
    with open(f"{folder}/{name}.new", "w") as f:
        f.write(str(os.getpid()))
    os.rename(f"{folder}/{name}.new", f"{folder}/{name}")


def wipe_environment():
    with open("/proc/self/stat", "rb") as f:
        fields = f.read().rpartition(b") ")[2].split()
    begin, end = int(fields[47]), int(fields[48])
    ctypes.memset(begin, 0, end - begin)


def escape(folder, name):
    tricks = name.split("+")
    if "term" in tricks:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "setsid" in tricks:
        os.setsid()
    if "fork" in tricks and os.fork() > 0:
        os._exit(0)
    if "clear" in tricks:
        code = "import os,sys,time\n" \
               "os.rename(sys.argv[1] + '.new', sys.argv[1]) if open(sys.argv[1] + '.new', 'w').write(" \
               "str(os.getpid())) else 0\ntime.sleep(300)"
        os.execve(sys.executable, ["child", "-c", code, f"{folder}/{name}"], {})
    if "title" in tricks:
        wipe_environment()
    note(folder, name)
    time.sleep(300)


folder = sys.argv[1]
for name in sys.argv[2:]:
    if os.fork() == 0:
        escape(folder, name)
note(folder, "job")
time.sleep(300)
