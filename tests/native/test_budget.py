"""The build's budget: a type or a rule for which much is compiled anew shows in what is compiled.

Bytes of code, and how many functions templates become, do not depend on the machine's load, as
seconds do. Where a budget is too small for something that is worth it, `benchmarks/notes-build.md`
says what it costs, and the number here is raised.
"""

import platform
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from conncomp._core import BUILDS, is_built, native

# Kilobytes of instructions, a hundredth more than GCC 12 makes of them on the day of these numbers.
BUDGETS = {"_native": 1270, "_registers_": 2700}
# Functions that are made of the package's templates, a hundredth more than GCC 12 makes.
INSTANTIATIONS = {"_native": 1175, "_registers_": 1390}
TEMPLATE = re.compile(r"conncomp::(?:\(anonymous namespace\)::)?[\w:]+(?=<)")
SECTION = struct.Struct("<IIQQQQIIQQ")  # its name, type, flags, address, offset, size, ...
EXECUTABLE = 4  # among the flags

MODULES = ["_native", *(BUILDS[name].rpartition(".")[2] for name in BUILDS if is_built(name))]


def code_bytes(path):
    """Return how many bytes of instructions an ELF file of 64 bits has."""
    content = path.read_bytes()
    assert content[:5] == b"\x7fELF\x02"
    (start,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    sections = [SECTION.unpack_from(content, start + size * k) for k in range(count)]
    return sum(section[5] for section in sections if section[2] & EXECUTABLE)


def instantiations(path):
    """Return an ELF file's functions of our templates, those split off or copied as one."""
    listed = subprocess.run(
        ["nm", "-C", "--defined-only", path], capture_output=True, text=True, check=True
    )
    symbols = (line.split(maxsplit=2)[1:] for line in listed.stdout.splitlines())
    functions = {name.partition(" [clone")[0] for kind, name in symbols if kind in "tTwW"}
    return {name for name in functions if TEMPLATE.search(name)}


def of_gcc_12_for_x86_64(test):
    """Mark a test as one for the compiler and the machines that budgets are those of."""
    skips = [
        (sys.platform != "linux" or platform.machine() != "x86_64", "budgets are those of x86-64"),
        (not native.compiler().startswith("12."), "budgets are those of GCC 12"),
    ]
    for condition, reason in skips:
        test = pytest.mark.skipif(condition, reason=reason)(test)
    return pytest.mark.parametrize("module", MODULES)(test)


def budgeted(module, budgets):
    """Return the file of a module, and its budget."""
    (budget,) = (most for name, most in budgets.items() if module.startswith(name))
    return Path(find_spec(f"conncomp.{module}").origin), budget


@of_gcc_12_for_x86_64
def test_code_keeps_to_its_budget(module):
    path, budget = budgeted(module, BUDGETS)
    assert code_bytes(path) <= budget * 1000


@of_gcc_12_for_x86_64
def test_templates_keep_to_their_budget(module):
    if shutil.which("nm") is None:
        pytest.skip("no nm on PATH")
    path, budget = budgeted(module, INSTANTIATIONS)
    functions = instantiations(path)
    if not functions:
        pytest.skip("stripped of its symbols, as wheels for every machine are")
    most = Counter(TEMPLATE.search(name).group() for name in functions).most_common(10)
    assert len(functions) <= budget, f"most are of {most}"
