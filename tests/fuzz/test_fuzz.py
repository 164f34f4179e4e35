"""A short run of every fuzzer, always the same, and that the fuzzers find what is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dealt import examples

ROOT = Path(__file__).parents[2]
PLANTED_FAULTS = Path(__file__).with_name("planted_faults.md")

# Targets `planted:NAME`, each wrong in its way where a case holds an "x".
PLANTED = """
import os, signal, subprocess, sys, time
import numpy as np
from tests.fuzz.target import Target

def when_x(harm):
    return Target(lambda data: harm() if b"x" in data else None, lambda: [b"ab", b"x"], True)

def refuse():
    raise ValueError("no")

def swallowed():
    try:
        subprocess.run([sys.executable, "-c", ""])
    finally:
        refuse()

fine = when_x(refuse)
crash = when_x(lambda: os.kill(os.getpid(), signal.SIGSEGV))
hang = when_x(lambda: time.sleep(600))
error = when_x(lambda: 1 / 0)
memory = when_x(lambda: np.ones(1 << 24))
header = when_x(lambda: np.empty(1 << 50))
program = when_x(swallowed)
"""
FOUND = {
    "crash": "crash: SIGSEGV",
    "hang": "hangs: more than 3 s",
    "error": "raises: ZeroDivisionError",
    "memory": "memory: 1",
    "header": "memory: MemoryError: Unable to allocate",
    "program": "forbidden: subprocess.Popen",
}


def start(folder, *options):
    command = [sys.executable, "-m", "tests.fuzz", "--findings", str(folder / "findings"), *options]
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def finish(process):
    """Return what was printed, and the exit status."""
    try:
        return process.communicate(timeout=900)[0], process.returncode
    finally:
        process.kill()
        process.wait()


def fuzz(folder, *options):
    return finish(start(folder, *options))


@pytest.mark.soak
def test_every_target(tmp_path):
    shown, status = fuzz(tmp_path, "--cases", str(examples(40)), "--case-seconds", "60")
    assert status == 0, shown
    assert not (tmp_path / "findings").exists()


@pytest.mark.soak
def test_targets_notice_what_is_broken():
    """Each function that targets compare is replaced by one that is wrong in one place."""
    command = [sys.executable, "-m", "tests.fuzz.broken"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_page_of_what_was_tried():
    """The page lists all targets, and how many functions are made wrong."""
    from tests.fuzz.broken import BREAKAGES
    from tests.fuzz.targets import TARGETS

    page = (ROOT / "docs" / "what_was_tried.rst").read_text()
    table = page[page.index("target  ") : page.index("The updates of each model")]
    assert sorted(re.findall(r"^``([\w-]+)`` ", table, re.M)) == sorted(TARGETS)
    assert f"{sum(map(len, BREAKAGES.values()))} functions, each wrong in one place" in page
    found = re.findall(r"^\| [\w-]+ \| \d+ \| (\d+) \|", PLANTED_FAULTS.read_text(), re.M)
    assert f"notice {sum(map(int, found))} of" in page


def test_list_of_planted_faults():
    """It has all faults. If not, ``python -m tests.fuzz.gate TARGET`` brings it up to date."""
    from tests.fuzz.broken import BREAKAGES

    row = re.compile(r"^\| ([\w-]+) \| (\d+) \| (\d+) \| (.*) \| (.*) \|$", re.M)
    rows = row.findall(PLANTED_FAULTS.read_text())
    assert {name: int(count) for name, count, *_ in rows} == {
        name: len(faults) for name, faults in BREAKAGES.items()
    }
    for name, count, found, tests, missed in rows:
        found_by = re.findall(r"`(\S+)::(?:\w+::)*(\w+)` (\d+)", tests)
        assert sum(int(times) for *_, times in found_by) == int(found), name
        assert int(found) + len(re.findall(r"\d+: `", missed)) == int(count), name
        for file, test, _ in found_by:
            assert f"def {test}(" in (ROOT / "tests" / file).read_text()


def test_several_processes_write_one_report(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    report = tmp_path / "report.json"
    targets = "--target=planted:fine", "--target=planted:error"
    parts = "--workers=2", "--seed=7", "--cases=2", f"--report={report}"
    shown, status = fuzz(tmp_path, *targets, *parts)
    assert status == 1
    assert "8 cases, 1 findings" in shown
    told = json.loads(report.read_text())
    assert (told["cases"], told["seeds"]) == (8, [7, 8])
    assert {name: counts["cases"] for name, counts in told["targets"].items()} == {
        "planted:fine": 4,
        "planted:error": 4,
    }
    (found,) = told["findings"]
    assert "ZeroDivisionError" in found["verdict"]
    assert Path(found["path"]).exists()


def test_each_kind_of_fault_is_found(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    targets = [f"--target=planted:{name}" for name in ("fine", *FOUND)]
    limits = "--cases=2", "--case-seconds=3", "--case-mib=64"
    shown, status = fuzz(tmp_path, *targets, *limits)
    assert status == 1
    assert "14 cases, 6 findings" in shown
    for name, signature in FOUND.items():
        (path,) = (tmp_path / "findings" / f"planted:{name}").iterdir()
        assert signature in path.read_text()


def test_a_case_is_minimised_and_repeated(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED.replace('b"x"]', 'b"a long case, then x"]'))
    shown, status = fuzz(tmp_path, "--target=planted:error", "--cases=2")
    assert status == 1, shown
    (path,) = (tmp_path / "findings").rglob("*.txt")
    assert path.read_text().endswith("\nb'x'\n")
    shown, status = fuzz(tmp_path, "--target=planted:error", "--repeat", str(path))
    assert status == 1
    assert "raises: ZeroDivisionError" in shown


def test_a_target_that_there_is_not(tmp_path):
    process = start(tmp_path, "--target", "no")
    errors = process.communicate(timeout=900)[1]
    assert process.returncode == 2
    assert "there is no target 'no" in errors
    assert "Traceback" not in errors


def test_an_interrupt_ends_with_what_was_found(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    process = start(tmp_path, "--target", "planted:error", "--seconds", "100")
    end = time.monotonic() + 60
    while not any((tmp_path / "findings").rglob("*.txt")) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    shown, status = finish(process)
    assert time.monotonic() < end
    assert status == 1
    assert "ZeroDivisionError" in shown
