"""A short run of every fuzzer, always the same, and that the fuzzers find what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Found by name, `planted:NAME`; each is wrong where the case holds an "x", in one way or another.
PLANTED = """
import os, signal, subprocess, sys, time
import numpy as np
from tests.fuzz.targets import Target

def when_x(harm):
    return Target(lambda data: harm() if b"x" in data else None, lambda: [b"abc", b"abxc"], True)

def refuse():
    raise ValueError("no")

def swallowed():
    try:
        subprocess.run([sys.executable, "-c", ""])
        raise ValueError
    except ValueError:
        pass

fine = when_x(refuse)
crash = when_x(lambda: os.kill(os.getpid(), signal.SIGSEGV))
hang = when_x(lambda: time.sleep(60))
error = when_x(lambda: 1 / 0)
memory = when_x(lambda: np.ones(1 << 26))
header = when_x(lambda: np.empty(1 << 50))
program = when_x(swallowed)
"""


def fuzz(folder, *options):
    command = [sys.executable, "-m", "tests.fuzz", "--findings", str(folder / "findings"), *options]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def test_every_target(tmp_path):
    done = fuzz(tmp_path, "--cases", "60")
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "findings").exists()


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("crash", "crash: SIGSEGV"),
        ("hang", "hangs: more than 1 s"),
        ("error", "raises: ZeroDivisionError"),
        ("memory", "memory: "),
        ("header", "memory: "),
        ("program", "forbidden: subprocess.Popen"),
    ],
)
def test_what_is_wrong_is_found_and_repeated(tmp_path, name, signature):
    (tmp_path / "planted.py").write_text(PLANTED)
    limits = "--case-seconds", "1", "--case-mib", "256"
    done = fuzz(tmp_path, "--target", f"planted:{name}", "--cases", "4", *limits)
    assert done.returncode == 1, done.stdout
    (path,) = (tmp_path / "findings").rglob("*.txt")
    assert signature in path.read_text()
    again = fuzz(tmp_path, "--target", f"planted:{name}", "--repeat", str(path), *limits)
    assert again.returncode == 1
    assert signature in again.stdout
    if name == "error":
        assert path.read_text().endswith("\nb'x'\n")


def test_a_refusal_is_no_finding(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    done = fuzz(tmp_path, "--target", "planted:fine", "--cases", "4")
    assert done.returncode == 0, done.stdout
