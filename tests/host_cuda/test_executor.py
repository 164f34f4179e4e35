"""The host executor does what CUDA does, and finds the mistakes it is there to find."""

import numpy as np
import pytest

import dealt
from conncomp.kernels.cuda.launcher import launch
from host_cuda import host_gpu
from host_cuda.host_gpu import (
    COMPILER,
    HERE,
    SANITIZERS,
    HostGpu,
    LaunchError,
    interleavings,
    run_sanitized,
    sanitizer_library,
)

TYPES = {
    "int32_t": np.int32,
    "uint32_t": np.uint32,
    "int64_t": np.int64,
    "long long": np.int64,
    "unsigned long": np.uint64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
ATOMIC_TYPES = ["int", "unsigned", "unsigned long", "unsigned long long"]
FORBIDDEN = ["divergent_barrier", "two_barriers", "exited_lane", "left_out", "partial_warp"]
FORBIDDEN += ["other_collective", "other_mask"]
NAMES = [
    *("indices", "votes", "block_votes", "arithmetic", "add_floats", "untouched", "evaluate"),
    *("order", "meet"),
    *(f"shuffles<{t}>" for t in TYPES),
    *(f"atomics<{t}>" for t in ATOMIC_TYPES),
    *(f"reverse<{t}, {d}>" for t in ("int8_t", "int64_t") for d in ("true", "false")),
    *FORBIDDEN,
]


@pytest.fixture(scope="module")
def gpu():
    return HostGpu(include=HERE / "kernels")


@pytest.fixture(scope="module")
def kernels(gpu):
    loaded = gpu.load("samples.cuh", tuple(NAMES))
    return {name: kernel.function for name, kernel in zip(NAMES, loaded, strict=True)}


def test_indices(kernels):
    shape = (2 * 3, 3 * 4, 4 * 5)  # z, y, x
    count, lane = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    kernels["indices"]((4, 3, 2), (5, 4, 3), (count, lane))
    np.testing.assert_array_equal(count, 1)
    in_block = np.arange(60).reshape(3, 4, 5) % 32
    np.testing.assert_array_equal(lane, np.tile(in_block, (2, 3, 4)))


@pytest.mark.parametrize("ctype", TYPES)
def test_shuffles(kernels, ctype):
    generator = np.random.default_rng(0)
    lane = np.arange(32)
    for width in (1, 2, 8, 32):
        values = generator.integers(0, 2**31, 32).astype(TYPES[ctype])
        sources = generator.integers(0, 64, 32).astype(np.int32)
        out = np.zeros((5, 32), TYPES[ctype])
        kernels[f"shuffles<{ctype}>"]((1,), (32,), (values, sources, np.int32(width), out))
        first = lane // width * width
        expected = [
            first + sources % width,
            np.where(lane - 3 >= first, lane - 3, lane),
            np.where(lane + 3 < first + width, lane + 3, lane),
            np.where(lane ^ 5 < first + width, lane ^ 5, lane),
            sources % 32,
        ]
        np.testing.assert_array_equal(out, values[np.array(expected)])


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0x80000001, 0x00FF0F10, 1])
def test_votes(kernels, mask):
    values = np.random.default_rng(1).integers(0, 4, (3, 32)).astype(np.int32)
    values[1] = 2
    values[2] = 1
    out = np.zeros((3, 32, 6), np.uint32)
    kernels["votes"]((1,), (96,), (np.uint32(mask), values, out))
    lanes = [i for i in range(32) if mask >> i & 1]
    for warp in range(3):
        here = values[warp]
        ballot = sum(1 << i for i in lanes if here[i] > 1)
        for lane in lanes:
            match = sum(1 << i for i in lanes if here[i] == here[lane])
            least = int(-here[lanes].max()) % 2**32
            expected = [ballot, ballot != 0, ballot == mask, match, here[lanes].sum(), least]
            np.testing.assert_array_equal(out[warp, lane], expected)


@pytest.mark.parametrize("values", [[0, 1, 2, 1], [0, 0, 1, 0], [3, 1, 1, 2]])
def test_block_votes(kernels, values):
    block = np.resize(values, 70).astype(np.int32)
    out = np.zeros((2, 70, 3), np.int32)
    kernels["block_votes"]((2,), (70,), (np.tile(block, 2), out))
    expected = [(block > 2).any(), (block > 0).all(), (block > 1).sum()]
    np.testing.assert_array_equal(out, np.broadcast_to(expected, out.shape))


@pytest.mark.parametrize("shift", [0, 5, 32, 40])
def test_arithmetic(kernels, shift):
    x, y = 0x12345678, 0x9ABCDEF0
    out = np.zeros(16, np.uint64)
    kernels["arithmetic"]((1,), (1,), (np.uint32(x), np.uint32(y), np.uint32(shift), out))
    both, low = y << 32 | x, 2**32 - 1
    clamped = min(shift, 32)
    assert out.tolist() == [
        x.bit_count(),
        both.bit_count(),
        4,
        4,
        3,
        0,
        int(f"{x:032b}"[::-1], 2),
        int(f"{both:064b}"[::-1], 2),
        0xBC56F0DE,
        x * y >> 32,
        both * both >> 64,
        both << shift % 32 >> 32 & low,
        both >> shift % 32 & low,
        both << clamped >> 32 & low,
        both >> clamped & low,
        y,
    ]


@pytest.mark.parametrize("ctype", ATOMIC_TYPES)
def test_atomics(kernels, ctype):
    dtype = np.dtype({"int": np.int32, "unsigned": np.uint32}.get(ctype, np.uint64))
    values = np.random.default_rng(2).integers(1, 100, 300).astype(dtype)
    out = np.zeros(9, dtype)
    out[[1, 4]] = np.iinfo(dtype).max
    kernels[f"atomics<{ctype}>"]((3,), (100,), (out, values))
    assert out[0] == values.sum()
    assert out[1] == values.min()
    assert out[2] == values.max()
    assert out[3] == np.bitwise_or.reduce(values)
    assert out[4] == np.bitwise_and.reduce(values) & np.iinfo(dtype).max
    assert out[5] == np.bitwise_xor.reduce(values)
    assert out[6] + out[7] == values.sum()  # every value but the last one was found by the next
    assert out[8] == values.sum()


def test_atomic_sums_of_floats(kernels):
    values = np.random.default_rng(3).integers(0, 1000, 512).astype(np.float32)
    sums = np.zeros(1, np.float32), np.zeros(1)
    kernels["add_floats"]((4,), (128,), (*sums, values))
    assert sums[0][0] == sums[1][0] == values.sum()


@pytest.mark.parametrize("dynamic", ["true", "false"])
@pytest.mark.parametrize("ctype", ["int8_t", "int64_t"])
def test_shared_memory(kernels, ctype, dynamic):
    dtype = np.dtype(ctype[:-2])
    values = np.arange(40 * 200, dtype=np.int64).astype(dtype).reshape(40, 200)
    out = np.zeros_like(values)
    size = 200 * dtype.itemsize if dynamic == "true" else 0
    kernels[f"reverse<{ctype}, {dynamic}>"]((40,), (200,), (values, out), shared_mem=size)
    np.testing.assert_array_equal(out, values[:, ::-1])


def test_shared_memory_begins_with_anything(kernels):
    out = np.zeros((6, 8), np.uint32)
    kernels["untouched"]((6,), (1,), (out,), shared_mem=16)
    assert len(np.unique(out)) == out.size


def test_more_shared_memory_must_be_asked_for(gpu):
    kernel = gpu.load("samples.cuh", ("untouched",))[0].function
    out = np.zeros((1, 8), np.uint32)
    with pytest.raises(LaunchError, match="max_dynamic_shared_size_bytes"):
        kernel((1,), (1,), (out,), shared_mem=50_000)
    kernel.max_dynamic_shared_size_bytes = 50_000
    kernel((1,), (1,), (out,), shared_mem=50_000)


LINE = np.dtype([("slope", "i8"), ("offset", "i4"), ("negate", "u1")], align=True)


def test_arguments(kernels):
    line = np.array((3, -5, 1), dtype=LINE)[()]
    x, y = np.arange(10, dtype=np.int32), np.zeros(10, np.int64)
    evaluate = kernels["evaluate"]
    evaluate((2,), (3,), (line, x, y, 10, np.float32(0.5)))
    np.testing.assert_array_equal(y, 5 - 3 * np.arange(10))
    evaluate((2,), (3,), (line, None, None, 0, np.float32(0.5)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({3: np.int32(10)}, "argument 3 is 8 bytes in the kernel, but 4 bytes is given"),
        ({4: 0.5}, "argument 4 is 4 bytes in the kernel, but 8 bytes is given"),
        ({1: 7}, "argument 1 is a pointer in the kernel, but 8 bytes is given"),
        ({0: None}, "argument 0 is 16 bytes in the kernel, but a pointer is given"),
        ({1: "x"}, "argument 1 is of <class 'str'>"),
    ],
)
def test_wrong_arguments(kernels, change, message):
    array = np.zeros(10, np.int64)
    arguments = [np.zeros((), LINE)[()], array, array, 10, np.float32(0)]
    for i, value in change.items():
        arguments[i] = value
    with pytest.raises(TypeError, match=message):
        kernels["evaluate"]((1,), (1,), tuple(arguments))
    with pytest.raises(TypeError, match="takes 5 arguments, not 4"):
        kernels["evaluate"]((1,), (1,), tuple(arguments[:4]) if 1 not in change else (1, 2, 3, 4))


@pytest.mark.parametrize(("grid", "block"), [((0,), (1,)), ((1,), (1025,)), ((1, 1, 70000), (1,))])
def test_invalid_configuration(kernels, grid, block):
    with pytest.raises(LaunchError, match="invalid configuration"):
        kernels["meet"](grid, block, (np.zeros(1, np.int32), np.int32(1)))


def test_blocks_overlap_in_time(kernels):
    for _ in range(20):
        kernels["meet"]((4,), (33,), (np.zeros(1, np.int32), np.int32(4)))


def test_wait_for_a_block_that_does_not_run():
    gpu = HostGpu(include=HERE / "kernels", workers=2, seconds=1)
    (kernel,) = gpu.load("samples.cuh", ("meet",))
    with pytest.raises(LaunchError, match="still running after 1 seconds"):
        launch(kernel, (3, 1), np.zeros(1, np.int32), np.int32(3))


def test_seeds_give_different_orders(kernels):
    def order(seed):
        out = np.zeros(64, np.int32)
        kernels["order"]((1,), (64,), (np.zeros(2, np.int32), out), seed=seed)
        np.testing.assert_array_equal(np.sort(out), np.arange(64))
        return tuple(out)

    assert len({order(seed) for seed in range(20)}) == 20
    assert order(7) == order(7)  # there is but one block: nothing is left to the operating system


@pytest.mark.parametrize(
    ("kernel", "threads", "message"),
    [
        ("divergent_barrier", 64, "__syncthreads in .*samples.cuh:.* which has exited"),
        ("two_barriers", 64, "__syncthreads in .* meets thread .* which is at __syncthreads in"),
        ("exited_lane", 32, r"__syncwarp in .* waits for thread \(5, 0, 0\), which has exited"),
        ("left_out", 32, r"thread \(0, 0, 0\): .* mask 0xfffffffe, which leaves out .* lane 0"),
        ("partial_warp", 33, "__ballot_sync in .* waits for lane .*, which does not exist"),
        ("other_collective", 32, "__a.._sync in .* meets thread .* which is at __a.._sync in"),
        ("other_mask", 32, "__syncwarp in .* waits for thread .* with mask 0x"),
    ],
)
def test_forbidden(kernels, kernel, threads, message):
    arguments = (np.int32(0),) if kernel == "divergent_barrier" else ()
    for seed in range(5):
        with pytest.raises(LaunchError, match=message):
            kernels[kernel]((3,), (threads,), arguments, seed=seed)
    kernels["meet"]((4,), (4,), (np.zeros(1, np.int32), np.int32(4)))  # all is well afterwards


def test_barrier_that_all_reach(kernels):
    kernels["divergent_barrier"]((3,), (64,), (np.int32(1),))


MISTAKES = {
    "thread": {
        "barrier_bug": "ThreadSanitizer: data race",
        "barrier_bug of 256": "ThreadSanitizer: data race",
        "warp_bug": "ThreadSanitizer: data race",
        "warp_bug of 256": "ThreadSanitizer: data race",
        "store_bug": "ThreadSanitizer: data race",
        "fence_bug": "ThreadSanitizer: data race",
    },
    "address": {
        "global_bug": "heap-buffer-overflow",
        "dynamic_bug": "heap-buffer-overflow",
        "static_bug": "index 64 out of bounds for type 'int [64]'",
    },
}


def mistakes(sanitizer, right, *kernels):
    if sanitizer_library(sanitizer) is None:
        pytest.skip(f"no runtime of the {sanitizer} sanitizer for {COMPILER}")
    return run_sanitized(sanitizer, HERE / "mistakes.py", right, *kernels)


@pytest.mark.parametrize(
    ("sanitizer", "kernel"),
    [
        *(("address", kernel) for kernel in MISTAKES["address"]),
        *(pytest.param("thread", kernel, marks=pytest.mark.soak) for kernel in MISTAKES["thread"]),
    ],
)
def test_mistake_is_found(sanitizer, kernel):
    code, output = mistakes(sanitizer, "false", kernel)
    assert code != 0
    assert MISTAKES[sanitizer][kernel] in output
    assert f"{kernel.split()[0]}<false>" in output or kernel == "static_bug"


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_twins_without_mistakes_are_clean(sanitizer):
    code, output = mistakes(sanitizer, "true", *(k for names in MISTAKES.values() for k in names))
    assert (code, output) == (0, "")


@pytest.mark.soak
def test_processes_for_sanitizers_know_of_a_soak(tmp_path):
    if sanitizer_library("address") is None:
        pytest.skip("no runtime of the address sanitizer")
    script = tmp_path / "script.py"
    script.write_text("import dealt; print(dealt.SOAK)")
    assert run_sanitized("address", script) == (0, "True\n")


def seeds_of(test, monkeypatch):
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{test} (call)")
    return list(interleavings(3))


def test_interleavings_are_dealt_by_whole_names(monkeypatch):
    """Names have spaces where parameters are dicts and tuples."""
    monkeypatch.setattr(dealt, "SOAK", False)
    tests = [f"test_it[tiles-{{'tile': {k}}}-({k}, 1)]" for k in range(20)]
    seeds = [seeds_of(test, monkeypatch) for test in tests]
    assert sorted({seed for (seed,) in seeds}) == [0, 1, 2]


@pytest.mark.parametrize(
    ("sanitizer", "count"), [(None, 3), ("address", 3), ("thread", 1)], ids=str
)
def test_interleavings_of_a_soak(monkeypatch, sanitizer, count):
    monkeypatch.setattr(dealt, "SOAK", True)
    monkeypatch.setattr(host_gpu, "SANITIZER", sanitizer)
    assert len(seeds_of("test_it", monkeypatch)) == count
