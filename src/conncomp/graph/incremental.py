"""`IncrementalComponents`: the components of a graph to which edges are added."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp import _array_storage, _arrays
from conncomp._arguments import INDEX_TYPES, INT32_MAX, as_bool, check_choice, shown
from conncomp.graph.growing import start_growing
from conncomp.graph.inputs import parts
from conncomp.kernels.cuda.launcher import current_gpu, first_entry

_INTEGERS = int, np.integer


class IncrementalComponents:
    """The connected components of a graph that grows: edges are added, and none is taken away.

    Vertices are 0, 1, ..., `num_vertices` - 1; at first each is a component. The time of a batch
    depends on its edges only, not on the number of vertices.

    Parameters
    ----------
    num_vertices : int
    device : {None, "cpu", "cuda"}, optional
        Where the components are kept: in main memory by default, or on the current CUDA device.
        Arrays are taken and returned there: of NumPy, or of CuPy or any library that shares them by
        DLPack or ``__cuda_array_interface__``.
    dtype : {None, int32, int64}, optional
        Of the vertices that are kept; by default int32 if they fit.

    Attributes
    ----------
    num_vertices : int
    device : {"cpu", "cuda"}
    dtype : dtype
    count : int
        The number of components; on a GPU it waits.

    Raises
    ------
    TypeError, ValueError, MemoryError
        If an argument does not fit, or there is too little memory.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none.

    Notes
    -----
    `connected_components` takes all edges at once, which is quicker. Here the trees of a union-find
    grow batch by batch (:doc:`/algorithms/forests`). They take 4 bytes per vertex, or 8 with int64;
    on a GPU a batch takes a bit per edge besides. On the CPU large batches use all threads
    (`set_num_threads`).

    On a GPU only `count`, `check`, ``labels("consecutive")``, answers to integers and calls with
    ``wait=True`` wait. So a vertex that does not exist is not reported at once: the GPU leaves out
    its whole batch, and the next of these calls raises the error. Kernels run on the stream that is
    current in the library of the arrays; the caller orders calls on several streams. `add_edges`
    with no more edges than before, and ``labels("roots", out=...)``, do not allocate, and can be
    captured in a CUDA graph.

    Several threads may call at once; an answer has all edges of the calls that ended before, and
    some of those under way. Other threads may write to the arrays meanwhile: then answers may be
    wrong, no more. A signal whose handler raises, such as Ctrl-C, ends a call, perhaps with some
    edges of its batch. Copies and pickles keep the components, not the trees, and on a GPU go
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
        self._num_vertices = vertices = parts.check_num_vertices(num_vertices)
        index = _index_type(dtype, vertices)
        where = _arrays.choose_device(device, False, "num_vertices")
        self._kept = start_growing(where, vertices, index)

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
        """The dtype of the vertices that are kept."""
        return cast("np.dtype[Any]", self._kept.parent.dtype)

    @property
    def count(self) -> int:
        """The number of components; asking for it does what `check` does."""
        return self._kept.count()

    def check(self) -> None:
        """Wait for the GPU, and raise the error of a call that was given what is no vertex.

        It is the ValueError of the first such call, raised once. The edges of its batch were left
        out; an answer is False or -1 at that place.

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
            Vertices, where the components are kept. Loops and known edges change nothing.
        wait : bool, optional
            On a GPU, whether to wait until the edges are in, so that errors are raised at once.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not of integers, lie elsewhere than the components, differ in length,
            or hold what is no vertex; then no edge is added. On a GPU, unless `wait`, the last is
            raised by a later call that waits.
        """
        self._kept.add_edges(src, dst, as_bool("wait", wait))

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
        kept, wait = self._kept, as_bool("wait", wait)
        if isinstance(u, _INTEGERS) and isinstance(v, _INTEGERS):
            pair = {"u": kept.one_vertex(u, "u"), "v": kept.one_vertex(v, "v")}
            return bool(first_entry(kept.answer(kept.compare_roots, pair, np.bool_, True)))
        answer = kept.answer(kept.compare_roots, {"u": u, "v": v}, np.bool_, wait)
        return cast("NDArray[Any]", answer)

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
            On a GPU, whether to wait, so that errors, those of `add_edges`, are raised at once.

        Examples
        --------
        >>> import conncomp
        >>> components = conncomp.IncrementalComponents(3)
        >>> components.add_edges([1], [2])
        >>> components.roots([2, 0])
        array([1, 0], dtype=int32)
        """
        kept, wait = self._kept, as_bool("wait", wait)
        fill, dtype = kept.list_roots, kept.parent.dtype
        if isinstance(vertices, _INTEGERS):
            vertex = {"vertices": kept.one_vertex(vertices, "vertices")}
            return first_entry(kept.answer(fill, vertex, dtype, True))
        return cast("NDArray[Any]", kept.answer(fill, {"vertices": vertices}, dtype, wait))

    def labels(
        self,
        numbering: Literal["consecutive", "roots"] = "consecutive",
        *,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return the label of every vertex's component, as `connected_components` does.

        It takes a pass over the vertices, which shortens paths for later calls.

        Parameters
        ----------
        numbering : {"consecutive", "roots"}, optional
            "consecutive": labels 0, 1, ... in the order of the components' smallest vertices.
            "roots": the smallest vertex of the component.
        dtype : dtype or "smallest", optional
            Of the labels, as of `connected_components`; by default that of the components.
        out : ndarray, optional
            A C-contiguous array of integers, of shape (num_vertices,), for the labels, where the
            components are kept.

        Returns
        -------
        ndarray of `dtype`, shape (num_vertices,)
            `out` if given; otherwise, on a GPU, of the library of the edges added last.

        Raises
        ------
        TypeError, ValueError
            If an argument does not fit, `out` lies elsewhere than the components, or the labels do
            not fit `dtype` or `out`; on a GPU also as of `check`, unless `numbering` is "roots".
        """
        check_choice("numbering", numbering, ("consecutive", "roots"))
        dtype = self.dtype if dtype is None and out is None else dtype
        return cast("NDArray[Any]", self._kept.labels(numbering == "consecutive", dtype, out))


def _index_type(dtype: DTypeLike | None, vertices: int) -> np.dtype[Any]:
    if dtype is None:
        return INDEX_TYPES[vertices - 1 > INT32_MAX]
    try:
        index = np.dtype(dtype)
    except Exception:  # NumPy raises many types
        index = None
    if index not in INDEX_TYPES:
        raise TypeError(f"dtype={shown(dtype)} must be int32 or int64")
    if index == np.int32 and vertices - 1 > INT32_MAX:
        raise ValueError(f"dtype=int32 is too small for {vertices} vertices; use int64")
    return index


def _with_roots(device: str, dtype: np.dtype[Any], roots: NDArray[Any]) -> IncrementalComponents:
    """Return the components of which a pickle has the roots."""
    components = IncrementalComponents(len(roots), device=device, dtype=dtype)
    vertices = np.arange(len(roots), dtype=roots.dtype)
    if device == "cuda":
        move = partial(_array_storage.move_to_gpu, current_gpu().xp)
        vertices, roots = move(vertices), move(roots)
    components.add_edges(vertices, roots, wait=True)
    return components
