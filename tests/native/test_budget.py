"""The build's budget: a type or a rule for which much is compiled anew shows in the bytes of code.

These do not depend on the machine's load, as seconds do. Where a budget is too small for something
that is worth it, `benchmarks/notes-build.md` says what it costs, and the number here is raised.
"""

import platform
import struct
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from conncomp._core import BUILDS, is_built, native

# Kilobytes of instructions, a tenth more than GCC 12 makes of them on the day of these numbers.
BUDGETS = {"_native": 1090, "_registers_": 1720}
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


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="budgets are those of x86-64"
)
@pytest.mark.parametrize("module", MODULES)
def test_code_keeps_to_its_budget(module):
    if not native.compiler().startswith("12."):
        pytest.skip("budgets are those of GCC 12")
    spec = find_spec(f"conncomp.{module}")
    (budget,) = (most for name, most in BUDGETS.items() if module.startswith(name))
    assert code_bytes(Path(spec.origin)) <= budget * 1000
