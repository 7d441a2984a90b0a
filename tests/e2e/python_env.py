"""A Python environment with packages from PyPI that the nodes of the lab can use. It is made once and kept.

It lies below /var/tmp: the lab hides /tmp and /home from its nodes. $MTLAUNCH_TEST_ENVS names another folder.
As a program it makes all of them, so that no test has to wait for one: python3 tests/e2e/python_env.py
"""
import fcntl
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

ENVS = Path(os.environ.get("MTLAUNCH_TEST_ENVS", "/var/tmp/mtlaunch-test-envs"))
# The index of PyTorch has builds without CUDA, which are a tenth of the size.
CPU_INDEX = ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]
TORCH = ["torch==2.13.0+cpu", "numpy", "accelerate==1.15.0", "deepspeed==0.19.8"]
RAY = ["ray==2.60.0"]
PY_SPY = ["py-spy==0.4.3"]
ALL = {"torch": TORCH, "py-spy": PY_SPY, "ray": RAY}


class Unavailable(Exception):
    """The packages could not be installed; the text says why."""


def python_env(name, packages, timeout=900):
    """The environment's interpreter. Raises Unavailable where pip cannot get the packages."""
    ENVS.mkdir(mode=0o755, exist_ok=True)
    folder, mark = ENVS / name, ENVS / name / "packages"
    with open(ENVS / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = "\n".join(packages)
        if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
            return folder / "bin" / "python"
        shutil.rmtree(folder, ignore_errors=True)
        for command in (["/usr/bin/python3", "-m", "venv", folder],
                        [folder / "bin" / "pip", "install", "-q", *CPU_INDEX, *packages]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise Unavailable(str(error)) from error
            if done.returncode != 0:
                raise Unavailable((done.stderr.strip() or "pip failed").splitlines()[-1])
        mark.write_text(wanted, encoding="utf-8")
    return folder / "bin" / "python"


def wheel_files(package, folder, names):
    """Files of a wheel from PyPI, as bytes by name; names is a list of them, or chooses them. Nothing is installed.

    Raises Unavailable.
    """
    ENVS.mkdir(mode=0o755, exist_ok=True)
    found = sorted((ENVS / folder).glob("*.whl"))
    if not found:
        command = ["/usr/bin/python3", "-m", "pip", "download", "-q", "--no-deps", "-d", ENVS / folder, package]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        found = sorted((ENVS / folder).glob("*.whl"))
        if done.returncode != 0 or not found:
            raise Unavailable((done.stderr.strip() or "pip failed").splitlines()[-1])
    with zipfile.ZipFile(found[0]) as wheel:
        return {name: wheel.read(name) for name in (filter(names, wheel.namelist()) if callable(names) else names)}


def main():
    for name, packages in ALL.items():
        try:
            print(f"{name}: {python_env(name, packages)}")
        except Unavailable as error:  # the tests that need it are skipped, and say why
            print(f"{name}: {error}")


if __name__ == "__main__":
    main()
