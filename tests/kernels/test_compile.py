"""Every CUDA kernel that can be asked for compiles, for every kind of GPU, without a warning."""

import re
from collections import defaultdict
from itertools import combinations, combinations_with_replacement

import pytest

from clamps import wrong_clamps
from conncomp.kernels.cuda.compiling import SOURCES, compile_options, includes, source
from dealt import covering
from nvrtc_program import checked, nvrtc, program_of, ptx_of
from specialisations import names_by_file, template_of

# For 90 as for users. For the others unoptimised, where what a GPU lacks is found in a third of the
# time. What those of 75 and of 100 have, those between them have.
UNOPTIMISED = "--Ofast-compile=max"
GPUS = {
    "75": ("-arch=sm_75", UNOPTIMISED),
    "100": ("-arch=sm_100", UNOPTIMISED),
    "90": ("-arch=sm_90",),
}
# The front end alone, which sees types and names, in a tenth of the time of the assembler.
TYPED = {"typed": ("-arch=compute_75", "-fdevice-syntax-only")}
KINDS = GPUS | TYPED

NAMES = names_by_file()


def compile_kernels(text, names, options):
    """Compile with NVRTC; return its log, which is empty if there is nothing to say, and PTX."""
    program = program_of(text, names)
    encoded = [option.encode() for option in options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    # The compiler writes into it, and of one byte Python has a single object for all who use it.
    log = b" " * (1 + checked(nvrtc.nvrtcGetProgramLogSize(program)))
    checked(nvrtc.nvrtcGetProgramLog(program, log))
    text = log.rstrip(b"\0 ").decode()
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        nvrtc.nvrtcDestroyProgram(program)
        return text or str(status), ""
    return text, ptx_of(program)


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


def leaves(name, place=()):
    """Return each name and number in a kernel's name, at any depth, with its place."""
    inner = enumerate(arguments_of(name)) if "<" in name else ()
    within = [leaf for i, argument in inner for leaf in leaves(argument, (*place, i))]
    return [(place, name.partition("<")[0]), *within]


def parts_for_assembler(name):
    """Return what of a kernel's name the assembler is to see, each with the template.

    An instruction that a GPU lacks stands in one of few functions, which a template calls, or where
    a leaf tells that it is wanted. Arrays in shared memory are as large as pairs of numbers say.
    """
    of_name = leaves(without_types(name))
    numbers = [leaf for leaf in of_name if leaf[1].isdigit()]
    of_template = [(leaf,) for leaf in of_name] + list(combinations(numbers, 2))
    return {(template_of(name), *part) for part in of_template}


def fewest(names, parts_of, seen=()):
    """Return few of the names that have with those `seen` all parts that any of them has."""
    known = set().union(*map(parts_of, seen))
    return [names[k] for k in covering([parts_of(name) - known for name in names])]


def dealt(names):
    """Deal the names of a file to the kinds of GPU.

    What the front end sees does not depend on the kind of GPU: it sees each pair of arguments of a
    template, once. The assembler for the oldest GPU, which lacks the most and has no more shared
    memory than others, sees what `parts_for_assembler` says. To that for the newest little is new,
    as instructions by name stand in headers that all files include: it sees one kernel of each
    file. The optimiser sees one of each template.
    """
    oldest = fewest(names, parts_for_assembler)
    optimised = [alike[-1] for alike in grouped(names, template_of)]
    return {
        "typed": fewest(names, pairs_in, oldest),
        "75": oldest,
        "100": names[-1:],
        "90": optimised,
    }


# The kernels of a file are compiled together, but for those of which there are very many.
PARTS = {
    f"{file}-{begin}-{kind}": (file, tuple(chosen[begin : begin + 60]), kind)
    for file, names in NAMES.items()
    for kind, chosen in dealt(names).items()
    for begin in range(0, len(chosen), 60)
}


@pytest.mark.soak
@pytest.mark.parametrize(("file", "names", "kind"), PARTS.values(), ids=PARTS)
def test_every_kernel_compiles(file, names, kind):
    options = (*compile_options(file), *KINDS[kind])
    log, ptx = compile_kernels(source(file), names, options)
    assert log == ""
    if kind == "90":
        assert wrong_clamps(ptx) == []


# The table of compute capabilities in NVIDIA's CUDA C++ Programming Guide.
RESIDENT = {75: 1024, 80: 2048, 86: 1536, 87: 1536, 89: 1536, 90: 2048, 100: 2048, 120: 1536}


@pytest.mark.parametrize(("architecture", "threads"), RESIDENT.items())
def test_threads_of_a_multiprocessor(architecture, threads):
    file = "cuda/core/launch.cuh"
    checks = (
        f"template <int> __global__ void f() {{ static_assert(kResidentThreads == {threads}); }}"
    )
    text = f"{source(file)}\nnamespace conncomp {{ {checks} }}"
    options = (*compile_options(file), f"-arch=sm_{architecture}", UNOPTIMISED)
    assert compile_kernels(text, ("f<0>",), options)[0] == ""


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
    log, _ = compile_kernels(text, ("f<int>",), KINDS[kind])
    assert re.search(message, log)


def compiled(*kinds):
    """Return what is compiled for some kinds, each name with its file."""
    return {(file, name) for file, names, kind in PARTS.values() if kind in kinds for name in names}


def test_each_kernel_is_compiled_with_all_pairs_of_types_and_for_each_kind_of_gpu():
    everything = {(file, name) for file, names in NAMES.items() for name in names}
    for kinds, parts_of in ((KINDS, pairs_in), (["75"], parts_for_assembler)):
        wanted = {(file, part) for file, name in everything for part in parts_of(name)}
        assert {
            (file, part) for file, name in compiled(*kinds) for part in parts_of(name)
        } == wanted
    for kind in GPUS:
        assert {file for file, _ in compiled(kind)} == set(NAMES)


def test_pairs_of_arguments():
    name = "f<conncomp::Equal<uint8_t>, 2, int32_t>"
    assert arguments_of(name) == ["conncomp::Equal<uint8_t>", "2", "int32_t"]
    names = [f"f<{a}, {b}, {c}>" for a in "xyz" for b in "xyz" for c in "xyz"]
    chosen = fewest(names, pairs_in, names[:1])
    assert len(chosen) < 12
    assert set().union(*map(pairs_in, (*chosen, names[0]))) == set().union(*map(pairs_in, names))


def test_parts_for_the_assembler():
    assert leaves("f<A<2, B>, 3>") == [
        ((), "f"),
        ((0,), "A"),
        ((0, 0), "2"),
        ((0, 1), "B"),
        ((1,), "3"),
    ]
    names = [f"f<A<{n}, {b}>, {m}>" for n in "12" for m in "34" for b in "xy"]
    assert len(fewest(names, parts_for_assembler)) == 4  # pairs of numbers


def test_kinds_of_gpu_see_the_same_text():
    """But for what a few functions make of the kind, of a file that all templates include."""
    paths = [path for ending in ("*.cuh", "*.h") for path in SOURCES.rglob(ending)]
    asks = re.compile(r"__CUDA_ARCH__\s*[<=>!]")
    assert [path.name for path in paths if asks.search(path.read_text())] == ["launch.cuh"]
    instructions = re.compile(r"\basm\b")
    shared = [path for path in paths if "cpu" not in path.relative_to(SOURCES).parts]
    written_out = [path.name for path in shared if instructions.search(path.read_text())]
    assert sorted(written_out) == ["atomics.h", "launch.cuh"]


def test_every_kernel_file_has_a_driver():
    words = ("barrier", "key_table", "root_bits", "sweeps", "warp")
    shared = {f"cuda/core/{name}.cuh" for name in words}
    stages = ("link_bricks", "label_tiles", "join_tiles", "number_tiles", "write_labels")
    parts = ("brick", "brick_tiles", "brick_values", "cells", "halo", "tiling")
    parts += ("run_forest", "sparse_tiles", "word_bytes", "worklist")
    shared |= {f"cuda/grid/{name}.cuh" for name in (*stages, *parts)}
    parts = ["arc_lists", "cuts", "extremes", "giant_search", "roots", "signatures", "spans"]
    forests = ["edges", "first", "links", "memory", "outside", "trees"]
    parts += ["trimming", "widening", *(f"forest_{name}" for name in forests)]
    shared |= {f"cuda/graph/{name}.cuh" for name in parts}
    shared |= {"cuda/components/rows.cuh", "cuda/models/row_labels.cuh"}
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
