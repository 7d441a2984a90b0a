"""What a call costs the node, in forks: a bound for each verb, so that they do not creep back."""
import os
import time

import pytest

import pid_namespace
from forks import LITERALS, cost, next_pid

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="counting forks needs process ids of one's own (root)")


def count(node, verb, **values):
    """(forks of one call after the process that it began as, its answer)"""
    forks, _, out = cost(node, node.command(), node.build(verb, **values))
    answer = node.parse(verb, out)
    print(f"{node.shell} {verb} {forks}")
    assert "error" not in answer, answer
    return forks, answer


# dash. Pauses are among them: more where the machine is busy, so the best of some calls counts.
BOUNDS = {"probe": 22, "start": 34, "observe": 4, "stop": 16, "ended": 6, "inventory": 6, "remove": 5}


def count_all(node, attempt):
    job = {"arg": ["/bin/sleep", "300"], "attempt": attempt, "computed": [f"MTLAUNCH_MARK={node.run_id}.{attempt}.0"]}
    forks = {}
    forks["probe"], answer = count(node, "probe", look_job=1, command="sleep", look_port=1, **job)
    assert answer["live"]["total"] == 0
    forks["start"], answer = count(node, "start", **job)
    assert answer["stage"] == "started"
    time.sleep(1)  # the noter's first looks are over
    forks["observe"], answer = count(node, "observe", attempt=attempt)
    assert answer["life"] == "running"
    forks["stop"], answer = count(node, "stop", grace=20, attempt=attempt)
    assert answer["unproven"] is None and answer["survivors"]["total"] == 0
    forks["ended"], answer = count(node, "observe", leftovers=1, attempt=attempt)
    assert answer["life"] == "exited" and answer["scanned"]
    forks["inventory"], answer = count(node, "inventory", literal=LITERALS, attempt=attempt)
    forks["remove"], answer = count(node, "remove", logs=1, attempt=attempt)
    assert answer["removed"]
    return forks


def test_forks_of_each_verb(dash):
    if os.getpid() not in pid_namespace.INSIDE:
        pytest.skip("no PID namespace of one's own can be had")
    dash.artifacts = os.path.join(dash.folder, "artifacts")
    best = dict.fromkeys(BOUNDS, 1000)
    for attempt in range(1, 6):
        forks = count_all(dash, attempt)
        best = {verb: min(forks[verb], best[verb]) for verb in best}
        if all(best[verb] <= BOUNDS[verb] for verb in best):
            break
    assert {verb: number for verb, number in best.items() if number > BOUNDS[verb]} == {}


def test_forks_at_rest(dash):
    """Keeper, noter and watch of a small job: less than one a second, and a third of that after a minute."""
    if os.getpid() not in pid_namespace.INSIDE:
        pytest.skip("no PID namespace of one's own can be had")
    dash.start("/bin/sleep", "300")
    watch = dash.popen("watch")
    time.sleep(5)  # the first looks are over
    before, begun = next_pid(), time.monotonic()
    time.sleep(10)
    forks, seconds = next_pid() - before - 1, time.monotonic() - begun
    watch.kill()
    watch.communicate()
    print(f"{forks} forks in {seconds:.1f} s")
    assert forks <= 0.9 * seconds
