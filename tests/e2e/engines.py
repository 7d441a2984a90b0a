"""Docker engines behind the nodes of a cluster: one per node, in its namespaces, with an image made from this machine."""
import io
import os
import shutil
import signal
import subprocess
import tarfile
import time
from pathlib import Path

from cluster import UID, kill_quietly, wait_for
from lab_process import processes_where

SOCKET = "/run/docker.sock"
TREE, SMALL = "lab/tree", "lab/small"
# The machine's own programs, over the tree's empty folders.
PROGRAMS = ["-v", "/usr:/usr:ro", "-v", "/etc/alternatives:/etc/alternatives:ro"]
ACCOUNTS = {"etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nlab:x:{UID}:{UID}:lab:/home/lab:/bin/sh\n",
            "etc/group": f"root:x:0:\nlab:x:{UID}:\n"}


def missing():
    """What keeps engines from running here, or None."""
    for tool in ("dockerd", "docker", "containerd", "runc"):
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            return f"needs {tool}"
    return None


def archive(folders, texts, files=(), links=()):
    """A tar archive of a small tree."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in folders:
            item = tarfile.TarInfo(name)
            item.type, item.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(item)
        for name, text in texts.items():
            item = tarfile.TarInfo(name)
            item.size = len(text.encode())
            tar.addfile(item, io.BytesIO(text.encode()))
        for source, name in files:
            tar.add(os.path.realpath(source), name)
        for name, target in links:
            item = tarfile.TarInfo(name)
            item.type, item.linkname = tarfile.SYMTYPE, target
            tar.addfile(item)
    return out.getvalue()


def tree_image():
    """Empty folders for the machine's programs, and accounts."""
    return archive(["etc", "usr", "tmp", "root", "proc", "home", "work"], ACCOUNTS,
                   links=[(n, "usr/" + n) for n in ("bin", "sbin", "lib", "lib64")])


def small_image():
    """Busybox, what it is linked with, and nothing else."""
    busybox = shutil.which("busybox")
    words = subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False).stdout.split()
    libraries = sorted({w for w in words if w.startswith("/")})
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    return archive(["etc", "bin", "tmp", "root", "proc"], ACCOUNTS,
                   files=[(busybox, "bin/busybox")] + [(lib, lib.lstrip("/")) for lib in libraries],
                   links=[("bin/" + a, "busybox") for a in applets if a != "busybox"])


class Engines:
    """One dockerd a node; sizes and places are the node's own and go with it."""

    def __init__(self, cluster, names):
        self.cluster, self.names = cluster, list(names)

    def __enter__(self):
        try:
            for name in self.names:
                self.launch(name)
            for name in self.names:
                self.wait(name)
                self.load(name)
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *exc):
        self.down()

    def launch(self, name):
        self.cluster.exec(name, "mkdir -p /run/engine && cd /run/engine && rm -f pid && setsid dockerd "
                          "--iptables=false --ip6tables=false --bridge=none -G lab --data-root /run/engine/data "
                          f"--exec-root /run/engine/exec -H unix://{SOCKET} -p /run/engine/pid "
                          "</dev/null >>/run/engine/log 2>&1 &", user=False, check=True)

    def wait(self, name):
        wait_for(lambda: self.docker(name, "version", code=None).returncode == 0, f"the engine of {name}", 30, 0.1)

    def load(self, name):
        for image, text in ((TREE, tree_image()), (SMALL, small_image())):
            subprocess.run(["nsenter", "-t", str(self.cluster.holders[name]), "-m", "-u", "-n", "-i", "-p", "env",
                            f"DOCKER_HOST=unix://{SOCKET}", "docker", "import", "-", image],
                           input=text, stdout=subprocess.DEVNULL, check=True)

    def docker(self, name, *words, code=0):
        """A docker command on a node, as root."""
        done = subprocess.run(["nsenter", "-t", str(self.cluster.holders[name]), "-m", "-u", "-n", "-i", "-p", "env",
                               "-i", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root", "docker", *words],
                              capture_output=True, text=True, errors="replace", timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        if code is not None:
            assert done.returncode == code, f"docker {words}: {done.stdout}{done.stderr}"
        return done

    def make(self, name, container, *options, image=TREE, command=("sleep", "infinity")):
        """A container with the machine's programs and the node's home, in the node's network; its id."""
        programs = PROGRAMS if image == TREE else []
        return self.docker(name, "run", "-dit", "--name", container, "--network", "host", "--stop-signal", "KILL",
                           *programs, "-v", "/home/lab:/home/lab", *options, image, *command).stdout.strip()

    def clear(self):
        """No container is left."""
        for name in self.names:
            ids = self.docker(name, "ps", "-aq").stdout.split()
            if ids:
                self.docker(name, "rm", "-f", *ids)

    def inside(self, name):
        """Processes of the node's containers; pid is the one inside."""
        holder = self.cluster.holders[name]
        outside = {os.readlink(f"/proc/{pid}/ns/pid") for pid in (holder, "self")}
        found = []
        for process in processes_where("ns/net", os.readlink(f"/proc/{holder}/ns/net")):
            try:
                if os.readlink(f"/proc/{process.host_pid}/ns/pid") not in outside:
                    found.append(process)
            except OSError:
                continue
        return found

    def marked(self, name, run):
        return [p for p in self.inside(name) if p.environ.get("MTLAUNCH_RUN") == run]

    def watchers(self, name):
        """Shells of mtlaunch that stay inside: a watch, a follower."""
        return [p for p in self.inside(name) if p.argv == ["/bin/sh", "-s"]]

    def pid(self, name):
        return int(self.cluster.exec(name, "cat /run/engine/pid", user=False, check=True).stdout)

    def end(self, name, signum=signal.SIGTERM):
        """End a node's engine by its pid, and wait until it and what serves it are gone."""
        try:
            self.cluster.kill(name, self.pid(name), signum)
        except Exception:  # pylint: disable=broad-except
            return
        if signum == signal.SIGKILL:  # what it has started stays behind then
            for process in self.served(name):
                kill_quietly(process.host_pid, signum)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.served(name):
            time.sleep(0.05)

    def served(self, name):
        return [p for p in self.cluster.ps(name) if p.name in ("dockerd", "containerd")]

    def down(self):
        for name in self.names:
            if self.served(name):
                self.clear_quietly(name)
                self.end(name)
        for name in self.names:
            for process in self.cluster.ps(name):
                if process.name.startswith(("dockerd", "containerd")):
                    kill_quietly(process.host_pid, signal.SIGKILL)
            for process in self.inside(name):
                kill_quietly(process.host_pid, signal.SIGKILL)
            self.cluster.exec(name, "grep -o '/run/engine/[^ ]*' /proc/self/mounts | sort -r | xargs -r umount -l; "
                              "rm -rf /run/engine " + SOCKET, user=False)

        for folder in Path("/sys/fs/cgroup").glob("**/docker"):  # the engines' own, when no other engine uses it
            try:
                folder.rmdir()
            except OSError:
                continue

    def clear_quietly(self, name):
        ids = self.docker(name, "ps", "-aq", code=None).stdout.split()
        if ids:
            self.docker(name, "rm", "-f", *ids, code=None)
