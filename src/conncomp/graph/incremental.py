"""`IncrementalComponents`: the components of a graph to which edges are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count as counter
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp import _array_storage, _arrays, _label_output
from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_bool, as_integer, check_choice, shown
from conncomp._core import native
from conncomp.graph.inputs import parts
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.graph.incremental import REFUSAL, GrowingForest
from conncomp.kernels.cuda.launcher import COUNT, current_gpu, first_entry
from conncomp.kernels.cuda.workspace import Workspace

# Arrays of vertices by the names of the arguments that they are given as.
Named = dict[str, Any]

# The arguments that hold vertices, by the numbers that kernels know them by.
ARGUMENTS = ("src", "dst", "u", "v", "vertices")

_INTEGERS, _HERE = (int, np.integer), nullcontext(np)


class IncrementalComponents:
    """The connected components of a graph that grows: edges are added, and none is taken away.

    Vertices are 0, 1, ..., `num_vertices` - 1; at first each is a component. A batch of edges takes
    the time of its edges, however many vertices there are.

    Parameters
    ----------
    num_vertices : int
    device : {None, "cpu", "cuda"}, optional
        Where the components are kept: in main memory by default, or on the current CUDA device.
        Arrays are given, and returned, there: NumPy's, or of CuPy or any library that shares them
        by DLPack or ``__cuda_array_interface__``.
    dtype : {None, int32, int64}, optional
        Of the vertices that are kept; by default int32 if they fit.

    Attributes
    ----------
    num_vertices : int
    device : {"cpu", "cuda"}
    dtype : dtype
    count : int
        The number of components. On a GPU to ask for it is to wait.

    Raises
    ------
    TypeError, ValueError, MemoryError
        If an argument does not fit, or there is too little memory.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none.

    Notes
    -----
    `connected_components` takes all edges at once, which is quicker. Here trees of a union-find
    grow by a batch at a time (:doc:`/algorithms/forests`). They take 4 bytes a vertex, or 8 with
    int64; on a GPU a batch takes a bit an edge besides. On the CPU large batches use all threads
    (`set_num_threads`).

    On a GPU only `count`, `check`, ``labels("consecutive")``, answers to integers and calls with
    ``wait=True`` wait. So a vertex that does not exist is not reported at once: the GPU leaves out
    its whole batch, and the next of these calls raises the error. Kernels run on the stream that is
    current in the library of the arrays; the caller orders calls on several streams. `add_edges`
    with no more edges than before, and ``labels("roots", out=...)``, do not allocate, and can be
    captured in a CUDA graph.

    Several threads may call at once; an answer has all edges of the calls that ended before, and
    some of those under way. Other threads may write to the arrays meanwhile: then answers may be
    wrong, no more. A signal whose handler raises, such as Ctrl-C, ends a call; some edges of its
    batch may then be in. Copies and pickles keep the components, not the trees, and on a GPU go
    through main memory.

    Examples
    --------
    >>> import conncomp
    >>> components = conncomp.IncrementalComponents(6)
    >>> components.add_edges([0, 4], [1, 5])
    >>> components.count
    4
    >>> components.connected([0, 1], [1, 4])
    array([ True, False])
    >>> components.add_edges([1], [5])
    >>> components.connected(0, 4)
    True
    >>> components.labels()
    array([0, 0, 1, 2, 0, 0], dtype=int32)
    """

    def __init__(
        self, num_vertices: int, *, device: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        vertices = parts.check_num_vertices(num_vertices)
        index = _index_type(dtype, vertices)
        where = _arrays.choose_device(device, False, "num_vertices")
        self._num_vertices = vertices
        self._kept: _Kept = (_InMemory if where == "cpu" else _OnGpu)(vertices, index)

    def __repr__(self) -> str:
        return f"IncrementalComponents(num_vertices={self.num_vertices}, device={self.device!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        roots = self.labels("roots", dtype=self.dtype)
        if self.device == "cuda":
            roots = _array_storage.move_from_gpu(_arrays.as_cupy(roots))
        return _with_roots, (self.device, self.dtype, _arrays.as_numpy(roots, "roots"))

    @property
    def num_vertices(self) -> int:
        """The number of vertices."""
        return self._num_vertices

    @property
    def device(self) -> Literal["cpu", "cuda"]:
        """Where the components are kept."""
        return self._kept.device

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the vertices that are kept."""
        return cast("np.dtype[Any]", self._kept.parent.dtype)

    @property
    def count(self) -> int:
        """The number of components; asking for it does what `check` does."""
        return self._kept.count()

    def check(self) -> None:
        """Wait for the GPU, and raise the error of a call that was given what is no vertex.

        Of several it is the ValueError of the first, and it is raised once. The edges of its batch
        were left out, and what it returned otherwise is False or -1 at that place.

        Examples
        --------
        >>> import conncomp
        >>> components = conncomp.IncrementalComponents(2)
        >>> components.check()  # in main memory errors are raised at once
        """
        kept = self._kept
        with kept.stream(kept.library):
            kept.raise_refusal()

    def add_edges(self, src: ArrayLike, dst: ArrayLike, *, wait: bool = False) -> None:
        """Add the edges between ``src[i]`` and ``dst[i]``.

        Parameters
        ----------
        src, dst : array_like of int, shape (num_edges,)
            Vertices, where the components are kept. Loops and edges that are there already change
            nothing.
        wait : bool, optional
            On a GPU, whether to wait until the edges are in, so that errors are raised at once.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not of integers, lie elsewhere than the components, differ in length,
            or hold what is no vertex; then no edge is added. On a GPU, unless `wait`, the last is
            raised by a later call that waits.
        """
        self._kept.add_edges({"src": src, "dst": dst}, as_bool("wait", wait))

    @overload
    def connected(self, u: int, v: int, *, wait: bool = False) -> bool: ...
    @overload
    def connected(self, u: ArrayLike, v: ArrayLike, *, wait: bool = False) -> NDArray[Any]: ...
    def connected(self, u: Any, v: Any, *, wait: bool = False) -> bool | NDArray[Any]:
        """Tell which vertices are connected; errors are those of `add_edges`.

        Parameters
        ----------
        u, v : array_like of int, shape (num_pairs,), or int
            Vertices, in arrays where the components are kept. For two integers the call waits.
        wait : bool, optional
            On a GPU, whether to wait for the answer, so that errors are raised at once.

        Returns
        -------
        ndarray of bool, shape (num_pairs,), or bool
            Whether ``u[i]`` and ``v[i]`` are in one component. Of the library of the arrays.
        """
        wait = as_bool("wait", wait)
        if isinstance(u, _INTEGERS) and isinstance(v, _INTEGERS):
            pair = {"u": self._kept.one_vertex(u, "u"), "v": self._kept.one_vertex(v, "v")}
            return bool(first_entry(self._kept.answer(pair, True)))
        return cast("NDArray[Any]", self._kept.answer({"u": u, "v": v}, wait))

    @overload
    def roots(self, vertices: int, *, wait: bool = False) -> int: ...
    @overload
    def roots(self, vertices: ArrayLike, *, wait: bool = False) -> NDArray[Any]: ...
    def roots(self, vertices: Any, *, wait: bool = False) -> int | NDArray[Any]:
        """Return the smallest vertices of the components of some vertices, of `dtype`.

        Parameters
        ----------
        vertices : array_like of int, shape (n,), or int
            In an array where the components are kept. For an integer the call waits.
        wait : bool, optional
            On a GPU, whether to wait for the answer, so that errors, those of `add_edges`, are
            raised at once.

        Examples
        --------
        >>> import conncomp
        >>> components = conncomp.IncrementalComponents(3)
        >>> components.add_edges([1], [2])
        >>> components.roots([2, 0])
        array([1, 0], dtype=int32)
        """
        wait = as_bool("wait", wait)
        if isinstance(vertices, _INTEGERS):
            vertex = {"vertices": self._kept.one_vertex(vertices, "vertices")}
            return first_entry(self._kept.answer(vertex, True))
        return cast("NDArray[Any]", self._kept.answer({"vertices": vertices}, wait))

    def labels(
        self,
        numbering: Literal["consecutive", "roots"] = "consecutive",
        *,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return the label of every vertex's component, as `connected_components` does.

        It costs a pass over the vertices, which shortens the way of later calls.

        Parameters
        ----------
        numbering : {"consecutive", "roots"}, optional
            "consecutive": labels 0, 1, ... in the order of the components' smallest vertices.
            "roots": the smallest vertex of the component.
        dtype : dtype or "smallest", optional
            Of the labels, as of `connected_components`; by default that of the components.
        out : ndarray, optional
            A C-contiguous array of integers, of shape (num_vertices,), to write the labels to,
            where the components are kept.

        Returns
        -------
        ndarray of `dtype`, shape (num_vertices,)
            `out` if that was given; otherwise, on a GPU, of the library of the edges that were
            added last.

        Raises
        ------
        TypeError, ValueError
            If an argument does not fit, `out` lies elsewhere than the components, or the labels do
            not fit `dtype` or `out`; on a GPU also as of `check`, unless `numbering` is "roots".
        """
        check_choice("numbering", numbering, ("consecutive", "roots"))
        dtype = self.dtype if dtype is None and out is None else dtype
        return cast("NDArray[Any]", self._kept.labels(numbering == "consecutive", dtype, out))


class _Kept:
    """The components on a device: a forest and its number of trees. Subclasses define the rest.

    Attributes
    ----------
    parent : the forest, (vertices,)
    components : the number of trees, int64, (1,)
    take_one : return a vector of vertices as kernels take it
    unite : add edges
    find : fill the roots of one vector, or whether pairs of two are connected
    write : fill labels
    """

    device: Literal["cpu", "cuda"]
    parent: Any
    components: Any
    library: str  # of the edges that were added last
    take_one: Callable[[Any, str], Any]
    unite: Callable[[Any, Any], None]
    find: Callable[[str, list[Any], Any], None]
    write: Callable[[Any, bool], None]

    def count(self) -> int:
        with self.stream(self.library):
            self.raise_refusal()
            return first_entry(self.components)

    def add_edges(self, ends: Named, wait: bool) -> None:
        library = _arrays.library_of(next(iter(ends.values())))
        with self.stream(library):
            src, dst = self._take(ends)
            self.library = library
            self.unite(src, dst)
            self.raise_refusal(wait)

    def answer(self, asked: Named, wait: bool) -> Any:
        """Return bool, whether pairs are connected; or, for one argument, the vertices' roots."""
        library = _arrays.library_of(next(iter(asked.values())))
        with self.stream(library) as xp:
            given = self._take(asked)
            answer = xp.empty(len(given[0]), self.parent.dtype if len(given) == 1 else np.bool_)
            self.find(next(iter(asked)), given, answer)
            self.raise_refusal(wait)
            return _arrays.in_library(answer, library)

    def labels(self, consecutive: bool, dtype: DTypeLike | None, out: Any) -> Any:
        with self.stream(self.library if out is None else _arrays.library_of(out)) as xp:
            given = self.parent.shape, max(len(self.parent) - 1, 0), dtype, out, ()
            # The CPU kernel follows what it has written there, unchecked.
            output = _label_output.Output(*given, private=self.device == "cpu", xp=xp)
            self.write(output.labels, consecutive)
            self.raise_refusal(consecutive)
            return output.finish(self.library)

    def one_vertex(self, vertex: Any, name: str) -> Any:
        """Return an array of one vertex, which the caller names."""
        number, vertices = as_integer(name, vertex), len(self.parent)
        if not 0 <= number < vertices:
            numbered = f"vertices are numbered from 0 to {vertices - 1}"
            raise ValueError(f"{name}={shown(vertex)}; {numbered}")
        return np.array([number])

    def stream(self, library: str) -> AbstractContextManager[Any]:
        """Work on the stream that is current in a library; the value is NumPy or CuPy."""
        return _HERE

    def raise_refusal(self, wait: bool = True) -> None:
        """Raise the error of the first call that was refused, if we are to wait for it."""

    def _take(self, arrays: Named) -> list[Any]:
        """Return arrays of vertices, by the names of arguments, as kernels take them."""
        vertices = [self.take_one(array, name) for name, array in arrays.items()]
        parts.check_lengths(arrays, vertices)
        if self.device == "cpu":  # on a GPU kernels check vertices
            for name, array in zip(arrays, vertices, strict=True):
                parts.check_range(array, name, len(self.parent))
        return parts.as_one_dtype(vertices)


class _InMemory(_Kept):
    """Main memory, where only kernels write to the forest, many at once."""

    device: Literal["cpu"] = "cpu"

    def __init__(self, vertices: int, index: np.dtype[Any]) -> None:
        self.parent, self.library = _array_storage.new_array(np, (vertices,), index), "numpy"
        native.start_growing(self.parent)
        self.components = np.full(1, vertices, COUNT)

    def unite(self, src: Any, dst: Any) -> None:
        native.grow(src, dst, self.parent, self.components)

    def find(self, name: str, given: list[Any], answer: Any) -> None:
        find = native.roots_of_some if len(given) == 1 else native.are_connected
        find(*given, self.parent, answer)

    def write(self, labels: Any, consecutive: bool) -> None:
        native.label_growing(self.parent, consecutive, labels)

    def take_one(self, given: Any, name: str) -> Any:
        if _arrays.on_gpu(given):
            raise TypeError(
                f"{name} lies in GPU memory, but the components in main memory; copy it to a "
                "NumPy array, or keep the components there by device='cuda'"
            )
        return parts.as_indices(given, name)


class _OnGpu(_Kept):
    device: Literal["cuda"] = "cuda"

    def __init__(self, vertices: int, index: np.dtype[Any]) -> None:
        self._forest = GrowingForest(current_gpu(), vertices, index)
        self.parent, self.components = self._forest.parent, self._forest.components
        self._calls, self._workspace, self.library = counter(1), Workspace(), "cupy"
        first_entry(self._forest.refusal)  # wait, so that all streams may use it

    def unite(self, src: Any, dst: Any) -> None:
        with self._workspace as memory:
            self._forest.unite(current_gpu(), *self._next_call("src"), src, dst, memory)

    def find(self, name: str, given: list[Any], answer: Any) -> None:
        find: Any = self._forest.list_roots if len(given) == 1 else self._forest.compare_roots
        find(current_gpu(), *self._next_call(name), *given, answer)

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

    def _next_call(self, name: str) -> tuple[int, int]:
        return next(self._calls), ARGUMENTS.index(name)

    def take_one(self, given: Any, name: str) -> Any:
        if not _arrays.on_gpu(given):
            raise TypeError(
                f"{name} lies in main memory, but the components on a GPU; move it there, for "
                "example by cupy.asarray"
            )
        array, gpu = _arrays.as_cupy(given), self.parent.device.id
        if array.device.id != gpu:
            raise ValueError(
                f"{name} lies on GPU {array.device.id}, but the components on GPU {gpu}; copy it "
                "there"
            )
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


def _index_type(dtype: DTypeLike | None, vertices: int) -> np.dtype[Any]:
    if dtype is None:
        return INDEX_TYPES[vertices - 1 > INT32_MAX]
    try:
        index = np.dtype(dtype)
    except Exception:  # of many types
        index = None
    if index not in INDEX_TYPES:
        raise TypeError(f"dtype={shown(dtype)} must be int32 or int64")
    if index == np.int32 and vertices - 1 > INT32_MAX:
        raise ValueError(f"dtype=int32 is too small for {vertices} vertices; use int64")
    return index


def _with_roots(device: str, dtype: np.dtype[Any], roots: NDArray[Any]) -> IncrementalComponents:
    """Return the components of which these are the roots, as they are read from a pickle."""
    components = IncrementalComponents(len(roots), device=device, dtype=dtype)
    edges = np.arange(len(roots), dtype=roots.dtype), roots
    if device == "cuda":
        xp = current_gpu().xp
        edges = _array_storage.move_to_gpu(xp, edges[0]), _array_storage.move_to_gpu(xp, edges[1])
    components.add_edges(*edges, wait=True)
    return components
