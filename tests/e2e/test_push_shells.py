"""push to this machine itself, with dash, bash or nothing but busybox on it."""
import os
import subprocess

import pytest

import trees
from conftest import BINARY, needs_namespaces


@pytest.fixture(params=["dash", "bash", "busybox"])
def push(request, tmp_path):
    """A function that runs push in a mount namespace in which /bin/sh and PATH are of that shell."""
    needs_namespaces()
    path = "/usr/bin:/bin:/usr/sbin:/sbin"
    if request.param == "busybox":
        path = str(tmp_path / "bb")
        os.mkdir(path)
        for applet in subprocess.check_output(["busybox", "--list"], text=True).split():
            os.symlink("/usr/bin/busybox", os.path.join(path, applet))
    shell = subprocess.check_output(["which", request.param], text=True).strip()

    def run(*args, code=0, **env):
        done = subprocess.run(
            ["/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-c",
             f"mount --bind {shell} \"$(readlink -f /bin/sh)\" && PATH={path} exec \"$@\"", "sh",
             str(BINARY.resolve()), "push", *map(str, args)],
            env={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "PATH": os.environ["PATH"], **env},
            capture_output=True, text=True, errors="replace", timeout=60, check=False)
        assert done.returncode == code, done
        return done

    return run


def test_a_random_tree(push, tmp_path):
    rng, source = trees.seeded(7), tmp_path / "src"
    source.mkdir()
    trees.fill(rng, source, 40)
    (source / "every byte").mkdir()
    trees.every_byte(source / "every byte")
    push(source, tmp_path / "to")
    assert trees.differences(trees.look(source), trees.look(tmp_path / "to" / "src")) == {}
    assert "nothing to do" in push(source, tmp_path / "to").stdout
    trees.change(rng, source)
    push(source, tmp_path / "to", "--delete")
    assert trees.differences(trees.look(source), trees.look(tmp_path / "to" / "src")) == {}
    assert "nothing to do" in push(source, tmp_path / "to", "--checksum").stdout
    assert os.listdir(tmp_path / "to") == ["src"]


def test_checksums(push, tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    for name in ("a", "b\\c", "new\nline"):
        (source / name).write_text(name)
    push(source, tmp_path / "to")
    for name in ("a", "new\nline"):
        os.utime(tmp_path / "to" / "src" / name, (9, 9))
    os.chmod(tmp_path / "to" / "src" / "a", 0o600)
    assert "sent" not in push(source, tmp_path / "to", "--checksum").stdout
    assert trees.differences(trees.look(source), trees.look(tmp_path / "to" / "src")) == {}


def test_a_full_disk_leaves_nothing_half(push, tmp_path):
    source, small = tmp_path / "src", tmp_path / "small"
    source.mkdir()
    small.mkdir()
    (source / "fits").write_text("x")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)], check=True)
    try:
        push(source, small)
        (source / "fits").write_text("y")
        (source / "large").write_bytes(os.urandom(5 << 20))
        done = push(source, small, code=4)
        assert "cannot write in the folder" in done.stderr and "no space left on device" in done.stderr
        assert "hint: free some space there" in done.stderr
        assert sorted(os.listdir(small / "src")) == ["fits"] and (small / "src" / "fits").read_text() == "x"
        assert os.listdir(small) == ["src"]
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        assert "read-only file system" in push(source, small, code=4).stderr
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_cdpath_leads_nowhere(push, tmp_path):
    source = tmp_path / "src"
    source.mkdir()
    (source / "x").write_text("x")
    (tmp_path / "trap" / "to").mkdir(parents=True)
    push(source, "to", CDPATH=str(tmp_path / "trap"))
    assert (tmp_path / "to" / "src" / "x").exists() and not os.listdir(tmp_path / "trap" / "to")


def test_the_source_is_never_deleted(push, tmp_path):
    """It stands in the folder that is emptied: on this machine, or on a share."""
    source = tmp_path / "project" / "src"
    source.mkdir(parents=True)
    (source / "x").write_text("x")
    done = push(f"{source}/", tmp_path / "project", "--delete", code=4)
    assert "which may be the source itself" in done.stderr and "hint: push to a folder" in done.stderr
    assert (source / "x").exists() and os.listdir(tmp_path / "project") == ["src"]
    push(f"{source}/", tmp_path / "project", "--delete", "--skip", "/src")
    assert sorted(os.listdir(tmp_path / "project")) == ["src", "x"]
