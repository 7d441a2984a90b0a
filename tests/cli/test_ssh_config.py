"""Our reader of ssh_config beside the real one: what `ssh -G` resolves, over tests/data/ssh_config.

Compared are the keywords that act. A file's first lines may be `#! hosts a b c` (the names that are asked for,
beside g1, G1 and gate.example.org), `#! user name` (as by -l) and `#! openssh`: it holds a Match exec, of which
only the flag is ours to say. In texts LOCALUSER is the caller's name.
"""

import getpass
import os
import pathlib
import shutil
import subprocess

import pytest

DATA = pathlib.Path(__file__).parent.parent / "data" / "ssh_config"
PRINT = os.environ.get("SSH_CONFIG_PRINT", "")
FILES = sorted(DATA.glob("*.conf"))
WORDS = set(
    "hostname user port hostkeyalias identityfile certificatefile identityagent identitiesonly compression"
    " stricthostkeychecking userknownhostsfile globalknownhostsfile connecttimeout serveraliveinterval"
    " serveralivecountmax addressfamily proxyjump proxycommand".split()
)

pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh client")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home folder with the corpus in its .ssh; -F makes ssh take Include from the caller's own ~/.ssh."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".ssh").mkdir()
    for path in [*DATA.rglob("*")]:
        if path.is_file():
            target = folder / ".ssh" / path.relative_to(DATA)
            target.parent.mkdir(exist_ok=True)
            text = path.read_bytes().replace(b"LOCALUSER", getpass.getuser().encode())
            target.write_bytes(text.replace(b"CORPUS", str(folder / ".ssh").encode()))
            target.chmod(0o600)
    return folder


def marks_of(text):
    hosts, user, openssh = ["g1", "G1", "gate.example.org"], [], False
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["#!", "hosts"]:
            hosts += words[2:]
        elif words[:2] == ["#!", "user"]:
            user = words[2:3]
        elif words[:2] == ["#!", "openssh"]:
            openssh = True
    return hosts, user, openssh


def resolve_theirs(config, host, user):
    command = ["ssh", "-G", "-F", str(config), *(["-l", user[0]] if user else []), host]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
    return done.returncode, [line for line in done.stdout.splitlines() if line.split(" ")[0] in WORDS]


def resolve_ours(config, host, user, home_folder):
    command = [PRINT, str(config), str(home_folder), host, *user]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout.splitlines()


def drop_defaults(lines, theirs_of_nothing):
    """What ssh prints when nothing is said: its lists of default files."""
    lists = ("identityfile ", "userknownhostsfile ", "globalknownhostsfile ")
    return [line for line in lines if not (line in theirs_of_nothing and line.startswith(lists))]


def spell(lines, home_folder):
    """ssh expands "~" at the start of some values already, by the user database."""
    real = os.path.expanduser(f"~{getpass.getuser()}")
    words = []
    for line in lines:
        keyword, _, rest = line.partition(" ")
        if keyword in ("userknownhostsfile", "identityagent", "globalknownhostsfile", "certificatefile"):
            rest = " ".join(
                word.replace("~/", real + "/", 1) if word.startswith("~/") else word for word in rest.split(" ")
            )
        words.append(f"{keyword} {rest}".replace(str(home_folder), real))
    return sorted(words)


@pytest.fixture(scope="module")
def nothing(home):
    empty = home / ".ssh" / "empty"
    empty.write_text("")
    return resolve_theirs(empty, "g1", [])[1]


def test_the_corpus_is_large():
    assert len(FILES) >= 60
    assert PRINT, "SSH_CONFIG_PRINT names the program that prints our side"


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_as_ssh_resolves(path, home, nothing):
    config = home / ".ssh" / path.name
    hosts, user, openssh = marks_of(path.read_text(errors="replace"))
    for host in hosts:
        status, theirs = resolve_theirs(config, host, user)
        our_status, ours = resolve_ours(config, host, user, home)
        if status != 0:
            assert (our_status, ours[0].split()[0]) == (1, "error"), f"{host}: ssh refuses the file"
            assert ours[0] != "error 0"
            continue
        assert our_status == 0, f"{host}: ssh takes the file: {ours}"
        flagged = [line for line in ours if line.startswith("openssh-only")]
        ours = [line for line in ours if not line.startswith("openssh-only")]
        if openssh and flagged:
            continue
        assert not flagged, f"{host}: {flagged}"
        assert spell(ours, home) == spell(drop_defaults(theirs, nothing), home), host
    if openssh:
        assert any(
            line.startswith("openssh-only")
            for host in hosts
            for line in resolve_ours(config, host, user, home)[1]
        )
