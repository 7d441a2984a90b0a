"""Random trees of files, and what stands in a folder, for tests that copy."""
import hashlib
import os
import random
import stat
from pathlib import Path

SHELL = b"abcdefgh -'\"$`\\\n*?[]{}~#&;|<>"
ODD = [bytes([b]) for b in range(1, 256) if b != 0x2f]


def name(rng, taken):
    """A name of one to twenty bytes, every byte but NUL and '/' among them."""
    while True:
        if rng.random() < 0.3:
            text = b"".join(rng.choice(ODD) for _ in range(rng.randint(1, 20)))
        else:
            text = bytes(rng.choice(SHELL) for _ in range(rng.randint(1, 12)))
        if text not in (b".", b"..") and text not in taken and not text.startswith(b".mtlaunch-"):
            taken.add(text)
            return text


def every_byte(folder):
    """A file for every byte that a name may hold."""
    for byte in ODD:
        if byte != b".":
            Path(os.fsdecode(os.path.join(os.fsencode(folder), byte))).write_bytes(byte)


def write(rng, path, size=None):
    size = rng.choice([0, 1, 511, 512, 513, 4096, 70000]) if size is None else size
    with open(path, "wb") as file:
        file.write(rng.randbytes(size))
    os.chmod(path, rng.choice([0o644, 0o755, 0o600, 0o444, 0o4755]))
    when = rng.randint(0, 2_000_000_000)
    os.utime(path, (when, when))


def sparse(rng, path):
    """Some bytes between two holes."""
    with open(path, "wb") as file:
        file.seek(rng.randint(1, 3 << 20))
        file.write(rng.randbytes(5000))
        file.truncate(file.tell() + rng.randint(1, 1 << 20))
    os.utime(path, (1, rng.randint(0, 2_000_000_000)))


def deep(rng, folder, levels):
    """A file below many folders."""
    path = os.fsencode(folder)
    for _ in range(levels):
        path = os.path.join(path, name(rng, set()))
        os.mkdir(path)
    write(rng, os.path.join(path, b"bottom"))


def fill(rng, folder, files=60, depth=0):
    """Files, folders, empty folders, links of both kinds and files with holes below a folder."""
    folder, taken = os.fsencode(folder), set()
    for _ in range(files):
        path = os.path.join(folder, name(rng, taken))
        roll = rng.random()
        if roll < 0.15 and depth < 6:
            os.mkdir(path)
            fill(rng, path, rng.randint(0, 12), depth + 1)
            os.chmod(path, rng.choice([0o755, 0o700, 0o750, 0o555]))
        elif roll < 0.25:
            os.symlink(rng.choice([b"../..", b"/etc/passwd", b"no such place", b"a", b"\n"]), path)
        elif roll < 0.28:
            sparse(rng, path)
        elif roll < 0.33:
            write(rng, path)
            os.link(path, os.path.join(folder, name(rng, taken)))
        else:
            write(rng, path)


def change(rng, folder):
    """Change some of what stands below: contents, modes, kinds; some goes, some comes."""
    paths = [os.path.join(top, one) for top, folders, files in os.walk(os.fsencode(folder)) for one in folders + files]
    for path in rng.sample(paths, len(paths) // 4):
        parent = os.path.dirname(path)
        if not os.path.lexists(path) or not os.path.isdir(parent):
            continue
        mode = stat.S_IMODE(os.stat(parent).st_mode)
        os.chmod(parent, 0o755)
        if os.path.islink(path) or not os.path.isdir(path):
            roll = rng.random()
            if roll < 0.5 or os.path.islink(path):
                os.unlink(path)
                if roll < 0.2:
                    os.symlink(b"other", path)
                elif roll < 0.4:
                    os.mkdir(path)
                    write(rng, os.path.join(path, b"inside"))
                elif roll < 0.5:
                    write(rng, path)
            elif roll < 0.7:
                os.chmod(path, 0o640)
            else:
                os.chmod(path, 0o644)
                write(rng, path)
        else:
            os.chmod(path, 0o755)
            write(rng, os.path.join(path, b"new %d" % rng.randrange(10 ** 9)))
        os.chmod(parent, mode)


def look(folder):
    """What stands below a folder: {path: (kind, mode, time, what it holds)}; folders' own times too."""
    found, top = {}, os.fsencode(folder)
    for where, folders, files in os.walk(top):
        for one in folders + files:
            path = os.path.join(where, one)
            info = os.lstat(path)
            kind, held = stat.S_IFMT(info.st_mode), b""
            if stat.S_ISLNK(info.st_mode):
                found[os.path.relpath(path, top)] = (kind, os.readlink(path))
                continue
            if stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    held = hashlib.sha256(file.read()).digest()
            found[os.path.relpath(path, top)] = (kind, stat.S_IMODE(info.st_mode), int(info.st_mtime), held)
    return found


def differences(one, other):
    """Paths that are not the same in both, with what stands there."""
    return {path: (one.get(path), other.get(path)) for path in set(one) | set(other) if one.get(path) != other.get(path)}


def own(folder, uid):
    for where, folders, files in os.walk(os.fsencode(folder)):
        for one in [b"."] + folders + files:
            os.lchown(os.path.join(where, one), uid, uid)


def seeded(seed):
    return random.Random(seed)
