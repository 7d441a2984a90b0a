"""Progress as status shows it, by what a job prints."""
from cluster import wait_for

ITERATION = (" [2026-04-14 10:00:00.123456] iteration %8d/      20 | consumed samples: %12d | elapsed time per iteration (ms): 500.0 | "
             "learning rate: 1.000000E-04 | global batch size:     8 | lm loss: 6.931472E+00 |")


def test_what_is_said_once_is_found_in_a_long_log(lab):
    """The length of a sample stands at the head of node 0's log, far above what is read of it; node 1 prints the steps."""
    lines = "; ".join(f"echo '{ITERATION % (i, 8 * i)}'" for i in range(1, 6))
    lab.job(hosts="node1,node2", stop={"grace": "1s"}, program=[
        "sh", "-c", f"if [ $NODE_RANK = 0 ]; then echo '  seq_length ...................................... 2048'; seq 100000; else sleep 3; {lines}; fi; exec sleep 600"])
    lab.mt("start", "job.yaml", "r")
    progress = wait_for(lambda: (lambda p: p if p and p["iteration"] == 5 else None)(lab.status("r")["progress"]), "the iterations", 40, 0.5)
    assert progress["samples_per_second"] == 16 and progress["tokens_per_second"] == 16 * 2048
    lab.mt("stop", "r")
    assert lab.status("r")["progress"]["tokens_per_second"] == 16 * 2048
