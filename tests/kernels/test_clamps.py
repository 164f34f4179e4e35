"""No kernel has what the assembler of CUDA 12.8 to 13.3 makes a wrong instruction of.

It takes ``min(x, k)``, the larger of that and 0, and whether the result is ``k``, for one
instruction of GPUs of 9.0, before 13.1 also of those of 10.0: VIMNMX.RELU with a predicate, which
says the opposite. On an H200, compiled by NVRTC 13.0, ``clamp(x) == 8`` was true for 0 to 7 and
false from 9 on; with the code of 13.5 it was right. The lengths of bricks were such clamps once:
labels of arrays that cut tiles off were wrong, and others from one run to the next, as tiles wrote
beyond the ends of rows.
"""

import re

import pytest

from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.launcher import compile_options, source
from kernels.test_compile import PARTS
from nvrtc_program import checked, nvrtc, program_of

REGISTER = r"(%r\d+)"
LESSER = re.compile(rf"min\.s32\s+{REGISTER}, {REGISTER}, (%r\d+|\d+);")
CLAMPED = re.compile(rf"max\.s32\s+{REGISTER}, {REGISTER}, 0;")
COMPARED = re.compile(r"setp\.(?:eq|ne)\.[su]32\s+%p\d+, (%r\d+), (%r\d+|\d+);")


def wrong_clamps(ptx):
    """Return the comparisons that the assembler makes a part of a clamp."""
    found, bounds, clamped = [], {}, {}
    for line in ptx.splitlines():
        if ".entry" in line or ".func" in line:  # registers begin anew
            bounds, clamped = {}, {}
        if match := LESSER.search(line):
            lesser, *of = match.groups()
            bounds[lesser] = {bound for bound in of if bound}
        elif match := CLAMPED.search(line):
            clamped[match[1]] = bounds.get(match[2], set())
        elif match := COMPARED.search(line):
            a, b = match.groups()
            if b in clamped.get(a, ()) or a in clamped.get(b, ()):
                found.append(line.strip())
    return found


def ptx_of(text, names, options):
    """Return what the assembler for GPUs of 9.0 is given."""
    program = program_of(text, names)
    encoded = [option.encode() for option in (*options, "-arch=compute_90")]
    checked(nvrtc.nvrtcCompileProgram(program, len(encoded), encoded))
    ptx = bytearray(checked(nvrtc.nvrtcGetPTXSize(program)))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    nvrtc.nvrtcDestroyProgram(program)
    return ptx.decode()


@pytest.mark.parametrize("bound", ["8", "y[1]"])
@pytest.mark.parametrize("given", ["x[0]", "x[0] - x[1]"])
def test_a_clamp_that_is_compared_with_its_bound_is_seen(given, bound):
    body = f"const int t = {given}, k = {bound}, m = t < k ? t : k, length = m > 0 ? m : 0;"
    for compared, count in (("length == k ? 100 : length", 1), ("length * 3 + t == k", 0)):
        text = (
            "namespace conncomp { template <class T> __global__ void f(T* x, const T* y) "
            f"{{ {body} x[2] = {compared}; }} }}"
        )
        assert len(wrong_clamps(ptx_of(text, ("f<int>",), ()))) == count


def modules_of_bricks():
    """Return the kernels that label images and volumes of bytes by bricks."""
    found = {}
    for file, names in tiled_bricks.specialisations():
        for rank in (2, 3):
            kind = "conncomp::Equal<uint8_t>", f"BrickTiles<{rank}, conncomp::FixedLogs"
            if all(part in names[0] for part in (*kind, "int32_t")) and "true>" not in names[0]:
                found[f"{names[0].partition('<')[0]}-{rank}"] = file, names
    return found


MODULES = modules_of_bricks()


@pytest.mark.parametrize(("file", "names"), MODULES.values(), ids=MODULES)
def test_lengths_of_bricks_are_no_such_clamps(file, names):
    assert wrong_clamps(ptx_of(source(file), names, compile_options(file))) == []


OPTIMISED = {key: part for key, part in PARTS.items() if key.endswith("-90")}


@pytest.mark.long
@pytest.mark.parametrize(("file", "names", "kind"), OPTIMISED.values(), ids=OPTIMISED)
def test_no_kernel_has_such_a_clamp(file, names, kind):
    assert wrong_clamps(ptx_of(source(file), names, compile_options(file))) == []
