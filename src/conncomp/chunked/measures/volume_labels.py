"""Labels in files, whose blocks are read, measured and merged by threads.

Calls that need a block are put off, and made for as many neighbouring blocks as are merged at once.
The last layers of a block, which later ones need, are taken when it is read to be measured, and
forgotten after their last use. So blocks are read once, but for those whose layers the first ones
need over the end of a periodic axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arrays import as_numpy
from conncomp._containers import is_of
from conncomp.chunked.layout import Index
from conncomp.chunked.measures.label_chunks import MERGED, LabelChunks
from conncomp.chunked.measures.volume_file import MappedVolume, VolumeFile, known_of, limited
from conncomp.chunked.tree import Deferred, Function, OfChunks, merged
from conncomp.chunked.volumes.volume import Place, block_shape, lengths_of
from conncomp.components._labels import Background, check_labels
from conncomp.kernels.cuda.launcher import DType


class Block(NamedTuple):
    """Stands for a part of a volume, or of an array in memory."""

    read: Callable[[Place], NDArray[Any]]
    place: Place


class DeferredCall:
    """A call that is put off, and one `beside`, of the same block alone, that is made with it."""

    def __init__(self, beside: DeferredCall | None, function: Function, *arguments: Any) -> None:
        self._function, self.arguments, self.beside = function, arguments, beside
        self._uses, self._lock, self._made = 0, Lock(), Event()
        self._result: Any = None
        for argument in self.needed():
            argument._uses += 1

    def needed(self) -> list[DeferredCall]:
        """Return the arguments that are not made yet."""
        deferred = (each for each in self.arguments if isinstance(each, DeferredCall))
        return [each for each in deferred if not each._made.is_set()]

    def make(self) -> None:
        """Call the function; wait for arguments that are made meanwhile."""
        beside, self.beside = self.beside, None
        try:
            kept = self.arguments
            given = [each.read(each.place) if type(each) is Block else each for each in kept]
            if beside is not None and beside._uses and not beside._made.is_set():
                read = zip(given, kept, strict=True)
                block = next(value for value, each in read if isinstance(each, Block))
                beside._take(beside._function(block))
            there = (each.value() if isinstance(each, DeferredCall) else each for each in given)
            self._take(self._function(*there))
        finally:  # nobody waits for a call that failed, whose error ends all of them
            self._made.set()
            if beside is not None:
                beside._made.set()

    def _take(self, result: Any) -> None:
        self._result, self.arguments = result, ()
        self._made.set()

    def value(self) -> Any:
        """Return the result, which is forgotten after its last use."""
        self._made.wait()
        with self._lock:
            result, self._uses = self._result, self._uses - 1
            if self._uses <= 0:
                self._result = None
        return result


class VolumeLabels(LabelChunks):
    """Labels in files; functions return arrays in memory, and labels in files."""

    array: VolumeFile

    def __init__(self, file: VolumeFile, background: Background, batch_axes: int, *_: Any) -> None:
        lengths = lengths_of(file.shape, block_shape(file.volume))
        super().__init__(file, lengths, background, batch_axes)
        self._done, self._layers = 0, dict[Index, DeferredCall]()
        # Before anything is counted, to notice changes meanwhile.
        self._known = known_of(self.array.volume)

    @staticmethod
    def checked(given: VolumeFile, name: str = "labels") -> VolumeFile:
        """Return labels in files; raise if these are closed, or not of integers."""
        check_labels(given, given, name)
        given.check_open()
        return given

    @staticmethod
    def of_mask(given: Any, connectivity: float | None, batch_axes: int) -> Any:
        """Refuse a mask, which `label_file` is for."""
        call = "conncomp.label_file(source, target, min_size=..., largest=...)"
        raise TypeError(f"labels is {given}, of bool; label it to files by {call}")

    def chunk(self, index: Index) -> Block:
        """Return what stands for a block."""
        return Block(self.array.volume.read, self.layout.place(index))

    @staticmethod
    def beside(
        name: str, given: VolumeFile | ArrayLike, labels: VolumeFile, check: Function
    ) -> VolumeFile | NDArray[Any]:
        """Return another array in files, or in memory."""
        held = np.asanyarray(given) if is_of(given, "dask") else given
        array = given if isinstance(given, VolumeFile) else as_numpy(held, name)
        check(array, given, labels.shape)
        return array

    def chunk_beside(self, other: VolumeFile | NDArray[Any], index: Index) -> Block:
        """Return what stands for a block of another array."""
        return Block(other.__getitem__, self.layout.place(index))

    def layers(self, index: Index, function: Function) -> DeferredCall:
        """Put off a call that later blocks need; it is made with the next call for the block."""
        self._layers[index] = DeferredCall(None, function, self.chunk(index))
        return self._layers[index]

    def call(self, name: str, index: Index, function: Function, *arguments: Any) -> Deferred:
        """Call a function, or put it off if an argument is not there yet."""
        if any(isinstance(argument, Block | DeferredCall) for argument in arguments):
            return DeferredCall(self._layers.pop(index, None), function, *arguments)
        return function(*arguments)

    def merged(self, name: str, block: Index, parts: list[Deferred], merge: Function) -> Deferred:
        """Return several parts merged to one, in a tree, by threads."""
        with limited(self.array) as workers, ThreadPoolExecutor(workers) as pool:

            def call(name: str, index: Index, merge: Function, *group: Deferred) -> Any:
                return merge(*self._made(pool, group))

            return merged(call, name, block, parts, merge, MERGED)

    def _made(self, pool: ThreadPoolExecutor, parts: Sequence[Deferred]) -> Sequence[Any]:
        put_off = [part for part in parts if isinstance(part, DeferredCall)]
        if not put_off:
            return parts
        for calls in (_needed_ahead(put_off), put_off):
            list(pool.map(DeferredCall.make, calls))  # which raises what one of them does
        self._done += len(put_off)
        if self.array.progress is not None:
            self.array.progress(self._done, self.layout.chunks)
        return [part.value() for part in put_off]

    def map(self, name: str, dtype: DType, function: partial[Any], after: OfChunks) -> VolumeFile:
        """Return labels in files that a function makes of each block as it is read."""
        of_items: dict[int, Any] = {}
        for block, results in after.items():
            of_items.update(zip(self.items(block).tolist(), results, strict=True))
        given = self.array
        mapped = MappedVolume(given.volume, dtype, function, self.batch, of_items, self._known)
        return VolumeFile(mapped, given.limit, given.progress, given)

    def columns(
        self, name: str, dtype: DTypeLike, function: Function, known: Deferred, of_blocks: OfChunks
    ) -> NDArray[Any]:
        """Return an array of one axis for each item."""
        shape = self.block_shape
        blocks = {block: function(shape(block), known, of_blocks[block]) for block in self.blocks()}
        length = next(iter(blocks.values())).shape[-1]
        table = np.zeros((int(np.prod(self.batch, dtype=int)), length), dtype)
        for block, rows in blocks.items():
            items = self.items(block)
            table[items] = rows.reshape(len(items), length)
        return table.reshape(*self.batch, length)

    def column(self, name: str, dtype: DTypeLike, function: Function, *arguments: Any) -> Any:
        """Return an array of one axis."""
        return function(*arguments)

    def fields(self, name: str, made: Any, sample: object) -> dict[str, Any]:
        """Return the fields of a result that are arrays."""
        return {field: each for field, each in vars(made).items() if hasattr(each, "dtype")}


def _needed_ahead(calls: Sequence[DeferredCall]) -> list[DeferredCall]:
    """Return what calls need that none before them makes of the same block."""
    coming, ahead = set[int](), dict[int, DeferredCall]()
    for call in calls:
        ahead |= {id(each): each for each in call.needed() if id(each) not in coming}
        coming.add(id(call.beside))
    return list(ahead.values())
