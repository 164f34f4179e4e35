"""The C++ programs of tests/native: how they are compiled."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conncomp._core import native

FOLDER = Path(__file__).parent / "native"
KERNELS = FOLDER.parents[1] / "src" / "conncomp" / "kernels"
CORE = sorted((KERNELS / "cpu" / "core").glob("*.cpp"))
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

# Loops of few elements have many parts.
SMALL_PARTS = ["-DCONNCOMP_GRAIN=32"]


def compile_natively(name, instructions, flags, program, parts=SMALL_PARTS):
    """Compile ``name.cpp`` for a build of the core that this machine can run; skip if it cannot."""
    if COMPILER is None:
        pytest.skip("no C++ compiler on PATH")
    if not native.supports(instructions):
        pytest.skip(f"this processor does not have the instructions of {instructions}")
    sources = [*CORE, FOLDER / f"{name}.cpp"]
    if "clang" not in COMPILER:  # GCC collects no garbage below a gigabyte
        flags = [*flags, "--param", "ggc-min-heapsize=1000000"]
    compiler = [COMPILER, *INSTRUCTIONS[instructions], *flags]
    compile_sources(compiler, sources, program, parts)


def compile_sources(compiler, sources, program, parts=SMALL_PARTS):
    """Compile as one, so that headers that all of them include are read once."""
    one = program.with_name(f"{program.name}_as_one.cpp")
    one.write_text("".join(f'#include "{source}"\n' for source in sources))
    options = ["-std=c++20", "-ffp-contract=off", *parts, "-I", KERNELS]
    subprocess.run([*compiler, *options, one, "-o", program], check=True)


def compile_for_arm(name, program):
    """Cross-compile ``name.cpp``, optimised as the core is, for the emulator of `aarch64`."""
    zig = [sys.executable, "-m", "ziglang"]
    compiler = [*zig, "c++", "-target", "aarch64-linux-musl", "-c"]
    objects = [program.with_name(f"{part}.o") for part in (name, "bare_library")]
    compile_sources([*compiler, "-O3"], [*CORE, FOLDER / f"{name}.cpp"], objects[0])
    compile_sources([*compiler, "-O2", "-fno-builtin"], [FOLDER / "bare_library.cpp"], objects[1])
    link = [*zig, "ld.lld", *objects, "-o", program]
    missing = subprocess.run(
        [*link, "--no-demangle", "--error-limit=0"], capture_output=True, text=True
    )
    names = re.findall("undefined symbol: (.*)", missing.stderr)
    subprocess.run([*link, *(f"--defsym={name}=missing_function" for name in names)], check=True)
