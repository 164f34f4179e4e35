"""Every CUDA kernel that can be asked for compiles, for every kind of GPU, without a warning."""

import importlib
import re
import sys
from collections import defaultdict

import pytest

from conncomp.kernels.cuda.launcher import SOURCES, compile_options, includes, source
from specialisations import names_by_file

if sys.platform == "darwin":
    pytest.skip("there is no NVRTC for macOS", allow_module_level=True)
nvrtc = importlib.import_module("cuda.bindings.nvrtc")

# It is machine code all the same, so that what a GPU lacks is found, but in a fifth of the time.
UNOPTIMISED = "--Ofast-compile=max"
GPUS = {
    "75": ("-arch=sm_75", UNOPTIMISED),
    "80": ("-arch=sm_80", UNOPTIMISED),
    "100": ("-arch=sm_100", UNOPTIMISED),
    "90": ("-arch=sm_90",),  # as for users
}


NAMES = names_by_file()


def compile_kernels(text, names, options):
    """Compile with NVRTC; return its log, which is empty if there is nothing to say."""

    def check(result):
        status, *rest = result
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
        return rest[0] if rest else None

    program = check(nvrtc.nvrtcCreateProgram(text.encode(), b"test.cu", 0, [], []))
    for name in names:
        check(nvrtc.nvrtcAddNameExpression(program, f"conncomp::{name}".encode()))
    encoded = [option.encode() for option in options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program))
    check(nvrtc.nvrtcGetProgramLog(program, log))
    nvrtc.nvrtcDestroyProgram(program)
    text = log.rstrip(b"\0 ").decode()
    return text if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else text or str(status)


TYPES = re.compile(r"u?int\d+_t|float|double|conncomp::Half")


def names_by_gpu(names):
    """Deal the names of a file: to each kind of GPU some that differ in no more than their types.

    All of them are compiled, each kernel for each kind of GPU, as what a GPU lacks does not depend
    on types; the optimiser gets one of each kernel.
    """
    kernels = defaultdict(list)
    for name in names:
        kernels[TYPES.sub("T", name)].append(name)
    *unoptimised, optimised = GPUS
    dealt = {capability: [] for capability in GPUS}
    for each in kernels.values():
        dealt[optimised].append(each[-1])
        for k in range(max(len(each), len(unoptimised))):
            dealt[unoptimised[k % len(unoptimised)]].append(each[k % len(each)])
    return dealt


# The kernels of a file are compiled together, but for those of which there are very many.
PARTS = {
    f"{file}-{begin}-{capability}": (file, tuple(chosen[begin : begin + 60]), capability)
    for file, names in NAMES.items()
    for capability, chosen in names_by_gpu(names).items()
    for begin in range(0, len(chosen), 60)
}


@pytest.mark.long
@pytest.mark.parametrize(("file", "names", "capability"), PARTS.values(), ids=PARTS)
def test_every_kernel_compiles(file, names, capability):
    options = (*compile_options(file), *GPUS[capability])
    assert compile_kernels(source(file), names, options) == ""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("int unused; x[0] = 1", 'warning .*"unused" was declared but never referenced'),
        ("g()", 'error: identifier "g" is undefined'),
        # What only the assembler sees.
        ("__shared__ T s[1 << 16]; s[x[0]] = 1; x[1] = s[x[2]]", "uses too much shared data"),
        ('asm("redux.sync.add.s32 %0, %0, -1;" : "+r"(x[0]))', "requires .target sm_80 or higher"),
    ],
)
def test_mistakes_are_seen(statement, message):
    text = f"namespace conncomp {{ template <class T> __global__ void f(T* x) {{ {statement}; }} }}"
    log = compile_kernels(text, ("f<int>",), GPUS["75"])
    assert re.search(message, log)


def test_each_kernel_is_compiled_with_all_types_and_for_each_kind_of_gpu():
    compiled = {capability: set() for capability in GPUS}
    for _, names, capability in PARTS.values():
        compiled[capability].update(names)
    kernels = [{TYPES.sub("T", name) for name in names} for names in compiled.values()]
    assert all(each == kernels[0] for each in kernels)
    assert set().union(*compiled.values()) == {name for names in NAMES.values() for name in names}


def test_every_kernel_file_has_a_driver():
    words = ("key_table", "launch", "meeting", "root_bits", "scan", "sweeps", "warp")
    shared = {f"cuda/core/{name}.cuh" for name in words}
    stages = ("link_bricks", "label_tiles", "join_tiles", "number_tiles", "write_labels")
    parts = ("brick", "brick_links", "brick_tiles", "brick_values", "cells", "halo", "tiling")
    shared |= {f"cuda/grid/{name}.cuh" for name in (*stages, *parts, "worklist")}
    parts = ("arc_lists", "giant_guess", "giant_search", "roots", "signatures", "spans")
    parts += ("trimming", "widening")
    shared |= {f"cuda/graph/{name}.cuh" for name in parts}
    shared |= {f"cuda/components/{name}.cuh" for name in ("rows", "stretches")}
    files = {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.cuh")}
    assert files - shared == set(NAMES)


def test_a_kernel_is_compiled_anew_where_what_it_includes_has_changed():
    assert {"cuda/core/launch.cuh", "core/union_find.h"} < includes("cuda/papers/ecl.cuh")
    assert "cuda/grid/cells.cuh" not in includes("cuda/papers/ecl.cuh")
    assert compile_options("cuda/papers/ecl.cuh") != compile_options("cuda/papers/bfs.cuh")
