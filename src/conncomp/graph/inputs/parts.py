"""What graphs are made of: a list of arcs, or compressed sparse rows; and how these are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp import _arrays
from conncomp._arguments import INDEX_TYPES, as_integer
from conncomp._arrays import extremes
from conncomp._memory import check_memory

Indices = NDArray[Any]
Ids = NDArray[np.int64] | NDArray[np.str_]

# More than any machine can label, and few enough for NumPy to count the bytes.
MOST_VERTICES = 1 << 56
# Where only numbers tell of vertices, more than this for each arc, beyond what takes a second, are
# a mistake: ids that are no vertex numbers, or a damaged header.
VERTICES_PER_ARC, FREE_VERTICES = 64, 1 << 22
# What labelling and measuring need for each: a label, a size, a place in the order of sizes.
BYTES_PER_VERTEX = 32


class Parts(NamedTuple):
    """What a `Graph` is made of, once it is checked."""

    num_vertices: int
    arcs: tuple[Indices, Indices] | None = None  # sources and targets
    csr: tuple[Indices, Indices] | None = None  # compressed sparse rows, unless there are arcs
    # whether every arc is listed from both ends, equally often; None if nobody has looked
    symmetric: bool | None = None

    @property
    def num_arcs(self) -> int:
        """The number of arcs."""
        lists = self.arcs or self.csr
        assert lists is not None
        return len(lists[1])


def undirected(num_vertices: int, src: Indices, dst: Indices) -> Parts:
    """Return the parts of a graph of edges that are listed once; loops stay one arc each."""
    back: Any = src != dst
    if back.all():
        back = slice(None)  # which copies nothing
    arcs = np.concatenate((src, dst[back])), np.concatenate((dst, src[back]))
    return Parts(num_vertices, arcs=arcs, symmetric=True)


def as_arcs(src: ArrayLike, dst: ArrayLike) -> tuple[Indices, Indices]:
    """Return sources and targets as vectors of one length and type; vertices are not checked."""
    ends = [as_indices(src, "src"), as_indices(dst, "dst")]
    check_lengths(("src", "dst"), ends)
    first, second = as_one_dtype(ends)
    return first, second


def check_arcs(arcs: tuple[Indices, Indices], num_vertices: int | None) -> int:
    """Raise unless all ends are vertices; return how many there are, by default all that occur."""
    found = [extremes(ends) if len(ends) else (0, -1) for ends in arcs]
    if num_vertices is None:
        num_vertices = 1 + max(largest for _, largest in found)
    for ends, name, worst in zip(arcs, ("src", "dst"), found, strict=True):
        check_range(ends, name, num_vertices, worst)
    return num_vertices


def as_rows(indptr: ArrayLike, indices: ArrayLike) -> tuple[Indices, Indices]:
    """Return compressed sparse rows as vectors; what they hold is not checked."""
    rows = as_indices(indptr, "indptr"), as_indices(indices, "indices")
    if len(rows[0]) == 0:
        raise ValueError("indptr is empty; it must start with 0")
    return rows


def sources_of_rows(indptr: Indices, indices: Indices) -> Indices:
    """Return where each arc of compressed sparse rows begins."""
    vertices = np.arange(len(indptr) - 1, dtype=indices.dtype)
    return np.repeat(vertices, np.diff(indptr))


def as_array(values: ArrayLike, name: str) -> Any:
    """Return values as an array of NumPy, or of CuPy on the current GPU if they lie there."""
    if not _arrays.on_gpu(values):
        return _arrays.as_numpy(values, name)
    array = _arrays.as_cupy(values)
    _arrays.check_gpu(array, name)
    return array


def as_indices(values: ArrayLike, name: str) -> Indices:
    """Return `values` as a contiguous vector of int32 or int64, in main memory a view if it can be.

    On a GPU, which is the current one, it is a copy, made before anything is checked.
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
    return _arrays.contiguous(array, dtype).view()


def check_num_vertices(num_vertices: int) -> int:
    """Return how many vertices a graph is to have; raise unless it may."""
    count = as_integer("num_vertices", num_vertices)
    if not 0 <= count <= MOST_VERTICES:
        raise ValueError(f"num_vertices={count} must be from 0 to {MOST_VERTICES}")
    return count


def check_csr(indptr: Indices, indices: Indices) -> None:
    """Raise unless compressed sparse rows are a graph."""
    if len(indptr) == 0 or indptr[0] != 0:
        first = "is empty" if len(indptr) == 0 else f"starts with {indptr[0]}"
        raise ValueError(f"indptr {first}; it must start with 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        fall = int(falls.argmax())
        raise ValueError(
            f"indptr decreases from {indptr[fall]} to {indptr[fall + 1]} at position {fall + 1}"
        )
    if indptr[-1] != len(indices):
        raise ValueError(f"indptr ends with {indptr[-1]}, but indices has {len(indices)} entries")
    check_range(indices, "indices", len(indptr) - 1)


def check_range(
    vertices: Indices, name: str, num_vertices: int, found: tuple[int, int] | None = None
) -> None:
    """Raise unless all entries of an array are vertices; `found` are its `extremes`, if known."""
    if len(vertices) == 0:
        return
    for worst in found or extremes(vertices):
        if not 0 <= worst < num_vertices:
            place = int((vertices == worst).argmax())
            raise ValueError(no_vertex(name, place, worst, num_vertices))


def excess(num_vertices: int, num_arcs: int) -> str | None:
    """Say what vertices that only a number tells of take, if that is much for so many arcs."""
    if num_vertices <= FREE_VERTICES + VERTICES_PER_ARC * num_arcs:
        return None
    return (
        f"{num_vertices} vertices, but only {num_arcs} arcs: to label them takes about "
        f"{BYTES_PER_VERTEX * num_vertices / 1e9:,.1f} GB of memory"
    )


def refuse_excess(arcs: tuple[Indices, Indices], num_vertices: int) -> None:
    """Raise if the largest vertex is so far from the others that it is hardly meant as one."""
    problem = excess(num_vertices, len(arcs[0]))
    if problem is None:
        return
    far = num_vertices - 1
    name, ends = next(
        pair for pair in zip(("src", "dst"), arcs, strict=True) if extremes(pair[1])[1] == far
    )
    meant = f", or give num_vertices={num_vertices} if so many are meant"
    raise ValueError(
        f"{name}[{int((ends == far).argmax())}] is {far}, which makes {problem}; vertices are "
        "numbered from 0: give them new numbers by numpy.unique(..., return_inverse=True)"
        f"{meant if num_vertices <= MOST_VERTICES else ''}"
    )


def no_vertex(name: str, place: int, value: int, num_vertices: int) -> str:
    """Say of an entry of an array that it is no vertex."""
    return f"{name}[{place}] is {value}; vertices are numbered from 0 to {num_vertices - 1}"


def check_lengths(names: Iterable[str], arrays: Sequence[Any]) -> None:
    """Raise unless the arrays of a call, of these names, are of one length."""
    if len({len(array) for array in arrays}) > 1:
        (first, second), sizes = names, [len(array) for array in arrays]
        raise ValueError(f"{first} has {sizes[0]} entries and {second} has {sizes[1]}")


def check_one_each(name: str, shape: tuple[int, ...], num_arcs: int) -> None:
    """Raise unless an array, of this shape, has an entry for each arc of a graph."""
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
