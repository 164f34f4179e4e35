"""The C++ core under AddressSanitizer and UndefinedBehaviorSanitizer; in a soak ThreadSanitizer."""

import subprocess

import pytest

from conncomp._core import native
from native_program import AT_FIXED_ADDRESSES, compile_natively

# AddressSanitizer and UndefinedBehaviorSanitizer see the more, the less was optimised before them,
# and the optimiser takes half the time; ThreadSanitizer's programs would run for longer than that.
SANITIZERS = {
    "address": ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-O1", "-fsanitize=thread"],
}
# The widest registers that this machine has of those that the core and the models are written for:
# their words and loops see addresses and what is undefined there, and what is generic sees threads.
# Words of bits and labels of runs do so for each build, in test_registers.py.
WIDEST = next(name for name in ("x86-64-v3", "generic") if native.supports(name))
# Runs are linked, numbered and labelled by wider ones, too.
WIDEST_OF_RUNS = "x86-64-avx512" if native.supports("x86-64-avx512") else WIDEST

# A fault in what is drawn is met by a few of them, as a rule by the first.
ROUNDS = 60
ROUNDS_OF_TEXT = 1500

# To say what is undefined, and where, is a third of the time to compile: a program stops where it
# finds that, and is compiled again to say it.
SILENT = ["-fsanitize-undefined-trap-on-error"]


def run(program, rounds):
    return subprocess.run(
        [*AT_FIXED_ADDRESSES, program, str(rounds)], capture_output=True, text=True, timeout=300
    )


@pytest.mark.soak
@pytest.mark.parametrize(
    ("test", "rounds", "sanitizer", "instructions"),
    [
        ("core_test", ROUNDS, "address", WIDEST_OF_RUNS),
        ("core_test", ROUNDS, "thread", "generic"),
        ("columns_test", 4, "address", "generic"),
        ("columns_test", 4, "thread", "generic"),
        # Compiled once, for any processor, in each build.
        ("graphs_test", ROUNDS, "address", "generic"),
        ("graphs_test", ROUNDS, "thread", "generic"),
        ("tables_test", ROUNDS, "address", "generic"),
        ("tables_test", ROUNDS, "thread", "generic"),
        ("models_test", 50, "address", WIDEST),
        ("models_test", 50, "thread", "generic"),
        ("structure_test", ROUNDS, "address", WIDEST),
        ("structure_test", ROUNDS, "thread", "generic"),
        ("text_test", ROUNDS_OF_TEXT, "address", "generic"),
    ],
)
def test_core_is_clean(test, rounds, sanitizer, instructions, tmp_path):
    program, flags = tmp_path / test, ["-pthread", *SANITIZERS[sanitizer]]
    compile_natively(test, instructions, [*flags, *SILENT], program)
    for arguments in ([], ["many"], ["3", "4"]):
        done = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stdout.startswith("usage: ")
    done = run(program, rounds)
    if done.returncode != 0:
        compile_natively(test, instructions, ["-g1", *flags], program)
        again = run(program, rounds)
        pytest.fail(done.stdout + done.stderr + again.stdout + again.stderr)
    assert done.stdout == f"{rounds} rounds\n"


@pytest.mark.soak
def test_races_of_short_loops_are_found(tmp_path):
    """After many that helpers gained nothing in, and at the first time."""
    program = tmp_path / "race_test"
    flags = ["-g1", "-pthread", *SANITIZERS["thread"]]
    compile_natively("race_test", "generic", flags, program)
    done = run(program, 1)
    assert done.returncode == 66, done.stderr
    assert done.stdout == "1 rounds\n"
    reports = [line for line in done.stderr.splitlines() if line.startswith("SUMMARY")]
    assert len(reports) == 1
    assert reports[0].startswith("SUMMARY: ThreadSanitizer: data race")
    assert reports[0].endswith(" in add")


@pytest.mark.soak
def test_long_loops_ask_helpers_again(tmp_path):
    program = tmp_path / "helpers_test"
    compile_natively("helpers_test", "generic", ["-O1", "-pthread"], program, parts=[])
    done = run(program, 2)
    assert (done.returncode, done.stdout) == (0, "2 rounds\n")
