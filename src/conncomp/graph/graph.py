"""The `Graph` type: arcs as a list or as compressed sparse rows.

The caller may change arrays in main memory at any time: kernels check what they read there, and all
else copies and checks. Kernels on a GPU do not check, so a graph there owns its arrays.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from conncomp import _arrays
from conncomp._arguments import as_bool, as_sequence, check_choice, check_progress, shown
from conncomp._core import native
from conncomp.graph.inputs import conversions, parts
from conncomp.graph.inputs.parts import Ids, Indices
from conncomp.kernels.cuda.graph.edges import check_rows, rows_of_arcs
from conncomp.kernels.cuda.launcher import current_gpu

if TYPE_CHECKING:
    from conncomp.files.access import Progress, StrPath
    from conncomp.graph.inputs.reading import Asked


# With fewer arcs, rows of a list that is labelled again and again gain nothing. To make rows of a
# mirrored list of near vertices takes what they spare in so many calls (notes-graph-cpu.md).
ARCS_FOR_ROWS = 1 << 16
CALLS_FOR_ROWS = 16


class Reading(TypedDict, total=False):
    """Arguments of `Graph.read` on which the type of the result does not depend."""

    integers: bool
    header: bool | None
    format: str | None
    progress: Progress | None


class Graph:
    """A directed graph with vertices 0, 1, ..., as an array of arcs.

    It is made of arcs or rows here, or by `read` or a ``from_...`` method; the other form is made
    when it is asked for. Arrays of int32 or int64 in main memory are kept, not copied: later
    changes in them may lead to wrong answers. Arrays on a GPU, of CuPy or any library that shares
    them by DLPack or ``__cuda_array_interface__``, are copied there. Labels are of the library of
    these arrays. An undirected edge is two arcs; multiple arcs and loops are kept.

    Parameters
    ----------
    num_vertices : int
    arcs : tuple of two array_like of int, shape (num_arcs,)
        Sources and targets, as for `from_edges`.
    csr : tuple of two array_like of int, shapes (num_vertices + 1,) and (num_arcs,)
        Compressed sparse rows, as for `from_csr`; either these or `arcs`.

    Attributes
    ----------
    num_vertices, num_arcs : int
    device : {"cpu", "cuda"}
        Where the arrays lie.
    arcs : tuple of two ndarray of int32 or int64, shape (num_arcs,)
        Sources and targets. Weights, couplings and numbers of arcs have this order: that of the
        list that the graph was made of, or else of `indices`.
    indptr, indices : ndarray of int32 or int64
        Compressed sparse rows: the arcs of v lead to ``indices[indptr[v]:indptr[v + 1]]``. Copies
        of CuPy if the graph lies on a GPU.

    Raises
    ------
    TypeError, ValueError
        If the arrays are not as `from_edges` or `from_csr` wants them, or `arcs` and `csr` are both
        given or both missing.

    Examples
    --------
    >>> from conncomp import Graph, connected_components
    >>> graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> graph
    Graph(num_vertices=5, num_arcs=3)
    >>> connected_components(graph)
    (2, array([0, 0, 0, 1, 1], dtype=int32))
    """

    _num_vertices: int
    _arcs: tuple[Indices, Indices] | None
    _csr: tuple[Indices, Indices] | None
    _symmetric: bool | None
    _library: str
    _times_labelled: int

    def __init__(
        self,
        num_vertices: int,
        *,
        arcs: tuple[ArrayLike, ArrayLike] | None = None,
        csr: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        if (arcs is None) == (csr is None):
            raise TypeError("Graph needs either arcs=(src, dst) or csr=(indptr, indices)")
        count = parts.check_num_vertices(num_vertices)
        if arcs is not None:
            made = self._of_arcs(*_two("arcs", arcs), count)
        else:
            made = self._of_rows(*_two("csr", csr), count)
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of_checked(
        cls,
        num_vertices: int,
        *,
        arcs: tuple[Indices, Indices] | None = None,
        csr: tuple[Indices, Indices] | None = None,
        symmetric: bool | None = None,
        library: str = "numpy",
    ) -> Graph:
        """Make a graph of what is known to be right, or is checked at once.

        `library` is that of the arrays the user gave, and of labels; those here are NumPy's or
        CuPy's.
        """
        graph = cls.__new__(cls)
        graph._num_vertices, graph._library, graph._times_labelled = num_vertices, library, 0
        graph._arcs, graph._csr, graph._symmetric = arcs, csr, symmetric
        return graph

    @classmethod
    def _of_arcs(cls, src: ArrayLike, dst: ArrayLike, num_vertices: int | None) -> Graph:
        """Make a graph of arcs, once checked; by default vertices end with the largest there."""
        with _where_they_lie(src=src, dst=dst) as library:
            arcs = parts.as_arcs(src, dst)
            count = parts.check_arcs(arcs, num_vertices)
            if num_vertices is None:
                parts.refuse_excess(arcs, count)
            return cls._of_checked(count, arcs=arcs, library=library)

    @classmethod
    def _of_rows(
        cls, indptr: ArrayLike, indices: ArrayLike, num_vertices: int | None = None
    ) -> Graph:
        """Make a graph of rows, once checked; by default there is a vertex for each row."""
        with _where_they_lie(indptr=indptr, indices=indices) as library:
            rows = parts.as_rows(indptr, indices)
            count = len(rows[0]) - 1
            if num_vertices not in (None, count):
                needed = f"{num_vertices} vertices need {num_vertices + 1}"
                raise ValueError(f"indptr has {count + 1} entries; {needed}")
            made = cls._of_checked(count, csr=rows, library=library)
            made._check_rows()
            return made

    def _check_rows(self) -> None:
        """Raise unless the rows are a graph; on a GPU, find out whether it is symmetric."""
        assert self._csr is not None
        if self.device == "cpu":
            parts.check_csr(*self._csr)
            return
        check = check_rows(current_gpu(), *self._csr)
        self._symmetric = check.symmetric
        if check.wrong:
            parts.check_csr(*self._csr)  # which says what is wrong

    def __repr__(self) -> str:
        return f"Graph(num_vertices={self.num_vertices}, num_arcs={self.num_arcs})"

    @classmethod
    def from_edges(cls, src: ArrayLike, dst: ArrayLike, num_vertices: int | None = None) -> Graph:
        """Make a graph of the arcs ``src[i] -> dst[i]``.

        Parameters
        ----------
        src, dst : array_like of int, shape (num_arcs,)
            Vertex numbers. An ``edge_index`` of PyTorch Geometric, wherever it lies, is
            ``Graph.from_edges(*edge_index, data.num_nodes)``.
        num_vertices : int, optional
            By default one more than the largest vertex that occurs, unless that is more than 64 for
            each arc and 4,194,304 besides. Ids that are no numbers from 0 become such by
            ``numpy.unique(ids, return_inverse=True)``.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not of integers or differ in length, a vertex is negative or not below
            `num_vertices`, or so many vertices have no arc that they must be meant by
            `num_vertices`.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 0], num_vertices=4)
        Graph(num_vertices=4, num_arcs=2)
        """
        count = None if num_vertices is None else parts.check_num_vertices(num_vertices)
        return cls._of_arcs(src, dst, count)

    @classmethod
    def from_csr(cls, indptr: ArrayLike, indices: ArrayLike) -> Graph:
        """Make a graph of compressed sparse rows.

        Parameters
        ----------
        indptr : array_like of int, shape (num_vertices + 1,)
            Where the arcs of each vertex begin in `indices`; starts with 0, never decreases and
            ends with ``len(indices)``, or ValueError is raised.
        indices : array_like of int, shape (num_arcs,)
            Where each arc leads; ValueError is raised if one is no vertex, TypeError if they are no
            integers.

        Examples
        --------
        >>> Graph.from_csr([0, 1, 2, 2], [1, 0])
        Graph(num_vertices=3, num_arcs=2)
        """
        return cls._of_rows(indptr, indices)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """Make a graph of a square sparse matrix or array: every stored entry is an arc.

        Parameters
        ----------
        matrix : sparse matrix or array, shape (num_vertices, num_vertices)
            Of SciPy, CuPy or PyData's sparse; TypeError is raised for others. Row numbers are
            sources, column numbers targets. As in `scipy.sparse.csgraph`, an explicitly stored zero
            is an arc too, except in the layouts bsr and dia, whose blocks and diagonals are padded
            with zeros. ValueError is raised if it is not square, or its fill value is not 0, NaN or
            infinite.

        Examples
        --------
        >>> import scipy.sparse
        >>> Graph.from_scipy(scipy.sparse.eye_array(3))
        Graph(num_vertices=3, num_arcs=3)
        """
        if not conversions.is_sparse(matrix):
            raise TypeError(f"matrix is a {type(matrix).__name__}, not a sparse matrix")
        parts.check_square(matrix.shape, "matrix")
        stored = conversions.as_arcs_or_rows(matrix)
        if stored.format == "coo":
            return cls(matrix.shape[0], arcs=(stored.row, stored.col))
        return cls(matrix.shape[0], csr=(stored.indptr, stored.indices))

    @classmethod
    def from_networkx(cls, graph: Any) -> Graph:
        """Make a graph of a NetworkX graph, its nodes numbered in their order.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            An undirected edge becomes two arcs, a loop one; arcs are in the order of their sources.
            TypeError is raised for others, RuntimeError if it is changed meanwhile.

        Examples
        --------
        >>> import networkx
        >>> Graph.from_networkx(networkx.path_graph(4))
        Graph(num_vertices=4, num_arcs=6)
        """
        conversions.check_library(conversions.is_networkx(graph), graph, "NetworkX")
        return cls._of_checked(**conversions.parts_of_networkx(graph)._asdict())

    @classmethod
    def from_igraph(cls, graph: Any) -> Graph:
        """Make a graph of an igraph graph.

        Parameters
        ----------
        graph : igraph.Graph
            An undirected edge becomes two arcs, a loop one: all edges in their order, then those
            that are no loops the other way. TypeError is raised for others. Edges of igraph 0.10
            and 1.0 are copied from the memory of its C library, those of other versions from
            ``graph.get_edgelist()``, which takes longer than the components.

        Examples
        --------
        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(4))
        Graph(num_vertices=4, num_arcs=8)
        """
        conversions.check_library(conversions.is_igraph(graph), graph, "igraph")
        return cls._of_checked(**conversions.parts_of_igraph(graph)._asdict())

    @classmethod
    def from_rustworkx(cls, graph: Any) -> Graph:
        """Make a graph of a rustworkx graph, its nodes numbered in their order.

        Parameters
        ----------
        graph : rustworkx.PyGraph or PyDiGraph
            An undirected edge becomes two arcs, a loop one, as of `from_igraph`. The indices that
            removed nodes had are left out, so that vertex k is node ``graph.node_indices()[k]``.
            TypeError is raised for others.

        Examples
        --------
        >>> import rustworkx
        >>> Graph.from_rustworkx(rustworkx.generators.path_graph(4))
        Graph(num_vertices=4, num_arcs=6)
        """
        conversions.check_library(conversions.is_rustworkx(graph), graph, "rustworkx")
        return cls._of_checked(**conversions.parts_of_rustworkx(graph)._asdict())

    @overload
    @classmethod
    def read(
        cls, path: StrPath, *, compact_ids: Literal[False] = False, **options: Unpack[Reading]
    ) -> Graph: ...

    @overload
    @classmethod
    def read(
        cls, path: StrPath, *, compact_ids: Literal[True], **options: Unpack[Reading]
    ) -> tuple[Graph, Ids]: ...

    @classmethod
    def read(
        cls,
        path: StrPath,
        *,
        compact_ids: bool = False,
        integers: bool = False,
        header: bool | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> Graph | tuple[Graph, Ids]:
        r"""Read a graph from a file, which gzip, bzip2 or xz may have packed.

        Parameters
        ----------
        path : str or path-like
            The file; a pipe such as ``/dev/stdin``, too.
        compact_ids : bool, optional
            Whether to drop the vertices that have no arcs, renumber the others, and return their
            ids.
        integers : bool, optional
            Whether the ids in an edge list or a CSV file are integers, so that 007, +7, 1.0 or a
            blank beside a number is an error. By default the ids that `compact_ids` returns are
            text as in the file: 02139 and 2139 differ.
        header : bool, optional
            Whether the first row of a CSV file names the columns. By default the rows tell: a first
            row that looks like those below it is data. A guess is a warning.
        format : str, optional
            "edge-list", "csv", "matrix-market", "dimacs", "metis", "graphml", "ecl" or "npz", which
            :doc:`/graphs` describes. By default the name or else the content tells; METIS, and CSV
            with a header, only the name.
        progress : callable, optional
            Called now and then with the bytes of the file that have been read, and those of all.

        Returns
        -------
        graph : Graph
            With arcs as they are written, and without weights.
        ids : ndarray of str, or of int64 with `integers` and in formats that number the vertices
            The name of each vertex in the file; only with `compact_ids`. Names have the order in
            which they first appear, and numbers the ascending one. Edge lists, CSV and GraphML have
            names, the others numbers from 0.

        Raises
        ------
        ValueError
            If the content is not as its format wants it, is cut short or contradicts its header; it
            names the file and the line. Also where a small file could ask for hours or all memory:
            if only a number tells of more vertices than 64 for each arc and 4,194,304 besides
            (`compact_ids` keeps those with arcs), or a packed file holds more than 1032 times its
            size and 64 MiB besides.
        OSError
            If the file cannot be opened or read: `FileNotFoundError`, `IsADirectoryError`, ...

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "votes.txt")
        ...     _ = path.write_text("# from to\n30 7\n30 9\n")
        ...     Graph.read(path)
        ...     Graph.read(path, compact_ids=True)
        ...     Graph.read(path, compact_ids=True, integers=True)
        Graph(num_vertices=31, num_arcs=2)
        (Graph(num_vertices=3, num_arcs=2), array(['30', '7', '9'], dtype='<U2'))
        (Graph(num_vertices=3, num_arcs=2), array([ 7,  9, 30]))
        """
        from conncomp.graph.inputs.reading import Asked

        told = as_bool("compact_ids", compact_ids), as_bool("integers", integers)
        asked = Asked(*told, None if header is None else as_bool("header", header), [])
        check_progress(progress)
        graph, names = read_graph(path, asked, format, progress, remedy="compact_ids=True")
        for note in asked.notes:
            warnings.warn(note, stacklevel=2)
        if not asked.compact:
            return graph
        assert names is not None
        return graph, names

    def to(self, device: Literal["cpu", "cuda"]) -> Graph:
        """Return the graph on a device: itself if it lies there, else a copy.

        Parameters
        ----------
        device : {"cpu", "cuda"}
            "cuda" is the current CUDA device; a graph that lies on one stays where it is.
            ImportError or RuntimeError is raised if CuPy is not installed, or there is no GPU.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2]).to("cpu").device
        'cpu'
        """
        check_choice("device", device, ("cpu", "cuda"))
        if device == self.device:
            return self
        if device == "cpu":
            with self._stream():
                return self._moved(_arrays.move_from_gpu, "numpy")
        moved = self._moved(partial(_arrays.move_to_gpu, current_gpu().xp), "cupy")
        # The arrays here may have changed since they were checked.
        if moved._arcs is not None:
            parts.check_arcs(moved._arcs, moved.num_vertices)
        if moved._csr is not None:
            moved._check_rows()
        return moved

    def _moved(self, move: Callable[[Any], Any], library: str) -> Graph:
        return Graph._of_checked(
            self.num_vertices,
            arcs=self._arcs and (move(self._arcs[0]), move(self._arcs[1])),
            csr=self._csr and (move(self._csr[0]), move(self._csr[1])),
            symmetric=self._symmetric,
            library=library,
        )

    @property
    def device(self) -> Literal["cpu", "cuda"]:
        """Where the arrays lie."""
        return "cpu" if isinstance(self._kept()[0], np.ndarray) else "cuda"

    @property
    def arrays(self) -> tuple[Indices, ...]:
        """The arrays that the graph keeps; copies if it lies on a GPU."""
        return tuple(map(self._given_away, self._kept()))

    def _kept(self) -> tuple[Indices, ...]:
        return (*(self._arcs or ()), *(self._csr or ()))

    def _stream(self) -> AbstractContextManager[object]:
        """Work on the GPU where the arrays lie, on the stream that is current in their library."""
        some_array: Any = self._kept()[0]
        return _arrays.caller_stream(self._library, some_array.device.id)

    def _given_away(self, array: Indices) -> Indices:
        if self.device == "cpu":
            return array
        with self._stream():
            return array.copy()

    @property
    def num_vertices(self) -> int:
        """The number of vertices."""
        return self._num_vertices

    @property
    def num_arcs(self) -> int:
        """The number of arcs; an undirected edge counts twice."""
        return len((self._arcs or self._rows())[1])

    @property
    def indptr(self) -> Indices:
        """Where the arcs of each vertex begin in `indices`."""
        return self._given_away(self._rows()[0])

    @property
    def indices(self) -> Indices:
        """Where each arc leads, in the order of the sources."""
        return self._given_away(self._rows()[1])

    @property
    def arcs(self) -> tuple[Indices, Indices]:
        """The sources and the targets, in the order of what the graph was made of."""
        src, dst = map(self._given_away, self._ends())
        return src, dst

    def in_arc_order(self, values: ArrayLike) -> Indices:
        """Return values that are in the order of `indices` in the order of `arcs`.

        Parameters
        ----------
        values : array_like, shape (num_arcs,)
            A weight or a coupling for each entry of `indices`; ValueError is raised for fewer or
            more.

        Returns
        -------
        ndarray, shape (num_arcs,)
            The same for each of `arcs`, as `minimum_spanning_forest` and models take them: a copy
            where `values` lie.

        Examples
        --------
        >>> graph = Graph.from_edges([2, 0], [0, 1])
        >>> graph.indices
        array([1, 0])
        >>> graph.in_arc_order([0.5, 7.0])
        array([7. , 0.5])
        """
        order: Any = np.argsort(self.to("cpu")._ends()[0], kind="stable")
        with _where_they_lie(values=values) as library:
            array = parts.as_array(values, "values")
            parts.check_one_each("values", array.shape, self.num_arcs)
            if _arrays.on_gpu(values):
                order = _arrays.move_to_gpu(current_gpu().xp, order)
            placed = array.copy()
            placed[order] = array
            return _arrays.in_library(placed, library)  # type: ignore[no-any-return]

    def _ends(self) -> tuple[Indices, Indices]:
        if self._arcs is not None:
            return self._arcs
        indptr, indices = self._rows()
        if self.device == "cpu":
            return parts.sources_of_rows(indptr, indices), indices
        with self._stream():
            xp = current_gpu().xp
            places = xp.arange(len(indices), dtype=indptr.dtype)
            return xp.searchsorted(indptr, places, side="right") - 1, indices

    def _rows(self) -> tuple[Indices, Indices]:
        if self._csr is None:
            assert self._arcs is not None
            src, dst = self._arcs
            if self.device == "cuda":
                with self._stream():
                    self._csr = rows_of_arcs(current_gpu().xp, src, dst, self.num_vertices)
            elif not self._find_rows():
                indptr = _arrays.new_array(np, (self.num_vertices + 1,), np.int64)
                indices = _arrays.new_array(np, dst.shape, dst.dtype)
                native.csr_of_arcs(src, dst, indptr, indices)
                self._csr = indptr, indices
        assert self._csr is not None
        return self._csr

    def _find_rows(self) -> bool:
        """Whether sources never decrease, so that targets are rows as they are; keep these then."""
        assert self._arcs is not None
        src, dst = self._arcs
        indptr = _arrays.new_array(np, (self.num_vertices + 1,), np.int64)
        if native.rows_of_sorted(src, indptr):
            self._csr = indptr, dst
        return self._csr is not None

    def _is_near_and_mirrored(self) -> bool:
        """Whether a sample has near ends, and opposites next to arcs or half a list after them."""
        assert self._arcs is not None
        src, dst = self._arcs
        arcs = np.arange(64) * (len(src) // 256) * 2
        near = np.abs(src[arcs] - dst[arcs]) < self.num_vertices / 256
        return bool(near.mean() > 0.75) and any(
            np.array_equal(src[arcs], dst[arcs + distance])
            and np.array_equal(dst[arcs], src[arcs + distance])
            for distance in (len(src) // 2, 1)
        )

    def is_symmetric(self) -> bool:
        """Tell whether every arc is matched by one in the opposite direction.

        Multiplicities do not matter, except on a GPU, where it is False if they differ. Found once,
        then remembered; when the graph is made of compressed sparse rows on a GPU, at once.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2]).is_symmetric()
        False
        """
        if self._symmetric is None and self.device == "cuda":
            with self._stream():
                self._symmetric = check_rows(current_gpu(), *self._rows()).symmetric
        elif self._symmetric is None:
            # Copies, which nobody else changes.
            rows = [_arrays.converted(array, array.dtype) for array in self._rows()]
            parts.check_csr(*rows)
            # Where multiplicities match, too, as they mostly do, one pass is enough.
            if native.csr_is_mirrored(*rows, secrets.randbits(64)):
                self._symmetric = True
            else:
                from scipy import sparse

                shape = (self.num_vertices, self.num_vertices)
                ones = np.ones(len(rows[1]), np.bool_)
                matrix = sparse.csr_array((ones, *rows[::-1]), shape=shape)
                matrix.sum_duplicates()
                self._symmetric = (matrix != matrix.T).nnz == 0
        return self._symmetric

    def _is_mirrored(self) -> bool:
        """Whether all arcs, in main memory, are known or seen to be listed from both ends."""
        if self._symmetric is None and native.csr_is_mirrored(*self._rows(), secrets.randbits(64)):
            self._symmetric = True
        return bool(self._symmetric)

    def _fill_labels(self, labels: Indices, consecutive: bool) -> int:
        """Write the label of every vertex, with no other writer; return the number of components.

        A long list whose sources ascend is labelled by rows from the second call on; other rows are
        made once they pay.
        """
        times = self._times_labelled = self._times_labelled + 1
        if (self._csr is None and self.num_arcs >= ARCS_FOR_ROWS) and (
            (times == 2 and self._find_rows())
            or (times == CALLS_FOR_ROWS and self._is_near_and_mirrored())
        ):
            self._rows()
            self._is_mirrored()
        if self._csr is not None:
            rows = *self._csr, self._symmetric or False
            return int(native.components_of_csr(*rows, consecutive, labels))
        assert self._arcs is not None
        return int(native.components_of_arcs(*self._arcs, consecutive, labels))


def read_graph(
    path: StrPath, asked: Asked, format: str | None, progress: Progress | None, *, remedy: str
) -> tuple[Graph, Ids | None]:
    """Read a graph and its vertices' names, if any; `remedy` is how one asks for `compact_ids`."""
    from conncomp.graph.inputs.reading import read_parts

    read, names = read_parts(path, asked, format, progress, remedy)
    return Graph._of_checked(**read._asdict()), names


def count_without_arcs(graph: Graph) -> int:
    """Count the vertices without arcs, each of which is a component of its own."""
    if graph._arcs is None:
        has_arcs = np.diff(graph.indptr) > 0
        has_arcs[graph.indices] = True
    else:
        has_arcs = np.zeros(graph.num_vertices, np.bool_)
        for ends in graph._arcs:
            has_arcs[ends] = True
    return graph.num_vertices - int(np.count_nonzero(has_arcs))


def _two(name: str, pair: Any) -> tuple[ArrayLike, ArrayLike]:
    try:
        first, second = as_sequence(name, pair)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={shown(pair)} must be a tuple of two arrays") from None
    return first, second


@contextmanager
def _where_they_lie(**arrays: Any) -> Iterator[str]:
    """Work where some arrays lie, all on a GPU or none; the value is the library of the first."""
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
