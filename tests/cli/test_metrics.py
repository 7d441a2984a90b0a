"""metrics: what is printed, written and served without any node; the dashboard that shows it."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import BINARY, ROOT
from json_schema import check_output

DASHBOARD = ROOT / "examples/grafana/mtlaunch.json"


def promtool(*words, text):
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def families(text):
    return re.findall(r"^# TYPE (\w+) gauge$", text, re.M)


def test_promtool_accepts_what_is_printed(cli):
    text = cli.mt("metrics").stdout
    assert promtool("check", "metrics", text=text) == (0, "")
    assert text.endswith("# EOF\n") and len(families(text)) == len(set(families(text))) > 20
    assert promtool("check", "metrics", text=text.replace("gauge", "gage", 1))[0] != 0


def test_json(cli):
    answer = json.loads(cli.mt("metrics", "--json").stdout)
    assert [metric["name"] for metric in answer["metrics"]] == families(cli.mt("metrics").stdout)
    runs = next(metric for metric in answer["metrics"] if metric["name"] == "mtlaunch_runs")
    assert {sample["labels"]["state"]: sample["value"] for sample in runs["samples"]}["running"] == 0


def test_a_file_is_written_whole(cli):
    path = cli.folder / "mtlaunch.prom"
    path.write_text("old")
    inode = path.stat().st_ino
    assert cli.mt("metrics", "--textfile", path).stdout == ""
    assert path.read_text() == cli.mt("metrics").stdout
    assert path.stat().st_ino != inode and path.stat().st_mode & 0o777 == 0o644 and os.listdir(cli.folder) == [path.name]
    assert json.loads(cli.mt("metrics", "--json", "--textfile", path).stdout)["path"] == str(path)
    assert "no/such" in cli.mt("metrics", "--textfile", "no/such/file", code=8).stderr


def test_a_record_that_cannot_be_read_is_told(cli):
    cli.make_run("broken")
    done = cli.mt("metrics", code=8)
    assert "broken" in done.stderr and promtool("check", "metrics", text=done.stdout) == (0, "")


# --- the server -------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def serving(cli, *words, listen="127.0.0.1:0"):
    argv = [str(BINARY), "metrics", "--listen", listen, "--json", *words]
    process = subprocess.Popen(argv, env=cli.env, cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        check_output(argv[1:], line)
        yield process, re.fullmatch(r"http://(?:\[(.*)\]|(.*)):(\d+)/metrics", json.loads(line)["url"])
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=10)


def port_of(match):
    return int(match.group(3))


def ask(port, method="GET", path="/metrics", host="127.0.0.1", **headers):
    connection = http.client.HTTPConnection(host, port, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def raw(port, data, wait=20):
    """What comes back until the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        connection.sendall(data)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                got += piece
        return got


def test_it_serves_what_it_prints(cli):
    with serving(cli) as (process, where):
        status, headers, text = ask(port_of(where))
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert families(text) == families(cli.mt("metrics").stdout) and promtool("check", "metrics", text=text) == (0, "")
        status, headers, text = ask(port_of(where), Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        status, headers, text = ask(port_of(where), method="HEAD")
        assert status == 200 and text == "" and int(headers["Content-Length"]) > 1000
        assert ask(port_of(where), path="/")[0] == 200
        assert ask(port_of(where), path="/etc/passwd")[0] == 404
        status, headers, _ = ask(port_of(where), method="POST")
        assert status == 405 and headers["Allow"] == "GET, HEAD"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_what_is_no_request(cli):
    with serving(cli) as (_, where):
        assert raw(port_of(where), b"\x16\x03\x01\x02\x00\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        assert raw(port_of(where), b"GET / HTTP/3.0\r\n\r\n").startswith(b"HTTP/1.1 505 ")
        assert raw(port_of(where), b"GET /" + b"a" * 300 + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 414 ")
        raw(port_of(where), b"GET / HTTP/1.1\r\nA: " + b"a" * 100_000)
        assert ask(port_of(where))[0] == 200


def test_slow_clients_are_cut_and_others_served(cli):
    with serving(cli) as (_, where):
        begun, ends = time.monotonic(), []

        def drip():
            with socket.create_connection(("127.0.0.1", port_of(where)), timeout=30) as connection:
                with contextlib.suppress(OSError):
                    while True:
                        connection.sendall(b"G")
                        time.sleep(0.5)
                ends.append(time.monotonic() - begun)

        threads = [threading.Thread(target=drip) for _ in range(8)]
        for thread in threads:
            thread.start()
        assert ask(port_of(where))[0] == 200 and time.monotonic() - begun < 4
        for thread in threads:
            thread.join(30)
        assert len(ends) == 8 and 4 < min(ends) and max(ends) < 15


def test_connections_have_a_bound(cli):
    with serving(cli) as (process, where), contextlib.ExitStack() as stack:
        held, cut = [], 0
        while cut < 28 and len(held) < 200:
            with contextlib.suppress(ConnectionResetError):  # some are cut before connect() has returned
                held.append(stack.enter_context(socket.create_connection(("127.0.0.1", port_of(where)), timeout=20)))
                if len(held) <= 32 or held[-1].recv(1) != b"":
                    continue
            cut += 1
        assert cut == 28 and len(held) >= 32 and len(os.listdir(f"/proc/{process.pid}/fd")) < 60
        for connection in held:
            connection.close()
        status, until = None, time.monotonic() + 20
        while status is None and time.monotonic() < until:  # the server has to see first that they are closed
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                status = ask(port_of(where))[0]
        assert status == 200


def test_it_listens_on_the_loopback_unless_told_otherwise(cli):
    for listen in ("0", ":0", "localhost:0"):
        with serving(cli, listen=listen) as (process, where):
            assert where.group(2) == "127.0.0.1" and ask(port_of(where))[0] == 200
    with serving(cli, listen="0.0.0.0:0") as (process, where):
        assert ask(port_of(where))[0] == 200
        process.terminate()
        assert process.wait(10) == 143 and "anyone who can reach 0.0.0.0" in process.stderr.read()


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="no IPv6 here")
def test_ipv6(cli):
    with serving(cli, listen="[::1]:0") as (_, where):
        assert where.group(1) == "::1" and ask(port_of(where), host="::1")[0] == 200


def test_a_port_that_is_taken(cli):
    with serving(cli) as (_, where):
        done = cli.mt("metrics", "--listen", str(port_of(where)), code=8)
        assert f"cannot listen on port {port_of(where)} of 127.0.0.1: address already in use" in done.stderr


def test_nothing_is_written(cli):
    with serving(cli) as (_, where):
        ask(port_of(where))
    cli.mt("metrics")
    assert not list(cli.home.rglob("*"))


# --- the dashboard ----------------------------------------------------------------------------------------------------

def expressions(board):
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def test_the_dashboard_shows_metrics_that_exist(cli):
    board = json.loads(DASHBOARD.read_text())
    known = set(families(cli.mt("metrics").stdout))
    query = board["templating"]["list"][1]["query"]["query"]
    used = set(re.findall(r"\bmtlaunch_\w+", " ".join([*expressions(board), query])))
    assert used and used <= known
    rules = {"groups": [{"name": "g", "rules": [{"record": f"r{i}", "expr": expr.replace("$run", ".*")}
                                               for i, expr in enumerate(expressions(board))]}]}
    code, said = promtool("check", "rules", "/dev/stdin", text=json.dumps(rules))
    assert code == 0, said


def test_the_dashboard_is_laid_out():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
