"""Listen on a port, in the background, until somebody ends it: hold_port.py PORT. Returns when it listens."""
import os
import signal
import socket
import sys

holder = socket.create_server(("", int(sys.argv[1])), family=socket.AF_INET6, dualstack_ipv6=True)
if os.fork() == 0:
    signal.pause()
