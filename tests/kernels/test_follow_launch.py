"""Kernels whose launches overlap touch no memory of the GPU before they wait for the one ahead."""

import re
from itertools import chain

import pytest

from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.compiling import SOURCES, compile_options, includes, source
from conncomp.kernels.cuda.components import intensities, measures, moments, runs, shapes
from conncomp.kernels.cuda.core import numbering
from conncomp.kernels.cuda.graph import blocked_afforest, boruvka, ecl, edges, strong_components
from conncomp.kernels.cuda.grid import (
    bundle_tiles,
    item_runs,
    row_tiles,
    run_tiles,
    tiled_bricks,
    tiled_elements,
    tiled_quads,
)
from conncomp.kernels.cuda.models import bricks, words
from nvrtc_program import checked, nvrtc, program_of, ptx_of
from specialisations import modules_of, template_of

MEMORY = re.compile(r"\b(ld|st|atom|red|ldu|cp)\.(?!param|local|shared)[\w.]+")
WAIT = "griddepcontrol.wait"
# Their blocks wait for each other, so they overlap with no launch.
ALONE = "contract_chains", "cut_arcs", "strong_components", "settle_edges"


def one_of_each_template():
    """Return the last name of each template whose launches are replayed, by file."""
    chosen = {}
    of_models = (
        *words.ACTIVATE.modules(),
        *words.COUNT.modules(),
        *chain.from_iterable(task.modules() for task in bricks.OF_SPINS.values()),
    )
    drivers = launcher, numbering, measures, blocked_afforest, boruvka, ecl, strong_components
    drivers += (
        tiled_bricks,
        row_tiles,
        bundle_tiles,
        tiled_elements,
        tiled_quads,
        item_runs,
        run_tiles,
    )
    for file, names in (
        *chain.from_iterable(modules_of(driver) for driver in drivers),
        *edges.ARCS.modules(),
        *(one for one in of_models if one[0] != bricks.WINDINGS_FILE),
    ):
        chosen |= {
            (file, template_of(name)): name for name in names if template_of(name) not in ALONE
        }
    return sorted((file, name) for (file, _), name in chosen.items())


def ptx_for(text, name, options):
    program = program_of(text, (name,))
    encoded = [option.encode() for option in options]
    checked(nvrtc.nvrtcCompileProgram(program, len(encoded), encoded))
    return ptx_of(program)


def touches_before_wait(ptx, name):
    """Return what the entry of a template does to memory that others see before it waits."""
    (body,) = (
        entry
        for entry in ptx.split(".entry")[1:]
        if re.match(rf"\s*\w*\d{template_of(name)}\w*\(", entry)
    )
    assert WAIT in body
    return [match.group() for match in MEMORY.finditer(body[: body.index(WAIT)])]


# Those that list runs and go through them, which wait at once.
OF_RUNS = intensities, moments, runs, shapes


@pytest.mark.parametrize("driver", OF_RUNS, ids=lambda driver: driver.FILE)
def test_kernels_of_runs_wait_at_once(driver):
    for file, name in {(file, template_of(n)) for file, ns in modules_of(driver) for n in ns}:
        text = "".join((SOURCES / included).read_text() for included in includes(file))
        assert re.search(rf"__launch_bounds__\(\w+\)\s+{name}\([^{{]*{{\s+follow_launch\(\);", text)


@pytest.mark.soak
@pytest.mark.parametrize(("file", "name"), one_of_each_template())
def test_kernels_wait_before_they_touch_memory(file, name):
    options = (*compile_options(file), "-arch=compute_90")
    assert touches_before_wait(ptx_for(source(file), name, options), name) == []


def test_a_kernel_that_reads_first_is_seen():
    text = (
        '#include "cuda/core/launch.cuh"\n'
        "namespace conncomp { template <class T> __global__ void f(T* x) {"
        " const T first = x[1]; follow_launch(); x[0] = first; } }"
    )
    options = (*compile_options("cuda/core/launch.cuh"), "-arch=compute_90")
    assert touches_before_wait(ptx_for(text, "f<int>", options), "f<int>") == ["ld.global.u32"]
