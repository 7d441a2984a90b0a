"""A start on nodes where other runs live says whose they are (U6)."""
import pytest

from test_restart import spare_job


def warnings(answer):
    return [line for line in answer.err.splitlines() if "is running there too" in line]


def named(lab, run, hosts):
    return f"mtlaunch: warning: {hosts}: run '{run}' of user '{lab_user(lab)}' is running there too"


def lab_user(lab):
    return lab.cluster.exec("node1", "id -un", check=True).stdout.strip()


def test_a_run_on_the_same_nodes_u6(lab):
    lab.job(hosts="node[1-3]", name="other.yaml")
    assert not warnings(lab.mt("start", "other.yaml", "other"))
    lab.job(hosts="node1,node3,node4", name="more.yaml", artifacts="~/elsewhere")
    assert warnings(lab.mt("start", "more.yaml", "more", "--no-check")) == [named(lab, "other", "node[1,3]")]
    lab.job(hosts="node[1-4]")
    answer = lab.mt("start", "job.yaml", "r", "--json")
    assert sorted(warnings(answer)) == sorted([named(lab, "other", "node[1-3]"), named(lab, "more", "node[1,3-4]")])
    assert answer.json["state"] == "running"
    for run in "other", "more", "r":
        lab.mt("stop", run)
    assert not warnings(lab.mt("start", "job.yaml", "r"))
    lab.mt("stop", "r")
    lab.assert_nothing_left()


def test_once_although_a_spare_is_taken_u6(lab):
    lab.job(hosts="node1", name="other.yaml")
    lab.mt("start", "other.yaml", "other")
    spare_job(lab)
    lab.cluster.stop_sshd("node2")
    assert warnings(lab.mt("start", "job.yaml", "r")) == [named(lab, "other", "node1")]
    for run in "other", "r":
        lab.mt("stop", run)


@pytest.mark.parametrize("nested", [True, False])
def test_not_for_the_run_it_is_started_in_u6(lab, nested):
    lab.job(hosts="node1", name="outer.yaml")
    lab.mt("start", "outer.yaml", "outer")
    (process,) = [p for p in lab.marked("outer", "node1") if p.argv[:1] == ["sleep"]]
    lab.job(hosts="node1")
    env = {k: v for k, v in process.environ.items() if k.startswith("MTLAUNCH_R")} if nested else {}
    assert warnings(lab.mt("start", "job.yaml", "r", env=env)) == ([] if nested else [named(lab, "outer", "node1")])
    for run in "r", "outer":
        lab.mt("stop", run)
