"""What is written for the registers of a processor, optimised as in each build of the core."""

import subprocess

import pytest

from native_program import INSTRUCTIONS, compile_natively

OPTIMISED = ["-O3", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.mark.long
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_registers(instructions, tmp_path):
    program = tmp_path / "registers_test"
    compile_natively("registers_test", instructions, OPTIMISED, program)
    done = subprocess.run([program, "200"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "200 rounds\n"
