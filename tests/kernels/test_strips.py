"""Copies in strips, with a GPU that does nothing before somebody waits for it."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from conncomp import _arrays
from conncomp.kernels.cuda.core import strips


class LateStream:
    """A stream that copies as late as it may."""

    ptr = 7

    def __init__(self):
        self.waiting, self.done = [], 0

    def work(self, until):
        while self.done < until:
            ctypes.memmove(*self.waiting[self.done])
            self.done += 1

    def synchronize(self):
        self.work(len(self.waiting))


class Event:
    def __init__(self, disable_timing):
        assert disable_timing

    def record(self, stream):
        self.stream, self.until = stream, len(stream.waiting)

    def synchronize(self):
        self.stream.work(self.until)


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
        self.stream, self.copies = LateStream(), []
        spans = [(array.ctypes.data, array.ctypes.data + array.nbytes) for array in pinned]

        def attributes(at):
            return SimpleNamespace(type=int(any(begin <= at < end for begin, end in spans)))

        def copy(target, source, count, kind, stream):
            assert stream == self.stream.ptr
            self.copies.append((kind, count))
            self.stream.waiting.append((target, source, count))

        self.cuda = SimpleNamespace(
            Event=Event,
            alloc_pinned_memory=bytearray,
            get_current_stream=lambda: self.stream,
            runtime=SimpleNamespace(memcpyAsync=copy, pointerGetAttributes=attributes),
        )
        self.empty = DeviceArray


@pytest.fixture(params=[1, 2, 5])
def small_strips(request, monkeypatch):
    monkeypatch.setattr(strips, "STRIP", 1000)
    monkeypatch.setattr(strips, "PIECE", 30_000)
    monkeypatch.setattr(_arrays, "FEW_BYTES", 100)
    monkeypatch.setattr(strips, "FEW_BYTES", 100)
    monkeypatch.setattr(strips.native, "get_num_threads", lambda: request.param, raising=False)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
@pytest.mark.parametrize("count", [125, 1000, 1001, 24_999])
@pytest.mark.usefixtures("small_strips")
def test_there_and_back(count, dtype, pinned):
    array = np.random.default_rng(count).integers(0, 200, count).astype(dtype)
    back = np.zeros_like(array)
    gpu = LateGpu(array, back) if pinned else LateGpu()
    placed = _arrays.move_to_gpu(gpu, array)
    assert placed is not array
    np.testing.assert_array_equal(placed.host, array)
    longest = 30_000 if pinned else 1000
    assert gpu.copies == [
        (strips.TO_GPU, min(longest, array.nbytes - start))
        for start in range(0, array.nbytes, longest)
    ]
    gpu.copies.clear()
    strips.download(gpu, placed, back)
    np.testing.assert_array_equal(back, array)
    assert {kind for kind, _ in gpu.copies} == {strips.FROM_GPU}


def test_few_bytes_are_copied_at_once_unless_they_are_pinned():
    array = np.random.default_rng(0).integers(0, 200, 2 << 20).astype(np.uint8)
    for gpu, strip_copies in (LateGpu(), 0), (LateGpu(array), 1):
        back = np.zeros_like(array)
        placed = _arrays.move_to_gpu(gpu, array)
        assert len(gpu.copies) == strip_copies
        strips.download(gpu, placed, back)
        np.testing.assert_array_equal(back, array)


def test_partly_pinned():
    array = np.zeros(5000, np.uint8)
    assert not strips.is_pinned(LateGpu(array[:4000]), array)
    assert not strips.is_pinned(LateGpu(array[1000:]), array)
    assert strips.is_pinned(LateGpu(array), array)


@pytest.mark.usefixtures("small_strips")
def test_buffers_outlive_a_copy_that_fails(monkeypatch):
    """What the GPU has been told to read stays until it is read."""
    gpu, array = LateGpu(), np.zeros(50_000, np.uint8)
    record = Event.record

    def fail(event, stream):
        record(event, stream)
        if len(stream.waiting) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(Event, "record", fail)
    with pytest.raises(KeyboardInterrupt):
        strips.upload(gpu, array, DeviceArray(50_000, np.uint8))
    assert gpu.stream.done >= 6
