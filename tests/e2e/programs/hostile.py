"""A node that answers as no node should: sshd's ForceCommand. The mode is the first word of the file ~/mode."""
import os
import random
import re
import select
import subprocess
import sys
import time

HOME = "/home/lab"
CHECKS = ("earlier", "artifacts", "setup", "workdir", "program", "fault", "interpreter", "module", "port", "route", "gpus",
          "others", "logout", "volume")
COMMAND = os.environ.get("SSH_ORIGINAL_COMMAND", "")
# Escape sequences, line ends, a forged line, direction marks, C1, DEL, bytes that are no UTF-8
NASTY = b"x\x1b[2J\x1b]0;t\x07\r\nFORGED: all is well\n\x7f\xc2\x9b2J\xe2\x80\xae\xe2\x80\xa8\xff\xfe\x08y"


def read_input():
    data, end = b"", time.monotonic() + 2
    while time.monotonic() < end:
        if not select.select([0], [], [], 0.2)[0]:
            if data:
                break
            continue
        piece = os.read(0, 65536)
        if not piece:
            break
        data += piece
    return data


def write(data, fd=1):
    while data:
        data = data[os.write(fd, data):]


def escaped(value):
    return b"".join(b"%%%02x" % c if c < 33 or c > 126 or c == 37 else bytes([c]) for c in value)


class Answer:
    """The call that is answered: what came, and its nonce."""

    def __init__(self, sent):
        self.sent = sent
        found = re.search(r'mt_l" = ([0-9a-z]+)', COMMAND) or re.search(r"mt_nonce='?([0-9a-z]+)", sent.decode("latin-1"))
        self.nonce = found.group(1).encode() if found else b"none"

    def frame(self, key, value=None):
        return b"\n@@" + self.nonce + b" " + key + (b"" if value is None else b"=" + value) + b"\n"

    def frames(self, **values):
        return b"".join(self.frame(k.encode(), v if isinstance(v, bytes) else str(v).encode()) for k, v in values.items())

    def plausible(self, **more):
        """Something every verb takes for its answer."""
        values = {"host": "node2", "artifacts": "/home/lab/.mtlaunch", "writable": 1, "life": "running", "pid": 77,
                  "stage": "started", "survivor_total": 0, "log": "/l", "log_size": 3, "now": int(time.time()),
                  "removed": 1, "status": 0, "node.host": "node2", "node.artifacts": "/home/lab/.mtlaunch", "node.cores": 4,
                  "earlier.scan": "ok", "artifacts.writable": 1, "setup.probed": 1, "workdir.exists": 1, "port.number": 29500}
        values.update({f"{check}.ran": 1 for check in CHECKS})
        values.update(more)
        return self.frames(**values)

    def whole(self, **more):
        return self.plausible(**more) + self.frames(scan="ok", end="ok")


def real(a):
    done = subprocess.run(["/bin/sh", "-c", COMMAND], input=a.sent, check=False)
    sys.exit(done.returncode if done.returncode >= 0 else 1)


def mute(_a):
    time.sleep(600)


def drip(a):
    for byte in b"noise " * 40 + a.whole():
        write(bytes([byte]))
        time.sleep(0.002)


def slow_drip(_a):
    while True:
        write(b".")
        time.sleep(0.5)


def flood(_a):
    for _ in range(400):
        write(b"noise of a start-up file, and more of it\n" * 2000)


def flood_of_errors(_a):
    for _ in range(100):
        write(NASTY * 2000, 2)


def pieces(a, data, size):
    for at in range(0, len(data), size):
        write(data[at:at + size])
        time.sleep(0.001)


def moving_buffer(a):
    """A frame, and then pieces that move the buffer it stands in."""
    first = a.frame(b"xxxx")
    write(first + b"A" * (300 - len(first)))
    time.sleep(0.4)
    body = bytearray(b"B" * 30000)
    body[36:41] = b"runs\n"
    write(bytes(body))
    time.sleep(0.3)
    for _ in range(40):
        write(b".")
        time.sleep(0.02)


NUMBERS = {"negative": b"-1", "huge": b"99999999999999999999999", "max": b"18446744073709551615", "float": b"1e9",
           "word": b"many", "empty": b"", "plus": b"+5", "blank": b"%20", "port": b"999999"}


def numbers(which):
    keys = ("pid", "status", "log_size", "now", "uptime", "started", "ended", "port.number", "port.pid", "gpus.present", "node.cores", "node.uid", "setup.line",
            "found_attempt", "offset", "size", "survivor_total", "killed", "signalled", "leftover_total", "earlier.live_total")
    return lambda a: write(a.whole(**{key: NUMBERS[which] for key in keys}))


def later(a):
    write(a.whole(now=253402300000, started=253402300000, ended=253402300000, ended_uptime="9999999.99", uptime="1.00"))


def nasty_values(a):
    nasty = escaped(NASTY)
    write(a.whole(host=nasty, log=nasty, foreign="lives", foreign_host=nasty, foreign_user=nasty, foreign_run_id=nasty,
                  port_command=nasty, port_taken=1, problem=nasty, output=nasty, setup_failed=1, setup_output=nasty,
                  leftover=b"12%20S%20" + nasty, survivor=b"13%20D%20" + nasty, survivor_total=1, live=b"14%20S%20" + nasty,
                  signal=nasty, stage="port", container_lost=nasty, interface=nasty, life="exited"))


def listed(a, entries=b""):
    """The beginning of an answer to push and pull: all that is asked for lacks, or these entries."""
    return a.frame(b"runs") + a.frame(b"list", b"1") + entries + b"E\0\0"


def copy_frames(a):
    """One that is known, again and again."""
    write(listed(a))
    keys = (b"done", b"have", b"admitted", b"sum", b"finished", b"missing", b"folder", b"relay_key", b"fetch_failed")
    for turn in range(10**9):
        write(a.frame(keys[turn % len(keys)], b"1"))
        time.sleep(0.1)


def copy_door(a):
    """What a host says that would pass on files, with values that must lead nowhere."""
    write(listed(a))
    for key, value in ((b"relay_summer", b"sha256sum"), (b"relay_key", b"ssh-ed25519 AAAA"), (b"relay_host_key", b"ssh-rsa AA"),
                       (b"relay_door", random.Random(COMMAND).choice([b"-oProxyCommand=x 22222 10.0.0.1", b"lab 22 10.77.0.1",
                                                                      b"lab 22222 $(id)", b"lab 22222 10.77.0.9"])),
                       (b"relay_open", b"1"), (b"have", b"0"), (b"have", b"1"), (b"admitted", b"0")):
        write(a.frame(key, escaped(value)))
        time.sleep(0.2)
    time.sleep(1)


MODES = {
    "real": real, "copy_frames": copy_frames, "copy_door": copy_door,
    "copy_nasty": lambda a: write(listed(a, b"f 644 5 1 ./" + NASTY + b"\0\0" + b"l 777 1 1 ./x\0" + NASTY + b"\0") * 3),
    "copy_without_end": lambda a: [write((a.frame(b"runs") if i == 0 else b"") + a.frame(b"list", b"1") * (i == 0) + b"f 644 5 1 ./x\0" * 99)
                                   for i in range(3000)], "mute": mute, "drip": drip, "slow_drip": slow_drip, "flood": flood, "flood_of_errors": flood_of_errors,
    "moving_buffer": moving_buffer, "later": later, "nasty_values": nasty_values,
    "exit_silent": lambda a: None,
    "exit_97": lambda a: sys.exit(97),
    "killed": lambda a: os.kill(os.getpid(), 9),
    "nasty_noise": lambda a: write(NASTY * 20),
    "nasty_errors": lambda a: write(NASTY * 20, 2),
    "nasty_error": lambda a: write(a.frames(error="place", detail=escaped(NASTY), end="ok")),
    "unknown_error": lambda a: write(a.frames(error=escaped(NASTY), detail=escaped(NASTY), end="ok")),
    "nul_value": lambda a: write(a.whole(host=b"a%00b")),
    "nul_raw": lambda a: write(a.whole(host=b"a\0b")),
    "broken_escape": lambda a: write(a.whole(host=b"a%z1")),
    "cut_escape": lambda a: write(a.whole(host=b"a%4")),
    "end_first": lambda a: write(a.frames(end="ok") + a.plausible()),
    "no_end": lambda a: write(a.plausible()),
    "end_only": lambda a: write(a.frames(end="ok")),
    "nested": lambda a: write(a.whole(host=b"@@" + a.nonce + b" end=ok", log=b"@@" + a.nonce)),
    "forged_nonce": lambda a: write(a.whole().replace(a.nonce, b"0" * len(a.nonce))),
    "half_frame": lambda a: write(a.plausible() + b"\n@@" + a.nonce[:9]),
    "no_newline": lambda a: write(a.plausible() + b"\n@@" + a.nonce + b" end=ok"),
    "huge_frame": lambda a: write(a.whole(host=b"h" * 5000000)),
    "many_frames": lambda a: write(a.frames(host="x") * 10000 + a.frames(end="ok")),
    "many_processes": lambda a: write(a.plausible() + b"".join(
        a.frames(survivor=b"5%20S%20x", leftover=b"6%20S%20y", live=b"7%20S%20z") for _ in range(1000)) + a.frames(end="ok")),
    "no_process": lambda a: write(a.whole(leftover=b"abc", survivor=b"5", live=b"-1%20S%20x")),
    "odd_state": lambda a: write(a.whole(leftover=b"5%20%1b%20x", survivor=b"5%20%0a%20x", live=b"5%20%ff%20x")),
    "no_key": lambda a: write(a.frame(b"=x") + a.whole()),
    "twice": lambda a: write(a.whole() * 50),
    "header_only": lambda a: write(a.frames(log="/l", offset=0, size=1000000, body=1) + b"ten bytes\n"),
    "header_lies": lambda a: write(a.frames(log="/l", offset=9, size=3, body=1) + b"x" * 1000),
    "body_nasty": lambda a: write(a.frames(log=escaped(NASTY), offset=0, size=len(NASTY), body=1) + NASTY),
    "runs_nasty": lambda a: write(a.frame(b"runs") + NASTY * 100),
    "runs_twice": lambda a: write(a.frame(b"runs") * 2 + b"x"),
    "lacks_nasty": lambda a: write(a.frame(b"lacks " + NASTY.replace(b"\n", b" "))),
    "beats": lambda a: write(a.frames(beat=1) * 5000 + a.frames(beat=b"-5")),
    "wrong_verb": lambda a: write(a.frames(missing=1, body=1, beat=5, was_alive=1) + a.frames(end="ok")),
    "late_noise": lambda a: write(b"n" * 300000 + a.whole()),
    "port_40000": lambda a: write(a.whole(**{"port.number": 40000})),
    "pieces": lambda a: pieces(a, a.whole(), 7),
}
MODES.update({f"number_{which}": numbers(which) for which in NUMBERS})

if __name__ == "__main__":
    with open(HOME + "/mode", encoding="ascii") as mode_file:
        mode = mode_file.read().strip()
    try:
        MODES[mode](Answer(read_input()))
    except BrokenPipeError:
        pass
