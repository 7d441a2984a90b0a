"""init writes a job file from options or answers, that start understands; nothing is overwritten unasked."""
import json
import os
import pty
import re
import select
import subprocess

import pytest
from conftest import BINARY


def dry_run(cli, job, *words):
    return json.loads(cli.mt("start", job, "r", "--dry-run", "--json", *words).stdout)


def test_without_a_word(cli):
    done = cli.mt("init")
    assert done.stdout == "train.yaml\n" and "mtlaunch start train RUN --dry-run" in done.stderr
    assert dry_run(cli, "train", "-H", "a,b")["nnodes"] == 2


@pytest.mark.parametrize("launcher,program,word", [("torchrun", "my train.py", "my train.py"),
                                                   ("torchrun", "-m pkg.train", "pkg.train"),
                                                   ("script", "echo 'a: b' # c", "echo 'a: b' # c"),
                                                   ("megatron", "pretrain_gpt.py", "pretrain_gpt.py")])
def test_options(cli, launcher, program, word):
    path = json.loads(cli.mt("init", "j1", "--launcher", launcher, "--hosts", "g[01-02]", "--program", program,
                             "--json").stdout)
    assert path == {"schema": "mtlaunch/1", "path": "j1.yaml"}
    plan = dry_run(cli, "j1", "--nproc-per-node", "1")
    assert plan["launcher"] == launcher and plan["job"] == "j1"
    assert [n["host"] for n in plan["nodes"]] == ["g01", "g02"] and word in plan["nodes"][0]["command"]


def test_host_file_is_found_from_the_spec(cli):
    (cli.folder / "hosts.txt").write_text("a slots=1\nb slots=1\n")
    (cli.folder / "jobs").mkdir()
    cli.mt("init", "jobs/x.yaml", "--hostfile", "hosts.txt")
    cli.mt("init", "y", "--hostfile", "hosts.txt")
    assert f"hostfile: {cli.folder}/hosts.txt\n" in (cli.folder / "jobs/x.yaml").read_text()
    assert "hostfile: hosts.txt\n" in (cli.folder / "y.yaml").read_text()
    for job in ("jobs/x.yaml", "x", "y"):
        assert dry_run(cli, job)["nnodes"] == 2


def test_nothing_is_overwritten_unasked(cli):
    target = cli.folder / "train.yaml"
    target.write_text("mine")
    done = cli.mt("init", code=2)
    assert "'train.yaml' already exists" in done.stderr and "--force" in done.stderr and target.read_text() == "mine"
    (cli.folder / "link.yaml").symlink_to(cli.folder / "nowhere")
    cli.mt("init", "link", code=2)
    assert not (cli.folder / "nowhere").exists()
    cli.mt("init", "--force")
    assert "program: train.py" in target.read_text()


@pytest.mark.parametrize("words,said", [
    (["a/b"], "neither a name nor a path"), (["-x"], "-x"), (["bad name"], "not a valid job name"),
    (["--launcher", "torchrn"], "did you mean 'torchrun'"), (["--hosts", "a[1-"], "--hosts"),
    (["--hosts", "a", "--hostfile", "b"], "cannot be used together"), (["--program", ""], "program"),
    (["a", "b"], "'b' is one too many"),
    (["--program", os.fsdecode(b"\xff")], "not valid UTF-8"),
])
def test_mistakes_write_nothing(cli, words, said):
    done = subprocess.run([BINARY, "init", *words], env=cli.env, cwd=cli.folder, capture_output=True, check=False)
    assert done.returncode == 2 and said in done.stderr.decode(errors="replace")
    assert not list(cli.folder.iterdir())


def test_a_folder_that_cannot_be_written(cli):
    done = cli.mt("init", "nowhere/x.yaml", code=8)
    assert "'nowhere/x.yaml' cannot be written: no such file or directory" in done.stderr


def talk(cli, answers, *words):
    """Run init on a terminal and type answers as it asks; its screen and exit code."""
    parent, child = pty.openpty()
    process = subprocess.Popen([BINARY, "init", *words], env=cli.env, cwd=cli.folder, stdin=child, stderr=child,
                               stdout=subprocess.PIPE, close_fds=True)
    os.close(child)
    screen = ""
    for answer in answers:
        asked = len(screen)
        while "]: " not in screen[asked:]:
            assert select.select([parent], [], [], 20)[0], screen
            screen += os.read(parent, 4096).decode()
        os.write(parent, answer.encode())
    out = process.communicate(timeout=20)[0].decode()
    os.close(parent)
    return screen, out, process.returncode


def test_questions_on_a_terminal(cli):
    screen, out, code = talk(cli, ["scrpt\n", "script\n", "g[1-3]\n", "./go.sh $HOME\n"])
    assert (out, code) == ("train.yaml\n", 0), screen
    assert "launcher (torchrun, " in screen and "hosts, such as" in screen and "program [./train.sh]" in screen
    plan = dry_run(cli, "train")
    assert plan["launcher"] == "script" and plan["nnodes"] == 3 and "./go.sh $HOME" in plan["nodes"][0]["command"]


def test_empty_answers_take_the_examples(cli):
    (cli.folder / "hosts.txt").write_text("a\n")
    assert talk(cli, ["\n", "hosts.txt\n", "\n"], "j")[2] == 0
    assert "hostfile: hosts.txt" in (cli.folder / "j.yaml").read_text()
    assert "program: train.py" in (cli.folder / "j.yaml").read_text()


def test_what_options_say_is_not_asked(cli):
    screen, _, code = talk(cli, ["x.py\n"], "j", "--launcher", "torchrun", "-H", "a")
    assert code == 0 and "launcher (" not in screen and "hosts," not in screen


def test_end_of_input_writes_nothing(cli):
    _, out, code = talk(cli, ["\n", "\x04"])
    assert (out, code) == ("", 130) and not list(cli.folder.iterdir())


def test_every_setting_of_the_template_can_be_taken_as_it_stands(cli):
    """Without the '#' the settings are the job file's own; comments have one blank behind it."""
    cli.mt("init", "j", "-H", "a,b")
    text = (cli.folder / "j.yaml").read_text()
    lines = [line for line in text.splitlines() if not re.match(r"# \S", line)]
    (cli.folder / "j.yaml").write_text("\n".join(line.removeprefix("#") for line in lines) + "\n")
    assert "--lr" in dry_run(cli, "j")["nodes"][0]["command"]
    for key in ("restart", "finish_on", "time_limit", "on_lost", "stall", "on_failure", "notify"):
        assert f"\n#{key}: " in text, key
