"""Notifications against real receivers: slow, dead, redirecting, failing for a while, with a bad certificate.

The program under test drives a notifier on the fleet's loop; NOTIFY_DRIVE names it.
"""
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest

DRIVE = os.environ.get("NOTIFY_DRIVE", str(Path(__file__).resolve().parents[2] / "build/tests/notify/notify_drive"))
TOKEN = "T0KEN-5eecre7"


class Receiver:
    """An http(s) server; answers is a list of (status, headers, body, seconds before it), the last one repeats."""

    def __init__(self, *answers, tls=None):
        self.answers = list(answers) or [(200, {}, b"ok", 0)]
        self.got = []  # (path, headers, body, time)
        self.leave = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((self.path, self.headers, body, time.monotonic()))
                answers = outer.answers
                status, headers, text, wait = answers.pop(0) if len(answers) > 1 else answers[0]
                outer.leave.wait(wait)
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value.replace("HERE", outer.url("")))
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a client that does not trust us hangs up
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def url(self, path=f"/hook/{TOKEN}"):
        return f"{self.scheme}://localhost:{self.server.server_port}{path}"

    @property
    def bodies(self):
        return [json.loads(body) for _, _, body, _ in self.got]

    def close(self):
        self.leave.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(name="receive")
def _receive():
    made = []

    def receive(*answers, tls=None):
        made.append(Receiver(*answers, tls=tls))
        return made[-1]

    yield receive
    for one in made:
        one.close()


@pytest.fixture(scope="module", name="certificates")
def _certificates(tmp_path_factory):
    """Self-signed ones for localhost and for another name: (certificate, key) each."""
    folder = tmp_path_factory.mktemp("tls")

    def make(name, host):
        cert, key = folder / f"{name}.pem", folder / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", cert, "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}",
                        "-days", "2"], check=True, capture_output=True)
        return str(cert), str(key)

    return {"good": make("good", "localhost"), "other": make("other", "elsewhere.example")}


def drive(*words, limit=30):
    """Run the driver; nothing it prints may hold the token."""
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    done = subprocess.run([DRIVE, *map(str, words)], capture_output=True, timeout=limit, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert TOKEN.encode() not in done.stdout + done.stderr
    return json.loads(done.stdout)


HTTP = ("--allow-http", 1)


def test_delivered_on_the_loop(receive):
    one = receive()
    answer = drive(*HTTP, "--run-ms", 10000, one.url())
    assert answer["left"] == 0 and answer["problems"] == [] and answer["run_ms"] < 5000
    path, headers, _, _ = one.got[0]
    assert path == f"/hook/{TOKEN}" and headers["Content-Type"].startswith("application/json")
    body = one.bodies[0]
    assert (body["schema"], body["event"], body["run"], body["exit_status"]) == ("mtlaunch/1", "failed", "r0", 3)


def test_delivered_by_the_drain_alone(receive):
    one = receive()
    assert drive(*HTTP, one.url())["left"] == 0
    assert len(one.got) == 1


@pytest.mark.parametrize("fmt", ["slack", "feishu"])
def test_chat_formats(receive, fmt):
    one = receive((200, {}, b'{"code":0}', 0))
    assert drive(*HTTP, "--format", fmt, "--reason", "a <b> & c", one.url())["problems"] == []
    body = one.bodies[0]
    text = body["text"] if fmt == "slack" else body["content"]["text"]
    assert text.startswith("run 'r0' failed (exit status 3)") and "<b>" not in text


def test_several_targets_do_not_wait_for_each_other(receive):
    slow, quick = receive((200, {}, b"", 3)), receive()
    begin = time.monotonic()
    drive(*HTTP, slow.url(), quick.url())
    assert quick.got[0][3] - begin < 2 and len(slow.got) == 1


def test_500_then_200(receive):
    one = receive((500, {}, b"oops", 0), (200, {}, b"", 0))
    answer = drive(*HTTP, "--backoff-ms", 200, "--run-ms", 10000, one.url())
    assert answer["left"] == 0 and len(one.got) == 2
    assert one.got[1][3] - one.got[0][3] >= 0.19
    assert one.bodies[0] == one.bodies[1]
    assert "answered with status 500" in answer["problems"][0] and len(answer["problems"]) == 1


def test_pauses_grow(receive):
    one = receive((503, {}, b"", 0), (502, {}, b"", 0), (500, {}, b"", 0), (200, {}, b"", 0))
    assert drive(*HTTP, "--backoff-ms", 100, "--run-ms", 10000, one.url())["left"] == 0
    times = [t for *_, t in one.got]
    pauses = [b - a for a, b in zip(times, times[1:])]
    assert pauses[0] >= 0.09 and pauses[1] >= 0.19 and pauses[2] >= 0.39


def test_429_with_retry_after(receive):
    one = receive((429, {"Retry-After": "1"}, b"", 0), (200, {}, b"", 0))
    assert drive(*HTTP, "--backoff-ms", 10, "--run-ms", 10000, one.url())["left"] == 0
    assert 0.95 <= one.got[1][3] - one.got[0][3] < 4


def test_retry_after_is_capped(receive):
    one = receive((429, {"Retry-After": "86400"}, b"", 0), (200, {}, b"", 0))
    assert drive(*HTTP, "--backoff-ms", 10, "--cap-ms", 300, "--run-ms", 10000, one.url())["left"] == 0
    assert 0.29 <= one.got[1][3] - one.got[0][3] < 4


def test_a_refusal_is_final(receive):
    one = receive((404, {}, TOKEN.encode(), 0))
    answer = drive(*HTTP, "--backoff-ms", 10, "--run-ms", 5000, one.url())
    assert len(one.got) == 1 and answer["left"] == 0
    assert answer["problems"] == [f"notification 'failed' to http://localhost:{one.server.server_port}/…: "
                                  "answered with status 404; given up after 1 try"]


def test_given_up_when_too_old(receive):
    one = receive((500, {}, b"", 0))
    answer = drive(*HTTP, "--backoff-ms", 50, "--total-ms", 600, "--run-ms", 20000, one.url())
    assert answer["left"] == 0 and answer["run_ms"] < 5000
    assert "given up after" in answer["problems"][-1] and 2 <= len(one.got) <= 5


def test_a_slow_receiver_is_cut_off_and_never_delays(receive):
    one = receive((200, {}, b"", 20))
    answer = drive(*HTTP, "--try-ms", 300, "--backoff-ms", 100, "--total-ms", 1500, "--run-ms", 20000, one.url())
    assert answer["gap_ms"] < 250 and answer["send_us"] < 200000
    assert "it did not answer in time" in answer["problems"][0] and len(one.got) >= 2


def test_a_body_that_never_ends_is_cut_off():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with listener.accept()[0] as peer:
                peer.recv(65536)
                try:
                    peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    while True:
                        peer.sendall(b"x" * 65536)
                        time.sleep(0.01)
                except OSError:
                    pass
        threading.Thread(target=serve, daemon=True).start()
        answer = drive(*HTTP, "--try-ms", 500, "--total-ms", 600, "--backoff-ms", 1000, "--run-ms", 20000,
                       f"http://127.0.0.1:{listener.getsockname()[1]}/")
    assert answer["gap_ms"] < 250 and "it did not answer in time; given up" in answer["problems"][0]


def test_a_dead_receiver_never_delays_the_end():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:  # accepts nothing
        answer = drive(*HTTP, "--drain-ms", 400, "--count", 5, f"http://127.0.0.1:{listener.getsockname()[1]}/{TOKEN}")
    assert answer["left"] == 5 and answer["drain_ms"] < 2000 and answer["run_ms"] < 200 and answer["send_us"] < 200000
    assert answer["problems"][-1].endswith("not delivered before the command ended")


def test_nobody_listens(receive):
    one = receive()
    url = one.url()
    one.close()
    answer = drive(*HTTP, "--backoff-ms", 50, "--total-ms", 300, "--run-ms", 10000, url)
    assert "it cannot be connected to" in answer["problems"][0] and answer["left"] == 0


def test_a_name_that_does_not_resolve_holds_up_nothing():
    begin = time.monotonic()
    answer = drive("--backoff-ms", 50, "--total-ms", 100, "--run-ms", 3000, "--drain-ms", 100,
                   f"https://nowhere.invalid/{TOKEN}")
    assert time.monotonic() - begin < 6 and answer["gap_ms"] < 250
    assert "its name cannot be resolved" in answer["problems"][0] or "not delivered before" in answer["problems"][-1]


def test_the_queue_is_bounded_and_keeps_the_newest(receive):
    one = receive((200, {}, b"", 0))
    answer = drive(*HTTP, "--count", 200, "--run-ms", 20000, one.url())
    runs = [b["run"] for b in one.bodies]
    assert len(runs) == 32 and runs[-1] == "r199" and answer["left"] == 0
    assert sum("too many wait" in p for p in answer["problems"]) == 1


def test_order_is_kept_over_retries(receive):
    one = receive((500, {}, b"", 0), (200, {}, b"", 0))
    drive(*HTTP, "--count", 3, "--backoff-ms", 50, "--run-ms", 10000, one.url())
    assert [b["run"] for b in one.bodies] == ["r0", "r0", "r1", "r2"]


# --- redirects

@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_within_the_origin_is_followed(receive, status):
    one = receive((status, {"Location": "/other?x=1"}, b"", 0), (200, {}, b"", 0))
    assert drive(*HTTP, "--run-ms", 5000, one.url())["problems"] == []
    assert [g[0] for g in one.got] == [f"/hook/{TOKEN}", "/other?x=1"]
    assert one.bodies[1]["event"] == "failed"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not(receive, status):
    other = receive()
    one = receive((status, {"Location": other.url(f"/{TOKEN}")}, b"", 0))  # another port is another place
    answer = drive(*HTTP, "--run-ms", 5000, one.url())
    assert other.got == [] and len(one.got) == 1
    assert "a redirect to another place, which is not followed" in answer["problems"][0]


def test_a_redirect_by_another_name_of_the_host_is_not(receive):
    one = receive()
    one.answers = [(307, {"Location": f"http://127.0.0.1:{one.server.server_port}/x"}, b"", 0)]
    assert "not followed" in drive(*HTTP, "--run-ms", 5000, one.url())["problems"][0]
    assert len(one.got) == 1


def test_a_redirect_from_https_to_http_is_not(receive, certificates):
    plain = receive()
    one = receive((307, {"Location": plain.url()}, b"", 0), tls=certificates["good"])
    answer = drive("--ca", certificates["good"][0], "--run-ms", 5000, one.url())
    assert plain.got == [] and "not followed" in answer["problems"][0]


def test_redirects_without_end_end(receive):
    one = receive((307, {"Location": "HERE/again"}, b"", 0))
    assert "not followed" in drive(*HTTP, "--run-ms", 5000, one.url())["problems"][0]
    assert len(one.got) == 4


# --- certificates

def test_a_certificate_that_is_trusted(receive, certificates):
    one = receive(tls=certificates["good"])
    assert drive("--ca", certificates["good"][0], "--run-ms", 5000, one.url())["problems"] == []
    assert len(one.got) == 1


def test_a_self_signed_certificate_is_refused(receive, certificates):
    one = receive(tls=certificates["good"])
    answer = drive("--run-ms", 5000, one.url())
    assert one.got == [] and "its certificate is not trusted; given up after 1 try" in answer["problems"][0]


def test_a_certificate_for_another_name_is_refused(receive, certificates):
    one = receive(tls=certificates["other"])
    answer = drive("--ca", certificates["other"][0], "--run-ms", 5000, one.url())
    assert one.got == [] and "its certificate is not trusted" in answer["problems"][0]


def test_http_is_refused_below_the_spec_too(receive):
    one = receive()
    answer = drive("--run-ms", 5000, one.url())
    assert one.got == [] and "its protocol is not allowed" in answer["problems"][0]


# --- texts and secrets

def test_any_bytes_arrive_as_valid_json(receive):
    one = receive()
    text = bytes(range(1, 256))
    drive(*HTTP, "--run-ms", 5000, "--line", os.fsdecode(text), "--reason", os.fsdecode(b'\xff"\\\x1b[31m'), one.url())
    body = one.bodies[0]
    assert "\x1b" not in body["reason"] and '"\\' in body["reason"]
    one.got[0][2].decode("utf-8")


def test_secrets_and_the_url_itself_never_leave(receive):
    one = receive()
    url = one.url()
    drive(*HTTP, "--run-ms", 5000, "--secret", "hunter22", "--line", f"key hunter22 {url} {TOKEN}",
          "--reason", f"posting to {url}", url)
    sent = one.got[0][2]
    assert b"hunter22" not in sent and f"hook/{TOKEN}".encode() not in sent
    assert one.bodies[0]["reason"] == "posting to ***"


# --- libcurl, loaded when it is needed

def test_a_libcurl_that_cannot_be_loaded_is_named(tmp_path):
    (tmp_path / "libcurl.so.4").write_text("no library\n")
    done = subprocess.run([DRIVE, *map(str, HTTP), "http://localhost:1/"], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "libcurl, which sends notifications, cannot be loaded" in done.stderr
    assert str(tmp_path / "libcurl.so.4") in done.stderr
