"""What the flight recorders of the ranks wrote: read by a Python of the node, whatever the files are."""
import json
import os
import pickle
import shutil
import time
from pathlib import Path

DUMPS = Path(__file__).resolve().parents[1] / "data" / "dumps"


def put(node, files):
    folder = Path(node.file("log")).parents[1] / "run_state" / "r_node0.fr"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def read(node, **values):
    out, _, _ = node.raw("grep", literal=["zzz"], **values)
    _, body = node.parse("grep", out)
    records = body.decode().splitlines()
    assert records[-1].startswith("0 ")
    return [json.loads(record[2:]) for record in records[:-1] if record.startswith("d ")]


def start(node):
    node.start("/bin/true")
    node.wait_ended()


def test_real_dumps(node):
    start(node)
    put(node, {f"dump_{rank}": (DUMPS / f"dump_{rank}").read_bytes() for rank in range(4)})
    found = read(node)
    if node.shell == "busybox":  # its PATH holds no Python
        assert [d["error"] for d in found] == ["there is no Python to read it"]
        return
    told = {d["rank"]: {g["name"]: (g["enqueued"], g["completed"], g["place"]) for g in d["groups"]} for d in found}
    assert told == {
        0: {"0": (5, 4, "train.py:18"), "1": (5, 5, "train.py:17")}, 1: {"0": (5, 4, "train.py:18"), "1": (5, 5, "train.py:17")},
        2: {"0": (4, 4, "train.py:14"), "2": (5, 4, "train.py:17")}, 3: {"0": (4, 4, "train.py:14"), "2": (4, 4, "train.py:13")}}
    assert {g["op"] for d in found for g in d["groups"]} == {"all_reduce"}


def test_the_form_of_nccl_and_of_earlier_versions(dash):
    entry = {"pg_id": 1, "process_group": ("7", "tp"), "collective_seq_id": 26, "profiling_name": "nccl:all_gather", "state": "started",
             "retired": False, "is_p2p": False, "frames": [{"name": "f", "filename": "/x/site-packages/torch/a.py", "line": 1},
                                                           {"name": "g", "filename": "/apps/train.py", "line": 88}]}
    older = {"pg_id": 0, "seq_id": 3, "profiling_name": "nccl:all_reduce", "state": "scheduled", "process_group": "0"}
    start(dash)
    put(dash, {
        "dump_12": pickle.dumps({"version": "2.10", "pg_config": {"7": {"name": "7", "desc": "tp", "ranks": "[8, 12]"}},
                                 "pg_status": {"1": {"last_enqueued_collective": 26, "last_completed_collective": 25}},
                                 "entries": [dict(entry, collective_seq_id=25, state="completed"), entry, dict(entry, is_p2p=True, collective_seq_id=99)]}),
        "dump_3": pickle.dumps([older])})
    assert read(dash) == [
        {"rank": 12, "groups": [{"name": "7", "enqueued": 26, "completed": 25, "ranks": [8, 12], "op": "all_gather", "place": "train.py:88"}]},
        {"rank": 3, "groups": [{"name": "0", "enqueued": 3, "completed": -1, "ranks": [], "op": "all_reduce", "place": None}]}]


class Harmful:
    def __reduce__(self):
        return os.system, ("touch harmed",)


def test_what_is_no_dump_does_no_harm(dash):
    start(dash)
    folder = put(dash, {"dump_0": pickle.dumps(Harmful()), "dump_1": b"", "dump_2": b"\x80\x02garbage", "dump_x": b"x", "dump_4": pickle.dumps(7),
                        "dump_5": pickle.dumps({"entries": [{"process_group": 5, "frames": 7}]}), "dump_6": (DUMPS / "dump_0").read_bytes()[:900]})
    (folder / "dump_7").symlink_to(DUMPS / "dump_0")
    os.mkfifo(folder / "dump_8")
    found = read(dash)
    assert [d.get("file") for d in found] == ["dump_0", "dump_2", "dump_4", "dump_5", "dump_6"]
    assert "names a class" in found[0]["error"] and not list(Path(dash.folder).rglob("harmed"))


def test_a_python_that_hangs_costs_ten_seconds(dash):
    start(dash)
    put(dash, {"dump_0": (DUMPS / "dump_0").read_bytes()})
    slow = Path(dash.folder) / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    begun = time.monotonic()
    assert read(dash, python=str(slow)) == [{"file": "dump_*", "error": "reading it took more than 10 seconds"}]
    assert time.monotonic() - begun < 30
    assert [d["rank"] for d in read(dash, python=shutil.which("python3"))] == [0]
