"""The verb grep: the lines of a log that hold a literal, numbered, with those that follow, and bounded."""
import os
import time


def grep(node, log, *literals):
    node.start("/bin/true")
    node.wait_ended()
    with open(node.file("log"), "wb") as f:
        f.write(log)
    out, _, _ = node.raw("grep", literal=list(literals))
    header, body = node.parse("grep", out)
    records = [line.split(b" ", 1) for line in body.splitlines()]
    assert records[-1][0] == b"0"
    return header, [(int(number), text) for number, text in records[:-1] if number != b"s"], int(records[-1][1])


def test_a_missing_log(node):
    out, _, _ = node.raw("grep", literal=["x"])
    header, body = node.parse("grep", out)
    assert header["missing"] and body == b""


def test_lines_with_a_literal_and_those_that_follow(node):
    log = b"".join(b"line %d\n" % i for i in range(1, 101)) + b"12:Value[Error: \xff 'a' $x\n" + b"tail\n" * 30 + b"*\n"
    header, records, lines = grep(node, log, "Value[Error: ", "nothing", "'$(touch x)'")
    assert header["log"].endswith("r_node0.log") and lines == 132
    assert records == [(101, b"12:Value[Error: \xff 'a' $x")] + [(n, b"tail") for n in range(102, 112)]


def test_a_log_without_any_of_them(node):
    _, records, lines = grep(node, b"a\nb\nno end", "zzzzz")
    assert records == [] and lines == 2


def test_lines_near_the_start_that_name_a_step(node):
    node.start("/bin/true")
    node.wait_ended()
    with open(node.file("log"), "wb") as f:
        f.write(b"NCCL\n[rank1] Resumed from step 50\nstepping 3\n" + b"".join(b"iteration: %d\n" % i for i in range(51, 90)))
    out, _, _ = node.raw("grep", literal=["zzzzz"])
    _, body = node.parse("grep", out)
    assert body.splitlines() == [b"s 2 [rank1] Resumed from step 50", *(b"s %d iteration: %d" % (n, n + 47) for n in range(4, 11)), b"0 42"]


def test_of_a_line_of_progress_bars_the_last_stretches_count(node):
    bars = b"\r".join(b" %d/9999 |####" % i for i in range(9999))
    _, records, _ = grep(node, bars + b"\rTraceback (most recent call last):\n  File\n", "Traceback")
    assert records[-2:] == [(1, b"Traceback (most recent call last):"), (2, b"  File")]
    assert len(records) <= 5


def test_error_files_of_workers_are_told(node, tmp_path):
    """Those of this run below the folder for temporary files, and those that the log names; nothing that is no such file."""
    def error_file(folder, text, local_rank=0):
        path = folder / "attempt_0" / str(local_rank)
        path.mkdir(parents=True)
        (path / "error.json").write_bytes(text)
        return path / "error.json"

    own = error_file(tmp_path / "torchelastic_a" / f"{node.run_id}.1_x", b'{"message": {"extraInfo":\n {"timestamp": "1795965913"}}}', 3)
    error_file(tmp_path / "torchelastic_a" / f"{node.run_id}.2_x", b"another attempt")
    error_file(tmp_path / "torchelastic_a" / "other.1_x", b"another run")
    named = error_file(tmp_path / "logs", b"x" * 20000, 1)
    (tmp_path / "secret.json").write_text("no error file")
    link = tmp_path / "link" / "4" / "error.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "secret.json")
    fifo = tmp_path / "fifo" / "5" / "error.json"
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    node.start("/bin/true")
    node.wait_ended()
    log = "".join(f"  error_file: {p}\n" for p in (named, named, own, link, fifo, tmp_path / "secret.json", "<N/A>", "/gone/1/error.json"))
    with open(node.file("log"), "w", encoding="utf-8") as f:
        f.write(log)
    out, _, _ = node.raw("grep", literal=["zzz"], env={"TMPDIR": str(tmp_path), "TZ": "UTC"})
    _, body = node.parse("grep", out)
    records = body.decode().splitlines()
    assert [r.split(" ", 4)[:4] for r in records[:-1]] == [
        ["e", "1", "-", str(named)], ["e", "3", "2026-11-29_15:25:13", str(own)]]
    assert records[0].endswith(" " + "x" * 16000) and records[1].endswith(' {"message": {"extraInfo":  {"timestamp": "1795965913"}}}')


def test_a_flood_is_bounded_and_fast(node):
    log = b"".join(b"%d Connection reset by peer %s\n" % (i, b"x" * 2000) for i in range(20000))
    begun = time.monotonic()
    _, records, lines = grep(node, log, "Connection reset by peer")
    assert lines == 20000 and len(records) == 2000 and max(len(text) for _, text in records) <= 900
    assert records[0][0] == 1 and records[599][0] == 600 and records[600][0] == 18601 and records[-1][0] == 20000
    assert time.monotonic() - begun < 20
