"""Every CUDA kernel that can be asked for compiles, for every kind of GPU, without a warning."""

import re
from collections import defaultdict
from itertools import combinations_with_replacement

import pytest

from conncomp.kernels.cuda.launcher import SOURCES, compile_options, includes, source
from nvrtc_program import checked, nvrtc, program_of
from specialisations import names_by_file, template_of

# Of 90 as users have it; elsewhere what a GPU lacks is found in a fifth of the time.
UNOPTIMISED = "--Ofast-compile=max"
GPUS = {
    "75": ("-arch=sm_75", UNOPTIMISED),
    "80": ("-arch=sm_80", UNOPTIMISED),
    "100": ("-arch=sm_100", UNOPTIMISED),
    "90": ("-arch=sm_90",),
}
# The front end alone, which sees types and names.
TYPED = {"typed": ("-arch=compute_80", "-dlto")}
KINDS = GPUS | TYPED


NAMES = names_by_file()


def compile_kernels(text, names, options):
    """Compile with NVRTC; return its log, which is empty if there is nothing to say."""

    program = program_of(text, names)
    encoded = [option.encode() for option in options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    # The compiler writes into it, and of one byte Python has a single object for all who use it.
    log = b" " * (1 + checked(nvrtc.nvrtcGetProgramLogSize(program)))
    checked(nvrtc.nvrtcGetProgramLog(program, log))
    nvrtc.nvrtcDestroyProgram(program)
    text = log.rstrip(b"\0 ").decode()
    return text if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else text or str(status)


TYPES = re.compile(r"u?int\d+_t|float|double|conncomp::Half")


def grouped(names, key):
    groups = defaultdict(list)
    for name in names:
        groups[key(name)].append(name)
    return groups.values()


def without_types(name):
    return TYPES.sub("T", name)


def arguments_of(name):
    """Return the arguments of a template, as they are written between its brackets."""
    arguments, depth = [""], 0
    for sign in name.partition("<")[2].rpartition(">")[0]:
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += sign
    return [argument.strip() for argument in arguments]


def pairs_in(name):
    """Return all pairs of arguments of a template, each with the place that it has."""
    arguments = enumerate(arguments_of(name))
    return {(template_of(name), *pair) for pair in combinations_with_replacement(arguments, 2)}


def with_new_pairs(names, seen):
    """Return those names that have a pair of arguments which is in none before, nor in `seen`."""
    chosen, pairs = [], set().union(*map(pairs_in, seen))
    for name in names:
        if not pairs_in(name) <= pairs:
            chosen.append(name)
            pairs |= pairs_in(name)
    return chosen


def dealt(names):
    """Deal the names of a file to the kinds of GPU.

    What the front end sees does not depend on the kind of GPU: it sees each pair of arguments of a
    template, once. The assembler has one of those that differ in no more than their types, for
    the oldest GPU, which lacks the most and has no more shared memory than others; and one of each
    template for the newest instructions that any are written for, as does the optimiser. To others
    nothing is new, which have one of each file.
    """
    oldest = [alike[-1] for alike in grouped(names, without_types)]
    optimised = [alike[-1] for alike in grouped(names, template_of)]
    typed = with_new_pairs(names, (*oldest, *optimised))
    kinds = {"typed": typed, "75": oldest, "90": optimised}
    return kinds | {kind: list(names[-1:]) for kind in ("80", "100")}


# The kernels of a file are compiled together, but for those of which there are very many.
PARTS = {
    f"{file}-{begin}-{kind}": (file, tuple(chosen[begin : begin + 60]), kind)
    for file, names in NAMES.items()
    for kind, chosen in dealt(names).items()
    for begin in range(0, len(chosen), 60)
}


@pytest.mark.long
@pytest.mark.parametrize(("file", "names", "kind"), PARTS.values(), ids=PARTS)
def test_every_kernel_compiles(file, names, kind):
    options = (*compile_options(file), *KINDS[kind])
    assert compile_kernels(source(file), names, options) == ""


@pytest.mark.parametrize(
    ("kind", "statement", "message"),
    [
        *(
            (kind, *mistake)
            for kind in ("75", "typed")
            for mistake in (
                ("int unused; x[0] = 1", 'warning .*"unused" was declared but never referenced'),
                ("g()", 'error: identifier "g" is undefined'),
                ("T* y = 1.0f", "error: a value of type"),
                ("static_assert(sizeof(T) == 8)", "error: static assertion failed"),
            )
        ),
        # What only the assembler sees.
        ("75", "__shared__ T s[1 << 16]; s[x[0]] = 1; x[1] = s[x[2]]", "uses too much shared data"),
        ("75", 'asm("redux.sync.add.s32 %0, %0, -1;" : "+r"(x[0]))', "requires .target sm_80 or"),
    ],
)
def test_mistakes_are_seen(kind, statement, message):
    text = f"namespace conncomp {{ template <class T> __global__ void f(T* x) {{ {statement}; }} }}"
    log = compile_kernels(text, ("f<int>",), KINDS[kind])
    assert re.search(message, log)


def compiled(kinds, key=str):
    """Return what of each name is compiled for each of the kinds."""
    return [
        {(file, key(name)) for file, names, of in PARTS.values() if of == kind for name in names}
        for kind in kinds
    ]


def test_each_kernel_is_compiled_with_all_pairs_of_types_and_for_each_kind_of_gpu():
    everything = {(file, name) for file, names in NAMES.items() for name in names}
    pairs = {(file, pair) for file, name in everything for pair in pairs_in(name)}
    names = set().union(*compiled(KINDS))
    assert {(file, pair) for file, name in names for pair in pairs_in(name)} == pairs
    kernels = {(file, without_types(name)) for file, name in everything}
    assert compiled(["75"], without_types) == [kernels]
    templates = {(file, template_of(name)) for file, name in everything}
    assert compiled(["90"], template_of) == [templates]
    for names in compiled(GPUS):
        assert {file for file, _ in names} == set(NAMES)


def test_pairs_of_arguments():
    name = "f<conncomp::Equal<uint8_t>, 2, int32_t>"
    assert arguments_of(name) == ["conncomp::Equal<uint8_t>", "2", "int32_t"]
    names = [f"f<{a}, {b}, {c}>" for a in "xyz" for b in "xyz" for c in "xyz"]
    chosen = with_new_pairs(names, names[:1])
    assert len(chosen) < len(names) - 1
    assert set().union(*map(pairs_in, (*chosen, names[0]))) == set().union(*map(pairs_in, names))


def test_kinds_of_gpu_see_the_same_text():
    """But for what a few functions make of the kind, of a file that all templates include."""
    asks = re.compile(r"__CUDA_ARCH__\s*[<=>!]")
    paths = [path for ending in ("*.cuh", "*.h") for path in SOURCES.rglob(ending)]
    assert [path.name for path in paths if asks.search(path.read_text())] == ["launch.cuh"]


def test_every_kernel_file_has_a_driver():
    words = ("barrier", "key_table", "launch", "root_bits", "scan", "sweeps", "warp")
    shared = {f"cuda/core/{name}.cuh" for name in words}
    stages = ("link_bricks", "label_tiles", "join_tiles", "number_tiles", "write_labels")
    parts = ("brick", "brick_links", "brick_tiles", "brick_values", "cells", "halo", "tiling")
    shared |= {f"cuda/grid/{name}.cuh" for name in (*stages, *parts, "word_bytes", "worklist")}
    parts = (
        "arc_lists",
        "cuts",
        "extremes",
        "giant_guess",
        "giant_search",
        "roots",
        "signatures",
        "spans",
        "strong_memory",
    )
    parts += ("signatures", "spans", "trimming", "widening")
    shared |= {f"cuda/graph/{name}.cuh" for name in parts}
    shared |= {f"cuda/components/{name}.cuh" for name in ("rows", "slots")}
    shared.add("cuda/models/updates.cuh")
    files = {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.cuh")}
    assert files - shared == set(NAMES)


def test_every_kernel_is_a_template():
    """So that a module has only those that were asked for."""
    plain = re.compile(r"(?<!>\n)^(?:static )?__global__ void[^;{]*", re.MULTILINE)
    texts = [path.read_text() for path in SOURCES.rglob("*.cuh")]
    assert sum(text.count("__global__ void") for text in texts) > 100
    assert [found for text in texts for found in plain.findall(text)] == []
    assert plain.search("}\n\n__global__ void f(int* x) {")


def test_a_kernel_is_compiled_anew_where_what_it_includes_has_changed():
    assert {"cuda/core/launch.cuh", "core/union_find.h"} < includes("cuda/graph/ecl.cuh")
    assert "cuda/grid/cells.cuh" not in includes("cuda/graph/ecl.cuh")
    assert compile_options("cuda/graph/ecl.cuh") != compile_options("cuda/papers/bfs.cuh")
