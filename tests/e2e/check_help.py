"""What the tests of `mtlaunch check` share."""


def pair(*ids):
    """Marks a test that shows these checks both failing and passing on real nodes; a test looks for it by its text."""
    assert ids
    return lambda test: test


def put(lab, name, text, nodes=None, mode=0o755):
    path = lab.write(name, text)
    path.chmod(mode)
    lab.cluster.put(str(path), nodes, target=name)


def job(lab, **keys):
    keys.setdefault("hosts", "node1,node2")
    keys.setdefault("program", "true")
    keys.setdefault("launcher", "script")
    lab.job(**keys)


def findings(lab, *options, code=0):
    """All findings of a check, by id."""
    answer = lab.mt("check", "job.yaml", "--json", *options, code=code).json
    assert answer["schema"] == "mtlaunch/1" and answer["ok"] == (answer["ok"] if code is None else code == 0), answer
    found = {}
    for finding in answer["findings"]:
        assert set(finding) == {"id", "severity", "hosts", "folded", "title", "evidence", "remedy"}
        found.setdefault(finding["id"], []).append(finding)
    return found


def only(lab, check, code=0, **keys):
    """The findings of one check, and nothing else is looked at."""
    job(lab, **keys)
    found = findings(lab, "--only", check, code=code)
    assert set(found) == {check}, found
    return found[check]


def bad(found):
    """[(severity, folded hosts, title)] of what is not well."""
    return [(f["severity"], f["folded"], f["title"]) for f in found if f["severity"] != "ok"]


SMI = """#!/bin/sh
case $* in
*query-gpu*) {gpus} ;;
*query-compute*) {apps} ;;
-L) echo 'GPU 0: H200' ;;
esac
"""


def smi(lab, nodes=None, gpus="echo '0, 4, 143771, 0, 550.54, NVIDIA H200'", apps=":"):
    """Put a stand-in for nvidia-smi into the nodes' ~/bin."""
    put(lab, "bin/nvidia-smi", SMI.format(gpus=gpus, apps=apps), nodes)
