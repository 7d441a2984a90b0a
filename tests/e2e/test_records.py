"""`remove --artifacts` clears the run's files on the nodes and nothing else; `list` shows what was asked for."""


def files(lab, node, folder=".mtlaunch"):
    """Every file below a node's artifacts with its content."""
    root = lab.node_file(node, folder)
    return {str(f.relative_to(root)): f.read_bytes() for f in root.rglob("*") if f.is_file()}


def ended(lab, run, **keys):
    lab.job(f"{run}.yaml", **{"program": "echo of $MTLAUNCH_RUN", **keys})
    lab.mt("start", f"{run}.yaml", run, "--wait")


def test_artifacts_of_others_stay(lab):
    ended(lab, "a_node1", hosts="node1,node2")
    ended(lab, "a_node1.log", hosts="node1")
    before = {n: files(lab, n) for n in ("node1", "node2")}
    for node in before:
        lab.node_file(node, ".mtlaunch", "logs", "a_node0.log.bak").write_text("mine")
        lab.node_file(node, ".mtlaunch", "checkpoints").mkdir()
        lab.node_file(node, ".mtlaunch", "checkpoints", "a_node0.pt").write_text("weights")
        before[node] = files(lab, node)
    ended(lab, "a", hosts="node1,node2")
    ended(lab, "a", hosts="node2,node1")  # the second attempt: ranks change places
    assert len(files(lab, "node1")) > len(before["node1"])
    assert lab.mt("remove", "a", "--artifacts", "--json").json["removed"] is True
    assert {n: files(lab, n) for n in before} == before
    lab.mt("status", "a", code=6)
    lab.mt("logs", "a_node1")


def test_without_artifacts_the_files_stay(lab):
    ended(lab, "a", hosts="node1")
    before = files(lab, "node1")
    lab.mt("remove", "a")
    assert files(lab, "node1") == before
    ended(lab, "a", hosts="node1")  # another run of that name
    lab.mt("remove", "a", "--artifacts")


def test_an_unreachable_node_keeps_the_record(lab):
    ended(lab, "a", hosts="node1,node2")
    lab.cluster.cut("node2")
    error = lab.mt("remove", "a", "--artifacts", "--connect-timeout", "2s", "--json", code=3).error
    assert "was kept" in error["message"] and error["hosts"] == ["node2"]
    assert lab.status("a")["state"] == "finished" and files(lab, "node2")
    lab.cluster.restore("node2")
    lab.mt("remove", "a", "--artifacts")
    assert not files(lab, "node1") and not files(lab, "node2")


def test_a_live_run_is_refused(lab):
    lab.job(hosts="node1", program=["sleep", "600"])
    lab.mt("start", "job.yaml", "a")
    before = files(lab, "node1")
    assert "'a' is running" in lab.mt("remove", "a", "--artifacts", code=6).err
    assert set(files(lab, "node1")) >= set(before) - {"run_state/a_node0.seen"}
    lab.mt("stop", "a")


def test_a_leftover_keeps_files_and_record(lab):
    ended(lab, "a", hosts="node1")
    run_id = lab.status("a")["run_id"]
    lab.cluster.exec("node1", f"MTLAUNCH_MARK={run_id}.1.0 setsid -f sleep 999 </dev/null >/dev/null 2>&1", check=True)
    before = files(lab, "node1")
    answer = lab.mt("remove", "a", "--artifacts", code=7)
    assert "still running" in answer.err and files(lab, "node1") == before
    lab.mt("stop", "a")
    lab.mt("remove", "a", "--artifacts")
    assert not files(lab, "node1")


def test_files_of_another_run_of_that_name_stay(lab):
    ended(lab, "a", hosts="node1")
    state = lab.node_file("node1", ".mtlaunch", "run_state", "a_node0.state")
    state.write_text(state.read_text().replace(f"run_id={lab.status('a')['run_id']}", "run_id=a-00000000"))
    before = files(lab, "node1")
    assert "another run of this name" in lab.mt("remove", "a", "--artifacts").err
    assert files(lab, "node1") == before


def test_hosts_of_earlier_attempts_that_are_not_recorded_are_named(lab):
    ended(lab, "a", hosts="node1,node2")
    ended(lab, "a", hosts="node1")
    assert "node2" in lab.mt("remove", "a", "--artifacts").err
    assert not files(lab, "node1") and files(lab, "node2")


def test_list_filters(lab):
    ended(lab, "good", hosts="node1", job="one")
    lab.job("bad.yaml", hosts="node1", program="exit 3", job="two")
    lab.mt("start", "bad.yaml", "bad", "--wait", code=1)
    lab.job("long.yaml", hosts="node1", program=["sleep", "600"], job="one")
    lab.mt("start", "long.yaml", "long")

    def names(*words):
        return [r["run"] for r in lab.mt("list", *words, "--json").json["runs"]]

    assert names() == ["bad", "good", "long"]
    assert names("--state", "failed") == ["bad"]
    assert names("--state", "live") == ["long"] and names("--state", "ended") == ["bad", "good"]
    assert names("--job", "one") == ["good", "long"] and names("--job", "one", "--state", "finished") == ["good"]
    assert names("--job", "none") == []
    answer = lab.mt("list", "--state", "lost")
    assert answer.out == "" and "no such runs" in answer.err
    assert "finished" in lab.mt("list", "--state", "finishd", code=2).err
    lab.mt("stop", "long")
