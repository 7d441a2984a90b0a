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
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from lab_base import NODE_PATH, UID, USER, BaseCluster, accounts, keygen, sweep_crashed  # noqa: F401
from lab_loopback import Loopback
from lab_process import (LabError, Process, descendants, kill_quietly, parent_of, processes_where, start_ticks,
                         wait_for)

NETWORK = "10.77.0"
HEAD_ADDRESS = NETWORK + ".254"
DEFAULT_DIR = os.path.join(tempfile.gettempdir(), "mtlaunch-lab")

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
        return [p for p in self.ps(name) if p.uid == UID and not p.is_session]

    # trouble

    def stop_sshd(self, name):
        """End the listener and all connections; the processes started through them live on."""
        def kill_all():  # again: somebody may connect while the listener still forks
            found = [p for p in self.ps(name) if p.name.startswith("sshd")]
            for process in found:
                kill_quietly(process.host_pid, signal.SIGKILL)
            return not found

        wait_for(kill_all, f"sshd on {name} to end")

    def start_sshd(self, name):
        self.exec(name, "/usr/sbin/sshd -f /run/lab/sshd_config -E /run/lab/sshd.log", user=False, check=True)
        sockets = Path(f"/proc/{self.holders[name]}/net/tcp")  # it goes to the background before it listens
        wait_for(lambda: ":0016 00000000:0000 0A " in sockets.read_text(), f"sshd on {name} to listen")

    def cut(self, name):
        self.in_head_net(["ip", "link", "set", f"port{self.names.index(name) + 1}", "down"])

    def restore(self, name):
        self.in_head_net(["ip", "link", "set", f"port{self.names.index(name) + 1}", "up"])
        self.in_head_net(["ip", "neigh", "flush", "dev", "br0"])  # no memory of answers that did not come

    def freeze(self, name):
        """Every process; again and again, as one that was not stopped yet may have started others meanwhile."""
        def all_stopped():
            running = [p for p in self.ps(name) if p.state not in "TtZX"]
            for process in running:
                kill_quietly(process.host_pid, signal.SIGSTOP)
            return not running
        wait_for(all_stopped, f"processes on {name} to stand still")

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


def any_cluster(count, directory=None, **options):
    """Namespaces where they are permitted, loopback addresses elsewhere."""
    kind = Cluster if Cluster.permitted() else Loopback
    if kind is Loopback:
        options.pop("shells", None)
    return kind(count, directory, **options)


def everything_left(directory):
    """Processes that name the cluster's folder in their command line or environment, this one and its parents apart."""
    mine, pid = set(), os.getpid()
    while pid and pid > 1:
        mine.add(pid)
        pid = parent_of(pid)
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
