"""The arrays of a graph, a list of arcs or compressed sparse rows, and checks of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp import _array_storage, _arrays
from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_integer
from conncomp._array_storage import extremes
from conncomp._core import native
from conncomp._memory import check_memory
from conncomp.kernels.cuda.graph.edges import check_rows, rows_of_arcs
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.graph import Ends, Indices

Ids = NDArray[np.int64] | NDArray[np.str_]

# More than any machine can label, and few enough for NumPy to count the bytes.
MOST_VERTICES = 1 << 56
# Without num_vertices, more vertices than this per arc, beyond what takes a second, are a mistake:
# ids that are no vertex numbers, or a damaged header.
VERTICES_PER_ARC, FREE_VERTICES = 64, 1 << 22
# Labelling and measuring need for each: a label, a size, a place in the order of sizes.
BYTES_PER_VERTEX = 32


@dataclass(eq=False)
class Parts:
    """The checked arrays of a `Graph`, as `GraphArrays`.

    Of `arcs` and `csr` one is given; the other is made on demand. `library` is that of the user's
    arrays, and of labels; the arrays here are NumPy's or CuPy's.
    """

    num_vertices: int
    arcs: Ends | None = None
    csr: Ends | None = None
    symmetric: bool | None = None
    library: str = "numpy"
    sorted_rows: bool | None = None
    items = 1  # as a `Problem`

    @property
    def lists(self) -> Ends:
        """The arcs, or else the rows."""
        lists = self.arcs or self.csr
        assert lists is not None
        return lists

    @property
    def arrays(self) -> tuple[Indices, ...]:
        """All arrays of both."""
        return (*(self.arcs or ()), *(self.csr or ()))

    @property
    def num_arcs(self) -> int:
        """The number of arcs."""
        return len(self.lists[1])

    @property
    def device(self) -> _arrays.Device:
        """Where the arrays lie."""
        return "cpu" if isinstance(self.lists[0], np.ndarray) else "cuda"

    def stream(self) -> AbstractContextManager[object]:
        """Work on the GPU where the arrays lie, on the stream that is current in their library."""
        return _arrays.caller_stream(self.library, self.lists[0].device.id)

    def to(self, device: str) -> Parts:
        """Return the same on a device: itself if it lies there."""
        if device == self.device:
            return self
        if device == "cpu":
            with self.stream():
                return self._moved(_array_storage.move_from_gpu, "numpy")
        moved = self._moved(partial(_array_storage.move_to_gpu, current_gpu().xp), "cupy")
        # The arrays here may have changed since they were checked.
        if moved.arcs is not None:
            check_arcs(moved.arcs, moved.num_vertices)
        if moved.csr is not None:
            moved.check_rows()
        return moved

    def _moved(self, move: Callable[[Any], Any], library: str) -> Parts:
        arcs, csr = (lists and (move(lists[0]), move(lists[1])) for lists in (self.arcs, self.csr))
        return Parts(self.num_vertices, arcs, csr, self.symmetric, library)

    def check_rows(self) -> None:
        """Raise unless the rows are a graph; on a GPU, find out whether it is symmetric."""
        assert self.csr is not None
        if self.device == "cuda":
            check = check_rows(current_gpu(), *self.csr)
            self.symmetric = check.symmetric
            if not check.wrong:
                return
        check_csr(*self.csr)  # raises the error

    def ends(self) -> Ends:
        """Return the sources and the targets, in the order of what the graph was made of."""
        if self.arcs is not None:
            return self.arcs
        indptr, indices = self.rows()
        if self.device == "cpu":
            return sources_of_rows(indptr, indices), indices
        with self.stream():
            xp = current_gpu().xp
            places = xp.arange(len(indices), dtype=indptr.dtype)
            return xp.searchsorted(indptr, places, side="right") - 1, indices

    def rows(self) -> Ends:
        """Return the compressed sparse rows, which are made of the arcs once."""
        if self.csr is None:
            src, dst = self.lists
            if self.device == "cuda":
                with self.stream():
                    self.csr = rows_of_arcs(current_gpu().xp, src, dst, self.num_vertices)
            elif not self.has_sorted_sources():
                indptr = _array_storage.new_array(np, (self.num_vertices + 1,), np.int64)
                indices = _array_storage.new_array(np, dst.shape, dst.dtype)
                native.csr_of_arcs(src, dst, indptr, indices)
                self.csr = indptr, indices
        assert self.csr is not None
        return self.csr

    def has_sorted_sources(self) -> bool:
        """Whether targets are rows as they are, because sources never decrease; keep the rows."""
        src, dst = self.lists
        indptr = _array_storage.new_array(np, (self.num_vertices + 1,), np.int64)
        if native.rows_of_sorted(src, indptr):
            self.csr = indptr, dst
        return self.csr is not None

    def is_symmetric(self) -> bool:
        """Whether each arc has an opposite; looked for once."""
        if self.symmetric is None and self.device == "cuda":
            with self.stream():
                self.symmetric = check_rows(current_gpu(), *self.rows()).symmetric
        elif self.symmetric is None:
            # Copies, which nobody else changes.
            rows = [_array_storage.converted(array, array.dtype) for array in self.rows()]
            check_csr(*rows)
            # Where multiplicities match, too, as they mostly do, one pass is enough.
            if native.csr_is_mirrored(*rows, secrets.randbits(64)):
                self.symmetric = True
            else:
                from scipy import sparse

                ones = np.ones(len(rows[1]), np.bool_)
                matrix = sparse.csr_array((ones, *rows[::-1]), shape=(self.num_vertices,) * 2)
                matrix.sum_duplicates()
                self.symmetric = (matrix != matrix.T).nnz == 0
        return self.symmetric

    def is_mirrored(self) -> bool:
        """Whether all arcs, in main memory, are known or seen to be listed from both ends."""
        if self.symmetric is None and native.csr_is_mirrored(*self.rows(), secrets.randbits(64)):
            self.symmetric = True
        return bool(self.symmetric)


def parts_of_arcs(src: ArrayLike, dst: ArrayLike, num_vertices: int | None) -> Parts:
    """Return the parts of arcs, checked; by default the largest end is the last vertex."""
    with where_they_lie(src=src, dst=dst) as library:
        ends = [as_indices(src, "src"), as_indices(dst, "dst")]
        check_lengths(("src", "dst"), ends)
        first, second = as_one_dtype(ends)
        count = check_arcs((first, second), num_vertices)
        if num_vertices is None:
            refuse_excess((first, second), count)
        return Parts(count, (first, second), library=library)


def parts_of_rows(indptr: ArrayLike, indices: ArrayLike, num_vertices: int | None = None) -> Parts:
    """Return the parts of rows, checked; by default there is a vertex per row."""
    with where_they_lie(indptr=indptr, indices=indices) as library:
        rows = as_rows(indptr, indices)
        count = len(rows[0]) - 1
        if num_vertices not in (None, count):
            needed = f"{num_vertices} vertices need {num_vertices + 1}"
            raise ValueError(f"indptr has {count + 1} entries; {needed}")
        made = Parts(count, csr=rows, library=library)
        made.check_rows()
        return made


@contextmanager
def where_they_lie(**arrays: Any) -> Iterator[str]:
    """Work where arrays lie, all on a GPU or none; the value is the library of the first."""
    places = {name: _arrays.on_gpu(array) for name, array in arrays.items()}
    if len(set(places.values())) > 1:
        on_device, in_memory = sorted(places, key=places.__getitem__, reverse=True)
        raise TypeError(f"{on_device} lies in GPU memory, but {in_memory} does not; move one")
    first = next(iter(arrays.values()))
    library = _arrays.library_of(first)
    place: AbstractContextManager[object] = nullcontext()
    if _arrays.on_gpu(first):
        place = _arrays.caller_stream(library, _arrays.as_cupy(first).device.id)
    with place:
        yield library


def mirrored(indptr: Indices, indices: Indices) -> Parts:
    """Return the parts of rows that should, but may not, list every edge from both ends."""
    symmetric = native.csr_is_mirrored(indptr, indices, secrets.randbits(64)) or None
    return Parts(len(indptr) - 1, csr=(indptr, indices), symmetric=symmetric)


def compacted(graph: Parts) -> tuple[Parts, NDArray[np.int64]]:
    """Renumber the vertices that have arcs; return their old numbers too."""
    src, dst = graph.ends()
    if excess(graph.num_vertices, len(src)) is None:
        # nanobind's int64 is C's long long, which NumPy prints unlike its own.
        ids = native.compact_arcs(src, dst, graph.num_vertices).view(np.int64)
    else:
        ids = np.unique(np.concatenate((src, dst))).astype(np.int64, copy=False)
        src, dst = np.searchsorted(ids, src), np.searchsorted(ids, dst)
    if len(ids) <= INT32_MAX:
        src, dst = src.astype(np.int32, copy=False), dst.astype(np.int32, copy=False)
    return Parts(len(ids), arcs=(src, dst), symmetric=graph.symmetric), ids


def undirected(num_vertices: int, src: Indices, dst: Indices) -> Parts:
    """Return the parts of a graph of edges that are listed once; loops stay one arc each."""
    back: Any = src != dst
    if back.all():
        back = slice(None)  # copies nothing
    arcs = np.concatenate((src, dst[back])), np.concatenate((dst, src[back]))
    return Parts(num_vertices, arcs=arcs, symmetric=True)


def check_arcs(arcs: Ends, num_vertices: int | None) -> int:
    """Raise unless all ends are vertices; return how many, by default all that occur."""
    found = [extremes(ends) if len(ends) else (0, -1) for ends in arcs]
    if num_vertices is None:
        num_vertices = 1 + max(largest for _, largest in found)
    for ends, name, worst in zip(arcs, ("src", "dst"), found, strict=True):
        check_range(ends, name, num_vertices, worst)
    return num_vertices


def as_rows(indptr: ArrayLike, indices: ArrayLike) -> Ends:
    """Return compressed sparse rows as vectors; what they hold is not checked."""
    rows = as_indices(indptr, "indptr"), as_indices(indices, "indices")
    if len(rows[0]) == 0:
        raise ValueError("indptr is empty; it must start with 0")
    return rows


def sources_of_rows(indptr: Indices, indices: Indices) -> Indices:
    """Return the sources of the arcs of rows."""
    vertices = np.arange(len(indptr) - 1, dtype=indices.dtype)
    return np.repeat(vertices, np.diff(indptr))


def as_array(values: ArrayLike, name: str) -> Any:
    """Return values as an array of NumPy, or of CuPy if they lie on the current GPU."""
    if not _arrays.on_gpu(values):
        return _arrays.as_numpy(values, name)
    array = _arrays.as_cupy(values)
    _arrays.check_gpu(array, name)
    return array


def as_indices(values: ArrayLike, name: str) -> Indices:
    """Return `values` as a contiguous vector of int32 or int64, in main memory a view if possible.

    On the current GPU it is a copy, made before anything is checked.
    """
    array = as_array(values, name)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it must have one dimension")
    _arrays.check_kind(array, "iu", values, name, "of integers")
    if array.dtype == np.uint64 and isinstance(array, np.ndarray):
        check_memory(f"a copy of {name}, of {len(array)} entries,", array.nbytes)
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds {array.max()}, which is no vertex number")
    dtype = array.dtype if array.dtype in INDEX_TYPES else np.dtype(np.int64)
    if not isinstance(array, np.ndarray):
        return cast(Indices, array.astype(dtype, order="C"))
    return _array_storage.contiguous(array, dtype).view()


def check_num_vertices(num_vertices: int) -> int:
    """Return the number of vertices; raise unless a graph may have so many."""
    count = as_integer("num_vertices", num_vertices)
    if not 0 <= count <= MOST_VERTICES:
        raise ValueError(f"num_vertices={count} must be from 0 to {MOST_VERTICES}")
    return count


def check_csr(indptr: Indices, indices: Indices) -> None:
    """Raise unless compressed sparse rows are a graph."""
    if indptr[0] != 0:
        raise ValueError(f"indptr starts with {indptr[0]}; it must start with 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        fall = int(falls.argmax())
        change = f"from {indptr[fall]} to {indptr[fall + 1]}"
        raise ValueError(f"indptr decreases {change} at position {fall + 1}")
    if indptr[-1] != len(indices):
        raise ValueError(f"indptr ends with {indptr[-1]}, but indices has {len(indices)} entries")
    check_range(indices, "indices", len(indptr) - 1)


def check_range(
    vertices: Indices, name: str, num_vertices: int, found: tuple[int, int] | None = None
) -> None:
    """Raise unless all entries are vertices; `found` are their `extremes`, if known."""
    if len(vertices) == 0:
        return
    for worst in found or extremes(vertices):
        if not 0 <= worst < num_vertices:
            place = int((vertices == worst).argmax())
            raise ValueError(no_vertex(name, place, worst, num_vertices))


def excess(num_vertices: int, num_arcs: int) -> str | None:
    """Return what vertices take, if they are many for so many arcs."""
    if num_vertices <= FREE_VERTICES + VERTICES_PER_ARC * num_arcs:
        return None
    memory = f"{BYTES_PER_VERTEX * num_vertices / 1e9:,.1f} GB of memory"
    return f"{num_vertices} vertices, but only {num_arcs} arcs: to label them takes about {memory}"


def refuse_excess(arcs: Ends, num_vertices: int) -> None:
    """Raise if the largest vertex is hardly meant as one."""
    if not (problem := excess(num_vertices, len(arcs[0]))):
        return
    far = num_vertices - 1
    named = zip(("src", "dst"), arcs, strict=True)
    name, ends = next(pair for pair in named if extremes(pair[1])[1] == far)
    meant = f", or give num_vertices={num_vertices} if so many are meant"
    raise ValueError(
        f"{name}[{int((ends == far).argmax())}] is {far}, which makes {problem}; vertices are "
        "numbered from 0: give them new numbers by numpy.unique(..., return_inverse=True)"
        f"{meant if num_vertices <= MOST_VERTICES else ''}"
    )


def no_vertex(name: str, place: int, value: int, num_vertices: int) -> str:
    """Return the message for an entry of an array that is no vertex."""
    return f"{name}[{place}] is {value}; vertices are numbered from 0 to {num_vertices - 1}"


def check_lengths(names: Iterable[str], arrays: Sequence[Any]) -> None:
    """Raise unless the arrays of these names are of one length."""
    if len({len(array) for array in arrays}) > 1:
        (first, second), sizes = names, [len(array) for array in arrays]
        raise ValueError(f"{first} has {sizes[0]} entries and {second} has {sizes[1]}")


def check_one_each(name: str, shape: tuple[int, ...], num_arcs: int) -> None:
    """Raise unless an array of this shape has an entry per arc."""
    if shape != (num_arcs,):
        raise ValueError(
            f"{name} has shape {shape}; there must be one for each of {num_arcs} arcs, in the order"
            " of Graph.arcs, where an undirected edge is two arcs"
        )


def as_one_dtype(arrays: list[Any]) -> list[Any]:
    """Return arrays of indices as int64, unless they are of one type."""
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    return [array.astype(np.int64, copy=False) for array in arrays]


def check_square(shape: tuple[int, ...], name: str) -> None:
    """Raise unless a matrix has as many rows as columns."""
    if len(shape) != 2 or shape[0] != shape[1]:
        pairs = len(shape) == 2 and 2 in shape
        remedy = "; conncomp.Graph.from_edges makes a graph of pairs" if pairs else ""
        raise ValueError(f"{name} has shape {shape}; an adjacency matrix is square{remedy}")
