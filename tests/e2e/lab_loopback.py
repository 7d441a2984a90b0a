"""Nodes as sshd on loopback addresses: what a machine without namespaces can do."""
import os
import shlex
import subprocess

from lab_base import NODE_PATH, BaseCluster
from lab_process import LabError, Process, wait_for


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
