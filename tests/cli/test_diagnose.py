"""`diagnose --logs`: cause, facts and figures of log files, without any node."""
import json
import shutil

import pytest
from conftest import ROOT

HEALTHY = ROOT / "tests/data/logs/healthy"


def diagnose(cli, *files):
    done = cli.mt("diagnose", "--logs", *files, "--json")
    return json.loads(done.stdout)


@pytest.mark.parametrize("name, iteration, total, loss", [("hf", 60, 60, 6.88), ("zero2", 8, 8, 9.768274)])
def test_a_healthy_run_has_figures_and_no_cause(cli, name, iteration, total, loss):
    files = [HEALTHY / f"{name}_node{i}.log" for i in range(2)]
    answer = diagnose(cli, *files)
    assert answer["cause"] is None
    progress = answer["facts"]["progress"]
    assert (progress["iteration"], progress["total"]) == (iteration, total)
    assert progress["loss"] == pytest.approx(loss)
    text = cli.mt("diagnose", "--logs", *files).stdout
    assert text.startswith("no failure found\n") and f"iteration {iteration}/{total} (100 %)" in text


def test_figures_come_from_the_end_of_a_log_of_any_size(cli, tmp_path):
    log = tmp_path / "node0.log"
    shutil.copy(HEALTHY / "hf_node0.log", log)
    with log.open("a") as out:
        for step in range(1, 60001):
            out.write(f"step {step}/60000 loss {step}.5 0.250 s/step, and words to make the line longer: {'x' * 40}\n")
    progress = diagnose(cli, log)["facts"]["progress"]
    assert progress == progress | {"iteration": 60000, "total": 60000, "loss": 60000.5, "step_time": 0.25}
