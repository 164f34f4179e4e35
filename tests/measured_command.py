"""`conncomp` in a process of its own, or a part of this one, and the most memory that it takes."""

import subprocess
import sys
import tracemalloc
from contextlib import contextmanager

# Started by a small process, as the system counts what a process was before its program began.
MEASURE = """
import os, sys
program = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[1:]], os.environ)
_, status, usage = os.wait4(program, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def in_python(code, *words, timeout=120, **options):
    """Run a program in an interpreter of its own; return what came of it, its output as text."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


def measured(*words, name="label"):
    """Run the command; return its report and the most memory that it took, by the system."""
    return measured_program("-m", "conncomp", name, *words, "--json")


def measured_program(*words):
    """Run Python; return its status, output and errors and the most memory that it took."""
    found = in_python(MEASURE, *words, timeout=None)
    report, _, peak = found.stdout.strip().rpartition("\n")
    return found.returncode, report, found.stderr, int(peak)


@contextmanager
def allocates_little(most=20 << 20):
    """Check that Python and NumPy allocate no more bytes meanwhile."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
