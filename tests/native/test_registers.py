"""What is written for the registers of a processor, optimised as in builds of the core."""

import subprocess

import pytest

from conncomp._core import native
from dealt import SOAK
from native_program import INSTRUCTIONS, compile_for_arm, compile_natively

ROUNDS = 200
# The widest that this machine has, and the narrowest; those between are for a soak.
WIDEST = [name for name in INSTRUCTIONS if native.supports(name)][-1]
CHOSEN = [
    name if name in ("generic", WIDEST) else pytest.param(name, marks=pytest.mark.soak)
    for name in INSTRUCTIONS
]
EMULATED_ROUNDS = 80  # each takes 0.06 s
# Accesses are looked at by calls: written out at each access, the looks take as long to optimise
# as all else.
ADDRESS = ["-fsanitize=address", "--param", "asan-instrumentation-with-call-threshold=0"]


@pytest.mark.soak
@pytest.mark.parametrize("instructions", CHOSEN)
def test_registers(instructions, tmp_path):
    """The widest as users have them; others as they are written, and in a soak as users have them.

    The optimiser takes three quarters of the time.
    """
    program = tmp_path / "registers_test"
    optimised = "-O3" if SOAK or instructions == WIDEST else "-O0"
    compile_natively("registers_test", instructions, [optimised, "-pthread", *ADDRESS], program)
    done = subprocess.run([program, str(ROUNDS)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{ROUNDS} rounds\n"


@pytest.mark.soak
def test_registers_of_arm(tmp_path):
    """Compiled by a cross-compiler, and emulated."""
    pytest.importorskip("ziglang")
    pytest.importorskip("unicorn")
    from aarch64 import Process

    program = tmp_path / "registers_test"
    compile_for_arm("registers_test", program)
    rounds = EMULATED_ROUNDS
    assert Process(program, [str(rounds)]).run() == (0, f"{rounds} rounds\n")
