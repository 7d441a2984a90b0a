"""Takes a pid of this namespace for the leader of a session, which ends and leaves one member, a sleep.

    take_pid.py PID UID SECONDS       as root; ends with 1 when the pid could not be had
"""
import os
import sys

want, user, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for _ in range(200):
    with open('/proc/sys/kernel/ns_last_pid', 'w', encoding="ascii") as last:
        last.write(str(want - 1))
    child = os.fork()
    if child == 0:
        if os.getpid() != want:
            os._exit(3)
        os.setgid(user)
        os.setuid(user)
        os.setsid()
        if os.fork() == 0:
            null = os.open('/dev/null', os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.execv('/bin/sleep', ['sleep', seconds])
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        sys.exit(0)
sys.exit(1)
