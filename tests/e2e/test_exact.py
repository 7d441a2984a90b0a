"""Arguments and values arrive byte for byte; secrets arrive and are seen nowhere else."""
import json
import subprocess

from conftest import CommandLines

NASTY = [
    "", " ", "a b", "  two  blanks  ", "it's", 'say "hi"', "back\\slash", "\\", "\\\\n", "$HOME", "$(id)", "`id`", "${x}",
    "*", "?", "[a-z]*", "~", "!", "!!", "#no comment", "; rm -rf x", "a && b || c", "> out < in", "| cat", "&",
    "line\nbreak", "\n", "tab\there", "-n", "--", "--prompt=a b", '{"a": "b", "c": [1, 2]}', "{a,b}", "é日本🚀", "%s%d",
    "x" * 100_000, "'''\"\"\"", "a=b=c", "\x01\x1b[31m", "no", "0033", "1e-5", "1:30", "null", "trailing\\", "$${{ not",
]


def dump(lab, node):
    found = json.loads(lab.node_file(node, "dump.json").read_text())
    env = {bytes.fromhex(k).decode(): bytes.fromhex(v) for k, v in found["env"].items()}
    return [bytes.fromhex(a) for a in found["argv"]], env


def as_spec(texts):
    """Texts as the spec has to spell them: a literal ${{ is $${{."""
    return [t.replace("${{", "$${{") for t in texts]


def test_at_least_36_nasty_texts():
    assert len(set(NASTY)) >= 36


def test_arguments_and_values_are_exact_on_remote_and_local_nodes(lab):
    lab.program("dump.py")
    lab.write("dump.py", (lab.node_file("node1", "dump.py")).read_bytes())
    values = {f"NASTY_{i}": t for i, t in enumerate(as_spec(NASTY))}
    lab.job(hosts="node1,node2,head", program=["python3", "dump.py"], args=as_spec(NASTY), env=values)
    lab.mt("start", "job.yaml", "exact", "--wait")
    for node in ("node1", "node2"):
        argv, env = dump(lab, node)
        assert argv == [t.encode() for t in NASTY]
        assert {i: env[f"NASTY_{i}"] for i in range(len(NASTY))} == {i: t.encode() for i, t in enumerate(NASTY)}
    local = json.loads((lab.home / "dump.json").read_text())
    assert [bytes.fromhex(a) for a in local["argv"]] == [t.encode() for t in NASTY]


def test_arguments_after_the_dashes_and_values_of_options_are_exact(lab):
    lab.program("dump.py")
    lab.job(hosts="node1", program=["python3", "dump.py"])
    options = [x for i, t in enumerate(as_spec(NASTY)) for x in ("-e", f"V{i}={t}") if len(t) < 10_000]
    lab.mt("start", "job.yaml", "exact", "--wait", *options, "--", *as_spec(NASTY))
    argv, env = dump(lab, "node1")
    assert argv == [t.encode() for t in NASTY]
    assert all(env[f"V{i}"] == t.encode() for i, t in enumerate(NASTY) if len(t) < 10_000)


def test_bytes_that_are_no_utf8_arrive_through_options(lab):
    lab.program("dump.py")
    lab.job(hosts="node1", program=["python3", "dump.py"])
    argv, env = lab.cluster.head_argv(["mtlaunch", "start", "job.yaml", "bytes", "--wait", "--"], None, None, True)
    done = subprocess.run([a.encode() for a in argv] + [b"\xff\xfe\x80"], env=env, capture_output=True, check=False)
    if done.returncode == 0:
        assert dump(lab, "node1")[0] == [b"\xff\xfe\x80"]
    else:  # a refusal has to say what is wrong, before any node is touched
        assert done.returncode == 2 and b"UTF-8" in done.stderr


def test_every_nasty_value_survives_the_pasted_line_of_the_dry_run(lab):
    lab.program("dump.py")
    lab.job(hosts="node1", program=["python3", "dump.py"], args=as_spec([t for t in NASTY if len(t) < 10_000]))
    plan = lab.mt("start", "job.yaml", "dry", "--dry-run", "--json").json
    assert plan["nodes"][0]["command"] == ["python3", "dump.py"] + [t for t in NASTY if len(t) < 10_000]
    lab.cluster.run("/bin/sh", "-c", plan["nodes"][0]["shell"], timeout=30)
    argv, _ = dump(lab, "node1")
    assert argv == [t.encode() for t in NASTY if len(t) < 10_000]


def test_an_argument_that_is_too_long_is_refused(lab):
    lab.job(args=["x" * 131_072])
    assert "131" in lab.mt("start", "job.yaml", "r", code=2).err
    lab.job(args=["x" * 131_071], hosts="node1", program="echo ${#1}")
    lab.mt("start", "job.yaml", "r", "--wait")


def test_secrets_are_on_no_command_line_and_in_no_output(lab):
    secret, other = "s3cr3t-4711-wandb", "s3cr3t-0815-token"
    lab.program("dump.py")
    lab.job(program="python3 dump.py; echo done; sleep 2", env={"WANDB_API_KEY": secret, "MINE": "s3cr3t-mine"},
            secret_env=["MINE"])
    seen, outputs = set(), []
    with CommandLines() as lines:
        for words in (["start", "job.yaml", "sec", "--dry-run"], ["start", "job.yaml", "sec", "--dry-run", "--json"],
                      ["start", "job.yaml", "sec", "-v"], ["status", "sec"], ["status", "sec", "--json"], ["list", "--json"],
                      ["logs", "sec"], ["wait", "sec"], ["status", "sec", "--json"]):
            # -e NAME takes the value from here, so that it is on no command line of ours either
            env = {"HF_TOKEN": other}
            more = ["-e", "HF_TOKEN"] if words[0] == "start" else []
            outputs.append(lab.mt(*words, *more, env=env))
        seen = {line for line in lines.seen if b"dump.py" in line or b"mtlaunch" in line or b"sh" in line}
    assert seen
    hidden = (secret, other, "s3cr3t-mine")
    assert not [line for line in seen if any(s.encode() in line for s in hidden)]
    assert not [o for o in outputs if any(s in o.out + o.err for s in hidden)]
    assert "***" in outputs[0].out
    for node in lab.names:
        env = dump(lab, node)[1]
        assert (env["WANDB_API_KEY"], env["HF_TOKEN"], env["MINE"]) == tuple(s.encode() for s in hidden)
        files = [f for f in lab.node_file(node, ".mtlaunch").rglob("*") if f.is_file()]
        assert files and not [f for f in files if any(s.encode() in f.read_bytes() for s in hidden)]
    state = [f for f in (lab.home / ".local/state/mtlaunch").rglob("*") if f.is_file()]
    assert state and not [f for f in state if any(s.encode() in f.read_bytes() for s in hidden)]


def test_secrets_of_a_live_run_are_in_one_file_of_the_owner_only(lab):
    lab.job(hosts="node1", env={"MY_KEY": "s3cr3t-live"})
    lab.mt("start", "job.yaml", "sec")
    folder = lab.home / ".local/state/mtlaunch/runs/sec"
    holders = [f for f in folder.rglob("*") if f.is_file() and b"s3cr3t-live" in f.read_bytes()]
    assert [f.name for f in holders] in (["secrets"], [])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(f.stat().st_mode & 0o777 == 0o600 for f in holders)
    lab.mt("stop", "sec")
    assert not (folder / "secrets").exists()
