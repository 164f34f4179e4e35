"""NVIDIA's compute-sanitizer on every algorithm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/cuda/bin"))
SANITIZER = shutil.which("compute-sanitizer", path=PLACES)
FOUND = 86


def sanitize(tool, *command, seconds):
    """Run a Python script under a tool; return the exit code and what was written."""
    done = subprocess.run(
        [SANITIZER, f"--tool={tool}", f"--error-exitcode={FOUND}", sys.executable, *command],
        env=os.environ | {"PYTHONPATH": str(HERE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    return done.returncode, done.stdout


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        SANITIZER is None,
        reason="compute-sanitizer is neither on PATH nor in /usr/local/cuda/bin",
    ),
]


@pytest.mark.parametrize("what", ["graphs", "arrays"])
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_everything(tool, what):
    code, output = sanitize(tool, str(HERE / "everything.py"), tool, what, seconds=300)
    assert (code, "everything ran" in output) == (0, True), output[-10_000:]


MISTAKES = """
import cupy
cupy.cuda.set_allocator(None)
kernel = cupy.RawKernel(r'''
extern "C" __global__ void f(int* x) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  %s
  x[threadIdx.x] = shared[63 - threadIdx.x];
}''', "f")
kernel((1,), (64,), (cupy.zeros(%d, "i4"),))
cupy.cuda.runtime.deviceSynchronize()
"""


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_mistakes_are_found(tool):
    """An access beyond an array, and a missing barrier."""
    right = MISTAKES % ("__syncthreads();", 64)
    wrong = MISTAKES % (("__syncthreads();", 8) if tool == "memcheck" else ("", 64))
    assert sanitize(tool, "-c", right, seconds=100)[0] == 0
    assert sanitize(tool, "-c", wrong, seconds=100)[0] == FOUND
