"""A clamp that is compared with its bound is seen, and what labels bricks has none."""

import pytest

from clamps import wrong_clamps
from conncomp.kernels.cuda.compiling import compile_options, source
from conncomp.kernels.cuda.grid import tiled_bricks
from nvrtc_program import checked, nvrtc, program_of, ptx_of
from specialisations import modules_of


def ptx_for_90(text, names, options):
    """Return what the assembler for GPUs of 9.0 is given."""
    program = program_of(text, names)
    encoded = [option.encode() for option in (*options, "-arch=compute_90")]
    checked(nvrtc.nvrtcCompileProgram(program, len(encoded), encoded))
    return ptx_of(program)


@pytest.mark.parametrize("bound", ["8", "y[1]"])
@pytest.mark.parametrize("given", ["x[0]", "x[0] - x[1]"])
def test_a_clamp_that_is_compared_with_its_bound_is_seen(given, bound):
    body = f"const int t = {given}, k = {bound}, m = t < k ? t : k, length = m > 0 ? m : 0;"
    for compared, count in (("length == k ? 100 : length", 1), ("length * 3 + t == k", 0)):
        text = (
            "namespace conncomp { template <class T> __global__ void f(T* x, const T* y) "
            f"{{ {body} x[2] = {compared}; }} }}"
        )
        assert len(wrong_clamps(ptx_for_90(text, ("f<int>",), ()))) == count


def modules_of_bricks():
    """Return the kernels that label images and volumes of bytes by bricks."""
    found = {}
    for file, names in modules_of(tiled_bricks):
        for rank in (2, 3):
            kind = "conncomp::Equal<uint8_t>", f"BrickTiles<{rank}, conncomp::FixedLogs"
            if all(part in names[0] for part in (*kind, "int32_t")) and "true>" not in names[0]:
                found[f"{names[0].partition('<')[0]}-{rank}"] = file, names
    return found


MODULES = modules_of_bricks()


@pytest.mark.parametrize(("file", "names"), MODULES.values(), ids=MODULES)
def test_lengths_of_bricks_are_no_such_clamps(file, names):
    assert wrong_clamps(ptx_for_90(source(file), names, compile_options(file))) == []
