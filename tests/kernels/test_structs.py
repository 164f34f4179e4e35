"""Structs that kernels take by value: laid out as C++ does it, packed by the names of fields."""

import importlib
import pkgutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import conncomp.kernels
from conncomp.kernels.cuda.compiling import SOURCES
from conncomp.kernels.cuda.launcher import COUNT, PER_THREAD, Templates, launch
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace
from host_cuda import host_gpu
from host_cuda.host_gpu import HostGpu
from signatures import described, misfits

INT32, BYTE = np.dtype(np.int32), np.dtype(np.uint8)


def structs_by_file():
    """Return every struct of a driver, with the kernel files that it drives."""
    found = {}
    for module in pkgutil.walk_packages(conncomp.kernels.__path__, "conncomp.kernels."):
        driver = importlib.import_module(module.name)
        files = [value for name, value in vars(driver).items() if name.startswith("FILE")]
        files += {kind.file for kind in vars(driver).values() if isinstance(kind, Templates)}
        for value in vars(driver).values():
            for struct in value.values() if isinstance(value, dict) else (value,):
                if isinstance(struct, Struct):
                    found.setdefault(struct.name, (files, struct))
    return sorted(found.values(), key=lambda given: given[1].name)


def declared_otherwise(files, struct):
    """Return what the compiler says if a struct is not laid out so."""
    name = f"conncomp::{struct.name}"
    claims = [f"static_assert(sizeof(S) == {struct.dtype.itemsize or 1});"]
    for field in struct.dtype.names or ():
        kind, offset = struct.dtype.fields[field]
        claims.append(
            f"static_assert(offsetof(S, {field}) == {offset}"
            f" && sizeof(std::declval<S&>().{field}) == {kind.itemsize}"
            f" && std::is_pointer_v<std::decay_t<decltype(std::declval<S&>().{field})>>"
            f" == {str(kind is POINTER).lower()});"
        )
    includes = "\n".join(["#include <cstddef>", *(f'#include "{file}"' for file in files)])
    text = f"{includes}\nusing S = {name};\n" + "\n".join(claims)
    done = subprocess.run(
        [
            *(host_gpu.COMPILER, "-xc++", "-std=c++20", "-fsyntax-only", "-w", f"-I{SOURCES}"),
            *("-include", str(host_gpu.HERE / "host_cuda.h"), "-"),
        ],
        input=text,
        capture_output=True,
        text=True,
    )
    return done.stderr


@pytest.mark.skipif(not host_gpu.AVAILABLE, reason="no compiler for the host executor")
class TestLayout:
    @pytest.mark.parametrize(
        ("files", "struct"), [pytest.param(*given, id=given[1].name) for given in structs_by_file()]
    )
    def test_structs_are_laid_out_as_they_are_declared(self, files, struct):
        assert declared_otherwise(files, struct) == ""

    @pytest.mark.parametrize(
        "fields",
        [
            {"count": COUNT, "sources": POINTER, "targets": POINTER},
            {"targets": POINTER, "sources": POINTER, "count": COUNT},
            {"sources": POINTER, "targets": POINTER, "count": INT32},
            {"sources": POINTER, "targets": COUNT, "count": COUNT},
            {"sources": POINTER, "targets": POINTER, "number": COUNT},
            {"sources": POINTER, "targets": POINTER},
        ],
    )
    def test_another_order_type_or_name_is_seen(self, fields):
        struct = Struct("ArcList<const int32_t>", *fields.items())
        assert "error" in declared_otherwise(["cuda/graph/arc_lists.cuh"], struct)


@pytest.mark.skipif(not host_gpu.AVAILABLE, reason="no compiler for the host executor")
def test_arguments_that_do_not_fit_a_kernel_are_seen():
    """`test_every_kernel_is_run` holds those of all kernels."""
    called = "cuda/core/numbering.cuh mark_roots<int32_t>"
    numbers, labels, bits, sums = [3] * 3, *(np.zeros(1, kind) for kind in ("i4", "u4", "i8"))
    right = *numbers, labels, bits, sums
    wrong = [right[:-1], (*right, 1), (*numbers, bits.astype("f4"), bits, sums)]
    wrong += [(*numbers, sums, bits, sums), (*numbers, labels, sums, bits), (labels, *right[1:])]
    wrong += [(np.float64(3), *right[1:]), (np.int32(3), *right[1:]), (*right[:3], 3, *right[4:])]
    lines = ["\t".join((called, *map(described, given))) for given in (right, *wrong)]
    assert misfits(lines[:1]) == misfits(["\t".join((called, *["i8"] * 3, *["00*"] * 3))]) == []
    assert [len(misfits([line])) for line in lines[1:]] == [1] * len(wrong)


def test_fields_are_packed_by_name_with_gaps_and_structs_within():
    inner = Struct("Inner", ("a b c", INT32))
    outer = Struct("Outer", ("first", INT32), ("inner", inner.dtype), "pointer", ("last", INT32))
    within = inner.pack({"c": 3, "b": 2, "a": 1})
    packed = outer.pack({"last": -5, "pointer": 4, "first": 7, "inner": within})
    read = np.frombuffer(packed.tobytes(), outer.dtype)[0]
    assert (read["first"], read["pointer"], read["last"]) == (7, 4, -5)
    assert read["inner"].tolist() == (1, 2, 3)
    assert Struct("Empty").pack({}).tobytes() == b"\0"


@pytest.mark.parametrize(
    "values", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 2}, {"a": 1, "B": 2}]
)
def test_each_field_has_to_be_named_once(values):
    struct = Struct("Two", "a", ("b", INT32))
    with pytest.raises(TypeError, match="Two has the fields"):
        struct.pack(values)
    gpu = HostGpu()
    with pytest.raises(TypeError, match="Two has the fields"):
        struct.of(gpu, **{name: None if name == "a" else value for name, value in values.items()})


PAIR = Struct("Pair", "first second", ("count", COUNT))


def addresses(placed):
    return np.frombuffer(placed.struct.tobytes(), PAIR.dtype)[0].tolist()


def test_a_struct_points_to_the_arrays_of_its_fields():
    gpu, workspace = HostGpu(), Workspace()
    fields = {"second": (5, INT32), "count": 9, "first": (3, COUNT)}
    placed = workspace.take_struct(gpu, PAIR, fields, {"more": (100, BYTE)})
    first, second, more = placed["first"], placed["second"], placed["more"]
    assert addresses(placed) == (gpu.address(first), gpu.address(second), 9)
    assert (first.dtype, first.shape, second.shape, more.shape) == (COUNT, (3,), (5,), (100,))
    assert first is placed["first"]
    spans = sorted((gpu.address(part), part.nbytes) for part in (first, second, more))
    assert all(begin + size <= next_begin for (begin, size), (next_begin, _) in pairwise(spans))


def test_null_pointers_are_said():
    gpu, workspace = HostGpu(), Workspace()
    fields = {"first": None, "second": (5, INT32), "count": 0}
    placed = workspace.take_struct(gpu, PAIR, fields)
    assert addresses(placed) == (0, gpu.address(placed["second"]), 0)
    del fields["first"]
    with pytest.raises(TypeError, match="Pair has the fields"):
        workspace.take_struct(gpu, PAIR, fields)
    with pytest.raises(TypeError, match="both in Pair and beside it"):
        workspace.take_struct(gpu, PAIR, {**fields, "first": None}, {"second": (1, BYTE)})


class GpuWithStreams(HostGpu):
    stream = 0

    def current_stream(self):
        return self.stream


def test_a_struct_is_kept_for_its_stream_kind_names_types_and_constants():
    gpu, workspace = GpuWithStreams(), Workspace()
    swapped = Struct("Swapped", "second first", ("count", COUNT))
    fields = {"first": (4, COUNT), "second": (4, COUNT), "count": 1}

    def take(kind=PAIR, beside=(), **others):
        return workspace.take_struct(gpu, kind, {**fields, **others}, dict(beside))

    workspace.take(gpu, (1 << 12, BYTE))  # enough for all of them
    kept = take()
    assert take() is kept
    backwards = workspace.take_struct(gpu, PAIR, dict(reversed(fields.items())))
    others = [
        take(swapped),
        take(count=2),
        take(second=(4, INT32)),
        take(second=(3, COUNT)),
        take(second=None),
        take(beside={"more": (4, COUNT)}),
        take(beside={"other": (4, COUNT)}),
    ]
    gpu.stream = 1
    others.append(take())
    for other in others:
        assert other is not kept
    assert addresses(others[-1])[0] != addresses(kept)[0]
    # The struct has what its own parts are, whichever of them was named first.
    assert addresses(backwards)[:2] == tuple(
        gpu.address(backwards[name]) for name in ("first", "second")
    )
    assert backwards["first"].size == backwards["second"].size == 4
    gpu.stream = 0
    assert take() is kept


def test_what_points_to_memory_that_was_given_back_is_forgotten():
    gpu, workspace = HostGpu(), Workspace()
    fields = {"first": (4, COUNT), "second": (4, COUNT), "count": 1}
    before = workspace.take_struct(gpu, PAIR, fields)
    assert workspace.take(gpu, (2, COUNT))[0].size == 2
    workspace.take(gpu, (1 << 20, COUNT))
    after = workspace.take_struct(gpu, PAIR, fields)
    assert after is not before
    assert addresses(after)[0] == gpu.address(workspace.take(gpu, (2, COUNT))[0])


def test_kernels_get_the_struct(tmp_path):
    text = """#include <cstdint>
namespace conncomp {
struct Pair { const int64_t* first; int32_t* second; int64_t count; };
__global__ void copy_pair(Pair pair) {
  for (int64_t i = threadIdx.x; i < pair.count; i += blockDim.x)
    pair.second[i] = int32_t(pair.first[i]);
}
}"""
    (tmp_path / "pair.cuh").write_text(text)
    gpu = HostGpu(include=tmp_path)
    (copy_pair,) = gpu.load("pair.cuh", ("copy_pair",))
    first, second = np.arange(5), np.zeros(5, INT32)
    launch(copy_pair, (1, 32), PAIR.of(gpu, count=5, second=second, first=first))
    assert second.tolist() == [0, 1, 2, 3, 4]


def test_threads_whose_streams_have_one_handle_have_memory_of_their_own():
    gpu, workspace = GpuWithStreams(), Workspace()
    gpu.stream = PER_THREAD
    with ThreadPoolExecutor(1) as pool:
        first, again = (pool.submit(workspace.take, gpu, (4, COUNT)).result() for _ in range(2))
    (other,) = workspace.take(gpu, (4, COUNT))
    assert first[0] is again[0]
    assert not np.shares_memory(first[0], other)
