"""Completion in the shells themselves, as far as a shell can be asked without a terminal."""
import shutil
import subprocess

import pytest
from conftest import ROOT, help_commands

BASH = r"""
source <(mtlaunch completion bash)
complete -p mtlaunch >/dev/null || exit 9
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_mtlaunch
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(cli, *words):
    done = cli.run(["bash", "--norc", "-c", BASH, "bash", "mtlaunch", *words])
    assert done.stderr == ""
    return [line for line in done.stdout.split("\n") if line]


def test_bash_commands_options_and_runs(cli):
    cli.make_run("night")
    cli.make_run("noon")
    assert bash(cli, "sto") == ["stop"]
    assert sorted(bash(cli, "")) == sorted(help_commands())
    assert bash(cli, "stop", "n") == ["night", "noon"]
    assert bash(cli, "stop", "night", "--gr") == ["--grace"]
    assert bash(cli, "list", "--state", "fin") == ["finished"]
    assert bash(cli, "completion", "") == ["bash", "zsh", "fish"]


def test_bash_takes_an_equals_sign_apart(cli):
    assert bash(cli, "list", "--color", "=", "al") == ["always"]
    assert bash(cli, "list", "--color", "=") == ["auto", "always", "never"]
    assert bash(cli, "list", "--color", "=", "never", "--stat") == ["--state"]


def test_bash_files(cli):
    (cli.folder / "train.yaml").write_text("program: x\n")
    (cli.folder / "two words.yaml").write_text("program: x\n")
    (cli.folder / "$(touch pwned).yaml").write_text("program: x\n")
    got = bash(cli, "start", "t")
    assert "train" in got and "train.yaml" in got and "two words.yaml" in got
    assert "$(touch pwned)" not in bash(cli, "start", "")
    (cli.folder / "hosts.txt").write_text("a\n")
    assert bash(cli, "start", "--hostfile", "ho") == ["hosts.txt"]
    assert bash(cli, "hosts", "--hostfile", "=", "ho") == ["hosts.txt"]


def test_bash_with_odd_lines(cli):
    assert bash(cli, "nosuch", "") == []
    assert bash(cli, "--json", "") == []


def test_jobs_are_found_where_start_looks(cli):
    for folder in ("jobs", "more"):
        (cli.folder / folder).mkdir()
    (cli.folder / "jobs" / "alpha.yaml").write_text("program: x\n")
    (cli.folder / "more" / "beta.yaml").write_text("program: x\n")
    cli.env["MTLAUNCH_JOBS"] = str(cli.folder / "more")
    assert bash(cli, "start", "al") == ["alpha"] and bash(cli, "start", "be") == ["beta"]


ZSH = r"""
compdef() { :; }
compset() { PREFIX=${PREFIX#*=}; }
_describe() { print -l -- "${(@P)3}"; }
_files() { print -l FILES; }
source <(mtlaunch completion zsh)
words=("$@")
CURRENT=$#
PREFIX=${words[-1]}
_mtlaunch
"""


def zsh(cli, *words):
    done = cli.run(["zsh", "-f", "-c", ZSH, "zsh", "mtlaunch", *words])
    assert done.stderr == ""
    return done.stdout.splitlines()


needs_zsh = pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
needs_fish = pytest.mark.skipif(not shutil.which("fish"), reason="no fish here")


@needs_zsh
def test_zsh(cli):
    cli.make_run("night")
    assert zsh(cli, "sto")[0].startswith("stop:stop a run")
    assert zsh(cli, "stop", "")[0] == "night"
    assert zsh(cli, "list", "--color=al") == ["always"]
    assert zsh(cli, "start", "--hostfile", "") == ["FILES"]
    assert zsh(cli, "stop", "night", "--grace", "") == []
    assert any(line.startswith("--grace:") for line in zsh(cli, "stop", "night", "--"))


@needs_fish
def test_fish(cli):
    cli.make_run("night")
    (cli.folder / "hosts.txt").write_text("a\n")
    (cli.home / "script.fish").write_text(cli.mt("completion", "fish").stdout)

    def fish(line):
        done = cli.run(["fish", "--no-config", "-c", f"source {cli.home}/script.fish; complete -C '{line}'"])
        return done.stdout.splitlines()

    assert fish("mtlaunch sto")[0].startswith("stop\tstop a run")
    assert [line.split("\t")[0] for line in fish("mtlaunch stop n")] == ["night"]
    assert "night" in [line.split("\t")[0] for line in fish("mtlaunch stop ")]
    assert [line.split("\t")[0] for line in fish("mtlaunch list --color=al")] == ["--color=always"]
    assert "hosts.txt" in [line.split("\t")[0] for line in fish("mtlaunch start --hostfile ho")]


@pytest.mark.parametrize("shell,check", [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])])
def test_syntax(cli, shell, check):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    script = cli.home / "script"
    script.write_text(cli.mt("completion", shell).stdout)
    assert cli.run([*check, script]).stderr == ""
    assert script.read_text() == (ROOT / f"src/cmd/completion/mtlaunch.{shell}").read_text()


def test_errors(cli):
    assert "'completion' has no JSON form" in cli.mt("completion", "bash", "--json", code=2).stderr
    assert "'help' has no JSON form" in cli.mt("help", "--json", code=2).stderr
    assert "unknown shell 'tcsh'" in cli.mt("completion", "tcsh", code=2).stderr
    assert "needs bash, zsh or fish" in cli.mt("completion", code=2).stderr
    assert "needs the words of a command line" in cli.mt("completion", "candidates", code=2).stderr


def test_candidates_come_without_a_home_or_a_store(cli):
    del cli.env["HOME"]
    assert cli.mt("completion", "candidates", "--", "stop", "").stdout == ""
    subprocess.run(["mkdir", "-p", cli.home / ".local/state/mtlaunch"], check=True)
    cli.env["HOME"] = str(cli.home)
    (cli.home / ".local/state/mtlaunch/runs").write_text("no folder")
    assert cli.mt("completion", "candidates", "--", "stop", "").stdout == ""
