"""The C++ programs of tests/native: how they are compiled."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conncomp._core import native

FOLDER = Path(__file__).parent / "native"
KERNELS = FOLDER.parents[1] / "src" / "conncomp" / "kernels"
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")

# Shadow memory collides with randomised addresses on recent kernels: ThreadSanitizer's often,
# AddressSanitizer's now and then (google/sanitizers#1614).
AT_FIXED_ADDRESSES = ["setarch", "-R"] if shutil.which("setarch") else []

# As in CMakeLists.txt.
INSTRUCTIONS = {
    "generic": [],
    "x86-64-v3": ["-march=x86-64-v3"],
    "x86-64-avx512": [
        *("-march=x86-64-v4", "-mavx512vbmi", "-mavx512vbmi2", "-mavx512bitalg"),
        *("-mavx512vpopcntdq", "-mprefer-vector-width=512"),
    ],
}


def compile_natively(name, instructions, flags, program):
    """Compile ``name.cpp`` for a build of the core that this machine can run; skip if it cannot."""
    if COMPILER is None:
        pytest.skip("no C++ compiler on PATH")
    if not native.supports(instructions):
        pytest.skip(f"this processor does not have the instructions of {instructions}")
    compile_program([COMPILER, *INSTRUCTIONS[instructions], *flags], name, program)


def compile_program(compiler, name, program):
    sources = [FOLDER / f"{name}.cpp", *sorted((KERNELS / "cpu" / "core").glob("*.cpp"))]
    options = ["-std=c++20", "-ffp-contract=off"]
    subprocess.run(
        [*compiler, *options, "-DCONNCOMP_GRAIN=32", "-I", KERNELS, *sources, "-o", program],
        check=True,
    )
