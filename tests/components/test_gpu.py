"""What the functions on labels return on a GPU is what they return on the CPU, bit for bit.

The code for CuPy's arrays runs here on a stand-in for them and its kernels on the host executor,
and where there is a GPU on the arrays themselves.
"""

from contextlib import contextmanager
from dataclasses import astuple, is_dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import conncomp
from conncomp.components import _labels
from conncomp.kernels.cuda.components import shapes, tables
from conncomp.kernels.cuda.components.rows import extent_of
from conncomp.kernels.cuda.components.runs import find_runs
from conncomp.kernels.cuda.launcher import launch
from host_cuda.host_gpu import HostGpu
from host_cupy import HostCuPyGpu, check_functions, place_on, place_on_host
from stand_in import Array


def columns_of(measured):
    """Return the arrays that statistics have."""
    return astuple(measured)[:-1]  # the last one is the spacing


FUNCTIONS = {
    "sizes": conncomp.component_sizes,
    "members": conncomp.component_members,
    "histogram": conncomp.size_histogram,
    "statistics": lambda *a, **k: columns_of(conncomp.component_statistics(*a, **k)),
    "no moments": lambda *a, **k: columns_of(conncomp.component_statistics(*a, moments=False, **k)),
    "spans": conncomp.component_spans,
    "sorted": conncomp.sort_by_size,
    "largest": lambda *a, **k: conncomp.largest_components(*a, 3, **k),
    "none": lambda *a, **k: conncomp.largest_components(*a, 0, **k),
    "not small": lambda *a, **k: conncomp.remove_small_components(*a, 4, **k),
    "not below 0": lambda *a, **k: conncomp.remove_small_components(*a, -(10**30), **k),
    "beyond all": lambda *a, **k: conncomp.remove_small_components(*a, 10**30, **k),
}
OF_MASKS = ("largest", "none", "not small", "not below 0", "beyond all")
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def noise(shape, dtype, values):
    """A component everywhere, and many small ones in its gaps."""
    rng = np.random.default_rng(len(shape))
    labels = rng.integers(0, values, shape)
    labels[rng.random(shape) < 0.6] = 7
    return labels.astype(dtype)


HARD_LABELS = {
    "empty": np.zeros((0,), "i4"),
    "empty in 3-D": np.zeros((3, 0, 2), "i8"),
    "one": np.ones((1,), "i4"),
    "background": np.zeros((40, 33), "i4"),
    "one component": np.full((70, 65), 1, "u1"),
    "a number left out": np.repeat([3, 0, 1, 3], [40, 3, 1, 60]).astype("i2"),
    "a large number": np.array([2**20, 0, 3, 2**20]),
    "each its own": np.arange(3000).reshape(60, 50).astype("i4"),
    "each its own, backwards": np.arange(3000)[::-1].astype("i8"),
    "noise": noise((90, 71), "i4", 40),
    "noise of many": noise((5000,), "i8", 4000),
    "noise in 3-D": noise((17, 9, 31), "u2", 200),
    "noise in rows of three": noise((500, 3), "i4", 50),
    "noise in 4-D": noise((4, 5, 1, 33), "i4", 20),
    "noise in 7-D": noise((2, 3, 2, 1, 3, 4, 5), "i4", 20),
    "labels": conncomp.label(np.random.default_rng(1).random((40, 50)) < 0.6, connectivity=1),
    "runs": np.repeat(np.arange(90) % 31, np.arange(90)).astype("i4"),
    "two in turn": np.repeat(np.arange(60) // 30 % 2 + 1, 64).astype("i4"),
}
HARD_ROOTS = {
    f"roots of {name}": conncomp.label(HARD_LABELS[name], numbering="roots")
    for name in ("empty", "background", "noise", "noise in 3-D", "each its own")
}
CASES = [(name, background) for name in HARD_LABELS for background in (0, None)]
CASES += [(name, -1) for name in HARD_ROOTS]

cupy = pytest.fixture(place_on_host)


def in_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def check(cupy, labels, background, placed=None, functions=FUNCTIONS, batch_axes=0):
    chosen = {name: FUNCTIONS[name] for name in functions}
    check_functions(cupy, chosen, labels, placed, background=background, batch_axes=batch_axes)


def hard_labels(name):
    return (HARD_LABELS | HARD_ROOTS)[name]


@pytest.mark.parametrize(("name", "background"), CASES)
def test_hard_labels(cupy, name, background):
    check(cupy, hard_labels(name), background)


@given(
    labels=hnp.arrays(
        st.sampled_from(DTYPES),
        hnp.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=9),
        elements=st.integers(0, 9),
    ),
    background=st.sampled_from([0, -1, None]),
    batch_axes=st.integers(0, 4),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_the_cpu(cupy, labels, background, batch_axes):
    if background == -1 and labels.dtype.kind == "i":
        labels = labels - labels.dtype.type(1)
    check(cupy, labels, background, batch_axes=min(batch_axes, labels.ndim - 1))


def layouts(labels):
    return [labels.T, labels[::-2, ::3], labels[:1], labels[5:5]]


def test_layouts(cupy):
    for labels in layouts(HARD_LABELS["noise"]):
        for batch_axes in (0, 1):
            check(cupy, labels, 0, Array(labels), batch_axes=batch_axes)


@pytest.mark.parametrize("name", ["noise in 3-D", "noise in 7-D", "noise in rows of three"])
@pytest.mark.parametrize("batch_axes", [1, 2, 6])
def test_items(cupy, name, batch_axes):
    labels = hard_labels(name)
    if batch_axes < labels.ndim:
        for background in (0, -1, None):
            check(cupy, labels, background, batch_axes=batch_axes)


def test_items_together_need_64_bits(cupy, monkeypatch):
    monkeypatch.setattr(_labels, "INT32_MAX", 150)
    check(cupy, HARD_LABELS["noise in 4-D"], 0, batch_axes=1)
    assert conncomp.sort_by_size(np.ones((200, 1, 1), np.int32), batch_axes=1).dtype == np.int32


def test_scalar(cupy):
    scalar = np.array(3)
    check(cupy, scalar, 0, functions=FUNCTIONS.keys() - {"statistics", "no moments", "spans"})
    for function in conncomp.component_statistics, conncomp.component_spans:
        with pytest.raises(ValueError, match="labels is a scalar"):
            function(cupy.asarray(scalar))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["noise", "labels"])
def test_interleavings(cupy, monkeypatch, name, seed):
    gpu = HostCuPyGpu(cupy, seed=seed, multiprocessors=1, resident_threads=512)
    place_on(monkeypatch, gpu)
    check(cupy, hard_labels(name), 0, functions=["sizes", "statistics", "members"])


@pytest.mark.parametrize("part", [1, 64, 1000, 5000, 6000])
@pytest.mark.parametrize("background", [0, None])
def test_members_by_parts(part, background):
    labels, empty = HARD_LABELS["noise of many"], -1 if background is None else 0
    counts = conncomp.component_sizes(labels, background=background)
    index = np.dtype(np.int64)
    result = tables.list_members(HostGpu(), labels, empty, counts, len(labels), index, part)
    for on_device, in_memory in zip(
        result, conncomp.component_members(labels, background=background), strict=True
    ):
        np.testing.assert_array_equal(on_device, in_memory)


def test_sums_of_products_have_128_bits():
    gpu, labels = HostGpu(), np.ones(70, np.int32)
    runs = find_runs(gpu, labels, 0, 2, 70)
    _, measure, _ = gpu.load(*shapes.module_of((70,)))
    table = np.zeros((1, 6), np.int64)  # low, high, sum, the halves of the sum of squares, size
    table[0, 3:5] = -2, 5
    lengths = np.array([70])
    launch(measure, runs.in_turns(1), runs.record, extent_of(gpu, lengths), table)
    squares = sum(i * i for i in range(70))
    assert table.tolist() == [[0, 69, 70 * 69 // 2, squares - 2, 6, 70]]


class Foreign:
    """An array on the GPU of a library other than CuPy."""

    __module__ = "foreign"

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self):
        raise AssertionError("CuPy reads it")


def test_other_libraries(cupy, monkeypatch):
    streams = []

    @contextmanager
    def caller_stream(library, device):
        streams.append((library, device))
        yield
        streams.pop()

    def in_library(arrays, library):
        if library == "numpy":
            return arrays
        assert streams == [("foreign", 0)]
        if is_dataclass(arrays):
            parts = vars(arrays).items()
            return replace(arrays, **{k: Foreign(v) for k, v in parts if hasattr(v, "shape")})
        return tuple(map(Foreign, arrays)) if isinstance(arrays, tuple) else Foreign(arrays)

    cupy.from_dlpack = lambda foreign: foreign.array
    monkeypatch.setattr(_labels, "caller_stream", caller_stream)
    monkeypatch.setattr(_labels, "in_library", in_library)
    labels = HARD_LABELS["noise"]
    for function in FUNCTIONS.values():
        result, expected = function(Foreign(cupy.asarray(labels))), function(labels)
        assert not streams
        for on_device, in_memory in zip(*map(in_tuple, (result, expected)), strict=True):
            np.testing.assert_array_equal(on_device.array.get(), in_memory, strict=True)


def test_slices():
    result = conncomp.component_statistics(HARD_LABELS["noise"])
    box = result.slices(0)
    assert [type(edge) for side in box for edge in (side.start, side.stop)] == [int] * 4


BAD = [
    (np.array([1.5, 2.0]), {}),
    (np.zeros(0), {}),
    (np.array([[1, -2]]), {}),
    (np.array([1, 2]), {}),
    (np.array([1, -2]), {"background": -1}),
    (np.array([[1, 10**15]]), {}),
    (np.array([[2**64 - 1]], np.uint64), {}),
    (np.array([1, 2]), {"background": 5}),
    (np.array([1, 2]), {"background": True}),
    (np.array([[1, 2]]), {"batch_axes": 1}),
    (np.array([[1, 2]]), {"batch_axes": 2, "background": 0}),
    (np.array([[1, 2]]), {"batch_axes": -1}),
    (np.array([[1, 2]]), {"batch_axes": True}),
    (np.array([[1, 2]]), {"batch_axes": 1.0}),
    (np.full((2**12, 1, 1), 2**20), {"batch_axes": 1}),
]


def check_bad_labels(cupy, labels, options, functions=tuple(FUNCTIONS)):
    for name in functions:
        function = FUNCTIONS[name]
        with pytest.raises((TypeError, ValueError)) as in_memory:
            function(labels, **options)
        with pytest.raises((TypeError, ValueError)) as on_device:
            function(cupy.asarray(labels), **options)
        assert (in_memory.type, str(in_memory.value)) == (on_device.type, str(on_device.value)), (
            name
        )


@pytest.mark.parametrize(("labels", "options"), BAD)
def test_bad_labels(cupy, labels, options):
    check_bad_labels(cupy, labels, options)


def test_masks_are_no_labels(cupy):
    functions = [name for name in FUNCTIONS if name not in OF_MASKS]
    check_bad_labels(cupy, np.array([True, False]), {}, functions)


def test_bad_numbers(cupy):
    labels = cupy.asarray(np.array([1, 2]))
    with pytest.raises(ValueError, match="k=-1"):
        conncomp.largest_components(labels, -1)
    with pytest.raises(TypeError, match=r"min_size=1\.5"):
        conncomp.remove_small_components(labels, 1.5)


def test_colours_need_main_memory(cupy):
    with pytest.raises(TypeError, match="labels lies in GPU memory"):
        conncomp.colour_components(cupy.asarray(np.ones((2, 2), int)))


@pytest.mark.gpu
class TestOnGpu:
    """The public functions, on a GPU."""

    @pytest.fixture
    def cupy(self):
        return pytest.importorskip("cupy")

    @pytest.mark.parametrize(("name", "background"), CASES)
    def test_hard_labels(self, cupy, name, background):
        check(cupy, hard_labels(name), background)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes_and_layouts(self, cupy, dtype):
        labels = (HARD_LABELS["noise"] % 100).astype(dtype)
        placed = cupy.asarray(labels)
        for in_memory, on_device in zip(layouts(labels), layouts(placed), strict=True):
            for background in (0, -1, None):
                check(cupy, in_memory, background, on_device)
        scalar = np.array(3, dtype)
        check(cupy, scalar, 0, functions=FUNCTIONS.keys() - {"statistics", "no moments", "spans"})

    @pytest.mark.parametrize("background", [0, -1, None])
    @pytest.mark.parametrize("batch_axes", [1, 2, 3])
    @pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
    def test_items(self, cupy, background, batch_axes, dtype):
        rng = np.random.default_rng(7)
        labels = rng.integers(0, 60, (37, 11, 64, 49)).astype(dtype)
        check(cupy, labels, background, batch_axes=batch_axes)

    @pytest.mark.parametrize("shape", [(1500, 1300), (100, 110, 130), (tables.PART + 100_001,)])
    @pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
    def test_large_arrays(self, cupy, shape, density):
        image = np.random.default_rng(5).random(shape) < density
        check(cupy, conncomp.label(image), 0)
        check(cupy, conncomp.label(image, numbering="roots", dtype=np.int64), -1)

    def test_exact_moments(self, cupy):
        check(cupy, np.ones(6_000_001, np.int32), 0, functions=["statistics"])

    @pytest.mark.parametrize(("labels", "options"), BAD)
    def test_bad_labels(self, cupy, labels, options):
        check_bad_labels(cupy, labels, options)

    def test_a_stream(self, cupy):
        labels = HARD_LABELS["noise in 3-D"]
        with cupy.cuda.Stream(non_blocking=True):
            check(cupy, labels, 0)

    def test_cuda_array_interface(self, cupy):
        labels = HARD_LABELS["noise"]
        placed = cupy.asarray(labels)
        shown = SimpleNamespace(__cuda_array_interface__=placed.__cuda_array_interface__)
        result = conncomp.component_sizes(shown)
        assert isinstance(result, cupy.ndarray)
        np.testing.assert_array_equal(result.get(), conncomp.component_sizes(labels))

    @pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
    def test_torch(self, dtype):
        torch = pytest.importorskip("torch")
        labels = HARD_LABELS["noise in 3-D"].astype(dtype)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            # Written late, so that work on another stream would see zeros.
            placed = torch.zeros(labels.shape, dtype=getattr(torch, dtype), device="cuda")
            torch.cuda._sleep(50_000_000)
            placed += torch.tensor(labels).cuda()
            result = {name: function(placed) for name, function in FUNCTIONS.items()}
        stream.synchronize()
        for name, arrays in result.items():
            expected = FUNCTIONS[name](labels)
            for on_device, in_memory in zip(*map(in_tuple, (arrays, expected)), strict=True):
                assert type(on_device) is torch.Tensor
                np.testing.assert_array_equal(on_device.cpu().numpy(), in_memory, strict=True)
        box = conncomp.component_statistics(placed).slices(0)
        assert box == conncomp.component_statistics(labels).slices(0)

    def test_out_of_memory(self, cupy):
        pool = cupy.cuda.MemoryPool()  # with nothing kept of earlier calls
        with cupy.cuda.using_allocator(pool.malloc):
            labels = cupy.asarray(np.arange(1 << 20).reshape(1024, 1024))
            pool.set_limit(size=pool.total_bytes() + 1024)
            for function in FUNCTIONS.values():
                with pytest.raises(MemoryError, match=r"allocating [0-9,]+ bytes"):
                    function(labels)
        assert int(conncomp.component_sizes(labels)[5]) == 1
