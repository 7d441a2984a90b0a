"""What a call of the node's script costs, where nobody else makes processes: in a PID namespace of one's own."""
import os
import resource
import subprocess

LITERALS = ["NCCL version ", "Using network ", "Bootstrap: Using ", "Bootstrap : Using ", "via NET/IB"]


def next_pid():
    """Where nothing else forks, the difference of two is the number of forks between them, and one."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def cost(node, command, text):
    """(forks after the process that the command began as, CPU seconds, its output)"""
    before, used = next_pid(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=node.home,
                          env=node.environment(), timeout=60, check=False)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return next_pid() - before - 2, cpu, done.stdout
