"""Ways in which a node can be sick, for tests: no more processes, broken tools, a full disk, pids used again."""
import os
import signal
import subprocess
from pathlib import Path

from cluster import UID, wait_for

TOOLS = ("awk", "grep", "sed", "xargs")
WAYS = ("killed", "half-0", "half-1")
ARTIFACTS = "/home/lab/.mtlaunch"

TAKE_PID = Path(__file__).resolve().parents[1] / "node/programs/take_pid.py"


def as_root(cluster, node, line):
    return cluster.exec(node, line, user=False, check=True).stdout


# --- a limit on the number of processes ---------------------------------------------------------------

def tasks_of_user():
    """Tasks of the lab user on the whole machine: the kernel counts them together."""
    count = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == UID:
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            pass
    return count


def allow_limits(cluster, node):
    """From now on each login of the node takes the limit that limit_processes sets."""
    config = cluster.etc(node) / "sshd_config"
    config.write_text(config.read_text() + "ForceCommand [ ! -e /run/lab/limit ] || prlimit --nproc=$(cat /run/lab/limit):"
                      " --pid $$; eval \"$SSH_ORIGINAL_COMMAND\"\n")
    cluster.stop_sshd(node)
    cluster.start_sshd(node)


def limit_processes(cluster, node, room, running=False):
    """Logins of the node can make `room` more tasks; with running, what runs there already too."""
    limit = tasks_of_user() + room
    (cluster.etc(node) / "limit").write_text(str(limit))
    if running:
        set_limit_of_running(cluster, node, limit)


def lift_limit(cluster, node):
    (cluster.etc(node) / "limit").unlink(missing_ok=True)
    set_limit_of_running(cluster, node, -1)


def set_limit_of_running(cluster, node, limit):
    """Their own user may do that; root may not where it lacks CAP_SYS_RESOURCE."""
    words = []
    for process in cluster.user_ps(node):
        try:
            text = Path(f"/proc/{process.host_pid}/limits").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        hard = [line.split()[3] for line in text.splitlines() if line.startswith("Max processes")][0]
        words += [str(process.host_pid), hard if limit < 0 else str(limit)]
    script = "while [ $# -gt 0 ]; do prlimit --nproc=$2: --pid $1; shift 2; done"
    subprocess.run(["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "sh", "-c", script, "sh", *words],
                   capture_output=True, check=False)


# --- broken tools ---------------------------------------------------------------------------------------

def break_tool(cluster, node, tool, way):
    """The tool is killed whenever it runs, or prints half of its output and ends with 0 or 1."""
    real = f"/run/sick/{tool}.real"
    body = {"killed": "kill -9 $$",
            "half-0": f'out=$({real} "$@"); printf "%s" "$out" | head -c $((${{#out}} / 2)); exit 0',
            "half-1": f'out=$({real} "$@"); printf "%s" "$out" | head -c $((${{#out}} / 2)); exit 1'}[way]
    folder = cluster.etc(node)
    (folder / "sick").write_text(f"#!/bin/sh\n{body}\n")
    as_root(cluster, node, f"mkdir -p /run/sick && at=$(readlink -f $(command -v {tool})) && cp $at {real} && "
            f"cp /run/lab/sick /run/sick/{tool} && chmod 755 /run/sick/{tool} && "
            f"mount --bind /run/sick/{tool} $at && echo $at >/run/sick/{tool}.at")


def mend_tools(cluster, node):
    as_root(cluster, node, "for f in /run/sick/*.at; do [ ! -e $f ] || { read -r at <$f; umount $at; rm $f; }; done")


# --- a full disk ----------------------------------------------------------------------------------------

def give_disk(cluster, node):
    """The default artifacts lie on a small disk of their own."""
    as_root(cluster, node, f"mkdir -p {ARTIFACTS} && mount -t tmpfs -o size=2m,mode=755,uid={UID},gid={UID} "
            f"tmpfs {ARTIFACTS}")


def fill_disk(cluster, node):
    as_root(cluster, node, f"dd if=/dev/zero of={ARTIFACTS}/fill bs=4k 2>/dev/null; true")


def free_disk(cluster, node):
    as_root(cluster, node, f"rm -f {ARTIFACTS}/fill")


# --- pids that are used again ---------------------------------------------------------------------------

def state_of(cluster, node, run, rank):
    """The record on the node as a mapping; empty when there is none."""
    done = cluster.exec(node, f"cat {ARTIFACTS}/run_state/{run}_node{rank}.state")
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def take_session(cluster, node, number, seconds):
    """A `sleep SECONDS` of the same user in a session whose number is used again and whose leader is gone.

    Returns its process, or None when the number could not be had."""
    (cluster.etc(node) / "take_pid.py").write_bytes(TAKE_PID.read_bytes())
    done = cluster.exec(node, "python3 "
                        f"/run/lab/take_pid.py {number} {UID} {seconds}", user=False)
    if done.returncode != 0:
        return None

    def found():
        for process in cluster.user_ps(node):
            if process.argv == ["sleep", str(seconds)]:
                return process
        return None
    return wait_for(found, "the stranger", 5)


def lives(process):
    try:
        fields = Path(f"/proc/{process.host_pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] not in "ZX" and int(fields[19]) == process.ticks


def end(process):
    if lives(process):
        os.kill(process.host_pid, signal.SIGKILL)
