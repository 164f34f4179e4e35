"""The forest that `IncrementalComponents` keeps on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from conncomp import _array_storage, _arrays
from conncomp._arguments import INDEX_TYPES, as_integer, shown
from conncomp._core import native
from conncomp._label_output import Output
from conncomp.graph.inputs import parts
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.graph.incremental import ARGUMENTS, REFUSAL, GrowingForest
from conncomp.kernels.cuda.launcher import COUNT, DType, current_gpu, first_entry
from conncomp.kernels.cuda.workspace import Workspace

_HERE = nullcontext(np)


class GrowingComponents:
    """A forest, `parent`, and `components`, the number of its trees: int64, (1,)."""

    device: Literal["cpu", "cuda"]
    parent: Any
    components: Any
    library: str  # of the edges that were added last
    # Each subclass defines these.
    take_one: Callable[[Any, str], Any]  # returns an argument of this name, vertices, for kernels
    unite: Callable[[Any, Any], None]  # unites the ends of edges
    list_roots: Callable[[Any, Any], None]  # fills roots of vertices
    compare_roots: Callable[[Any, Any, Any], None]  # fills whether pairs are connected
    write: Callable[[Any, bool], None]  # fills labels, which may be consecutive

    def count(self) -> int:
        """Return the number of components."""
        with self.stream(self.library):
            self.raise_refusal()
            return first_entry(self.components)

    def add_edges(self, src: Any, dst: Any, wait: bool) -> None:
        """Add edges, unless one is refused."""
        library = _arrays.library_of(src)
        with self.stream(library):
            src, dst = self._take({"src": src, "dst": dst})
            self.library = library
            self.unite(src, dst)
            self.raise_refusal(wait)

    def answer(
        self, fill: Callable[..., None], vertices: dict[str, Any], dtype: Any, wait: bool
    ) -> Any:
        """Return what `list_roots` or `compare_roots` fills for vertices, by names of arguments."""
        library = _arrays.library_of(next(iter(vertices.values())))
        with self.stream(library) as xp:
            taken = self._take(vertices)
            answer = xp.empty(len(taken[0]), dtype)
            fill(*taken, answer)
            self.raise_refusal(wait)
            return _arrays.in_library(answer, library)

    def labels(self, consecutive: bool, dtype: DTypeLike | None, out: Any) -> Any:
        """Return the label of every vertex."""
        with self.stream(self.library if out is None else _arrays.library_of(out)) as xp:
            largest = max(len(self.parent) - 1, 0)
            # The CPU kernel trusts what it has written there.
            private = self.device == "cpu"
            output = Output(self.parent.shape, largest, dtype, out, (), private=private, xp=xp)
            self.write(output.labels, consecutive)
            self.raise_refusal(consecutive)
            return output.finish(self.library)

    def one_vertex(self, vertex: Any, name: str) -> Any:
        """Return an array of one vertex, which the caller names."""
        number, last = as_integer(name, vertex), len(self.parent) - 1
        if not 0 <= number <= last:
            raise ValueError(f"{name}={shown(vertex)}; vertices are numbered from 0 to {last}")
        return np.array([number])

    def stream(self, library: str) -> AbstractContextManager[Any]:
        """Work on a library's current stream; the value is NumPy or CuPy."""
        return _HERE

    def raise_refusal(self, wait: bool = True) -> None:
        """Raise the error of the first call that was refused, if `wait`."""

    def _take(self, arrays: dict[str, Any]) -> list[Any]:
        """Return vertices, given by the names of arguments, as kernels take them."""
        vertices = [self.take_one(array, name) for name, array in arrays.items()]
        parts.check_lengths(arrays, vertices)
        if self.device == "cpu":  # on a GPU kernels check vertices
            for name, array in zip(arrays, vertices, strict=True):
                parts.check_range(array, name, len(self.parent))
        return parts.as_one_dtype(vertices)


class _InMemory(GrowingComponents):
    """Main memory, where only kernels write to the forest, many at once."""

    device: Literal["cpu"] = "cpu"

    def __init__(self, vertices: int, index: DType) -> None:
        self.parent, self.library = _array_storage.new_array(np, (vertices,), index), "numpy"
        native.start_growing(self.parent)
        self.components = np.full(1, vertices, COUNT)

    def unite(self, src: Any, dst: Any) -> None:
        native.grow(src, dst, self.parent, self.components)

    def list_roots(self, vertices: Any, roots: Any) -> None:
        native.roots_of_some(vertices, self.parent, roots)

    def compare_roots(self, u: Any, v: Any, connected: Any) -> None:
        native.are_connected(u, v, self.parent, connected)

    def write(self, labels: Any, consecutive: bool) -> None:
        native.label_growing(self.parent, consecutive, labels)

    def take_one(self, given: Any, name: str) -> Any:
        if _arrays.on_gpu(given):
            raise TypeError(
                f"{name} lies in GPU memory, but the components in main memory; copy it to a "
                "NumPy array, or keep the components there by device='cuda'"
            )
        return parts.as_indices(given, name)


class _OnGpu(GrowingComponents):
    device: Literal["cuda"] = "cuda"

    def __init__(self, vertices: int, index: DType) -> None:
        self._forest = GrowingForest(current_gpu(), vertices, index)
        self.parent, self.components = self._forest.parent, self._forest.components
        self._workspace, self.library = Workspace(), "cupy"
        first_entry(self._forest.refusal)  # wait, so that all streams may use it

    def unite(self, src: Any, dst: Any) -> None:
        with self._workspace as memory:
            self._forest.unite(current_gpu(), src, dst, memory)

    def list_roots(self, vertices: Any, roots: Any) -> None:
        self._forest.list_roots(current_gpu(), vertices, roots)

    def compare_roots(self, u: Any, v: Any, connected: Any) -> None:
        self._forest.compare_roots(current_gpu(), u, v, connected)

    def write(self, labels: Any, consecutive: bool) -> None:
        with self._workspace as memory:
            self._forest.copy_roots(current_gpu(), labels)
            if consecutive:
                number_roots(current_gpu(), labels, 0, memory)

    def one_vertex(self, vertex: Any, name: str) -> Any:
        with self.stream("cupy") as xp:
            return xp.asarray(super().one_vertex(vertex, name))

    @contextmanager
    def stream(self, library: str) -> Iterator[Any]:
        with _arrays.caller_stream(library, self.parent.device.id):
            yield current_gpu().xp

    def take_one(self, given: Any, name: str) -> Any:
        if not _arrays.on_gpu(given):
            remedy = "move it there, for example by cupy.asarray"
            raise TypeError(f"{name} lies in main memory, but the components on a GPU; {remedy}")
        array, gpu = _arrays.as_cupy(given), self.parent.device.id
        if array.device.id != gpu:
            where = f"{name} lies on GPU {array.device.id}"
            raise ValueError(f"{where}, but the components on GPU {gpu}; copy it there")
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; it must have one dimension")
        if array.size:
            _arrays.check_kind(array, "iu", given, name, "of integers")
        # uint64 of 2^63 and more becomes negative, and is no vertex either.
        dtype = array.dtype if array.dtype in INDEX_TYPES else np.dtype(np.int64)
        return array.astype(dtype, order="C", copy=False)

    def raise_refusal(self, wait: bool = True) -> None:
        refusal = self._forest.refusal
        if not wait or not first_entry(refusal):
            return
        _, argument, place, value = refusal[: len(REFUSAL)].tolist()
        refusal.fill(0)
        name = ARGUMENTS[argument]
        left_out = "; the batch is left out" if name in ("src", "dst") else ""
        raise ValueError(f"{parts.no_vertex(name, place, value, len(self.parent))}{left_out}")


def start_growing(device: str, vertices: int, index: DType) -> GrowingComponents:
    """Return unconnected vertices, whose numbers are of the type `index`."""
    return _InMemory(vertices, index) if device == "cpu" else _OnGpu(vertices, index)
