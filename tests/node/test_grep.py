"""The verb grep: the lines of a log that hold a literal, numbered, with those that follow, and bounded."""
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
    return header, [(int(number), text) for number, text in records[:-1]], int(records[-1][1])


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


def test_of_a_line_of_progress_bars_the_last_stretches_count(node):
    bars = b"\r".join(b" %d/9999 |####" % i for i in range(9999))
    _, records, _ = grep(node, bars + b"\rTraceback (most recent call last):\n  File\n", "Traceback")
    assert records[-2:] == [(1, b"Traceback (most recent call last):"), (2, b"  File")]
    assert len(records) <= 5


def test_a_flood_is_bounded_and_fast(node):
    log = b"".join(b"%d Connection reset by peer %s\n" % (i, b"x" * 2000) for i in range(20000))
    begun = time.monotonic()
    _, records, lines = grep(node, log, "Connection reset by peer")
    assert lines == 20000 and len(records) == 2000 and max(len(text) for _, text in records) <= 900
    assert records[0][0] == 1 and records[599][0] == 600 and records[600][0] == 18601 and records[-1][0] == 20000
    assert time.monotonic() - begun < 20
