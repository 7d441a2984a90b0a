"""The binary alone, without nodes: what it prints about itself, and what make install does with it."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from json_schema import check_output  # noqa: E402  pylint: disable=wrong-import-position
BINARY = Path(os.environ.get("MTLAUNCH", ROOT / "mtlaunch"))
BUILD = Path(os.environ.get("BUILD", "build"))
BUILT = BUILD if BUILD.is_absolute() else ROOT / BUILD
MAN_PAGE = BUILT / "mtlaunch.1"
MAN_PAGES = [MAN_PAGE, BUILT / "mtlaunch-job.5", BUILT / "mtlaunch-hosts.5"]


class Cli:
    """mtlaunch in a folder and a home of the test's own."""

    def __init__(self, folder):
        self.folder, self.home = folder / "work", folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.env = {"HOME": str(self.home), "PATH": f"{BINARY.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                    "TERM": "dumb"}

    def run(self, argv, code=0, **options):
        done = subprocess.run([str(a) for a in argv], env=self.env, cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False, **options)
        assert code is None or done.returncode == code, (argv, done.returncode, done.stdout, done.stderr)
        return done

    def mt(self, *words, code=0, **options):
        done = self.run([BINARY, *words], code, **options)
        check_output(words, done.stdout)
        return done

    def make_run(self, name):
        """A record's folder: a name is all that completion looks at."""
        folder = self.home / ".local/state/mtlaunch/runs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")


@pytest.fixture
def cli(tmp_path):
    return Cli(tmp_path)


def help_commands():
    """The commands that mtlaunch help lists as built."""
    text = subprocess.run([BINARY, "help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z]+) ", text.split("Commands:")[1].split("\n\n")[0], re.M)
