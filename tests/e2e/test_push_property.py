"""push of random trees to four real nodes, changed and pushed again: equal each time, and nothing sent twice.

    MTLAUNCH_SEED=n   other trees
    MTLAUNCH_PUSH=all 10,000 small files and one of 2 GiB, too: some 12 GiB of disk
"""
import json
import os
import random
import stat

import pytest

import trees
from cluster import UID

ALL = "node[1-4]"
SEED = int(os.environ.get("MTLAUNCH_SEED", "1"))
LONG = os.environ.get("MTLAUNCH_PUSH") == "all"


def assert_same(lab, source, place):
    wanted = trees.look(source)
    for node in lab.names:
        assert trees.differences(wanted, trees.look(lab.node_file(node, place, source.name))) == {}, node


def sent_bytes(lab):
    """What has left the head's network, in bytes."""
    link = json.loads(lab.cluster.in_head_net(["ip", "-s", "-j", "link", "show", "br0"]))[0]
    return link["stats64"]["tx"]["bytes"]


def push(lab, *more):
    """What was sent by its own account, per node, and the bytes that left the head meanwhile."""
    before = sent_bytes(lab)
    answer = lab.mt("push", "src", "there", "-H", ALL, "--json", *more, timeout=600)
    assert [h["error"] for h in answer.json["hosts"]] == [None] * 4
    return [h["bytes_sent"] for h in answer.json["hosts"]], sent_bytes(lab) - before


def sizes(folder):
    """path -> size and time, of the files below a folder."""
    found, top = {}, os.fsencode(folder)
    for path, what in trees.look(folder).items():
        if stat.S_ISREG(what[0]):
            found[path] = (os.stat(os.path.join(top, path)).st_size, what[2])
    return found


def changed_bytes(before, after):
    """Contents of files that are new, or have another size or time."""
    return sum(what[0] for path, what in after.items() if before.get(path) != what)


@pytest.mark.parametrize("number", range(3 if LONG else 2))
def test_random_trees(lab, number):
    rng, source = random.Random(f"{SEED} {number}"), lab.home / "src"
    source.mkdir()
    trees.fill(rng, source, rng.choice([20, 60, 120]))
    trees.deep(rng, source, rng.randint(5, 60))
    (source / "every byte").mkdir()
    trees.every_byte(source / "every byte")
    if rng.random() < 0.7:
        trees.write(rng, source / "large", rng.randint(5 << 20, 20 << 20))
    trees.own(source, UID)
    more = [word for word in ("--relay", "--checksum") if rng.random() < 0.5]
    seen = sizes(source)
    first, _ = push(lab, *more)
    assert_same(lab, source, "there")
    assert first == [changed_bytes({}, seen)] * 4
    for _ in range(3):
        trees.change(rng, source)
        trees.own(source, UID)
        now = sizes(source)
        again, _ = push(lab, "--delete", *more)
        assert_same(lab, source, "there")
        if "--checksum" in more:
            assert max(again) <= changed_bytes(seen, now)
        else:
            assert again == [changed_bytes(seen, now)] * 4
        seen = now


def test_many_small_files(lab):
    rng, source = random.Random(SEED), lab.home / "src"
    count = 10_000 if LONG else 1500
    for i in range(count):
        folder = source / f"d{i // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{i}").write_bytes(rng.randbytes(4096))
    trees.own(source, UID)
    push(lab)
    assert_same(lab, source, "there")
    for i in rng.sample(range(count), 10):
        (source / f"d{i // 100}" / f"f{i}").write_bytes(rng.randbytes(5000))
    again, wire = push(lab)
    assert_same(lab, source, "there")
    assert again == [50_000] * 4
    unchanged = (count - 10) * 4096 * 4
    assert wire - 4 * 50_000 < unchanged // 100 + 400_000, "above 1 % of what is unchanged, and the sessions' own"


@pytest.mark.parametrize("relay", [[], ["--relay"]])
def test_a_large_file(lab, relay):
    source = lab.home / "src"
    source.mkdir()
    block = random.Random(SEED).randbytes(16 << 20)
    with open(source / "large", "wb") as file:
        for i in range(128 if LONG else 3):
            file.write(i.to_bytes(8, "big") + block[8:])
        file.write(b"end")
    (source / "small").write_bytes(b"x" * 4096)
    trees.own(source, UID)
    push(lab, *relay)
    assert_same(lab, source, "there")
    (source / "small").write_bytes(b"y" * 5000)
    again, wire = push(lab, *relay)
    assert_same(lab, source, "there")
    assert again == [5000] * 4 and wire < 400_000
