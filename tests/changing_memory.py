"""Memory that its owner changes while the kernels work on it, from another stream or thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, product
from sys import getswitchinterval, setswitchinterval
from threading import Event, Thread
from typing import Any

import numpy as np

from conncomp.kernels.cuda.workspace import Workspace
from gpu_arrays import describe, label_on_gpu
from host_cuda.host_gpu import HostGpu

MOST_LAUNCHES = 2000  # far more than any call here needs: one that goes on for ever is found so


class ChangingGpu(HostGpu):
    """A device where ``change(n)`` is called ahead of the n-th launch, as from another stream."""

    def __init__(self, change: Callable[[int], object] = lambda n: None, **options: Any) -> None:
        super().__init__(seconds=20, **options)
        self.launches = 0
        self._change = change

    def next_seed(self) -> int:
        """Return the seed of the next launch, ahead of which it is asked for."""
        assert self.launches < MOST_LAUNCHES, "the call does not end"
        self._change(self.launches)
        self.launches += 1
        return super().next_seed()


class SeparateWorkspace(Workspace):
    """A workspace whose parts lie apart, so that AddressSanitizer watches the ends of each."""

    def _lay_out(self, gpu: Any, stream: int, parts: Any) -> list[tuple[Any, int]]:
        """Give each part an array for itself, with bytes that make large numbers of all."""
        sizes = (count * dtype.itemsize for count, dtype in parts)
        return [(np.frombuffer(bytearray(b"\x6b" * size), "u1"), 0) for size in sizes]


def noise(shape, values, seed=0, dtype=np.uint8):
    """Return noise of the background 0 and other values."""
    random = np.random.default_rng(seed)
    image = random.integers(1, values + 1, shape)
    image[random.random(shape) < 0.4] = 0
    return image.astype(dtype)


def images(shape, dtype=np.uint8):
    """Return arrays of which each has foreground, or equal values, where others have not."""
    return {
        "background": np.zeros(shape, dtype),
        "foreground": np.ones(shape, dtype),
        "noise": noise(shape, 1, 1, dtype),
        "noise of two values": noise(shape, 2, 2, dtype),
        "noise of three values": noise(shape, 3, 3, dtype),
        "the same of others": noise(shape, 3, 3, dtype) * 3 % 11,
    }


def labels(shape, dtype=np.int32):
    """Return arrays that no labelling gives: labels beyond both ends, and parents in circles."""
    size, limits = int(np.prod(shape)), np.iinfo(dtype)
    index = np.arange(size, dtype=dtype)
    random = np.random.default_rng(4)
    made = {
        "all -1": np.full(size, -1),
        "largest": np.full(size, limits.max),
        "smallest": np.full(size, limits.min),
        "just beyond": np.full(size, size),
        "complements just beyond": np.full(size, ~size),
        "the one before": np.maximum(index - 1, 0),
        "the next one": index + 1,
        "circles of two": index ^ 1,
        "any": random.integers(limits.min, limits.max, size, dtype, endpoint=True),
    }
    return {name: array.astype(dtype).reshape(shape) for name, array in made.items()}


def label_while_changed(first, at, launches, connectivity=None, numbering="roots"):
    """Label an array whose values, or labels that are entries, change ahead of launch `at`.

    Any answer is right, but no access out of bounds, and there are so many launches.
    """
    shape = first.shape
    of_values = [(changed, False) for changed in images(shape, first.dtype).values()]
    for changed, of_labels in (*of_values, *((array, True) for array in labels(shape).values())):
        image, out = first.copy(), np.zeros(shape, np.int32)
        target = out if of_labels else image

        def change(launch, target=target, changed=changed):
            if launch == at:
                target[...] = changed

        gpu = ChangingGpu(change, multiprocessors=1)
        described = describe(image, connectivity=connectivity)
        label_on_gpu(gpu, described, out, numbering, "auto", True, SeparateWorkspace())
        assert gpu.launches == launches


def change_between_launches(run, array, others):
    """Call ``run(gpu)`` with an array that becomes each of the others ahead of each launch."""
    right, unchanged = array.copy(), ChangingGpu()
    run(unchanged)
    for at, other in product(range(unchanged.launches), others):

        def change(launch, at=at, other=other):
            if launch == at:
                array[...] = other

        array[...] = right
        run(ChangingGpu(change))


@contextmanager
def written_by_another_thread(*writes: tuple[Any, list[Any]]) -> Iterator[None]:
    """Let a thread copy one array after another to a target, for each (target, arrays)."""
    done = Event()

    def write() -> None:
        turns = [(target, cycle(arrays)) for target, arrays in writes]
        while not done.is_set():
            for target, arrays in turns:
                np.copyto(target, next(arrays))

    thread, interval = Thread(target=write), getswitchinterval()
    setswitchinterval(1e-4)  # a launch waits so long for the other thread to give way
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        setswitchinterval(interval)
