"""The C++ core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conncomp._core import native

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "src" / "conncomp" / "kernels"
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")

# AddressSanitizer and UndefinedBehaviorSanitizer see the more, the less was optimised before them,
# and the optimiser takes half the time; ThreadSanitizer's programs would run for longer than that.
SANITIZERS = {
    "address": ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-O1", "-fsanitize=thread"],
}
INSTRUCTIONS = {"generic": [], "x86-64-v3": ["-march=x86-64-v3"]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "rounds", "sanitizer", "instructions"),
    [
        ("core_test", 60, "address", "generic"),
        ("core_test", 60, "address", "x86-64-v3"),
        ("core_test", 60, "thread", "generic"),
        ("models_test", 100, "address", "generic"),
        ("models_test", 100, "address", "x86-64-v3"),
        ("models_test", 100, "thread", "generic"),
        ("text_test", 1500, "address", "generic"),
    ],
)
def test_core_is_clean(test, rounds, sanitizer, instructions, tmp_path):
    if COMPILER is None:
        pytest.skip("no C++ compiler on PATH")
    if instructions != "generic" and not native.supports_x86_64_v3():
        pytest.skip("this processor has no AVX2")
    program = tmp_path / test
    subprocess.run(
        [COMPILER, "-std=c++20", "-g1", "-pthread", "-ffp-contract=off"]
        + ["-DCONNCOMP_GRAIN=32", "-I", KERNELS]
        + SANITIZERS[sanitizer]
        + INSTRUCTIONS[instructions]
        + [HERE / f"{test}.cpp", "-o", program],
        check=True,
    )
    # ThreadSanitizer's shadow memory collides with randomised addresses on recent kernels.
    fixed = ["setarch", "-R"] if sanitizer == "thread" and shutil.which("setarch") else []
    done = subprocess.run(
        [*fixed, program, str(rounds)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{rounds} rounds\n"
