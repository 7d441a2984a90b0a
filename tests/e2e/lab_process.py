"""What /proc says of processes, and waiting for conditions: the parts of the test cluster that know no node."""
import os
import time
from pathlib import Path


class LabError(Exception):
    """The cluster could not be brought up or asked; the text says what failed."""


PATIENCE = 3  # a machine that does other things as well is not what a test is about


def wait_for(condition, what, limit=20.0, pause=0.05):
    """Wait until condition() is true and return its value; LabError after limit seconds of a quiet machine, PATIENCE
    times as many here. A promise about time is measured by the test itself."""
    limit *= PATIENCE
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise LabError(f"timed out after {limit:g} s: {what}")
        time.sleep(pause)


def start_ticks(pid):
    """Start time of a process in clock ticks since boot, or None when it is gone (zombies count as gone)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if not fields or fields[0] in "ZX" else int(fields[19])


class Process:
    """What /proc says of one process; pid is the one inside the node, host_pid the one out here."""

    def __init__(self, host_pid):
        base = Path("/proc") / str(host_pid)
        status = base.joinpath("status").read_text(errors="replace")
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        self.host_pid = host_pid
        self.pid = int(fields.get("NSpid", str(host_pid)).split()[-1])
        self.uid = int(fields["Uid"].split()[0])
        self.state = fields["State"].split()[0]
        self.ticks = start_ticks(host_pid)
        self.argv = [w.decode(errors="replace") for w in base.joinpath("cmdline").read_bytes().split(b"\0")[:-1]]
        try:
            pairs = base.joinpath("environ").read_bytes().split(b"\0")
        except PermissionError:
            pairs = []
        self.environ = dict(p.decode(errors="replace").split("=", 1) for p in pairs if b"=" in p)
        self.name = fields["Name"].strip()

    @property
    def command(self):
        return " ".join(self.argv) or f"[{self.name}]"

    @property
    def is_session(self):
        """Is it one of the processes by which sshd serves a connection? From OpenSSH 9.8 on they are a program each."""
        return self.command.startswith(("sshd: ", "sshd-session: ", "sshd-auth: ")) and "[listener]" not in self.command

    def __repr__(self):
        return f"<{self.pid} {self.state} {self.command[:100]}>"


def processes_where(link, target):
    """Processes whose namespace link (such as ns/pid) is target; zombies are left out."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{entry}/{link}") != target:
                continue
            process = Process(int(entry))
        except (FileNotFoundError, ProcessLookupError, PermissionError, KeyError):
            continue
        if process.state not in "ZX":
            found.append(process)
    return found


def reaped(pid):
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False


def kill_quietly(pid, signum):
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        pass


def parent_of(pid):
    """The parent of a process, or None when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()[1])
    except (OSError, IndexError):
        return None


def descendants(pid):
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            children.setdefault(parent_of(entry), []).append(int(entry))
    todo, found = [pid], []
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found
