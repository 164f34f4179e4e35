"""What a run of the tests says of itself."""

import subprocess
import sys
from pathlib import Path

from progress import Progress, header

SLOW = """
import time, pytest
from progress import Progress

class TestProgress:
    def test_slow(self):
        time.sleep(1)

if __name__ == "__main__":
    raise SystemExit(pytest.main(["-n", "2", "-p", "no:cacheprovider", __file__],
                                 plugins=[Progress(print, 0.2)]))
"""


def test_what_is_at_work_is_named():
    progress = Progress(None)
    progress.pytest_runtest_logstart("a")
    progress.pytest_runtest_logstart("b")
    progress.pytest_runtest_logfinish("a")
    assert progress.at_work() == "0 s: b"


def test_a_long_test_is_named_while_it_runs(tmp_path):
    file = tmp_path / "test_slow.py"
    file.write_text(SLOW)
    done = subprocess.run(
        [sys.executable, file],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent), "PATH": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "s: test_slow.py::TestProgress::test_slow" in done.stdout


def test_header_says_why_there_is_no_gpu():
    assert "tests on a GPU: no driver" in header("no driver")[-1]
    assert header("")[-1].endswith("run")
