"""Kernels whose launches overlap touch no memory of the GPU before they wait for the one ahead."""

import importlib
import re
import sys

import pytest

from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements
from conncomp.kernels.cuda.launcher import compile_options, source
from specialisations import template_of

if sys.platform == "darwin":
    pytest.skip("there is no NVRTC for macOS", allow_module_level=True)
nvrtc = importlib.import_module("cuda.bindings.nvrtc")

MEMORY = re.compile(r"\b(ld|st|atom|red|ldu|cp)\.(?!param|local|shared)[\w.]+")
WAIT = "griddepcontrol.wait"


def one_of_each_template():
    """Return the last name of each template of what `label` launches, by file."""
    chosen = {}
    for driver in (tiled_bricks, tiled_elements):
        for file, names in driver.specialisations():
            chosen |= {(file, template_of(name)): name for name in names}
    return sorted((file, name) for (file, _), name in chosen.items())


def ptx_of(text, name, options):
    def check(result):
        status, *rest = result
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
        return rest[0] if rest else None

    program = check(nvrtc.nvrtcCreateProgram(text.encode(), b"test.cu", 0, [], []))
    check(nvrtc.nvrtcAddNameExpression(program, f"conncomp::{name}".encode()))
    check(nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options]))
    ptx = bytearray(check(nvrtc.nvrtcGetPTXSize(program)))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    nvrtc.nvrtcDestroyProgram(program)
    return ptx.decode()


def touches_before_wait(ptx):
    """Return what an entry does to memory that others see before it waits."""
    body = ptx[ptx.index(".entry") :]
    assert WAIT in body
    return [match.group() for match in MEMORY.finditer(body[: body.index(WAIT)])]


@pytest.mark.parametrize(("file", "name"), one_of_each_template())
def test_kernels_wait_before_they_touch_memory(file, name):
    options = (*compile_options(file), "-arch=compute_90")
    assert touches_before_wait(ptx_of(source(file), name, options)) == []


def test_a_kernel_that_reads_first_is_seen():
    text = (
        '#include "cuda/core/launch.cuh"\n'
        "namespace conncomp { template <class T> __global__ void f(T* x) {"
        " const T first = x[1]; follow_launch(); x[0] = first; } }"
    )
    options = (*compile_options("cuda/core/launch.cuh"), "-arch=compute_90")
    assert touches_before_wait(ptx_of(text, "f<int>", options)) == ["ld.global.u32"]
