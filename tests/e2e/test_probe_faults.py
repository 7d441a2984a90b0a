"""What the probe finds before a start, and how it says it: programs that cannot run, setup lines, GPUs."""

import pytest

SICK = "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\nexit 18\n"
TWO = "#!/bin/sh\necho 'GPU 0: a'\necho 'GPU 1: b'\n"


def put(lab, name, text, nodes=None, mode=0o755):
    path = lab.write(name, text)
    path.chmod(mode)
    lab.cluster.put(str(path), nodes, target=name)


def refused(lab, code=4, **keys):
    """What a start that must fail says."""
    lab.job(**keys)
    answer = lab.mt("start", "job.yaml", "r", code=code)
    lab.assert_nothing_left()
    return answer.err


def in_folder(lab, **keys):
    return refused(lab, hosts="node1,node2", workdir="/home/lab", **keys)


@pytest.mark.parametrize("program", [["./run.sh", "--x"], "./run.sh --x $HOME", "./run.sh"])
def test_w9_windows_line_ends(lab, program):
    put(lab, "run.sh", "#!/bin/sh\r\necho hello\r\n")
    text = in_folder(lab, program=program)
    assert "node[1-2]: './run.sh' has Windows line ends\n" in text
    assert "hint: convert it there: sed -i 's/\\r$//' ./run.sh\n" in text


@pytest.mark.parametrize("program", [["bash", "run.sh"], "sh run.sh 1"])
def test_w9_windows_line_ends_of_a_script_that_a_shell_reads(lab, program):
    put(lab, "run.sh", "echo hello\r\n", mode=0o644)
    assert "'run.sh' has Windows line ends\n" in in_folder(lab, program=program)


@pytest.mark.parametrize("program", [["./run.sh"], "./run.sh"])
def test_w9_a_script_without_x(lab, program):
    put(lab, "run.sh", "#!/bin/sh\n", ["node2"], 0o644)
    put(lab, "run.sh", "#!/bin/sh\nexec sleep 100\n", ["node1"])
    text = in_folder(lab, program=program)
    assert "mtlaunch: node2: './run.sh' is there but not executable\n" in text and "node1" not in text
    assert "hint: chmod +x ./run.sh, or program: [bash, ./run.sh]\n" in text


@pytest.mark.parametrize("line, missing", [("#!/opt/no/python3", "/opt/no/python3"), ("#! /usr/bin/env python9 -u", "python9")])
def test_w9_an_interpreter_that_is_not_there(lab, line, missing):
    put(lab, "run.py", line + "\nprint()\n")
    text = in_folder(lab, program=["./run.py"])
    assert f"'./run.py' needs '{missing}', which is not there (its first line names it)\n" in text


def test_w9_a_script_of_path_whose_interpreter_is_gone(lab):
    put(lab, "bin/tool", "#!/opt/gone/bin/python\n")
    text = in_folder(lab, program=["tool"], setup=["PATH=$HOME/bin:$PATH"])
    assert "'tool' needs '/opt/gone/bin/python'" in text


def test_w9_a_folder_and_a_name_that_path_does_not_hold(lab):
    put(lab, "train/train.py", "")
    assert "'./train' is a folder" in in_folder(lab, program=["./train"])
    put(lab, "run.sh", "#!/bin/sh\n")
    text = in_folder(lab, program=["run.sh"])
    assert "'run.sh' is not in PATH" in text and "hint: name it ./run.sh\n" in text


@pytest.mark.parametrize("program", [["./run.sh"], "./run.sh && sleep 100", "./missing || sleep 100", ["sleep", "100"],
                                     ["bash", "-c", "sleep 100"], "cd /; exec sleep 100"])
def test_w9_what_runs_is_not_refused(lab, program):
    put(lab, "run.sh", "#!/usr/bin/env -S sh -e\nexec sleep 100\n")
    lab.job(program=program, hosts="node1", workdir="/home/lab")
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")


@pytest.mark.parametrize("shell", ["auto", "sh"])
def test_w9_a_setup_line_that_fails_is_quoted(lab, shell):
    text = refused(lab, 1, hosts="node1,node2", shell=shell, setup=["true", "conda activate megatron", "true"])
    said = text.partition("setup line 2 ('conda activate megatron') ended with status 127: ")[2]
    assert "conda" in said and "/proc/self" not in text and "line 1" not in said
    text = refused(lab, 1, hosts="node1", shell=shell, setup=["echo $((", "true"])
    assert "setup line 1 ('echo $((') ended" in text and "/proc/self" not in text
    lab.job(hosts="node1", shell=shell, setup=["conda activate megatron"])
    text = lab.mt("start", "job.yaml", "r", "--no-check", code=1).err
    assert "setup line 1 ('conda activate megatron') ended with status 127" in text and "/proc/self" not in text


def smi(lab, node, text):
    put(lab, "smi/nvidia-smi", text, [node])
    return ["export PATH=$HOME/smi:$PATH"]


@pytest.mark.parametrize("args", [[], ["--no-check"]])
def test_w7_one_sick_node_of_two_is_named_with_the_words_of_its_nvidia_smi(lab, args):
    setup = [smi(lab, "node1", TWO), smi(lab, "node2", SICK)][0]
    lab.job(hosts="node1,node2", setup=setup)
    answer = lab.mt("start", "job.yaml", "r", *args, code=0 if args else 4)
    if args:  # without its setup lines nothing is known of nvidia-smi
        lab.mt("stop", "r")
        return
    assert ("node2: the GPUs cannot be counted: nvidia-smi ended with status 18: Failed to initialize NVML: Driver/library"
            " version mismatch\n") in answer.err
    assert "node1" not in answer.err and "unequal" not in answer.err and "--nproc-per-node" in answer.err
    assert lab.mt("start", "job.yaml", "s", "--json", code=4).error["kind"] == "gpus-unknown"
    lab.job(hosts="node1,node2", setup=setup, nproc_per_node="2")
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")
    lab.job(hosts="node1 slots=2,node2 slots=2", setup=setup)
    lab.mt("start", "job.yaml", "r")
    lab.mt("stop", "r")


def test_w7_the_gpus_of_a_host_are_compared_with_all_of_the_node(lab):
    setup = smi(lab, "node1", "#!/bin/sh\nfor i in 0 1 2 3; do echo \"GPU $i: a\"; done\n")
    lab.job(hosts="node1 gpus=2-3", setup=setup, program=["sh", "-c", "echo $NPROC_PER_NODE $CUDA_VISIBLE_DEVICES"])
    lab.mt("start", "job.yaml", "r", "--wait")
    assert lab.log("r", 0) == b"2 2,3\n"
    lab.job(hosts="node1", setup=setup, env={"CUDA_VISIBLE_DEVICES": "2,3"}, program=["sh", "-c", "echo $NPROC_PER_NODE"])
    lab.mt("start", "job.yaml", "s", "--wait")
    assert lab.log("s", 0) == b"2\n"
