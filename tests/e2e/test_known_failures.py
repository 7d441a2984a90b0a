"""Failures whose remedy is known: the reason and the hint say what to do."""

LIBUV = "RuntimeError: use_libuv was requested but PyTorch was build without libuv support"


def test_u23_a_torch_without_libuv_is_told_what_to_set(lab):
    lab.job(hosts="node1,node2", program=["sh", "-c", f"sleep 2; echo Traceback; echo '{LIBUV}' >&2; seq 8; exit 1"])
    lab.mt("start", "job.yaml", "r")
    answer = lab.mt("wait", "r", code=1)
    assert "built without libuv" in answer.err and "hint:" in answer.err and "USE_LIBUV=0" in answer.err
    assert "USE_LIBUV=0" in lab.status("r")["reason"]
    assert "USE_LIBUV=0" in lab.mt("status", "r", code=1).out


def test_u23_also_when_it_fails_at_once(lab):
    lab.job(hosts="node1", program=["sh", "-c", f"echo '{LIBUV}' >&2; exit 1"])
    reason = lab.mt("start", "job.yaml", "r", "--json", code=1).json["reason"]
    assert LIBUV in reason and "USE_LIBUV=0" in reason


def test_an_unknown_failure_has_no_hint(lab):
    lab.job(hosts="node1", program=["sh", "-c", "sleep 2; echo 'ValueError: libuv USE_LIBUV=1'; exit 1"])
    lab.mt("start", "job.yaml", "r")
    assert "hint" not in lab.mt("wait", "r", code=1).err
