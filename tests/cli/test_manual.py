"""The manual page renders without a warning; help, README and manual agree; make install puts all in its place."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import MAN_PAGE, ROOT, help_commands


@pytest.mark.parametrize("argv", [["groff", "-ww", "-man", "-Tutf8", "-z"], ["man", "--warnings", "-l", "-P", "cat"],
                                  ["mandoc", "-T", "lint", "-W", "warning"]], ids=lambda argv: argv[0])
def test_page_renders_without_a_warning(cli, argv):
    if not shutil.which(argv[0]):
        pytest.skip(f"no {argv[0]} here")
    done = cli.run([*argv, MAN_PAGE])
    assert done.stderr == "" and (argv[0] != "mandoc" or done.stdout == "")


def test_page_as_read(cli):
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    cli.env["GROFF_NO_SGR"] = "1"
    text = re.sub(r".\x08", "", cli.run(["groff", "-man", "-Tascii", MAN_PAGE]).stdout)
    for line in ("mtlaunch start train run1 --dry-run", "~/.config/mtlaunch/jobs/NAME.yaml", "--connect-timeout DURATION"):
        assert line in text, line


def readme_section(title):
    text = (ROOT / "README.md").read_text()
    return re.search(rf"^#+ {title}\n(.*?)(?=^#+ )", text, re.M | re.S).group(1)


def test_help_readme_and_manual_list_the_same_commands():
    cells = re.findall(r"^\| (`[a-z].*?) \|", readme_section("Commands"), re.M)
    in_readme = {word for cell in cells for word in re.findall(r"`([a-z]+)", cell)}
    in_manual = set(re.findall(r"^\.SS ([a-z]+)$", MAN_PAGE.read_text(), re.M))
    assert set(help_commands()) == in_manual
    assert in_readme == in_manual


def test_readme_and_manual_list_the_same_exit_codes():
    in_readme = [int(n) for cell in re.findall(r"^\| ([\d, ]+) \|", readme_section("Exit codes"), re.M)
                 for n in cell.split(",")]
    section = MAN_PAGE.read_text().split(".SH EXIT STATUS")[1].split(".SH")[0]
    assert in_readme == [int(n) for n in re.findall(r"^\.B (\d+)$", section, re.M)]


def test_install_and_uninstall(tmp_path):
    def make(target):
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={os.environ.get('BUILD', 'build')}", target,
                        f"DESTDIR={tmp_path}", "PREFIX=/opt/mt"], check=True, env=env, capture_output=True)

    make("install")
    files = {str(f.relative_to(tmp_path)): f.stat().st_mode & 0o777 for f in tmp_path.rglob("*") if f.is_file()}
    share = "opt/mt/share"
    assert files == {
        "opt/mt/bin/mtlaunch": 0o755,
        f"{share}/man/man1/mtlaunch.1": 0o644,
        f"{share}/bash-completion/completions/mtlaunch": 0o644,
        f"{share}/zsh/site-functions/_mtlaunch": 0o644,
        f"{share}/fish/vendor_completions.d/mtlaunch.fish": 0o644,
    }
    make("uninstall")
    assert not [f for f in tmp_path.rglob("*") if f.is_file()]
