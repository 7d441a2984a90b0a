"""signal: a checkpoint now, on every node or on one, and nothing else changes (U22)."""
import time

from cluster import wait_for

CATCH = ["sh", "-c", "trap 'echo checkpoint' USR1; echo ready; while :; do sleep 0.1; done"]


def start(lab, run, hosts="node1,node2", program=None, **keys):
    lab.job(run + ".yaml", hosts=hosts, program=program or CATCH, stop={"grace": "2s"}, **keys)
    lab.mt("start", run + ".yaml", run)
    wait_for(lambda: logs(lab, run).count("ready") == len(hosts.split(",")), "the traps", 20)


def logs(lab, run):
    return lab.mt("logs", run).out


def test_every_node_gets_it_and_the_run_goes_on(lab):
    start(lab, "sig")
    sent = lab.mt("signal", "sig", "usr1")
    assert sent.out == "node[1-2]: sent SIGUSR1\n"
    wait_for(lambda: logs(lab, "sig").count("checkpoint") == 2, "both traps", 10)
    status = lab.status("sig")
    assert status["state"] == "running"
    assert [e["text"] for e in status["events"] if e["event"] == "signal"] == ["SIGUSR1 sent on node[1-2]"]
    lab.mt("stop", "sig")
    lab.assert_nothing_left()


def test_one_node_by_number_or_host_and_json(lab):
    start(lab, "sig")
    answer = lab.mt("signal", "sig", "SIGUSR1", "--node", "1", "--json").json
    (host,) = answer["hosts"]
    assert (answer["run"], answer["signal"]) == ("sig", "USR1")
    assert host["host"] == "node2" and host["rank"] == 1 and host["sent"] and host["error"] is None
    assert host["pid"] == lab.status("sig")["nodes"][1]["pid"]
    lab.mt("signal", "sig", "USR1", "--node", "node2")
    wait_for(lambda: logs(lab, "sig").count("node2: checkpoint") == 2, "the trap", 10)
    assert "node1: checkpoint" not in logs(lab, "sig")
    lab.mt("stop", "sig")


def test_wrong_words(lab):
    start(lab, "sig", hosts="node1")
    for words, code, text in (
            (("sig", "USR3"), 2, "unknown signal 'USR3'"), (("sig", "0"), 2, "unknown signal '0'"),
            (("sig",), 2, "RUN and NAME"), (("sig", "USR1", "--node", "node9"), 2, "no node 'node9'"),
            (("nosuch", "USR1"), 6, "no run 'nosuch'")):
        refused = lab.mt("signal", *words, code=code)
        assert text in refused.err, refused.err
    lab.mt("stop", "sig")
    ended = lab.mt("signal", "sig", "USR1", "--json", code=6)
    assert ended.json["error"]["kind"] == "run-over"
    assert "run 'sig' is stopped" in ended.err


def test_a_node_that_cannot_be_reached(lab):
    start(lab, "sig")
    lab.cluster.cut("node2")
    answer = lab.mt("signal", "sig", "USR1", "--json", "--connect-timeout", "3", code=3)
    lab.cluster.restore("node2")
    one, two = answer.json["hosts"]
    assert one["sent"] and not two["sent"] and two["error"]
    assert answer.json["error"]["hosts"] == ["node2"]
    lab.mt("stop", "sig")


def test_nodes_that_have_ended_are_passed_over_unless_named(lab):
    program = ["sh", "-c", "[ $NODE_RANK = 0 ] || exit 0; " + CATCH[2]]
    lab.job("sig.yaml", hosts="node1,node2", program=program, stop={"grace": "2s"})
    lab.mt("start", "sig.yaml", "sig")
    wait_for(lambda: "ready" in logs(lab, "sig"), "the trap", 20)
    time.sleep(1)
    assert lab.mt("signal", "sig", "USR1").out == "node1: sent SIGUSR1\n"
    named = lab.mt("signal", "sig", "USR1", "--node", "1", code=6)
    assert "does not run there any more" in named.err
    lab.mt("stop", "sig")
