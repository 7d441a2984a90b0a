"""metrics: a real Prometheus scrapes the metrics of a real torchrun training."""
import json
import signal

from cluster import kill_quietly, wait_for
from conftest import TORCH_ENV

CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: mtlaunch
    honor_labels: true
    static_configs: [{targets: ["127.0.0.1:9464"]}]
"""


SMI = """#!/bin/sh
case $1 in
-L) echo 'GPU 0: NVIDIA H200 (UUID: GPU-0)'; echo 'GPU 1: NVIDIA H200 (UUID: GPU-1)' ;;
--query-gpu=index,util*) echo '0, 90, 40960, 143771'; echo '1, 70, 20480, 143771' ;;
*) exit 1 ;;
esac
"""


class Scraper:
    """mtlaunch metrics and a Prometheus that scrapes it, both on the head."""

    def __init__(self, lab):
        self.lab = lab
        lab.write("prometheus.yml", CONFIG)
        self.metrics = lab.spawn("metrics", "--listen", "9464")
        self.prometheus = lab.cluster.popen("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
                                            "--web.listen-address=127.0.0.1:9090", cwd=lab.home)

    def query(self, expression):
        """{labels: value}, without what Prometheus adds."""
        done = self.lab.cluster.run("promtool", "query", "instant", "-o", "json", "http://127.0.0.1:9090", expression)
        if done.returncode != 0:
            return {}
        hidden = ("__name__", "instance")
        return {tuple(sorted((k, v) for k, v in sample["metric"].items() if k not in hidden)): float(sample["value"][1])
                for sample in json.loads(done.stdout)}

    def wait(self, expression, wanted, limit=60):
        return wait_for(lambda: (lambda got: got if wanted(got) else None)(self.query(expression)), f"{expression} to be as wanted",
                        limit, 0.5)

    def close(self):
        for process in (self.metrics, self.prometheus):
            kill_quietly(process.pid, signal.SIGKILL)
            process.communicate(timeout=10)


def run_labels(run, job="train", **more):
    return tuple(sorted({"run": run, "job": job, **more}.items()))


def test_prometheus_scrapes_a_training(lab):
    lab.program("train.py")
    lab.job("train.yaml", job="train", launcher="torchrun", program="train.py", nproc_per_node=1, hosts="node[1-2]",
            args={"steps": 3000, "pause": 0.2}, start_timeout="5m")
    scraper = Scraper(lab)
    try:
        scraper.wait("up", lambda got: got and all(value == 1 for value in got.values()))
        lab.mt("start", "train.yaml", "r", *TORCH_ENV, timeout=200)
        scraper.wait('mtlaunch_run_state{state="running"}', lambda got: got == {run_labels("r", state="running"): 1})
        rates = scraper.wait("mtlaunch_run_samples_per_second", lambda got: got.get(run_labels("r"), 0) > 0, 90)
        assert 1 < rates[run_labels("r")] < 21  # 4 samples a step of 0.2 s at least
        assert scraper.query('mtlaunch_runs{state="running"}') == {(("job", "mtlaunch"), ("state", "running")): 1}
        assert scraper.query('mtlaunch_run_nodes{state="running"}')[run_labels("r", state="running")] == 2
        assert scraper.query("mtlaunch_run_gpus")[run_labels("r")] == 2
        assert set(scraper.query("mtlaunch_node_state")) == \
            {run_labels("r", node=str(i), host=f"node{i + 1}", state="running") for i in range(2)}
        steps = scraper.query("mtlaunch_run_iteration")[run_labels("r")]
        scraper.wait("mtlaunch_run_iteration", lambda got: got.get(run_labels("r"), 0) > steps)
        assert scraper.query("time() - mtlaunch_node_last_output_timestamp_seconds")
        lab.mt("stop", "r")
        scraper.wait('mtlaunch_run_state{state="stopped"} == 1', lambda got: got == {run_labels("r", state="stopped"): 1})
        scraper.wait("mtlaunch_run_supervised", lambda got: got == {run_labels("r"): 0})
        text = lab.mt("metrics").out
        check = lab.cluster.run("promtool", "check", "metrics", input=text)
        assert (check.returncode, check.stdout + check.stderr) == (0, "") and 'host="node2"' in text
    finally:
        scraper.close()
    lab.assert_nothing_left()


def test_gpus_as_the_supervisor_saw_them(make_lab):
    lab = make_lab(2, shells={"node1": "/bin/bash", "node2": "/bin/bash"})
    for node in lab.names:  # no GPU is here
        smi = lab.node_file(node, "bin", "nvidia-smi")
        smi.parent.mkdir()
        smi.write_text(SMI)
        smi.chmod(0o755)
        lab.node_file(node, ".bashrc").write_text("export PATH=$HOME/bin:$PATH\n")
    lab.job(hosts="node[1-2]")
    lab.mt("start", "job.yaml", "r", "--no-check")  # the GPUs it would find in use are made up

    def figures():
        return {m["name"]: {s["labels"]["host"]: s["value"] for s in m["samples"]} for m in lab.mt("metrics", "--json").json["metrics"]
                if m["name"].startswith("mtlaunch_node_gpu")}

    wait_for(lambda: len(figures()["mtlaunch_node_gpu_utilization_ratio"]) == 2, "the GPUs of both nodes", 60, 0.5)
    assert figures() == {"mtlaunch_node_gpu_utilization_ratio": {"node1": 0.8, "node2": 0.8},
                         "mtlaunch_node_gpu_memory_used_bytes": {"node1": 40960 << 20, "node2": 40960 << 20},
                         "mtlaunch_node_gpu_memory_bytes": {"node1": 143776 << 20, "node2": 143776 << 20}}
    assert lab.mt("compare", "r", "--json").json["runs"][0]["peak_memory"] == 40960 << 20
    lab.mt("stop", "r")
    assert all(not values for values in figures().values())
    assert lab.mt("compare", "r", "--json").json["runs"][0]["peak_memory"] == 40960 << 20
    lab.assert_nothing_left()
