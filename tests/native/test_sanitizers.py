"""The C++ core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer."""

import subprocess

import pytest

from native_program import AT_FIXED_ADDRESSES, compile_natively

# AddressSanitizer and UndefinedBehaviorSanitizer see the more, the less was optimised before them,
# and the optimiser takes half the time; ThreadSanitizer's programs would run for longer than that.
SANITIZERS = {
    "address": ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-O1", "-fsanitize=thread"],
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "rounds", "sanitizer", "instructions"),
    [
        ("core_test", 60, "address", "generic"),
        ("core_test", 60, "address", "x86-64-v3"),
        ("core_test", 60, "thread", "generic"),
        ("columns_test", 4, "address", "generic"),
        ("columns_test", 4, "thread", "generic"),
        # Compiled once, for any processor, in each build.
        ("graphs_test", 60, "address", "generic"),
        ("graphs_test", 60, "thread", "generic"),
        ("tables_test", 60, "address", "generic"),
        ("tables_test", 60, "thread", "generic"),
        ("models_test", 100, "address", "generic"),
        ("models_test", 100, "address", "x86-64-v3"),
        ("models_test", 100, "thread", "generic"),
        ("text_test", 1500, "address", "generic"),
    ],
)
def test_core_is_clean(test, rounds, sanitizer, instructions, tmp_path):
    program = tmp_path / test
    compile_natively(test, instructions, ["-g1", "-pthread", *SANITIZERS[sanitizer]], program)
    done = subprocess.run(
        [*AT_FIXED_ADDRESSES, program, str(rounds)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{rounds} rounds\n"
