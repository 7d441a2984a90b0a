"""exec where its own streams are in trouble: shared, slow, standing still, unreadable."""
import os
import pty
import signal
import socket
import threading
import time

from cluster import wait_for
from test_exec import finish, nodes, start_endless


def slow_lines(reading, pause=0.4):
    """All lines of a pipe that is read a little at a time, with a pause now and then."""
    data = b""
    last = time.monotonic()
    while piece := os.read(reading, 3000):
        data += piece
        if time.monotonic() - last > 0.5 and len(data) < 1_500_000:
            time.sleep(pause)
            last = time.monotonic()
    os.close(reading)
    return data.decode().splitlines()


def test_both_streams_in_one_pipe_keep_their_lines(lab):
    """As in CI: `mtlaunch exec … 2>&1 | tee log`."""
    reading, writing = os.pipe()
    line = ("i=0; o=OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO; e=EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE; "
            "while [ $i -lt 8000 ]; do echo $o; echo $e >&2; i=$((i+1)); done")
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(2), "--", line, stdout=writing, stderr=writing)
    os.close(writing)
    lines = slow_lines(reading)
    assert process.wait(30) == 0
    good = {f"node{n}: {letter * 40}" for n in (1, 2) for letter in "OE"}
    assert [text for text in lines if text not in good] == [] and len(lines) == 4 * 8000


def test_a_failure_is_told_behind_a_line(lab):
    reading, writing = os.pipe()
    line = "i=0; while [ $i -lt 6000 ]; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; i=$((i+1)); done; exit 3"
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(2), "--", line, stdout=writing, stderr=writing)
    os.close(writing)
    lines = slow_lines(reading)
    assert process.wait(30) == 3
    assert lines[-1] == "mtlaunch: node[1-2]: exit status 3"
    assert {text.partition(" ")[2] for text in lines[:-1]} == {"y" * 52}


def test_a_reader_that_pauses_cuts_no_line(lab):
    """The beginning of a line waits while nobody takes output; it is not shown as one of its own."""
    process = lab.cluster.popen("mtlaunch", "exec", "-H", "node1", "--label", "--",
                                "i=0; while [ $i -lt 100000 ]; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; i=$((i+1)); done")
    time.sleep(3)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert set(out.decode().splitlines()) == {"node1: " + "y" * 46}


def test_a_stopped_mtlaunch_cuts_no_line(lab):
    process = lab.cluster.popen("mtlaunch", "exec", "-H", "node1", "--label", "--", "printf begin; sleep 2; echo -end")
    wait_for(lambda: [p for p in lab.cluster.user_ps("node1") if p.name == "sleep"], "the command")
    process.send_signal(signal.SIGSTOP)
    time.sleep(3.5)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=30)
    assert out.decode() in ("node1: begin-end\n", "node1: begin\nnode1: -end\n")
    assert out.decode().count("begin") == 1


def test_an_unreadable_input_is_no_end_of_it(lab):
    """`--stdin <folder`: nothing may come out as if it were the whole."""
    folder = os.open("/", os.O_RDONLY)
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(2), "--stdin", "--", "cat >got; echo whole", stdin=folder)
    os.close(folder)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 8 and b"standard input cannot be read" in err and b"directory" in err.lower()
    assert b"whole" not in out
    lab.assert_nothing_left()


def test_an_input_that_breaks_off_is_no_end_of_it(lab):
    """A connection as standard input, reset in the middle."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        peer = server.accept()[0]
    process = lab.cluster.popen("mtlaunch", "exec", "-H", "node1", "--stdin", "--", "cat | wc -c", stdin=client.fileno())
    client.close()
    peer.sendall(b"x" * 5000)
    wait_for(lambda: [p for p in lab.cluster.user_ps("node1") if p.name == "wc"], "the command")
    time.sleep(0.5)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.close()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 8 and b"standard input cannot be read" in err and out == b""


def test_an_interrupt_while_the_reader_stands_still(lab):
    """Nobody reads again: mtlaunch ends all the same, and says on stderr what became of the hosts."""
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(2), "--", "yes")
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert b"interrupted" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    lab.assert_nothing_left()


def test_a_time_limit_while_the_reader_stands_still(lab):
    for options in ([], ["--stdin"]):
        reading, writing = os.pipe()
        process = lab.cluster.popen("mtlaunch", "exec", "-H", "node1", *options, "--timeout", "2", "--", "yes", stdin=reading)
        os.close(reading)
        wait_for(lambda: [p for p in lab.cluster.user_ps("node1") if p.name == "yes"], "the command")
        wait_for(lambda: not [p for p in lab.cluster.user_ps("node1") if p.name == "yes"], "its end", 8)
        os.close(writing)
        _, _, err = finish(process)
        assert process.returncode == 5 and "nothing reads the output" in err


def test_a_silent_host_takes_no_time_from_the_others(lab):
    """With --stdin the first byte waits until every host was reached or has failed; so does the time."""
    silent = lab.cluster.popen("python3", "-c", "import socket,time\nwith socket.create_server(('127.0.0.1', 2222)) as s:\n"
                              "    print('ready', flush=True)\n    time.sleep(60)", text=True)
    try:
        assert silent.stdout.readline() == "ready\n"
        answer = lab.mt("exec", "-H", "127.0.0.1:2222,node[1-2]", "--stdin", "--timeout", "2", "--connect-timeout", "5",
                        "--json", "--", "cat", input="x\n", code=3)
    finally:
        silent.kill()
        silent.communicate()
    first, *others = answer.json["hosts"]
    assert first["error"]["kind"] == "timed-out"
    assert [(host["stdout"], host["exit_status"]) for host in others] == [("x\n", 0), ("x\n", 0)]


def test_an_interrupt_that_is_not_answered_says_so(lab):
    process = start_endless(lab, count=2)
    lab.cluster.freeze("node2")
    try:
        process.send_signal(signal.SIGINT)
        _, _, err = finish(process, 30)
    finally:
        lab.cluster.thaw("node2")
    assert process.returncode == 130
    assert "mtlaunch: node1: interrupted\n" in err
    assert "node2: interrupted; the command may still be running" in err


def test_a_reader_that_has_seen_enough(lab):
    """`… | head -1`: that the commands were ended then is no news."""
    head = lab.cluster.run("sh", "-c", f"mtlaunch exec -H '{nodes(2)}' -- 'while echo y; do sleep 0.1; done' | head -1")
    assert head.stdout.count("\n") == 1 and head.stderr == ""
    lab.assert_nothing_left()


def test_progress_of_what_is_printed_at_the_end(lab):
    head, own = pty.openpty()
    process = lab.cluster.popen("mtlaunch", "exec", "-H", nodes(2), "--gather", "--", "case $(uname -n) in node2) sleep 2;; *) sleep 0.6;; esac; echo x",
                                stderr=own, env={"TERM": "xterm", "NO_COLOR": ""})
    os.close(own)
    seen = b""
    thread = threading.Thread(target=process.wait)
    thread.start()
    try:
        while piece := os.read(head, 4096):
            seen += piece
    except OSError:
        pass
    thread.join()
    assert b"running" in seen and b"1/2" in seen
    assert process.stdout.read().count(b"x\n") == 1
    process.stdout.close()
