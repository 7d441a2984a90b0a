"""The job's environment and command line: what users of other launchers ran into."""
import json

import pytest


def dump(lab, node="node1"):
    data = json.loads(lab.node_file(node, "dump.json").read_text())
    return {bytes.fromhex(k).decode(): bytes.fromhex(v).decode(errors="replace") for k, v in data["env"].items()}, data


def run(lab, run_name="r", env=None, words=(), hosts="node1,node2", **keys):
    lab.program("dump.py")
    lab.write("dump.py", lab.node_file("node1", "dump.py").read_bytes())
    keys.setdefault("program", ["python3", "dump.py"])
    lab.job(hosts=hosts, **keys)
    return lab.mt("start", "job.yaml", run_name, "--wait", *words, env=env)


def test_setup_lines_shape_the_environment(lab):
    run(lab, setup=["export LD_X=/x:$HOME;", "export PATH=/opt/x:$PATH  # note"])
    env, _ = dump(lab)
    assert env["LD_X"] == "/x:/home/lab" and env["PATH"].startswith("/opt/x:/")


def spec_env(lab, values, **more):
    lab.program("dump.py")
    lab.job(hosts="node1,node2", program=["python3", "dump.py"], env=values, **more)
    lab.mt("start", "job.yaml", "r", "--wait")
    return dump(lab)[0]


def test_values_are_not_expanded(lab):
    env = spec_env(lab, {"A": "$HOME:$PATH", "B": "a b", "C": "(x); `id`", "D": ""})
    assert [env[k] for k in "ABCD"] == ["$HOME:$PATH", "a b", "(x); `id`", ""]


def test_yaml_scalars_keep_their_text(lab):
    lab.program("dump.py")
    lab.write("y.yaml", "launcher: script\nhosts: node1\nprogram: [python3, dump.py]\nargs: [no, 0033, 1e-5, 1:30, on, ~]\n"
                        "env: {A: NO, B: 012, C: 1e-5, D: on, E: 12:30}\n")
    lab.mt("start", "y.yaml", "r", "--wait")
    env, data = dump(lab)
    assert [env[k] for k in "ABCDE"] == ["NO", "012", "1e-5", "on", "12:30"]
    assert [bytes.fromhex(a).decode() for a in data["argv"]] == ["no", "0033", "1e-5", "1:30", "on", "~"]
    for text in ("env: {A: null}", "env: {A: {b: c}}", "env: {A: x, A: y}"):
        lab.write("z.yaml", f"launcher: script\nhosts: node1\nprogram: [true]\n{text}\n")
        lab.mt("start", "z.yaml", "r2", code=2)


def test_names_of_the_contract_are_there_and_agree(lab):
    run(lab)
    for rank, node in enumerate(("node1", "node2")):
        env = dump(lab, node)[0]
        assert (env["NNODES"], env["NODE_RANK"], env["MASTER_ADDR"]) == ("2", str(rank), "node1")
        assert (env["MTLAUNCH_RUN"], env["MTLAUNCH_HOST"], env["MTLAUNCH_ATTEMPT"]) == ("r", node, "1")
        assert env["MTLAUNCH_MARK"] == f"{env['MTLAUNCH_RUN_ID']}.1.{rank}"
        assert env["PYTHONUNBUFFERED"] == "1" and env["LANG"] == "C.UTF-8"
        assert 1 <= int(env["OMP_NUM_THREADS"]) <= 16
        assert env["NCCL_SOCKET_IFNAME"] == "=eth0" and env["GLOO_SOCKET_IFNAME"] == "eth0"
        assert env["MTLAUNCH_ARTIFACTS"] == "/home/lab/.mtlaunch"
        assert not {"RANK", "LOCAL_RANK", "WORLD_SIZE"} & set(env)


def test_interface_that_is_set_stays(lab):
    env = spec_env(lab, {"NCCL_SOCKET_IFNAME": "ib0"})
    assert env["NCCL_SOCKET_IFNAME"] == "ib0"


def test_only_the_named_variables_of_the_caller_are_passed(lab):
    here = {"NCCL_DEBUG": "INFO", "UCX_X": "1", "HOSTNAME": "liar", "CUDA_VISIBLE_DEVICES": "7", "LC_ALL": "de_DE.UTF-8",
            "SLURM_PROCID": "3", "SSH_CONNECTION": "x", "MINE": "no"}
    run(lab, env=here, hosts="node1,head")
    env = dump(lab)[0]
    assert env["NCCL_DEBUG"] == "INFO" and env["UCX_X"] == "1"
    assert env.get("HOSTNAME") != "liar" and env.get("SSH_CONNECTION") != "x"
    assert not {"CUDA_VISIBLE_DEVICES", "LC_ALL", "SLURM_PROCID", "MINE"} & set(env)
    local = {bytes.fromhex(k).decode(): bytes.fromhex(v).decode()
             for k, v in json.loads((lab.home / "dump.json").read_text())["env"].items()}
    own = {"SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "PWD", "OLDPWD", "SHLVL", "_", "MTLAUNCH_HOST", "MTLAUNCH_MARK",
           "NODE_RANK", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "MOTD_SHOWN", "HOME", "MTLAUNCH_ARTIFACTS", "MAIL",
           "OMP_NUM_THREADS", "PATH"}  # PATH: what sshd was built with, and the system's
    assert {k: v for k, v in env.items() if k not in own} == {k: v for k, v in local.items() if k not in own}


def test_later_sources_win(lab):
    lab.write("e", "# note\nexport A=file\nB='file'\n")
    lab.program("dump.py")
    lab.job(hosts="node1 env.C=host,node2", program=["python3", "dump.py"], env_file=["e"],
            env={"A": "spec", "C": "spec", "D": "spec"})
    lab.mt("start", "job.yaml", "r", "--wait", "-e", "D=option", "-e", "HERE", env={"HERE": "here"})
    env = dump(lab)[0]
    assert [env[k] for k in ("A", "B", "C", "D", "HERE")] == ["spec", "file", "host", "option", "here"]
    assert dump(lab, "node2")[0]["C"] == "spec"


@pytest.mark.parametrize("words,word", [(["-e", "NODE_RANK=3"], "NODE_RANK"), (["-e", "RANK=3"], "RANK"), (["-e", "UID=3"], "UID"),
                                        (["-e", "MTLAUNCH_X=3"], "MTLAUNCH_X"), (["-e", "1A=3"], "1A"), (["-e", "NOTSET"], "NOTSET")])
def test_names_that_may_not_be_set(lab, words, word):
    lab.job()
    assert word in lab.mt("start", "job.yaml", "r", *words, code=2).err


def test_nothing_of_an_earlier_start_stays(lab):
    run(lab, words=["-e", "GA=32"])
    run(lab, words=["-e", "GA=128"])
    assert dump(lab)[0]["GA"] == "128"


def test_the_callers_variables_act_as_options(lab):
    lab.job("t.yaml", launcher="torchrun", program="x.py", hosts="node1,node2")
    answer = lab.mt("start", "t.yaml", "r", "--dry-run", "--json", env={"NPROC_PER_NODE": "3", "MASTER_PORT": "1234", "ZERO_STAGE": ""})
    assert (answer.json["nproc_per_node"], answer.json["world_size"], answer.json["master_port"]) == (3, 6, 1234)
    assert "NPROC_PER_NODE" in answer.err and "MASTER_PORT" in answer.err and "ZERO_STAGE" not in answer.err
    answer = lab.mt("start", "t.yaml", "r", "--dry-run", "--json", "--nproc-per-node", "5", env={"NPROC_PER_NODE": "3"})
    assert answer.json["nproc_per_node"] == 5


def test_same_arguments_on_one_and_on_two_nodes(lab):
    args = {"lr": "1e-5", "flag": True, "off": False, "list": ["a", "b c"], "-x": "y"}
    seen = []
    for hosts in ("node1", "node1,node2", "head"):
        lab.job("t.yaml", launcher="torchrun", program="x.py", args=args, hosts=hosts)
        command = lab.mt("start", "t.yaml", "r", "--dry-run", "--json", "--", "more").json["nodes"][0]["command"]
        seen.append(command[command.index("x.py"):])
    assert seen[0] == seen[1] == seen[2] == ["x.py", "--lr", "1e-5", "--flag", "--list", "a", "b c", "-x", "y", "more"]


def test_unicode_output_arrives_in_the_log(lab):
    lab.job(hosts="node1", program=["python3", "-c", "print('é日本')"])
    assert lab.mt("start", "job.yaml", "r", "--wait").lines == ["node1: é日本"]
    assert lab.log("r", 0) == "é日本\n".encode()


def test_many_hosts_and_a_large_environment_need_no_command_line(lab):
    lab.program("dump.py")
    values = {f"BIG_{i}": "x" * 1000 for i in range(200)}
    lab.job(hosts="node1,node2", program=["python3", "dump.py"], env=values)
    lab.mt("start", "job.yaml", "r", "--wait")
    env = dump(lab)[0]
    assert all(env[k] == v for k, v in values.items())


def test_setup_forms(lab):
    for number, setup in enumerate((["export A=1"], ["export A=1;"], ["export A=1 # note"], ["export A=1\n"], "export A=1",
                                    ["if true; then\n  export A=1\nfi"])):
        lab.program("dump.py")
        lab.job(hosts="node1", program=["python3", "dump.py"], setup=setup)
        lab.mt("start", "job.yaml", f"r{number}", "--wait")
        assert dump(lab)[0]["A"] == "1"


def test_placeholders(lab):
    lab.program("dump.py")
    lab.job("j.yaml", job="named", hosts="node1,node2", program=["python3", "dump.py", "${{node_rank}}/${{ nnodes }}", "$${{run}}"],
            env={"OUT": "${{artifacts}}/${{run}}/${{host}}"})
    lab.mt("start", "j.yaml", "r", "--wait")
    env, data = dump(lab, "node2")
    assert [bytes.fromhex(a).decode() for a in data["argv"]] == ["1/2", "${{run}}"]
    assert env["OUT"] == "/home/lab/.mtlaunch/r/node2"
    lab.job("bad.yaml", program="echo ${{nothing}}")
    assert "nothing" in lab.mt("start", "bad.yaml", "r2", code=2).err


def test_unknown_keys_name_the_nearest(lab):
    lab.write("k.yaml", "launcher: script\nhosts: node1\nprogram: x\nworkdri: /x\n")
    answer = lab.mt("start", "k.yaml", "r", code=2)
    assert "k.yaml:4:1" in answer.err and "workdir" in answer.err
