"""Failures whose remedy is known: the reason is one line, and a hint beside it says what to do."""

LIBUV = "RuntimeError: use_libuv was requested but PyTorch was build without libuv support"
REASON = "node1 (node 0): this PyTorch was built without libuv, which torchrun asks for"


def test_u23_a_torch_without_libuv_is_told_what_to_set(lab):
    lab.job(hosts="node1,node2", program=["sh", "-c", f"sleep 2; [ $NODE_RANK = 0 ] || exec sleep 600; echo '{LIBUV}' >&2; seq 8; exit 1"])
    lab.mt("start", "job.yaml", "r")
    answer = lab.mt("wait", "r", code=1)
    assert answer.err.splitlines()[-2] == f"mtlaunch: run 'r' failed: {REASON}", answer.err
    assert answer.err.splitlines()[-1].startswith("  hint: set USE_LIBUV=0")
    status = lab.status("r")
    assert status["reason"] == REASON == status["attempts"][0]["reason"]
    assert [e["text"] for e in status["events"] if e["event"] == "failed"] == [REASON]
    assert "\nhint: set USE_LIBUV=0" in lab.mt("status", "r", code=1).out
    assert lab.mt("logs", "r", "-f").err.splitlines()[-1].startswith("  hint: set USE_LIBUV=0")


def test_u23_also_when_it_fails_at_once(lab):
    lab.job(hosts="node1", program=["sh", "-c", f"echo '{LIBUV}' >&2; exit 1"])
    assert lab.mt("start", "job.yaml", "r", "--json", code=1).json["reason"] == REASON
    assert "hint: set USE_LIBUV=0" in lab.mt("start", "job.yaml", "r2", code=1).err


def test_an_exception_at_once_is_ranked_as_later(lab):
    """Both nodes end within the first second; the one with the exception is the cause, wherever it stands in its log."""
    trace = "import torch_is_not_there_w1"
    lab.job(hosts="node1,node2", stop={"grace": "1s"},
            program=["sh", "-c", "[ $NODE_RANK = 1 ] || { echo '[../gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:9'; exit 1; }; "
                     f"python3 -c '{trace}'; seq 100; exit 1"])
    answer = lab.mt("start", "job.yaml", "r", code=1)
    status = lab.status("r")
    assert status["reason"] == "node2 (node 1): ModuleNotFoundError: No module named 'torch_is_not_there_w1'", status["reason"]
    assert f"run 'r' failed: {status['reason']}\n" in answer.err and "hint: python3 -m pip list" in answer.err


def test_an_unknown_failure_has_no_hint(lab):
    lab.job(hosts="node1", program=["sh", "-c", "sleep 2; echo 'ValueError: libuv USE_LIBUV=1'; exit 1"])
    lab.mt("start", "job.yaml", "r")
    assert "hint" not in lab.mt("wait", "r", code=1).err
