"""Two heads use one run name on the same nodes (S6)."""
from cluster import wait_for


def other_head(lab):
    return {"XDG_STATE_HOME": str(lab.home / "other-head")}


def test_a_name_whose_record_was_removed_is_refused_and_both_heads_say_what_is_true_s6(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "dup", "--no-supervise")
    run_id = lab.status("dup")["run_id"]
    pid = lab.status("dup")["nodes"][0]["pid"]
    lab.node_file("node1", ".mtlaunch", "run_state", "dup_node0.state").unlink()
    for options in ([], ["--no-check"]):
        answer = lab.mt("start", "job.yaml", "dup", "--no-supervise", *options, env=other_head(lab), code=6)
        for word in (run_id, "node1", "user lab", str(pid)):
            assert word in answer.err, (word, answer.err)
    assert len(lab.marked("dup", "node1")) == 1
    status = lab.status("dup")
    assert (status["state"], status["nodes"][0]["reason"]) == ("running", "its state file was removed")
    assert lab.mt("status", "dup", "--json", env=other_head(lab), code=None).json.get("state") != "running"
    lab.mt("remove", "dup", code=6)
    lab.mt("stop", "dup")
    lab.assert_nothing_left()
    wait_for(lambda: not lab.marked("dup", "node1"), "the end", 5)
    lab.mt("start", "job.yaml", "dup", "--no-supervise", env=other_head(lab))
    lab.mt("stop", "dup", env=other_head(lab))
    lab.assert_nothing_left()


def test_a_second_head_is_told_where_the_run_was_started(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "dup", "--no-supervise")
    answer = lab.mt("start", "job.yaml", "dup", "--no-supervise", "--json", env=other_head(lab), code=6)
    head = lab.cluster.run("uname", "-n").stdout.strip()
    assert head and f"started from {head}" in answer.err and f"on {head}: mtlaunch stop dup" in answer.err
    lab.mt("stop", "dup")
    lab.assert_nothing_left()
