"""`report`: the page of a run, opened in a browser."""
import json
import os
import re

import pytest

import browser
from cluster import wait_for
from python_env import Unavailable, wheel_files

AXE = ("axe-playwright-python==0.1.8", "axe", "axe_playwright_python/axe.min.js")
SMI = """#!/bin/sh
case $* in
-L) printf 'GPU %s: NVIDIA H200 (UUID: GPU-aa0%s)\\n' 0 0 1 1 ;;
*uuid*) printf '%s\\n' '0, GPU-aa00' '1, GPU-aa01' ;;
*) printf '%s\\n' '0, 31, 30720, 143771' '1, 96, 61440, 143771' ;;
esac
"""
TRAIN = """\
import math, os, sys, time
evil = "</pre></script><script>document.title='x'</script><img src=http://evil.invalid/x onerror=alert(1)>"
print(evil, flush=True)
for i in range(1, int(sys.argv[1]) + 1):
    time.sleep(0.05)
    print(f"step {i}/400 loss {2 + 8 * math.exp(-i / 40):.4f} time {0.5 + 0.1 * math.sin(i):.4f} tokens {81920 + 10 * i}", flush=True)
if os.environ["NODE_RANK"] == "1" and len(sys.argv) > 2:
    print('Traceback (most recent call last):\\n  File "train.py", line 88, in <module>\\n    out = model(batch)')
    print("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. " + evil, flush=True)
    sys.exit(1)
"""
PATTERN = (r"step (?P<iteration>\d+)/(?P<total>\d+) loss (?P<loss>\S+) time (?P<step_time>\S+) "
           r"tokens (?P<tokens_per_second>\S+)")


@pytest.fixture(scope="module")
def chromium():
    if not browser.PROGRAM:
        pytest.skip("no chromium here")
    with browser.Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def axe():
    try:
        return wheel_files(*AXE[:2], [AXE[2]])[AXE[2]].decode()
    except Unavailable as error:
        pytest.skip(f"axe-core is not to be had: {error}")


def train(lab, run, *args, hosts="node1,node2", code=0, **keys):
    lab.write("train.py", TRAIN)
    lab.cluster.put(str(lab.home / "train.py"))
    lab.job(hosts=hosts, program=["python3", "train.py", *args], progress={"pattern": PATTERN}, nproc_per_node=2,
            env={"WANDB_API_KEY": "s3cr3t-value", "NCCL_DEBUG": "INFO"}, **keys)
    lab.mt("start", "job.yaml", run)
    lab.mt("wait", run, code=code)


def number(text):
    """What a figure of the page says, as a number."""
    match = re.fullmatch(r"(-?[\d.,]+)([kMG]?)( \S+)?", text)
    assert match, text
    unit = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match[2]] * {" ms": 1e-3, " GiB": 1 << 30, " MiB": 1 << 20}.get(match[3], 1)
    return float(match[1].replace(",", "")) * unit


READINGS = """(caption) => {
    const figure = [...document.querySelectorAll('.plot')].find(f => f.querySelector('figcaption').textContent.startsWith(caption));
    return [...figure.querySelectorAll('.at')].map(at => [...at.querySelectorAll('text')].map(text => text.textContent));
}"""


def readings(page, caption):
    return page.js(f"({READINGS})({json.dumps(caption)})")


def check_readings(page, caption, training, key):
    """Every value that can be read off stands in the JSON, at its iteration; and there are as many."""
    known = {int(i): v for i, v in zip(training["iteration"], training[key]) if v is not None}
    read = readings(page, caption)
    assert len(read) >= min(len(known), 150)
    for place, value in read:
        iteration = int(place.removeprefix("iteration ").replace(",", ""))
        assert number(value) == pytest.approx(known[iteration], rel=0.006), (caption, place)


def test_the_page_in_a_browser(lab, chromium, axe):
    train(lab, "r", "150", "fail", code=1)
    answer = lab.mt("report", "r", "--json").json
    run = answer["runs"][0]
    file = lab.home / "r.html"
    assert answer["file"] == "r.html" and run["cause"]["id"] == "CUDA_OOM" and answer["compare"] is None
    page = chromium.open(file)
    assert page.troubles == [] and page.requests == [f"file://{file}"]
    assert page.js("document.title") == "r – report"
    # what it shows is what the object holds
    assert page.js("document.querySelector('h1').textContent") == "r"
    assert page.js("document.querySelector('header .state').textContent") == run["state"] == "failed"
    assert run["cause"]["summary"] in page.js("document.querySelector('.part-cause').textContent")
    figures = dict(page.js("[...document.querySelectorAll('.figures div')].map(d => [d.children[0].textContent, "
                           "d.children[1].firstChild.textContent.trim()])"))
    assert number(figures["Last loss"]) == pytest.approx(run["progress"]["loss"], rel=1e-3)
    assert number(figures["Step time"]) == pytest.approx(run["progress"]["step_time"], rel=1e-3)
    assert number(figures["Throughput"]) == pytest.approx(run["progress"]["tokens_per_second"], rel=0.006)
    assert figures["Iteration"] == "150" and figures["Exit status"] == "1"
    for caption, key in (("Loss", "loss"), ("Step time", "step_time"), ("Tokens", "tokens_per_second")):
        check_readings(page, caption, run["training"], key)
    assert page.js("document.querySelectorAll('.timeline .bar').length") == 2
    assert page.js("document.querySelectorAll('.part-events tbody tr').length") == len(run["events"])
    assert page.js("document.querySelectorAll('.part-logs pre').length") == len(run["logs"]) == 2
    assert "evil.invalid" in page.js("document.querySelector('.part-logs').textContent")
    text = file.read_text()
    assert "s3cr3t-value" not in text and "***" in page.js("document.querySelector('.part-environment').textContent")
    check_keyboard(page)
    check_access(page, axe)
    assert page.pdf().startswith(b"%PDF")
    assert page.troubles == [] and page.requests == [f"file://{file}"]


def check_keyboard(page):
    """The plots are reached by Tab, and the arrow keys read them off."""
    for _ in range(100):
        page.key("Tab")
        if page.js("document.activeElement.matches('.plot > svg')"):
            break
    status = "document.activeElement.parentNode.querySelector('[role=status]').textContent"
    last = page.js(status)
    assert last.startswith("iteration 150, ")
    page.key("ArrowLeft")
    before = page.js(status)
    assert before.startswith("iteration ") and before != last
    page.key("Home")
    assert page.js(status).startswith("iteration 1, ")
    assert page.js("getComputedStyle(document.querySelector('.at.on .value')).visibility") == "visible"


def check_access(page, axe):
    page.js(axe + "; 0")
    for scheme in ("light", "dark"):
        for width in (1280, 420):
            page.media(scheme=scheme)
            page.size(width)
            assert page.js("document.documentElement.scrollWidth") <= width
            found = json.loads(page.js("axe.run().then(r => JSON.stringify(r.violations.map(v => [v.id, v.impact, v.nodes[0].html])))"))
            assert found == [], (scheme, width)
    assert page.js("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"  # dark
    page.media(kind="")


def test_gpus_over_time(lab, chromium):
    lab.write("nvidia-smi", SMI).chmod(0o755)
    lab.cluster.put(str(lab.home / "nvidia-smi"), ["node1"], target="bin/nvidia-smi")
    lab.cluster.exec("node1", "mount -t tmpfs tmpfs /usr/local/bin && cp /home/lab/bin/nvidia-smi /usr/local/bin/", user=False,
                     check=True)
    try:
        lab.job(hosts="node1 gpus=1,node2")
        lab.mt("start", "job.yaml", "r", "--no-check")
        gpus = wait_for(lambda: lab.mt("report", "r", "--json").json["runs"][0]["gpus"], "a sample of the GPUs", 60, 2)
        lab.mt("stop", "r")
    finally:
        lab.cluster.exec("node1", "umount -l /usr/local/bin", user=False)
    assert gpus["utilization"]["mean"][0] == 96 and gpus["memory_total"] == 143776 << 20
    assert [node["host"] for node in gpus["nodes"]] == ["node1"] and gpus["nodes"][0]["memory"][0] == 61440 << 20
    assert lab.mt("report", "r", "--json").json["runs"][0]["peak_memory"] == 61440 << 20
    page = chromium.open(lab.home / "r.html")
    assert [value for _, value in readings(page, "GPU use")][0] == "96 %"
    assert [value for _, value in readings(page, "GPU memory")][0] == "60 GiB"


def test_several_runs_on_one_page(lab, chromium, axe):
    train(lab, "a", "60")
    train(lab, "b", "30", hosts="node1")
    answer = lab.mt("report", "*", "--json").json
    assert answer["file"] == "report.html" and [run["run"] for run in answer["runs"]] == ["a", "b"]
    page = chromium.open(lab.home / "report.html")
    assert page.troubles == []
    assert page.js("document.querySelector('.verdict').textContent") == answer["compare"]["verdict"]
    rows = page.js("[...document.querySelectorAll('.compare tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    assert [row[:3] for row in rows] == [["a", "finished", "2"], ["b", "finished", "1"]]
    heads = page.js("[...document.querySelectorAll('.compare thead th')].map(h => h.textContent)")
    for row, values in zip(rows, answer["compare"]["runs"]):
        assert number(row[heads.index("Tokens/s")]) == pytest.approx(values["tokens_per_second"], rel=0.006)
        assert number(row[heads.index("Last loss")]) == pytest.approx(values["final_loss"], rel=1e-3)
    assert page.js("document.querySelectorAll('article').length") == 2
    # both lines are in the first plot
    assert page.js("[...document.querySelector('.plot').querySelectorAll('.key')].map(k => k.textContent)") == ["a", "b"]
    check_access(page, axe)


def test_a_node_that_does_not_answer_is_named(lab):
    train(lab, "r", "5")
    lab.cluster.cut("node2")
    try:
        answer = lab.mt("report", "r", "--json", "--connect-timeout", "2s")
    finally:
        lab.cluster.restore("node2")
    run = answer.json["runs"][0]
    assert [log["host"] for log in run["logs"]] == ["node1"] and len(run["notes"]) == 1 and "node2" in run["notes"][0]
    assert run["notes"][0] in answer.err
    assert "Some data is missing" in (lab.home / "r.html").read_text()
    assert run["training"]["iteration"][-1] == 5  # node 0 tells it


def test_files_and_refusals(lab):
    train(lab, "r", "2", hosts="node1")
    assert lab.mt("report", "r", "-o", "page.html").out == "page.html\n"
    assert oct((lab.home / "page.html").stat().st_mode & 0o777) == "0o644"
    printed = lab.mt("report", "r", "-o", "-").out
    assert printed.startswith("<!doctype html>") and printed.endswith("</html>\n")
    os.chmod(lab.home / "page.html", 0o600)
    lab.mt("report", "r", "-o", "page.html")  # replaced
    assert not [name for name in os.listdir(lab.home) if name.startswith("page.html.")]
    assert "leave one of them out" in lab.mt("report", "r", "-o", "-", "--json", code=2).out
    assert "no run 'none'" in lab.mt("report", "none", code=6).err
    refused = lab.mt("report", "r", "-o", "missing/page.html", code=8).err
    assert "cannot write" in refused and "create the folder 'missing' first" in refused
    assert lab.mt("report", "x*", code=6).err
    lab.mt("report", code=2)
