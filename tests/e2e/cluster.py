#!/usr/bin/env python3
"""A cluster of SSH nodes on one machine, for the demo and the end-to-end tests.

Every node is a set of Linux namespaces (network, process ids, host name, mounts) with an address, a host
name, a home, a boot id and an sshd of its own; one more, `head`, holds the bridge that joins them and runs
mtlaunch. The user `lab` exists in there only (own /etc/passwd), so nothing of the machine is changed and
everything is gone once the processes are: there are no named namespaces and no interfaces outside.

Where namespaces are not permitted, `Loopback` gives N sshd on 127.10.0.x instead: the same interface, with
process ids and host name shared by all.

    python3 cluster.py up 4 --dir /tmp/lab      bring up node1..node4
    python3 cluster.py exec head -- COMMAND…    run a command on the head (or on nodeN)
    python3 cluster.py ps node1                 processes of a node
    python3 cluster.py put FILE                 copy a file into every node's home
    python3 cluster.py down --dir /tmp/lab      take it down, leave nothing
"""
import argparse
import atexit
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USER, UID = "lab", 4242
NETWORK = "10.77.0"
HEAD_ADDRESS = NETWORK + ".254"
DEFAULT_DIR = os.path.join(tempfile.gettempdir(), "mtlaunch-lab")
NODE_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


class LabError(Exception):
    """The cluster could not be brought up or asked; the text says what failed."""


def wait_for(condition, what, limit=20.0, pause=0.05):
    """Wait until condition() is true and return its value; LabError after limit seconds."""
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


# --- register of clusters, so that the next one clears away what a crash left -------------------------

def register_folder():
    folder = Path(tempfile.gettempdir()) / f"mtlaunch-lab-register-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise LabError(f"'{folder}' is not a folder of this user")
    return folder


def sweep_crashed():
    """Take down every registered cluster whose owning process is gone (its nodes, where it was made to stay)."""
    for entry in register_folder().glob("*.json"):
        try:
            record = json.loads(entry.read_text())
        except (ValueError, OSError):
            entry.unlink(missing_ok=True)
            continue
        keepers = record["holders"] if record["owner"] is None else [record["owner"]]
        if any(start_ticks(pid) == ticks for pid, ticks in keepers):
            continue
        take_down(record)


def take_down(record):
    """End all processes of a recorded cluster, make sure of it, remove its folder and its record."""
    spaces = []
    for pid, ticks in record["holders"]:
        if start_ticks(pid) != ticks:
            continue
        for link in record["links"]:
            try:
                target = os.readlink(f"/proc/{pid}/{link}")
            except OSError:
                continue
            if target == os.readlink(f"/proc/self/{link}"):
                continue
            spaces.append((link, target))
            for process in processes_where(link, target):
                kill_quietly(process.host_pid, signal.SIGKILL)
    for pid, ticks in record["holders"]:
        if start_ticks(pid) == ticks:
            for child in descendants(pid):
                kill_quietly(child, signal.SIGKILL)
            kill_quietly(pid, signal.SIGKILL)
    for pid, ticks in record["holders"]:
        wait_for(lambda p=pid, t=ticks: reaped(p) or start_ticks(p) != t, f"process {pid} to end")
    for link, target in spaces:
        wait_for(lambda k=link, t=target: not processes_where(k, t), f"processes in {target} to end")
    if record["own_dir"]:
        shutil.rmtree(record["dir"], ignore_errors=True)
    Path(record["entry"]).unlink(missing_ok=True)
    try:
        register_folder().rmdir()
    except OSError:
        pass


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


def descendants(pid):
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                ppid = int(Path(f"/proc/{entry}/stat").read_text(errors="replace").rpartition(") ")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(ppid, []).append(int(entry))
    todo, found = [pid], []
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


# --- what both kinds of cluster share -----------------------------------------------------------------

class BaseCluster:
    """Folders, keys, the register and the way commands are run; node numbers count from 1."""

    links = ()

    def __init__(self, count, directory=None, *, shared_home=False, shells=None, mtlaunch=None, stays=False):
        self.count = count
        self.own_dir = directory is None or not os.path.exists(directory)
        self.dir = Path(directory or tempfile.mkdtemp(prefix="mtlaunch-lab-"))
        self.shared_home = shared_home
        self.shells = shells or {}
        self.stays = stays
        self.names = [f"node{i}" for i in range(1, count + 1)]
        self.holders = {}
        self.entry = register_folder() / f"{os.getpid()}-{time.monotonic_ns()}.json"
        self.up = self.started = False
        self.mtlaunch_source = mtlaunch

    # lifetime

    def start(self):
        sweep_crashed()
        self.dir.mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o755)
        self.record()
        if not self.stays:
            atexit.register(self.down)
        self.up = True
        try:
            self.make_files()
            self.start_nodes()
        except BaseException:
            self.down()
            raise
        self.started = True
        self.record()
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.down()

    def as_record(self):
        owner = None if self.stays and self.started else [os.getpid(), start_ticks(os.getpid())]
        return {"dir": str(self.dir), "own_dir": self.own_dir, "owner": owner, "kind": type(self).__name__,
                "count": self.count, "links": list(self.links), "entry": str(self.entry),
                "holders": [[pid, start_ticks(pid)] for pid in self.holders.values()],
                "names": list(self.holders), "shared_home": self.shared_home}

    def record(self):
        text = json.dumps(self.as_record())
        self.entry.write_text(text)
        (self.dir / "cluster.json").write_text(text)

    def down(self):
        if self.up:
            self.up = False
            atexit.unregister(self.down)
            take_down(self.as_record())

    # files

    def make_files(self):
        home = self.head_home
        for folder in (home / ".ssh", self.dir / "bin", self.dir / "shared", self.dir / "shared_home"):
            folder.mkdir(parents=True, exist_ok=True)
        (home / ".ssh").chmod(0o700)
        key = home / ".ssh" / "id_ed25519"
        keygen(key)
        known = []
        for number, name in enumerate(self.names, 1):
            etc = self.etc(name)
            for folder in (etc, self.node_home(name)):
                folder.mkdir(parents=True, exist_ok=True)
            keygen(etc / "host_key")
            (etc / "authorized_keys").write_text((home / ".ssh" / "id_ed25519.pub").read_text())
            public = (etc / "host_key.pub").read_text().split()
            known.append(f"{self.known_as(number)} {public[0]} {public[1]}")
        (home / ".ssh" / "known_hosts").write_text("\n".join(known) + "\n")
        (home / "hosts.txt").write_text("\n".join(self.names) + "\n")
        self.install_mtlaunch()
        self.write_more_files()
        self.own(self.dir / "shared", self.dir / "shared_home", home, *[self.node_home(n) for n in self.names])

    def install_mtlaunch(self, source=None):
        """Copy the program under test to where the head's user can read it."""
        source = source or self.mtlaunch_source
        if source and os.path.exists(source):
            target = self.dir / "bin" / "mtlaunch"
            shutil.copy2(source, str(target) + ".new")
            os.replace(str(target) + ".new", target)
            target.chmod(0o755)

    @property
    def head_home(self):
        return self.dir / "head" / "home"

    def etc(self, name):
        return self.dir / "nodes" / name / "etc"

    def node_home(self, name):
        """The node's home folder as seen from outside."""
        return self.dir / "shared_home" if self.shared_home else self.dir / "nodes" / name / "home"

    def put(self, source, names=None, target=None):
        """Copy a file or folder into the home of nodes (all when names is None)."""
        for name in self.names if names is None else names:
            place = self.node_home(name) / (target or os.path.basename(source))
            place.parent.mkdir(parents=True, exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, place, dirs_exist_ok=True)
            else:
                shutil.copy2(source, place)
            self.own(place)

    def sshd_config(self, name, address, port, files):
        lines = [
            f"Port {port}", f"ListenAddress {address}", f"HostKey {files}/host_key",
            f"AuthorizedKeysFile {files}/authorized_keys", f"PidFile {files}/sshd.pid", "UsePAM no",
            "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            "UseDNS no", "PrintMotd no", "LogLevel VERBOSE",
        ]
        lines += self.sshd_extra(name)
        return "\n".join(lines) + "\n"

    def sshd_extra(self, _name):
        return []

    # running things

    def run(self, *argv, env=None, cwd=None, timeout=120, input=None, check=False, user=True):
        """Run a command on the head and return the CompletedProcess (text)."""
        words, values = self.head_argv(argv, env, cwd, user)
        done = subprocess.run(words, env=values, capture_output=True, timeout=timeout,
                              input=input, text=True, errors="replace",
                              stdin=subprocess.DEVNULL if input is None else None)
        if check and done.returncode:
            raise LabError(f"{shlex.join(map(str, argv))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def popen(self, *argv, env=None, cwd=None, user=True, **options):
        """Start a command on the head in a session of its own; its pid is the command's own."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("start_new_session", True)
        words, values = self.head_argv(argv, env, cwd, user)
        return subprocess.Popen(words, env=values, **options)

    def pids_with(self, name, text):
        """Processes of a node with text in their command line or environment."""
        return [p for p in self.ps(name)
                if text in p.command or any(text in f"{k}={v}" for k, v in p.environ.items())]

    def kill(self, name, pid, signum=signal.SIGKILL):
        """Signal a process of a node by the pid it has there."""
        for process in self.ps(name):
            if process.pid == pid:
                kill_quietly(process.host_pid, signum)
                return
        raise LabError(f"no process {pid} on {name}")


def keygen(path):
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(path)], check=True)


def accounts(home, shell):
    """passwd, group and shadow for the lab user and what a machine's daemons need."""
    keep = ("root", "daemon", "bin", "sys", "nobody", "sshd", "munge", "slurm")
    passwd = [line for line in Path("/etc/passwd").read_text().splitlines() if line.split(":")[0] in keep]
    passwd.append(f"{USER}:x:{UID}:{UID}:lab:{home}:{shell}")
    groups = [line for line in Path("/etc/group").read_text().splitlines()]
    groups.append(f"{USER}:x:{UID}:")
    shadow = [f"{line.split(':')[0]}:*:19000:0:99999:7:::" for line in passwd]
    return "\n".join(passwd) + "\n", "\n".join(groups) + "\n", "\n".join(shadow) + "\n"


# --- nodes as namespaces ------------------------------------------------------------------------------

# What both the head and a node do once inside their mount namespace. $1 is the folder with their files.
INSIDE = r"""
set -e
etc=$1 name=$2
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/etc /mnt/work /mnt/shared
# An overlay rather than files bound one by one: those fall off when a package outside renames the real ones.
for file in passwd group shadow hosts nsswitch.conf; do
    cp "$etc/$file" /mnt/etc/
done
mount -t overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/work overlay /etc
mount --bind "$4" /mnt/shared
hostname "$name"
ip link set lo up
"""

NODE_INSIDE = INSIDE + r"""
home=$3
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd /run/lab /run/lock
mount --bind "$etc" /run/lab
mount -t tmpfs -o mode=755 tmpfs /home
mkdir /home/lab
mount --bind "$home" /home/lab
mount --bind "$etc/boot_id" /proc/sys/kernel/random/boot_id
mount -t tmpfs -o mode=1777 tmpfs /tmp
cd /
echo inside
read -r address
ip addr add "$address/24" dev eth0
ip link set eth0 up
/usr/sbin/sshd -f /run/lab/sshd_config -E /run/lab/sshd.log
echo up
exec <&- >&-
# The first process of the node: it takes in orphans, and its end is the node's.
sleep infinity & wait
"""

HEAD_INSIDE = INSIDE + r"""
ip link add br0 type bridge
ip addr add "$5/24" dev br0
ip link set br0 up
echo inside
exec <&- >&-
sleep infinity & wait
"""


class Cluster(BaseCluster):
    """Nodes as namespaces; needs root (or what it takes to make namespaces)."""

    links = ("ns/pid", "ns/net")

    @staticmethod
    def permitted():
        if os.getuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
            return False
        probe = ("mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work && mount -t overlay"
                 " -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work overlay /etc && hostname probe"
                 " && ip link add br0 type bridge && ip link add v0 type veth peer name v1")
        return subprocess.run(["unshare", "-n", "-u", "-m", "-p", "-f", "--mount-proc", "sh", "-c", probe],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def address(self, name):
        return HEAD_ADDRESS if name == "head" else f"{NETWORK}.{self.names.index(name) + 1}"

    def known_as(self, number):
        return f"node{number},{NETWORK}.{number}"

    def own(self, *places):
        for place in places:
            os.chown(place, UID, UID, follow_symlinks=False)
            if os.path.isdir(place):
                for root, folders, files in os.walk(place):
                    for item in folders + files:
                        os.chown(os.path.join(root, item), UID, UID, follow_symlinks=False)

    def write_more_files(self):
        hosts = ["127.0.0.1 localhost", "::1 localhost ip6-localhost", f"{HEAD_ADDRESS} head"]
        hosts += [f"{self.address(n)} {n} {n}.lab" for n in self.names]
        for name in ["head"] + self.names:
            etc = self.etc(name)
            etc.mkdir(parents=True, exist_ok=True)
            etc.chmod(0o755)
            (etc / "hosts").write_text("\n".join(hosts) + "\n")
            (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nshadow: files\nhosts: files\n")
            home = self.head_home if name == "head" else Path("/home/lab")
            texts = accounts(home, self.shells.get(name, "/bin/sh"))
            for file, text in zip(("passwd", "group", "shadow"), texts):
                (etc / file).write_text(text)
            if name != "head":
                (etc / "sshd_config").write_text(self.sshd_config(name, self.address(name), 22, "/run/lab"))
                self.new_boot_id(name)

    def new_boot_id(self, name):
        (self.etc(name) / "boot_id").write_text(Path("/proc/sys/kernel/random/uuid").read_text())

    def start_nodes(self):
        self.spawn("head", ["unshare", "-n", "-u", "-m"], HEAD_INSIDE, [str(self.head_home), str(self.dir / "shared"),
                                                                       HEAD_ADDRESS])
        opened = {name: self.spawn(name, ["unshare", "-n", "-u", "-i", "-m", "-p", "-f", "--mount-proc"], NODE_INSIDE,
                                   [str(self.node_home(name)), str(self.dir / "shared")]) for name in self.names}
        commands = []
        for number, name in enumerate(self.names, 1):
            commands += [f"link add port{number} type veth peer name eth0 netns {self.holders[name]}",
                         f"link set port{number} master br0", f"link set port{number} up"]
        self.in_head_net(["ip", "-batch", "-"], "\n".join(commands) + "\n")
        for name, shell in opened.items():
            shell.stdin.write(self.address(name) + "\n")
            shell.stdin.flush()
        for name, shell in opened.items():
            self.expect(shell, "up", name)

    def spawn(self, name, namespaces, script, more):
        """Start the first process of a node and wait until its mounts are made."""
        file = self.dir / ("head.sh" if name == "head" else "node.sh")
        file.write_text(script)
        argv = namespaces + ["/bin/sh", str(file), str(self.etc(name)), name] + more
        errors = open(self.dir / f"{name}.err", "w+", encoding="utf-8")
        shell = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                 start_new_session=True, cwd="/")
        errors.close()
        self.holders[name] = shell.pid
        self.record()
        self.expect(shell, "inside", name)
        if "-f" in namespaces:  # unshare forks: the node is its child
            self.holders[name] = descendants(shell.pid)[0]
            self.record()
        return shell

    def expect(self, shell, word, name):
        line = shell.stdout.readline().strip()
        if line != word:
            raise LabError(f"{name} did not come up: {line} {(self.dir / (name + '.err')).read_text()}")

    def in_head_net(self, argv, text=None):
        done = subprocess.run(["nsenter", "-t", str(self.holders["head"]), "-n"] + argv, input=text, text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise LabError(f"{shlex.join(argv)}: {done.stderr.strip()}")
        return done.stdout

    def head_argv(self, argv, env, cwd, user):
        """The words that run a command on the head, and its environment."""
        home = str(self.head_home)
        values = {"HOME": home, "USER": USER if user else "root", "LOGNAME": USER if user else "root",
                  "SHELL": "/bin/sh", "PATH": f"{self.dir}/bin:{NODE_PATH}", "LANG": "C.UTF-8", "TERM": "dumb",
                  "XDG_STATE_HOME": home + "/.local/state"}
        values.update(env or {})
        inside = f"cd {shlex.quote(str(cwd or home))} && unset OLDPWD && exec \"$@\""
        words = ["nsenter", "-t", str(self.holders["head"]), "-m", "-u", "-n"] + as_user(user)
        return words + ["/bin/sh", "-c", inside, "sh"] + [str(a) for a in argv], values

    def exec(self, name, command, *, user=True, timeout=60, check=False, input=None):
        """Run a shell line on a node (not through ssh)."""
        home = "/home/lab" if user else "/root"
        done = subprocess.run(
            ["nsenter", "-t", str(self.holders[name]), "-m", "-u", "-n", "-i", "-p"] + as_user(user)
            + ["env", "-i", f"HOME={home}", f"USER={USER}", f"PATH={NODE_PATH}", "LANG=C.UTF-8",
               "/bin/sh", "-c", f"cd {home} && {command}"],
            capture_output=True, text=True, errors="replace", timeout=timeout, input=input, check=False,
            stdin=subprocess.DEVNULL if input is None else None)
        if check and done.returncode:
            raise LabError(f"on {name}: {command}: {done.stdout}{done.stderr}")
        return done

    def ps(self, name):
        """Processes of a node (of the head: all in its network namespace)."""
        holder = self.holders[name]
        link = "ns/net" if name == "head" else "ns/pid"
        return [p for p in processes_where(link, os.readlink(f"/proc/{holder}/{link}"))
                if p.host_pid != holder and not (p.argv[:2] == ["sleep", "infinity"] and p.uid == 0)]

    def user_ps(self, name):
        """Processes of the lab user, sshd's own session process left out."""
        return [p for p in self.ps(name) if p.uid == UID and not p.command.startswith("sshd:")]

    # trouble

    def stop_sshd(self, name):
        """End the listener and all connections; the processes started through them live on."""
        for process in self.ps(name):
            if process.name == "sshd":
                kill_quietly(process.host_pid, signal.SIGKILL)
        wait_for(lambda: not [p for p in self.ps(name) if p.name == "sshd"], f"sshd on {name} to end")

    def start_sshd(self, name):
        self.exec(name, "/usr/sbin/sshd -f /run/lab/sshd_config -E /run/lab/sshd.log", user=False, check=True)

    def cut(self, name):
        self.in_head_net(["ip", "link", "set", f"port{self.names.index(name) + 1}", "down"])

    def restore(self, name):
        self.in_head_net(["ip", "link", "set", f"port{self.names.index(name) + 1}", "up"])
        self.in_head_net(["ip", "neigh", "flush", "dev", "br0"])  # no memory of answers that did not come

    def freeze(self, name):
        for process in self.ps(name):
            kill_quietly(process.host_pid, signal.SIGSTOP)

    def thaw(self, name):
        for process in self.ps(name):
            kill_quietly(process.host_pid, signal.SIGCONT)

    def reboot(self, name):
        """As after a power cut: all processes gone, another boot id, sshd back."""
        for process in self.ps(name):
            kill_quietly(process.host_pid, signal.SIGKILL)
        wait_for(lambda: not self.ps(name), f"processes on {name} to end")
        self.new_boot_id(name)
        self.start_sshd(name)

    def change_host_key(self, name):
        for file in ("host_key", "host_key.pub"):
            (self.etc(name) / file).unlink()
        keygen(self.etc(name) / "host_key")
        self.stop_sshd(name)
        self.start_sshd(name)


def as_user(user):
    if not user:
        return []
    return ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]


# --- nodes as sshd on loopback addresses --------------------------------------------------------------

class Loopback(BaseCluster):
    """N sshd of the caller's own on 127.10.0.x; what a machine without namespaces can do."""

    first_port = 2201

    def address(self, name):
        return f"127.10.0.{self.names.index(name) + 1}"

    def port(self, name):
        return self.first_port + self.names.index(name)

    def known_as(self, number):
        name = self.names[number - 1]
        return f"[{self.address(name)}]:{self.port(name)},[{name}]:{self.port(name)}"

    def own(self, *places):
        pass

    def sshd_extra(self, name):
        return [f"SetEnv HOME={self.node_home(name)} LAB_NODE={name}"]

    def write_more_files(self):
        config = []
        for name in self.names:
            address, port = self.address(name), self.port(name)
            (self.etc(name) / "sshd_config").write_text(self.sshd_config(name, address, port, self.etc(name)))
            config.append(f"Host {name}\n    HostName {address}\n    Port {port}\n")
        home = self.head_home
        config.append(f"Host *\n    UserKnownHostsFile {home}/.ssh/known_hosts\n"
                      f"    IdentityFile {home}/.ssh/id_ed25519\n")
        (home / ".ssh" / "config").write_text("".join(config))

    def start_nodes(self):
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for name in self.names:
            self.start_sshd(name)

    def start_sshd(self, name):
        etc = self.etc(name)
        shell = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", str(etc / "sshd_config"), "-E", str(etc / "sshd.log")],
                                 stdin=subprocess.DEVNULL, start_new_session=True, cwd="/")
        self.holders[name] = shell.pid
        self.record()
        try:
            wait_for(lambda: shell.poll() is not None or (etc / "sshd.pid").exists(), f"sshd of {name}")
        finally:
            if shell.poll() is not None:
                raise LabError(f"sshd of {name} ended: {(etc / 'sshd.log').read_text()}")

    def head_argv(self, argv, env, cwd, _user):
        home = str(self.head_home)
        values = {"HOME": home, "PATH": f"{self.dir}/bin:" + os.environ.get("PATH", NODE_PATH), "LANG": "C.UTF-8",
                  "XDG_STATE_HOME": home + "/.local/state", "LAB_NODE": "head"}
        for name in ("USER", "LOGNAME", "SHELL", "TERM"):
            if name in os.environ:
                values[name] = os.environ[name]
        values.update(env or {})
        inside = f"cd {shlex.quote(str(cwd or home))} && exec \"$@\""
        return ["/bin/sh", "-c", inside, "sh"] + [str(a) for a in argv], values

    def exec(self, name, command, *, user=True, timeout=60, check=False, input=None):
        del user
        home = self.node_home(name)
        env = dict(os.environ, HOME=str(home), LAB_NODE=name)
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=timeout, cwd=home,
                              env=env, input=input, check=False,
                              stdin=subprocess.DEVNULL if input is None else None)
        if check and done.returncode:
            raise LabError(f"on {name}: {command}: {done.stdout}{done.stderr}")
        return done

    def ps(self, name):
        """Processes that came in through the node's sshd: its variable stands in their environment."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    process = Process(int(entry))
                except (OSError, KeyError):
                    continue
                if process.environ.get("LAB_NODE") == name and process.state not in "ZX":
                    found.append(process)
        return found

    user_ps = ps


def any_cluster(count, directory=None, **options):
    """Namespaces where they are permitted, loopback addresses elsewhere."""
    kind = Cluster if Cluster.permitted() else Loopback
    if kind is Loopback:
        options.pop("shells", None)
    return kind(count, directory, **options)


def everything_left(directory):
    """Processes that name the cluster's folder in their command line or environment, this one and its parents apart."""
    mine, pid = set(), os.getpid()
    while pid > 1:
        mine.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()[1])
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in mine:
            try:
                process = Process(int(entry))
            except (OSError, KeyError):
                continue
            if process.state not in "ZX" and any(directory in w for w in process.argv + list(process.environ.values())):
                found.append(process)
    return found


def load(directory):
    """The running cluster recorded in a folder."""
    record = json.loads((Path(directory) / "cluster.json").read_text())
    kind = {"Cluster": Cluster, "Loopback": Loopback}[record["kind"]]
    cluster = kind(record["count"], directory, shared_home=record["shared_home"], stays=True)
    cluster.own_dir, cluster.entry = record["own_dir"], Path(record["entry"])
    for name, (pid, ticks) in zip(record["names"], record["holders"]):
        if start_ticks(pid) == ticks:
            cluster.holders[name] = pid
    cluster.up = cluster.started = True
    return cluster


# --- command line -------------------------------------------------------------------------------------

def main():
    # Options stand before the command's words, and "--" ends them: all after it is the command's own.
    words, rest = sys.argv[1:], []
    if "--" in words:
        cut = words.index("--")
        words, rest = words[:cut], words[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["up", "down", "exec", "ps", "put", "home", "kind", "left"])
    parser.add_argument("what", nargs="?", help="number of nodes, or the name of one")
    parser.add_argument("--dir", default=DEFAULT_DIR)
    parser.add_argument("--mtlaunch", help="program to install on the head")
    parser.add_argument("--loopback", action="store_true", help="sshd on 127.10.0.x, without namespaces")
    parser.add_argument("--shared-home", action="store_true")
    options = parser.parse_intermixed_args(words)
    try:
        return act(options, rest)
    except LabError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def act(options, rest):
    if options.action == "kind":
        print("namespaces" if Cluster.permitted() else "loopback")
        return 0
    if options.action == "left":
        for process in everything_left(options.dir):
            print(f"{process.host_pid} {process.command}")
        return 0
    if options.action == "up":
        if os.path.exists(os.path.join(options.dir, "cluster.json")):
            load(options.dir).down()
        kind = Loopback if options.loopback else any_cluster
        cluster = kind(int(options.what or 4), options.dir, mtlaunch=options.mtlaunch,
                       shared_home=options.shared_home, stays=True).start()
        for name in cluster.names:
            print(f"{name} {cluster.address(name)}")
        return 0
    if options.action == "down" and not os.path.exists(os.path.join(options.dir, "cluster.json")):
        return 0
    cluster = load(options.dir)
    if options.action == "down":
        cluster.down()
        return 0
    if options.action == "put":
        cluster.put(options.what)
        return 0
    if options.action == "home":
        print(cluster.head_home)
        return 0
    if options.action == "ps":
        for process in cluster.ps(options.what):
            print(f"{process.pid:>7} {process.state} {process.command}")
        return 0
    if options.what == "head":
        argv, env = cluster.head_argv(rest, {"TERM": os.environ.get("TERM", "dumb")}, None, True)
        os.execvpe(argv[0], argv, env)
    done = cluster.exec(options.what, shlex.join(rest))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
