"""Copies in strips, with a GPU that does nothing before somebody waits for it."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import conncomp
from conncomp import _array_storage
from conncomp.kernels.cuda.core import strips
from cuda_driver import driver_stand_in
from host_cuda.host_gpu import AVAILABLE

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
STRIP = 1000


class LateStream:
    """A stream that copies as late as it may; that of the stand-in for the driver, too."""

    ptr = 7

    def __init__(self):
        self.waiting, self.waits = [], 0

    def synchronize(self):
        self.waits += 1
        while self.waiting:
            ctypes.memmove(*self.waiting.pop(0))


class DeviceArray:
    """What `_arrays` needs of an array of CuPy."""

    def __init__(self, shape, dtype):
        self.host = np.full(shape, 3, dtype)
        self.shape, self.dtype, self.nbytes = shape, self.host.dtype, self.host.nbytes
        self.data = SimpleNamespace(ptr=self.host.ctypes.data)

    def set(self, array):
        self.host[...] = array

    def get(self, out):
        out[...] = self.host


class LateGpu:
    """The module `cupy`, with arrays of main memory that it takes for pinned."""

    def __init__(self, *pinned):
        self.stream, self.copies, self.buffers = LateStream(), [], []
        spans = [(array.ctypes.data, array.ctypes.data + array.nbytes) for array in pinned]

        def attributes(at):
            return SimpleNamespace(type=int(any(begin <= at < end for begin, end in spans)))

        def copy(target, source, count, kind, stream):
            assert stream == self.stream.ptr
            self.copies.append((kind, count))
            self.stream.waiting.append((target, source, count))

        def pinned_memory(count):
            self.buffers.append(np.zeros(count, np.uint8))
            return SimpleNamespace(ptr=self.buffers[-1].ctypes.data)

        self.cuda = SimpleNamespace(
            alloc_pinned_memory=pinned_memory,
            get_current_stream=lambda: self.stream,
            runtime=SimpleNamespace(
                memcpyAsync=copy, pointerGetAttributes=attributes, getDevice=lambda: 3
            ),
        )
        self.empty = DeviceArray


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return driver_stand_in(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(library, monkeypatch):
    monkeypatch.setattr(strips, "DRIVER", library)
    monkeypatch.setattr(strips, "STRIP", STRIP)
    monkeypatch.setattr(strips, "PIECE", 30_000)
    monkeypatch.setattr(_array_storage, "FEW_BYTES", 100)
    monkeypatch.setattr(strips, "FEW_BYTES", 100)
    strips._transfers.cache_clear()
    loaded = ctypes.CDLL(library)
    loaded.begin_copies(-1)
    yield loaded
    strips._transfers.cache_clear()


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    conncomp.set_num_threads(request.param)
    return request.param


def random_array(count, dtype):
    return np.random.default_rng(count).integers(0, 200, count).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
@pytest.mark.parametrize("count", [125, 1000, 1001, 24_999])
def test_there_and_back(driver, threads, count, dtype):
    array = random_array(count, dtype)
    back, gpu = np.zeros_like(array), LateGpu()
    placed = _array_storage.move_to_gpu(gpu, array)
    np.testing.assert_array_equal(placed.host, array)
    strips.download(gpu, placed, back)
    np.testing.assert_array_equal(back, array)
    sizes = sorted(driver.bytes_of_copy(k) for k in range(driver.number_of_copies()))
    cut = [min(STRIP, array.nbytes - start) for start in range(0, array.nbytes, STRIP)]
    assert sizes == sorted(2 * cut)
    strips_of_array = -(-array.nbytes // STRIP)
    assert all(b.size == 2 * STRIP * min(threads, strips_of_array) for b in gpu.buffers)
    assert driver.copies_under_way() == driver.events_alive() == 0


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("count", [125, 29_999, 30_000, 75_001])
def test_pinned_arrays_are_copied_as_they_are(driver, count, wait):
    array = random_array(count, np.uint8)
    back = np.zeros_like(array)
    gpu = LateGpu(array, back)
    placed = _array_storage.move_to_gpu(gpu, array, wait)
    pieces = [min(30_000, count - start) for start in range(0, count, 30_000)]
    assert gpu.copies == [(strips.TO_GPU, piece) for piece in pieces]
    assert len(gpu.stream.waiting) == (not wait)
    strips.download(gpu, placed, back)
    np.testing.assert_array_equal(back, array)
    assert driver.number_of_copies() == 0


def test_few_bytes_are_copied_at_once_unless_they_are_pinned():
    array = random_array(2 << 20, np.uint8)
    for gpu, strip_copies in (LateGpu(), 0), (LateGpu(array), 1):
        back = np.zeros_like(array)
        placed = _array_storage.move_to_gpu(gpu, array)
        assert len(gpu.copies) == strip_copies
        strips.download(gpu, placed, back)
        np.testing.assert_array_equal(back, array)


def test_partly_pinned():
    array = np.zeros(5000, np.uint8)
    assert not strips.is_pinned(LateGpu(array[:4000]), array)
    assert not strips.is_pinned(LateGpu(array[1000:]), array)
    assert strips.is_pinned(LateGpu(array), array)


def test_threads_that_have_streams_of_their_own_begin_when_the_caller_s_is_done(
    driver, monkeypatch
):
    gpu, array = LateGpu(), random_array(5000, np.uint8)
    monkeypatch.setattr(strips, "PER_THREAD", LateStream.ptr)
    strips.upload(gpu, array, DeviceArray(5000, np.uint8))
    assert gpu.stream.waits == 1


@pytest.mark.parametrize("failing", [0, 7, 20])
@pytest.mark.parametrize("copy", [strips.upload, strips.download])
def test_buffers_outlive_a_copy_that_fails(driver, threads, failing, copy):
    """What the GPU has been told to read or to write stays until that is done."""
    gpu, array, device = LateGpu(), np.zeros(50_000, np.uint8), DeviceArray(50_000, np.uint8)
    driver.begin_copies(failing)
    with pytest.raises(RuntimeError, match="CUDA: launch failed"):
        copy(gpu, *((array, device) if copy is strips.upload else (device, array)))
    assert driver.number_of_copies() >= failing
    assert driver.copies_under_way() == driver.events_alive() == 0
