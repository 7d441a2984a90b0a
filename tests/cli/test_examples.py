"""The cookbook and the CI files: every job in them is read, every command in them is one."""
import re
import shlex

import pytest
import yaml
from conftest import ROOT, help_commands

COOKBOOK = (ROOT / "examples/README.md").read_text()
JOBS = re.findall(r"^```yaml\n(.*?)^```$", COOKBOOK, re.M | re.S)
CI = sorted((ROOT / "examples/ci").glob("*.yml"))


def commands(text):
    """The mtlaunch calls of a text, each as words, without what the shell adds behind them."""
    prose = re.sub(r"^```yaml.*?^```$", "", re.sub(r"\|\n\s+mtlaunch", "| mtlaunch", text), flags=re.M | re.S)
    for line in re.findall(r"^ {4,}.*\bmtlaunch [a-z].*$|^ *- (?:run: )?mtlaunch .*$", prose, re.M):
        if line.lstrip().startswith("mtlaunch: "):
            continue
        lexer = shlex.shlex(line[line.index("mtlaunch "):], posix=True, punctuation_chars="|;>")
        lexer.whitespace_split = True
        words = []
        for word in lexer:
            if set(word) <= set("|;>"):
                break
            words.append(word)
        yield words


@pytest.mark.parametrize("number", range(len(JOBS)))
def test_jobs_of_the_cookbook_are_read(cli, number):
    (cli.folder / "j.yaml").write_text(JOBS[number])
    (cli.folder / "secrets.env").write_text("A=b\n")
    done = cli.mt("start", "j.yaml", "r", "--dry-run", "--nproc-per-node", "8")
    assert "4 nodes x 8 processes" in done.stdout and "warning" not in done.stderr


def test_commands_are_known():
    known = set(help_commands())
    seen = [words for text in [COOKBOOK, *(path.read_text() for path in CI)] for words in commands(text)]
    assert len(seen) > 25
    for words in seen:
        assert words[1] in known, words


def test_starts_with_options_are_understood(cli):
    """Each `start` as a dry run: a mistyped option, key or profile would be refused."""
    (cli.folder / "train.yaml").write_text("program: train.py\nhosts: a\nargs: {lr: 1}\n")
    (cli.folder / "examples").symlink_to(ROOT / "examples")
    cli.env.update(RUN="r", WANDB_API_KEY="x", lr="1")
    dropped = {"--wait", "--json"}
    count = 0
    for text in [COOKBOOK, *(path.read_text() for path in CI)]:
        for words in commands(text):
            if words[1] != "start" or not words[2].endswith(".yaml"):
                continue
            words = [word.replace("$RUN", "r").replace("$lr", "1") for word in words[1:] if word not in dropped]
            if "--timeout" in words:
                at = words.index("--timeout")
                words[at:at + 2] = []
            if "3" in words and "--nodes" in words:
                continue  # shows a refusal
            cli.mt(*words, *([] if "--dry-run" in words else ["--dry-run"]), "--nproc-per-node", "8")
            count += 1
    assert count > 12


@pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
def test_ci_files_are_yaml_with_what_they_need(path):
    tree = yaml.safe_load(path.read_text())
    steps = str(tree)
    for word in ("--wait --timeout 10m --json", "mtlaunch stop", "--save logs", "outcome.json"):
        assert word in steps, word
    job = tree["jobs"]["smoke"] if path.name == "github.yml" else tree["smoke"]
    assert ("steps" if path.name == "github.yml" else "script") in job
