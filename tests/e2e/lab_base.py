"""What both kinds of test cluster share: folders, keys, the register of clusters, the way commands are run."""
import atexit
import functools
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from lab_process import LabError, descendants, kill_quietly, processes_where, reaped, start_ticks, wait_for

USER, UID = "lab", 4242
NODE_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

# --- register of clusters, so that the next one clears away what a crash left -------------------------

def register_folder():
    folder = Path(tempfile.gettempdir()) / f"mtlaunch-lab-register-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise LabError(f"'{folder}' is not a folder of this user")
    return folder


def write_entry(entry, text):
    """Another cluster's end may remove the empty folder between its making and the writing."""
    for _ in range(100):
        register_folder()
        try:
            entry.write_text(text)
            return
        except FileNotFoundError:
            pass
    raise LabError(f"'{entry}' cannot be written: its folder goes again and again")


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


def kill_where(link, target):
    """Kill the processes of a namespace and return their number. One that forks meanwhile leaves a child behind: repeat
    it until there are none."""
    processes = processes_where(link, target)
    for process in processes:
        kill_quietly(process.host_pid, signal.SIGKILL)
    return len(processes)


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
            kill_where(link, target)
    for pid, ticks in record["holders"]:
        if start_ticks(pid) == ticks:
            for child in descendants(pid):
                kill_quietly(child, signal.SIGKILL)
            kill_quietly(pid, signal.SIGKILL)
    for pid, ticks in record["holders"]:
        wait_for(lambda p=pid, t=ticks: reaped(p) or start_ticks(p) != t, f"process {pid} to end")
    for link, target in spaces:
        wait_for(lambda k=link, t=target: kill_where(k, t) == 0, f"processes in {target} to end")
    if record["own_dir"]:
        shutil.rmtree(record["dir"], ignore_errors=True)
    Path(record["entry"]).unlink(missing_ok=True)
    try:
        register_folder().rmdir()
    except OSError:
        pass


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
        write_entry(self.entry, text)
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
        if sshd_knows_penalties():
            lines.append("PerSourcePenalties no")
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

    def end(self, process, signum=signal.SIGKILL):
        """Signal a listed process; the end of another one may have ended it since."""
        kill_quietly(process.host_pid, signum)


@functools.cache
def sshd_knows_penalties():
    """OpenSSH from 9.8 on punishes who was refused: most tests that are refused on purpose must not be."""
    with tempfile.TemporaryDirectory() as folder:
        keygen(Path(folder) / "key")
        return subprocess.run(["/usr/sbin/sshd", "-t", "-f", "/dev/null", "-h", f"{folder}/key", "-o",
                               "PerSourcePenalties=no"], capture_output=True, check=False).returncode == 0


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
