"""Moves this process into a PID namespace of its own: it sees no process of other tests, and no other test takes a pid
that it waits for. What it leaves behind ends with it."""
import contextlib
import ctypes
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_REC, MS_PRIVATE, MS_NOSUID_NODEV_NOEXEC = 0x4000, 0x40000, 0xE
PR_SET_PDEATHSIG = 1
INSIDE = set()  # this process, once it has a namespace of its own


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def end_with_parent():
    check(LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def status_of(child):
    """Reap children, and those that the kernel gave this process, until this one ends."""
    while True:
        try:
            pid, status = os.wait()
        except KeyboardInterrupt:  # the child has it too
            continue
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def enter():
    """Returns None in a child that goes on inside, and its exit status in this process once it has ended. OSError: not
    permitted, and this process is as it was."""
    check(LIBC.unshare(CLONE_NEWNS | CLONE_NEWPID))
    sys.stdout.flush()
    sys.stderr.flush()
    first = os.fork()
    if first:
        return status_of(first)
    end_with_parent()
    check(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    check(LIBC.mount(b"proc", b"/proc", b"proc", MS_NOSUID_NODEV_NOEXEC, None))
    inside = os.fork()
    if inside:
        os._exit(status_of(inside))
    INSIDE.add(os.getpid())
    return None


def end_all():
    """End every other process of the namespace. False: this process has none of its own."""
    if os.getpid() not in INSIDE or os.getppid() != 1:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    return True
