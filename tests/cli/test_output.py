"""Where the output goes."""
import fcntl
import subprocess

import pytest

from conftest import BINARY


def test_logs_make_a_pipe_large(cli):
    """A reader that pauses for a moment does not hold up the nodes."""
    process = subprocess.Popen([BINARY, "logs", "none"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=cli.env, cwd=cli.folder)
    assert process.wait(60) == 6
    size = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)
    try:
        wanted = fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
    except PermissionError:
        pytest.skip("this user has too many large pipes")
    process.stdout.close()
    assert size == wanted
