"""Webhooks are told what happens to a run, and nothing of what is secret; a dead one holds nobody up."""
import json
import signal
import socket
import time

import pytest
from cluster import wait_for
from conftest import HERE, kill_quietly

TOKEN = "T0KEN-5eecre7"


@pytest.fixture
def receiver(lab):
    """A receiver on the head; its url and what it got."""
    lab.write("receiver.py", (HERE / "programs" / "receiver.py").read_bytes())
    process = lab.cluster.popen("python3", "receiver.py", "got", cwd=lab.home, text=True)
    port = int(process.stdout.readline())

    class Receiver:
        url = f"http://127.0.0.1:{port}/{TOKEN}"

        @staticmethod
        def got():
            file = lab.home / "got"
            return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

        @staticmethod
        def wait_for(*events):
            wait_for(lambda: [b["event"] for b in Receiver.got()] == list(events), f"{events}, not {Receiver.got()}", 20)

    yield Receiver
    kill_quietly(process.pid, signal.SIGKILL)
    process.wait()


def target(url, *events, **more):
    return [{"url": url, "on": list(events), "allow_http": True, **more}]


def test_started_finished_failed_stopped(lab, receiver):
    notify = target(receiver.url, "started", "finished", "failed", "stopped")
    lab.job("ok.yaml", hosts="node1,node2", program="true", notify=notify)
    lab.mt("start", "ok.yaml", "ok", "--wait")
    receiver.wait_for("started", "finished")
    lab.job("bad.yaml", hosts="node1,node2", notify=notify, env={"MY_TOKEN": "hunter22"},
            program="[ $NODE_RANK = 0 ] && exec sleep 600; sleep 2; echo $MY_TOKEN; exit 3")
    lab.mt("start", "bad.yaml", "bad", "--wait", code=1)
    receiver.wait_for("started", "finished", "started", "failed")
    failed = receiver.got()[-1]
    assert (failed["run"], failed["exit_status"], failed["hosts"]) == ("bad", 3, ["node2"])
    lab.job("long.yaml", hosts="node1", notify=notify)
    lab.mt("start", "long.yaml", "long")
    lab.mt("stop", "long")
    receiver.wait_for("started", "finished", "started", "failed", "started", "stopped")
    assert "hunter22" not in (lab.home / "got").read_text() and TOKEN not in (lab.home / "got").read_text()


def test_a_failure_is_told_of_the_node_with_its_cause(lab, receiver):
    """node1 ends first, by the loss of its peer; node2 has the exception."""
    lab.job(hosts="node1,node2", notify=target(receiver.url, "failed"), stop={"grace": "1s"},
            program=["sh", "-c", "sleep 2; [ $NODE_RANK = 1 ] || { echo '[../gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:9'; exit 1; }; "
                     "sleep 1; python3 -c 'raise ValueError(7)'; exit 1"])
    lab.mt("start", "job.yaml", "r", "--wait", code=1)
    receiver.wait_for("failed")
    (failed,) = receiver.got()
    assert failed["hosts"] == ["node2"] and failed["reason"].startswith("node2 (node 1): ValueError: 7"), failed
    assert "\n" not in failed["reason"]


def test_only_what_was_asked_for(lab, receiver):
    lab.job(hosts="node1", program="true", notify=target(receiver.url, "failed"))
    lab.mt("start", "job.yaml", "r", "--wait")
    assert receiver.got() == []


def test_the_url_is_kept_for_later_commands_only_and_nowhere_shown(lab, receiver):
    lab.job(hosts="node1", notify=target(receiver.url, "stopped"))
    lab.mt("start", "job.yaml", "r")
    folder = lab.home / ".local/state/mtlaunch/runs/r"
    kept = folder / "notify"
    assert TOKEN in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600
    assert TOKEN not in (folder / "run.json").read_text() + (folder / "events.jsonl").read_text()
    answers = [lab.mt("status", "r", "--json"), lab.mt("start", "job.yaml", "x", "--dry-run", "--json"), lab.mt("stop", "r", "-v")]
    assert all(TOKEN not in a.out + a.err for a in answers)
    receiver.wait_for("stopped")
    assert not kept.exists()


def test_a_dead_receiver_holds_nobody_up(lab):
    with socket.socket() as unused:  # on the head's own loopback nobody listens there
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/{TOKEN}"
    lab.job(hosts="node1", program="true", notify=target(url, "started", "finished"))
    begin = time.monotonic()
    answer = lab.mt("start", "job.yaml", "r", "--wait")
    assert time.monotonic() - begin < 20
    assert "http://127.0.0.1:" in answer.err and "not delivered before the command ended" in answer.err
    assert TOKEN not in answer.err + answer.out


def test_http_is_refused_with_its_place(lab):
    lab.write("job.yaml", "program: x\nlauncher: script\nnotify:\n  - url: http://h/T0KEN\n")
    error = lab.mt("start", "job.yaml", "r", "--json", code=2).error
    assert (error["line"], error["column"]) == (4, 10) and "expected https" in error["message"]
