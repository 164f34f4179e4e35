"""Kernels whose launches overlap touch no memory of the GPU before they wait for the one ahead."""

import re

import pytest

from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements
from conncomp.kernels.cuda.launcher import compile_options, source
from nvrtc_program import checked, nvrtc, program_of
from specialisations import template_of

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
    program = program_of(text, (name,))
    encoded = [option.encode() for option in options]
    checked(nvrtc.nvrtcCompileProgram(program, len(encoded), encoded))
    ptx = bytearray(checked(nvrtc.nvrtcGetPTXSize(program)))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
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
