"""What no machine of the tests has: podman, sudo, engines that misbehave. Stand-ins on the head's PATH check how they
are called; the head itself is the only node."""
import json

import pytest

# An engine that "enters" by running the words here. It notes every call, and does what ~/engine.MODE says.
ENGINE = r"""#!/bin/sh
printf '%s %s\n' "${0##*/}" "$*" >>"$HOME/calls"
mode=$(cat "$HOME/mode" 2>/dev/null)
case $1.$mode in
inspect.denied) echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1 ;;
inspect.down) echo 'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?' >&2; exit 1 ;;
inspect.odd) echo 'what?'; exit 0 ;;
inspect.*)
    [ "$2" = -f ] || exit 64
    [ "$4" = c1 ] || [ "$4" = id1 ] || { echo "Error: no such object: \"$4\"" >&2; exit 125; }
    echo 'WARNING: something that does not matter' >&2
    echo 'mt:id1|running|2026-01-01 10:00:00.1 +0000 UTC' ;;
exec.oci) echo 'OCI runtime exec failed: exec failed: "/bin/sh": no such file' >&2; exit 126 ;;
exec.workdir) echo 'OCI runtime exec failed: chdir to cwd ("/x") set in config.json failed: no such file' >&2; exit 126 ;;
exec.*)
    shift
    while [ "${1#/bin/sh}" = "$1" ]; do
        case $1 in -t | -it | -ti | --tty) exit 64 ;; esac
        shift
    done
    exec "$@" ;;
ps.*) echo c1 ;;
*) exit 64 ;;
esac
"""
SUDO = r"""#!/bin/sh
printf 'sudo %s\n' "$*" >>"$HOME/calls"
[ "$1" = -n ] || exit 64
[ ! -e "$HOME/password" ] || { echo 'sudo: a password is required' >&2; exit 1; }
shift
exec "$@"
"""


@pytest.fixture
def standins(lab):
    for name, text in (("docker", ENGINE), ("podman", ENGINE), ("sudo", SUDO)):
        lab.write("fake/" + name, text).chmod(0o755)
    lab.path = {"PATH": f"{lab.home}/fake:{lab.cluster.dir}/bin:/usr/bin:/bin"}
    return lab


def start(lab, code=0, **container):
    lab.job(hosts="localhost", container={"name": "c1", **container}, program=["sh", "-c", "echo in; exec sleep 600"])
    return lab.mt("start", "job.yaml", "r", "--no-supervise", "--json", code=code, env=lab.path)


def calls(lab):
    return (lab.home / "calls").read_text().splitlines()


@pytest.mark.parametrize("container, entered", [
    ({"engine": "docker"}, "docker exec -i c1 /bin/sh -s"),
    ({"engine": "podman", "user": "lab"}, "podman exec -i -u lab c1 /bin/sh -s"),
    ({"sudo": True}, "sudo -n docker exec -i c1 /bin/sh -s")])
def test_how_engines_are_called(standins, container, entered):
    assert start(standins, **container).json["state"] == "running"
    assert standins.mt("logs", "r", env=standins.path).out == "localhost: in\n"
    standins.mt("stop", "r", env=standins.path)
    assert entered in calls(standins)
    assert {line for line in calls(standins) if " exec " in line and not line.startswith("sudo")} == {
        entered.removeprefix("sudo -n ")}
    assert not [line for line in calls(standins) if "MTLAUNCH" in line]


def test_a_plan_shows_ssh_and_engine(standins):
    standins.job(hosts="node1", container={"name": "c1", "user": "u", "sudo": True}, program=["true"])
    node = standins.mt("start", "job.yaml", "r", "--dry-run", "--json").json["nodes"][0]
    assert node["container"] == "c1" and node["command"] == ["true"]
    assert "ssh " in node["shell"] and "sudo -n docker exec -i -u u c1 /bin/sh -c " in node["shell"]
    assert standins.mt("start", "job.yaml", "r", "--dry-run", "--json", "--set", "container=null").json["nodes"][0][
        "container"] is None
    answer = standins.mt("start", "job.yaml", "r", "--dry-run", "--json", env={"CONTAINER_NAME": "other"})
    assert answer.json["nodes"][0]["container"] == "other" and "CONTAINER_NAME=other" in answer.err


@pytest.mark.parametrize("mode, kind", [
    ("denied", "docker-permission"), ("down", "engine-missing"), ("odd", "container-failed"),
    ("oci", "container-failed"), ("workdir", "workdir-missing")])
def test_what_an_engine_says(standins, mode, kind):
    standins.write("mode", mode)
    answer = start(standins, code=4)
    assert answer.error["kind"] == kind and answer.error["hint"]


def test_sudo_that_wants_a_password(standins):
    standins.write("password", "")
    answer = start(standins, code=4, sudo=True)
    assert answer.error["kind"] == "sudo-needs-password"
    assert answer.seconds < 20


def test_an_engine_that_goes_away_leaves_a_stop_unproven(standins):
    assert start(standins).json["state"] == "running"
    standins.write("mode", "down")
    status = json.loads(standins.mt("status", "r", "--json", code=3, env=standins.path).out)
    assert status["nodes"][0]["state"] == "lost"
    standins.mt("stop", "r", code=7, env=standins.path)
    standins.write("mode", "")
    standins.mt("stop", "r", code=0, env=standins.path)


def leave_pending(lab):
    """A run in a container was given up while its engine was down; the engine is up again."""
    assert start(lab).json["state"] == "running"
    lab.write("mode", "down")
    lab.mt("stop", "r", "--give-up", code=7, env=lab.path)
    lab.write("mode", "")
    return len(calls(lab))


def record_path(lab):
    return lab.home / ".local/state/mtlaunch/runs/r/run.json"


def debts(lab):
    return json.loads(record_path(lab).read_text())["debts"]


def test_a_debt_is_paid_inside_its_container_s8(standins):
    before = leave_pending(standins)
    assert debts(standins)[0]["place"] == {"container": "c1", "engine": "docker", "sudo": False, "user": None,
                                           "id": "id1", "started": "2026-01-01 10:00:00.1 +0000 UTC"}
    standins.write("mode", "down")
    standins.mt("status", "r", env=standins.path, code=None)
    assert len(debts(standins)) == 1, "an engine that does not answer proves nothing"
    standins.write("mode", "")
    standins.mt("status", "r", env=standins.path)
    assert debts(standins) == []
    assert any(" exec -i c1 " in line for line in calls(standins)[before:])
    standins.assert_nothing_left()


def test_a_debt_goes_with_the_attempt_and_not_with_the_spec_s8(standins):
    """The next attempt runs without a container; the pending cleanup still happens inside."""
    leave_pending(standins)
    standins.write("mode", "down")
    standins.job(hosts="localhost", program=["true"])
    standins.mt("start", "job.yaml", "r", "--no-supervise", env=standins.path, code=None)
    assert len(debts(standins)) == 1
    before = len(calls(standins))
    standins.write("mode", "")
    standins.mt("status", "r", env=standins.path, code=None)
    standins.mt("status", "r", env=standins.path, code=None)
    assert debts(standins) == []
    assert any(" exec -i c1 " in line for line in calls(standins)[before:])
    standins.mt("stop", "r", env=standins.path)
    standins.assert_nothing_left()


def test_a_debt_of_an_earlier_version_is_not_paid_blindly_s8(standins):
    before = leave_pending(standins)
    record = json.loads(record_path(standins).read_text())
    for key in ("place", "reach"):
        record["debts"][0].pop(key)
    record_path(standins).write_text(json.dumps(record))
    answer = standins.mt("status", "r", env=standins.path)
    assert "does not name its container" in answer.err and "remove r" in answer.err, answer.err
    assert len(debts(standins)) == 1 and calls(standins)[before:] == []
    answer = standins.mt("stop", "r", env=standins.path, code=7)
    assert "does not name its container" in answer.err
    assert len(debts(standins)) == 1
    record["debts"] = []
    record_path(standins).write_text(json.dumps(record))
    standins.mt("stop", "r", env=standins.path)
    standins.assert_nothing_left()


def test_push_and_pull_inside(standins):
    """The container's own folders: its workdir is where relative paths are."""
    lab = standins
    lab.job(hosts="localhost", container={"name": "c1", "workdir": str(lab.home / "inside")}, program=["true"])
    lab.write("src/code.txt", "one")
    answer = lab.mt("push", "src/", "code", "--job", "job.yaml", "--json", env=lab.path).json["hosts"][0]
    assert (answer["files_sent"], answer["error"]) == (1, None)
    assert (lab.home / "inside" / "code" / "code.txt").read_text() == "one"
    assert any(line.startswith("docker exec -i c1 /bin/sh") for line in calls(lab))
    lab.mt("pull", "code/code.txt", "here", "--job", "job.yaml", env=lab.path)
    assert [p.read_text() for p in (lab.home / "here").rglob("code.txt")] == ["one"]
    lab.write("mode", "down")
    failed = lab.mt("push", "src/", "code", "--job", "job.yaml", "--json", code=4, env=lab.path)
    assert failed.json["hosts"][0]["error"]["kind"] == "engine-missing"
