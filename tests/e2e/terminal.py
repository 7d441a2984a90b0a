"""A terminal for the tests: a pty with a program on it, and a small model of the screen that it draws.

The model knows what mtlaunch may send. Anything else is an error, so that a test sees a sequence it does not expect.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

SEQUENCE = re.compile(r"\x1b(?:\[([?0-9;]*)([A-Za-z])|([()=>].?))")


class Screen:
    """Rows of characters, as xterm keeps them: in the last column the cursor waits before it wraps."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.other, self.cursor_shown, self.frames, self.cleared = False, True, 0, 0
        self.pages = {False: self.blank(), True: self.blank()}
        self.row = self.column = 0
        self.saved = 0, 0
        self.waiting = ""

    def blank(self):
        return [[" "] * self.columns for _ in range(self.rows)]

    def resize(self, rows, columns):
        old, self.rows, self.columns = self.pages, rows, columns
        self.pages = {which: self.blank() for which in old}
        for which, page in old.items():
            for row, line in zip(self.pages[which], page):
                row[:len(line)] = line[:columns]
                del row[columns:]
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns)

    @property
    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.pages[self.other])

    @property
    def lines(self):
        return self.text.split("\n")

    def feed(self, text):
        text = self.waiting + text
        self.waiting = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if not match:
                    self.waiting = text[at:]
                    assert len(self.waiting) < 20, f"no sequence that is known: {self.waiting!r}"
                    return
                self.control(match)
                at = match.end()
            else:
                self.put(text[at])
                at += 1

    def control(self, match):
        values, letter, charset = match.groups()
        if charset or letter == "m":
            return
        page = self.pages[self.other]
        if letter == "H" and values == "":
            self.row = self.column = 0
            self.frames += 1
        elif letter == "K" and values == "":
            page[self.row][min(self.column, self.columns - 1):] = [" "] * (self.columns - min(self.column, self.columns - 1))
        elif letter == "J" and values in ("", "2"):
            self.cleared += 1
            self.pages[self.other] = self.blank()
        elif letter in "hl" and values == "?1049":
            if letter == "h" and not self.other:
                self.saved = self.row, self.column
                self.pages[True] = self.blank()
            elif letter == "l" and self.other:
                self.row, self.column = self.saved
            self.other = letter == "h"
        elif letter in "hl" and values == "?25":
            self.cursor_shown = letter == "h"
        elif letter in "hl" and values == "?2004":  # an interactive shell's own
            pass
        else:
            raise AssertionError(f"no sequence that is known: {match.group()!r}")

    def put(self, character):
        page = self.pages[self.other]
        if character == "\r":
            self.column = 0
        elif character == "\n":
            if self.row == self.rows - 1:
                assert not self.other, "the screen scrolled"
                page.append([" "] * self.columns)
                del page[0]
            else:
                self.row += 1
        elif character == "\b":
            self.column = max(0, self.column - 1)
        elif character >= " ":
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if self.column + width > self.columns:
                assert not self.other, f"a line is longer than the screen: {''.join(page[self.row])!r}"
                self.put("\r")
                self.put("\n")
                page = self.pages[self.other]
            page[self.row][self.column:self.column + width] = [character] + [""] * (width - 1)
            self.column += width
        elif character != "\a":
            raise AssertionError(f"a control character: {character!r}")


class Terminal:
    """A program on a terminal of its own, as its session's leader."""

    def __init__(self, argv, env, rows=24, columns=80):
        self.screen = Screen(rows, columns)
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, {**env, "TERM": "xterm"})
        self.decoded = 0
        self.size(rows, columns)
        self.status = None
        self.mode = termios.tcgetattr(self.fd)

    def size(self, rows, columns):
        self.read()
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.0):
        """Take what there is, or what comes within that time. False: the other end is closed."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.output += got
        text = self.output[self.decoded:].decode("utf-8", errors="ignore")
        self.decoded += len(text.encode())
        self.screen.feed(text)
        return bool(got)

    def wait(self, condition, what, limit=60):
        """Until condition (a text on the screen, or a function of it) holds."""
        test = condition if callable(condition) else lambda screen: condition in screen.text
        until = time.monotonic() + limit
        while not test(self.screen):
            assert time.monotonic() < until, f"no {what} within {limit} s:\n{self.screen.text}"
            self.read(0.1)
        return self.screen

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def is_plain(self):
        """As it was before: its own screen and cursor, whole lines, echo."""
        flags = termios.tcgetattr(self.fd)[3]
        return not self.screen.other and self.screen.cursor_shown and flags == self.mode[3]

    def end(self, limit=30):
        """The exit code, or minus the signal; what it printed last has been read."""
        until = time.monotonic() + limit
        while self.status is None:
            assert time.monotonic() < until, f"it does not end:\n{self.screen.text}"
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        while self.read(0.2) and select.select([self.fd], [], [], 0)[0]:
            pass
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
