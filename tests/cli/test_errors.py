"""The table of mistakes in tests/data/errors: each row's command says what the row says, whole, and ends as it says.

    python3 tests/cli/test_errors.py FILE.toml     prints what the rows of the file say now
"""
import shlex
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import ROOT, Cli  # noqa: E402

TABLES = ROOT / "tests/data/errors"
KEYS = {"name", "files", "run", "env", "code", "stdout", "stderr"}


def read_rows(path):
    return tomllib.loads(path.read_text())["row"]


def all_rows():
    return [pytest.param(row, id=f"{path.stem}-{row['name']}") for path in sorted(TABLES.glob("*.toml"))
            for row in read_rows(path)]


def run_row(cli, row):
    """(exit code, stdout, stderr) with the row's own folders named {dir} and {home}."""
    for name, text in row.get("files", {}).items():
        path = (cli.home if name.startswith("~/") else cli.folder) / name.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((TABLES / text[1:].strip()).read_text() if text.startswith("<") else text)
    cli.env.update(row.get("env", {}))
    words = shlex.split(row["run"])
    assert words[0] == "mtlaunch"
    done = cli.mt(*words[1:], code=None)
    return done.returncode, *(text.replace(str(cli.folder), "{dir}").replace(str(cli.home), "{home}")
                              for text in (done.stdout, done.stderr))


@pytest.mark.parametrize("row", all_rows())
def test_row(cli, row):
    assert set(row) <= KEYS
    wanted = {"code": row["code"], "stdout": row.get("stdout", ""), "stderr": row["stderr"]}
    got = dict(zip(wanted, run_row(cli, row)))
    wrong = [f"{key}: wanted\n{wanted[key]}\n{key}: got\n{got[key]}" for key in wanted if got[key] != wanted[key]]
    if wrong:
        pytest.fail(f"row '{row['name']}': {row['run']}\n" + "\n".join(wrong), pytrace=False)


def test_the_table_is_large_and_its_names_are_unique():
    names = [p.id for p in all_rows()]
    assert len(names) >= 60 and len(names) == len(set(names))


def test_exec_that_took_a_host_for_a_command(cli):
    said = cli.mt("exec", "node1", "hostname", code=127).stderr
    assert "no host was named" in said and "mtlaunch exec -H node1 hostname" in said
    assert "no host was named" not in cli.mt("exec", "no-such-command", code=127).stderr


if __name__ == "__main__":
    for one in read_rows(Path(sys.argv[1])):
        with tempfile.TemporaryDirectory() as folder:
            status, printed, said = run_row(Cli(Path(folder)), one)
        print(f"--- {one['name']}: {status}\n{printed}{said}")
