"""Manual pages render without a warning; help, README and manual agree; make install puts all in its place."""
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import MAN_PAGE, MAN_PAGES, ROOT, help_commands


@pytest.mark.parametrize("page", MAN_PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("argv", [["groff", "-ww", "-man", "-Tutf8", "-z"], ["man", "--warnings", "-l", "-P", "cat"],
                                  ["mandoc", "-T", "lint", "-W", "warning"]], ids=lambda argv: argv[0])
def test_page_renders_without_a_warning(cli, argv, page):
    if not shutil.which(argv[0]):
        pytest.skip(f"no {argv[0]} here")
    done = cli.run([*argv, page])
    assert done.stderr == "" and (argv[0] != "mandoc" or done.stdout == "")


def test_page_as_read(cli):
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    cli.env["GROFF_NO_SGR"] = "1"
    text = re.sub(r".\x08", "", cli.run(["groff", "-man", "-Tascii", MAN_PAGE]).stdout)
    for line in ("mtlaunch start train run1 --dry-run", "~/.config/mtlaunch/jobs/NAME.yaml", "--connect-timeout DURATION"):
        assert line in text, line


def test_page_of_the_job_file_has_the_keys_that_the_parser_knows(cli):
    """In the page and in help: each key that a job file may have, and no other."""
    items = re.findall(r"^  (\S+)$", cli.mt("help", "job").stdout.split("\nKeys\n")[1], re.M)
    page = MAN_PAGES[1].read_text().split("\n.SH KEYS\n")[1]
    assert [item.replace("\\", "") for item in re.findall(r"^\.TP\n\\fB(.*)\\fR$", page, re.M)] == items
    for key in items:
        spec = "program: x\n" + ": {".join(key.replace("[]", "").split(".")) + ": null" + "}" * key.count(".") + "\n"
        if "[]" in key:
            name, item = key.split("[].")
            needed = {"notify": {"url": "'https://h'"}, "prepare": {"name": "a", "command": "b"}}[name]
            values = {item: "null", **needed}
            spec = f"program: x\n{name}: [{{{', '.join(f'{k}: {v}' for k, v in values.items())}}}]"
        (cli.folder / "j.yaml").write_text(spec)
        said = cli.mt("start", "j.yaml", "r", "--dry-run", code=None).stderr
        assert "unknown key" not in said and "not supported" not in said, (key, said)
    assert len(items) == len(set(items)) > 70


def test_help_about_a_key_and_other_words(cli):
    assert "finish_on" in cli.mt("help", "finish_on").stdout
    assert "stop.grace\n" in cli.mt("help", "grace").stdout
    assert cli.mt("help", "spec").stdout == cli.mt("help", "job").stdout
    both = cli.mt("help", "stop").stdout
    assert both.startswith("Usage: mtlaunch stop") and "Key of the job file\n  stop\n" in both
    assert "did you mean 'mtlaunch help finish_on'?" in cli.mt("help", "finish_om", code=2).stderr


def test_help_names_every_variable_of_a_job(cli):
    (cli.folder / "j.yaml").write_text("program: x.py\nhosts: a[1-2]\nnproc_per_node: 1\n")
    plan = json.loads(cli.mt("start", "j.yaml", "r", "--dry-run", "--json").stdout)
    said = cli.mt("help", "environment").stdout
    for variable in plan["nodes"][0]["env"]:
        assert variable["name"] in said, variable


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
    assert in_readme == [int(n) for n in re.findall(r"^\.TP\n\\fB(\d+)\\fR$", section, re.M)]


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
        f"{share}/man/man5/mtlaunch-job.5": 0o644,
        f"{share}/man/man5/mtlaunch-hosts.5": 0o644,
        f"{share}/mtlaunch/mtlaunch.schema.json": 0o644,
        f"{share}/bash-completion/completions/mtlaunch": 0o644,
        f"{share}/zsh/site-functions/_mtlaunch": 0o644,
        f"{share}/fish/vendor_completions.d/mtlaunch.fish": 0o644,
    }
    make("uninstall")
    assert not [f for f in tmp_path.rglob("*") if f.is_file()]
