"""A real Slurm on a cluster of namespaces: slurmctld and munged on the head, slurmd and munged on every node."""
import os
import shutil
import subprocess

from cluster import NODE_PATH, LabError, wait_for

CONF = """\
ClusterName=lab
SlurmctldHost=head
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPidFile={state}/slurmctld.pid
SlurmctldLogFile={state}/slurmctld.log
StateSaveLocation={state}/save
SlurmdPidFile=/tmp/slurmd.pid
SlurmdLogFile=/tmp/slurmd.log
SlurmdSpoolDir=/tmp/slurmd
SchedulerType=sched/backfill
SelectType=select/linear
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=node[1-{count}] CPUs=1 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Programs of Slurm that are not installed."""
    return [p for p in ("slurmctld", "slurmd", "munged", "salloc") if not shutil.which(p, path=NODE_PATH)]


class Slurm:
    """Started by with; the cluster's own end takes everything down, stop() ends what is on the head."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.dir / "shared" / "slurm"
        self.munge = "/tmp/munge.socket"

    def __enter__(self):
        self.folder.mkdir(mode=0o755)
        (self.folder / "save").mkdir()
        self.folder.joinpath("munge.key").write_bytes(os.urandom(128))
        self.folder.joinpath("munge.key").chmod(0o600)
        head_socket = self.cluster.dir / "munge" / "socket"
        head_socket.parent.mkdir(mode=0o755)
        # One slurm.conf for all, as Slurm wants it; the socket's name is each machine's own.
        text = CONF.format(munge=head_socket, state="/mnt/shared/slurm", count=self.cluster.count)
        (self.folder / "slurm.conf").write_text(text)
        for node in self.cluster.names:
            # The same path on nodes, where only /tmp is their own.
            self.cluster.exec(node, f"mkdir -p {head_socket.parent} && chmod 755 {head_socket.parent}", user=False, check=True)
            self.on_node(node, self.munged(head_socket, "/tmp"))
            self.on_node(node, "slurmd -f /mnt/shared/slurm/slurm.conf -N " + node)
        state = self.cluster.dir / "munge"
        self.on_head(self.munged(head_socket, state))
        self.on_head("slurmctld -f /mnt/shared/slurm/slurm.conf")
        wait_for(lambda: self.idle() == self.cluster.count, "the Slurm nodes to be idle", 40, 0.5)
        return self

    def munged(self, socket, place):
        return (f"munged --force --socket {socket} --key-file /mnt/shared/slurm/munge.key --pid-file {place}/munged.pid "
                f"--log-file {place}/munged.log --seed-file {place}/munged.seed")

    def on_node(self, node, command):
        self.cluster.exec(node, command, user=False, check=True)

    def on_head(self, command):
        done = self.cluster.run("/bin/sh", "-c", command + " >/dev/null 2>&1", user=False,
                                env={"SLURM_CONF": "/mnt/shared/slurm/slurm.conf"})
        if done.returncode:
            raise LabError(f"{command}: ended with {done.returncode}")

    @property
    def env(self):
        return {"SLURM_CONF": "/mnt/shared/slurm/slurm.conf"}

    def idle(self):
        done = self.cluster.run("sinfo", "-h", "-o", "%D %t", env=self.env)
        return sum(int(line.split()[0]) for line in done.stdout.splitlines() if line.split()[1] == "idle")

    def salloc(self, nodes, *argv):
        return self.cluster.run("salloc", "-Q", f"-N{nodes}", "--no-shell" if not argv else "-I10", *argv, env=self.env)

    def __exit__(self, *exc):
        for process in self.cluster.ps("head"):
            if process.name.startswith(("slurm", "munged")):
                subprocess.run(["kill", "-9", str(process.host_pid)], check=False)
