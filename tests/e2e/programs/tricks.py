"""A process tree that is hard to end. Each name in argv makes one process that notes its pid in ~/pids/NAME.

    ignore     ignores TERM, INT and HUP
    setsid     a session of its own
    double     two forks: its parent is gone
    both       double and setsid
    clear      no environment
    title      another command line (setproctitle clears what /proc shows of the environment)
    all        clear, setsid, double and ignore
"""
import os
import signal
import sys
import time

PIDS = os.path.join(os.path.expanduser("~"), "pids", os.environ.get("MTLAUNCH_RUN", "none"))


def ignore():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def note(name):
    path = os.path.join(PIDS, name)
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)


def leaf(name, *options):
    """The process that stays."""
    if "setsid" in options:
        os.setsid()
    if "ignore" in options:
        ignore()
    if "title" in options:
        import setproctitle
        setproctitle.setproctitle("kworker/7:1-events")
    note(name)
    if "clear" in options:
        os.execve("/usr/bin/python3", ["python3", "-c", "import time\ntime.sleep(600)"], {})
    time.sleep(600)


def grow(name, *options):
    if os.fork():
        return
    if "double" in options and os.fork():
        os._exit(0)
    try:
        leaf(name, *options)
    finally:
        os._exit(0)


KINDS = {"ignore": ["ignore"], "setsid": ["setsid"], "double": ["double"], "both": ["double", "setsid"],
         "clear": ["clear"], "title": ["title"], "all": ["clear", "setsid", "double", "ignore"]}


def main():
    os.makedirs(PIDS, exist_ok=True)
    for name in sys.argv[1:]:
        grow(name, *KINDS[name])
    while len([n for n in os.listdir(PIDS) if not n.endswith(".new")]) < len(sys.argv[1:]):
        time.sleep(0.05)
    note("root")
    print("grown", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
