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

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        SANITIZER is None,
        reason="compute-sanitizer is neither on PATH nor in /usr/local/cuda/bin",
    ),
]

KERNEL = """
import cupy
cupy.cuda.set_allocator(None)
kernel = cupy.RawKernel(r'''
extern "C" __global__ void f(int* x) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  %s
}''', "f")
kernel((1,), (64,), (cupy.zeros(64, "i4"),))
cupy.cuda.runtime.deviceSynchronize()
"""
BARRIER = "__syncthreads();"
RIGHT = BARRIER + "x[threadIdx.x] = shared[63 - threadIdx.x];"
# What works on entries of shared memory at once does so by atomic functions, as `InBlock` then.
ATOMIC = BARRIER + "atomicMin(shared, -int(threadIdx.x)); x[threadIdx.x] = atomicOr(shared, 0);"
WRONG = {
    "memcheck": BARRIER + "x[threadIdx.x + 1] = shared[63 - threadIdx.x];",
    "racecheck": "x[threadIdx.x] = shared[63 - threadIdx.x];",
}


def sanitize(tool, *command, seconds=100):
    """Run a Python script under a tool; return the exit code and what was written."""
    path = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [SANITIZER, f"--tool={tool}", f"--error-exitcode={FOUND}", sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module", autouse=True)
def _device():
    """Skip where the tool does not work on this GPU, as under some virtual machines."""
    output = sanitize("memcheck", "-c", KERNEL % RIGHT)[1]
    if "not supported" in output:
        pytest.skip(f"compute-sanitizer does not work on this GPU: {output[-500:]}")


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_mistakes_are_found(tool):
    """An access beyond an array, a missing barrier; but not what is right."""
    for right in (RIGHT, ATOMIC):
        code, output = sanitize(tool, "-c", KERNEL % right)
        assert code == 0, output[-2000:]
    code, output = sanitize(tool, "-c", KERNEL % WRONG[tool])
    assert code == FOUND, output[-2000:]


@pytest.mark.parametrize("what", ["graphs", "arrays"])
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_everything(tool, what):
    code, output = sanitize(tool, str(HERE / "everything.py"), tool, what, seconds=300)
    assert (code, "everything ran" in output) == (0, True), output[-10_000:]
