# Reads dumps of torch's flight recorder, PREFIXdump_<global rank>, given as arguments. Prints for each a line "d" with
# JSON: {"rank", "groups": [{"name", "ranks", "enqueued", "completed", "op", "place"}]}: how many collectives the rank
# had enqueued and completed, and the one it waits in (or called last) with the innermost frame of the user's program.
# No class is loaded: a pickle that names one is not a dump.
import json
import os
import pickle
import sys


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("it names a class")


def number(value):
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def place(entry):
    foreign = ("/site-packages/", "/dist-packages/", "/lib/python", "<frozen ", "<string>")
    for frame in entry.get("frames") or []:
        name = str(frame.get("filename", ""))
        if not any(part in name for part in foreign):
            return "%s:%s" % (os.path.basename(name), frame.get("line", 0))
    return None


def ranks(value):
    try:
        value = json.loads(value) if isinstance(value, str) else value
        return [int(rank) for rank in value][:65536]
    except (TypeError, ValueError):
        return []


def read(path):
    with open(path, "rb") as file:
        dump = Plain(file).load()
    if isinstance(dump, list):
        dump = {"entries": dump}
    config, status = dump.get("pg_config") or {}, dump.get("pg_status") or {}
    groups, names, pending, last = {}, {}, {}, {}
    for entry in dump.get("entries") or []:
        if entry.get("is_p2p"):
            continue
        name = entry.get("process_group") or ""
        name = str(name[0] if isinstance(name, (list, tuple)) else name)
        names[str(entry.get("pg_id", name))] = name
        group = groups.setdefault(name, {"name": name, "enqueued": -1, "completed": -1})
        sequence = number(entry.get("collective_seq_id", entry.get("seq_id")))
        last[name] = entry
        group["enqueued"] = max(group["enqueued"], sequence)
        if entry.get("state") == "completed" or entry.get("retired"):
            group["completed"] = max(group["completed"], sequence)
        else:
            pending.setdefault(name, entry)
    for key, state in status.items():
        group = groups.get(names.get(str(key), str(key)))
        if group and number(state.get("last_enqueued_collective")) >= 0:
            group["enqueued"] = number(state.get("last_enqueued_collective"))
            group["completed"] = number(state.get("last_completed_collective"))
    for name, group in groups.items():
        entry = pending.get(name) or last[name]
        known = config.get(name) or (list(config.values())[0] if len(config) == 1 else {})
        group["ranks"] = ranks(known.get("ranks"))
        group["op"] = str(entry.get("profiling_name") or "").split(":")[-1][:40] or None
        group["place"] = place(entry)
    return list(groups.values())[:64]


for path in sys.argv[1:]:
    try:
        rank = int(path.rpartition("dump_")[2])
        print("d " + json.dumps({"rank": rank, "groups": read(path)}, separators=(",", ":")))
    except Exception as error:
        print("d " + json.dumps({"file": os.path.basename(path), "error": "%s: %s" % (type(error).__name__, str(error)[:100])}))
