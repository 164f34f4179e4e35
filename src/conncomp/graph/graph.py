"""The `Graph` type, arcs as a list or as compressed sparse rows, and what is taken as one.

The caller may change arrays in main memory at any time: kernels check what they read there, and
other code copies and checks. Kernels on a GPU do not, so a graph there owns its arrays.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp import _array_storage, _arrays
from conncomp._arguments import as_bool, as_sequence, check_choice, check_progress, shown
from conncomp._containers import is_of
from conncomp.graph.inputs import conversions, parts
from conncomp.graph.inputs.parts import Ids, Parts
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.graph import Indices

if TYPE_CHECKING:
    from conncomp.files.access import Progress, StrPath
    from conncomp.graph.inputs.formats import Asked


class Reading(TypedDict, total=False):
    """Arguments of `Graph.read` on which the type of the result does not depend."""

    integers: bool
    header: bool | None
    format: str | None
    progress: Progress | None


class Graph:
    """A directed graph with vertices 0, 1, ..., as an array of arcs.

    It is made of arcs or rows here, or by `read` or a ``from_...`` method; the other form is made
    on demand. Arrays of int32 or int64 in main memory are kept, not copied: later changes in them
    may lead to wrong answers. Arrays on a GPU, of CuPy or any library that shares them by DLPack or
    ``__cuda_array_interface__``, are copied there. Labels are of the same library. An undirected
    edge is two arcs; multiple arcs and loops are kept.

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
        given list, or else of `indices`.
    indptr, indices : ndarray of int32 or int64
        Compressed sparse rows: the arcs of v lead to ``indices[indptr[v]:indptr[v + 1]]``. Copies
        of CuPy if the graph lies on a GPU.

    Raises
    ------
    TypeError, ValueError
        If `from_edges` or `from_csr` refuses the arrays, or `arcs` and `csr` are both given or both
        missing.

    Examples
    --------
    >>> from conncomp import Graph, connected_components
    >>> graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    >>> graph
    Graph(num_vertices=5, num_arcs=3)
    >>> connected_components(graph)
    (2, array([0, 0, 0, 1, 1], dtype=int32))
    """

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
            self._parts = parts.parts_of_arcs(*_two("arcs", arcs), count)
        else:
            self._parts = parts.parts_of_rows(*_two("csr", csr), count)

    @classmethod
    def _of_parts(cls, made: Parts) -> Graph:
        """Make a graph without checks."""
        graph = cls.__new__(cls)
        graph._parts = made
        return graph

    @classmethod
    def _of_checked(cls, num_vertices: int, **made: Any) -> Graph:
        """Make a graph of fields of `Parts`."""
        return cls._of_parts(Parts(num_vertices, **made))

    def __repr__(self) -> str:
        return f"Graph(num_vertices={self.num_vertices}, num_arcs={self.num_arcs})"

    @classmethod
    def from_edges(cls, src: ArrayLike, dst: ArrayLike, num_vertices: int | None = None) -> Graph:
        """Make a graph of the arcs ``src[i] -> dst[i]``.

        Parameters
        ----------
        src, dst : array_like of int, shape (num_arcs,)
            Vertex numbers. For an ``edge_index`` of PyTorch Geometric, on any device, call
            ``Graph.from_edges(*edge_index, data.num_nodes)``.
        num_vertices : int, optional
            By default one more than the largest vertex, unless that is more than 64 per arc and
            4,194,304 besides. ``numpy.unique(ids, return_inverse=True)`` turns other ids into
            numbers from 0.

        Raises
        ------
        TypeError, ValueError
            If the arrays are not of integers or differ in length, a vertex is negative or not below
            `num_vertices`, or too many vertices have no arc and `num_vertices` is missing.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 0], num_vertices=4)
        Graph(num_vertices=4, num_arcs=2)
        """
        count = None if num_vertices is None else parts.check_num_vertices(num_vertices)
        return cls._of_parts(parts.parts_of_arcs(src, dst, count))

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
        return cls._of_parts(parts.parts_of_rows(indptr, indices))

    @classmethod
    def from_scipy(cls, matrix: Any) -> Graph:
        """Make a graph of a square sparse matrix or array: every stored entry is an arc.

        Parameters
        ----------
        matrix : sparse matrix or array, shape (num_vertices, num_vertices)
            Of SciPy, CuPy or PyData's sparse; TypeError is raised for others. Row numbers are
            sources, column numbers targets. As in `scipy.sparse.csgraph`, a stored zero is an arc
            too, except in the layouts bsr and dia, which pad with zeros. ValueError is raised if it
            is not square, or its fill value is not 0, NaN or infinite.

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
        return cls._of_parts(conversions.parts_of(graph, "NetworkX"))

    @classmethod
    def from_igraph(cls, graph: Any) -> Graph:
        """Make a graph of an igraph graph.

        Parameters
        ----------
        graph : igraph.Graph
            An undirected edge becomes two arcs, a loop one: all edges in their order, then all but
            loops the other way. TypeError is raised for others. Edges of igraph 0.10 and 1.0 are
            copied from the memory of its C library, those of other versions from
            ``graph.get_edgelist()``, which takes longer than the components.

        Examples
        --------
        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(4))
        Graph(num_vertices=4, num_arcs=8)
        """
        return cls._of_parts(conversions.parts_of(graph, "igraph"))

    @classmethod
    def from_rustworkx(cls, graph: Any) -> Graph:
        """Make a graph of a rustworkx graph, its nodes numbered in their order.

        Parameters
        ----------
        graph : rustworkx.PyGraph or PyDiGraph
            An undirected edge becomes two arcs, a loop one, as of `from_igraph`. Indices of removed
            nodes are skipped: vertex k is node ``graph.node_indices()[k]``. TypeError is raised for
            others.

        Examples
        --------
        >>> import rustworkx
        >>> Graph.from_rustworkx(rustworkx.generators.path_graph(4))
        Graph(num_vertices=4, num_arcs=6)
        """
        return cls._of_parts(conversions.parts_of(graph, "rustworkx"))

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
            Whether to drop vertices without arcs, renumber the others, and return their ids.
        integers : bool, optional
            Whether the ids in an edge list or a CSV file are integers, so that 007, +7, 1.0 or a
            blank beside a number is an error. By default the ids that `compact_ids` returns are
            text as in the file: 02139 and 2139 differ.
        header : bool, optional
            Whether the first row of a CSV file names the columns. By default the rows tell: a first
            row like those below it is data. A guess warns.
        format : str, optional
            "edge-list", "csv", "matrix-market", "dimacs", "metis", "graphml", "ecl" or "npz", which
            :doc:`/graphs` describes. By default the name, or else the content, tells; METIS, and
            CSV with a header, only the name.
        progress : callable, optional
            Called now and then with the number of bytes read, and that of the file.

        Returns
        -------
        graph : Graph
            With arcs as written, without weights.
        ids : ndarray of str, or of int64 with `integers` and in formats that number the vertices
            The name of each vertex in the file; only with `compact_ids`. Names are in the order of
            appearance, numbers ascend. Edge lists, CSV and GraphML have names, the others numbers
            from 0.

        Raises
        ------
        ValueError
            If the content does not fit its format, is cut short or contradicts its header; it names
            the file and the line. Also where a small file could take hours or all memory: if it
            claims more vertices than 64 per arc and 4,194,304 besides (`compact_ids` keeps those
            with arcs), or a packed file holds more than 1032 times its size and 64 MiB besides.
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
        from conncomp.graph.inputs.formats import Asked

        compact, integers = as_bool("compact_ids", compact_ids), as_bool("integers", integers)
        header = None if header is None else as_bool("header", header)
        asked = Asked(compact, integers, header, notes=[])
        check_progress(progress)
        graph, names = read_graph(path, asked, format, progress, remedy="compact_ids=True")
        for note in asked.notes:
            warnings.warn(note, stacklevel=2)
        return graph if names is None or not asked.compact else (graph, names)

    def to(self, device: Literal["cpu", "cuda"]) -> Graph:
        """Return the graph on a device: itself if it lies there, else a copy.

        Parameters
        ----------
        device : {"cpu", "cuda"}
            "cuda" is the current CUDA device; a graph on a GPU stays where it is. ImportError or
            RuntimeError is raised if CuPy is not installed, or there is no GPU.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2]).to("cpu").device
        'cpu'
        """
        check_choice("device", device, ("cpu", "cuda"))
        moved = self._parts.to(device)
        return self if moved is self._parts else Graph._of_parts(moved)

    @property
    def device(self) -> Literal["cpu", "cuda"]:
        """Where the arrays lie."""
        return self._parts.device

    @property
    def arrays(self) -> tuple[Indices, ...]:
        """The arrays that the graph keeps; copies if it lies on a GPU."""
        return tuple(map(self._given_away, self._parts.arrays))

    def _given_away(self, array: Indices) -> Indices:
        if self.device == "cpu":
            return array
        with self._parts.stream():
            return array.copy()

    @property
    def num_vertices(self) -> int:
        """The number of vertices."""
        return self._parts.num_vertices

    @property
    def num_arcs(self) -> int:
        """The number of arcs; an undirected edge counts twice."""
        return self._parts.num_arcs

    @property
    def indptr(self) -> Indices:
        """Where the arcs of each vertex begin in `indices`."""
        return self._given_away(self._parts.rows()[0])

    @property
    def indices(self) -> Indices:
        """Where each arc leads, in the order of the sources."""
        return self._given_away(self._parts.rows()[1])

    @property
    def arcs(self) -> tuple[Indices, Indices]:
        """The sources and the targets, in the order in which they were given."""
        src, dst = self._parts.ends()
        return self._given_away(src), self._given_away(dst)

    def in_arc_order(self, values: ArrayLike) -> Indices:
        """Return values that are in the order of `indices` in the order of `arcs`.

        Parameters
        ----------
        values : array_like, shape (num_arcs,)
            A weight or a coupling for each entry of `indices`, or ValueError is raised.

        Returns
        -------
        ndarray, shape (num_arcs,)
            A copy, where `values` lie, in the order of `arcs`, as `minimum_spanning_forest` and
            models take it.

        Examples
        --------
        >>> graph = Graph.from_edges([2, 0], [0, 1])
        >>> graph.indices
        array([1, 0])
        >>> graph.in_arc_order([0.5, 7.0])
        array([7. , 0.5])
        """
        order: Any = np.argsort(self._parts.to("cpu").ends()[0], kind="stable")
        with parts.where_they_lie(values=values) as library:
            array = parts.as_array(values, "values")
            parts.check_one_each("values", array.shape, self.num_arcs)
            if _arrays.on_gpu(values):
                order = _array_storage.move_to_gpu(current_gpu().xp, order)
            placed = array.copy()
            placed[order] = array
            return _arrays.in_library(placed, library)

    def is_symmetric(self) -> bool:
        """Tell whether every arc is matched by one in the opposite direction.

        Multiplicities do not matter, except on a GPU, where it is False if they differ. The answer
        is found once; for compressed sparse rows on a GPU, when the graph is made.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2]).is_symmetric()
        False
        """
        return self._parts.is_symmetric()


def read_graph(
    path: StrPath, asked: Asked, format: str | None, progress: Progress | None, *, remedy: str
) -> tuple[Graph, Ids | None]:
    """Read a graph and its vertices' names, if any; `remedy` is how one asks for `compact_ids`."""
    from conncomp.graph.inputs.reading import read_parts

    read, names = read_parts(path, asked, format, progress, remedy)
    return Graph._of_parts(read), names


def count_without_arcs(graph: Graph) -> int:
    """Count the vertices without arcs."""
    has_arcs = np.zeros(graph.num_vertices, np.bool_)
    for ends in graph._parts.ends():
        has_arcs[ends] = True
    return graph.num_vertices - int(np.count_nonzero(has_arcs))


def _two(name: str, pair: Any) -> tuple[ArrayLike, ArrayLike]:
    try:
        first, second = as_sequence(name, pair)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={shown(pair)} must be a tuple of two arrays") from None
    return first, second


def is_graph_on_gpu(graph: Any) -> bool:
    """Whether a graph of any kind lies on a GPU."""
    if isinstance(graph, Graph):
        return graph._parts.device == "cuda"
    return is_of(graph, "cupyx.scipy.sparse") or _arrays.on_gpu(graph)


def as_parts(graph: Any) -> Parts:
    """Return the parts of `graph`, of any kind that `connected_components` takes."""
    if isinstance(graph, Graph):
        return graph._parts
    if conversions.is_sparse(graph):
        if graph.dtype.kind not in "biuf":
            raise TypeError(f"csgraph is of dtype {graph.dtype}; it must be of real numbers")
        parts.check_square(graph.shape, "csgraph")
        return Graph.from_scipy(graph)._parts
    if library := conversions.package_of(graph):
        return conversions.parts_of(graph, library)
    if is_of(graph, "dask.dataframe"):
        raise TypeError(
            "csgraph is a DataFrame of Dask; graphs whose edges are in one are for conncomp."
            "label_edge_files, spanning_forest_of_files and minimum_spanning_forest_of_files"
        )
    if not _arrays.on_gpu(graph):
        matrix, hidden = _arrays.as_numpy_and_mask(graph, "csgraph")
        return _parts_of_entries(graph, matrix, hidden, np)
    matrix = _arrays.as_cupy(graph)
    with _arrays.caller_stream(_arrays.library_of(graph), matrix.device.id):
        return _parts_of_entries(graph, matrix, None, current_gpu().xp)


def _parts_of_entries(graph: Any, matrix: Any, hidden: Any, xp: Any) -> Parts:
    """Return the parts of a dense matrix; `xp` is the library of its values in `matrix`."""
    kinds = "a Graph, a graph of NetworkX, igraph or rustworkx, or a matrix of real numbers"
    _arrays.check_kind(matrix, "biuf", graph, "csgraph", kinds)
    parts.check_square(matrix.shape, "csgraph")
    if isinstance(graph, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(graph)
    else:
        present = (matrix != 0) & xp.isfinite(matrix)
        present &= hidden is None or ~hidden
    src, dst = xp.nonzero(present)
    made = parts.parts_of_arcs(src, dst, len(matrix))
    made.library = _arrays.library_of(graph)
    return made


def arrays_of(graph: Any) -> list[NDArray[Any]]:
    """Return the NumPy arrays of a matrix, which `out` must not overlap."""
    if isinstance(graph, Graph):
        return []
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    arrays = (graph, *(getattr(graph, name, None) for name in names))
    return [array for array in arrays if isinstance(array, np.ndarray)]
