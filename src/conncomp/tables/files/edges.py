"""Components of graphs whose edges are in files, with memory for the vertices only."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_choice, check_progress, shown
from conncomp._containers import function_for
from conncomp._core import native
from conncomp.files.access import Progress, StrPath
from conncomp.graph.forests import spanning_forest
from conncomp.graph.graph import Graph
from conncomp.graph.incremental import IncrementalComponents
from conncomp.graph.inputs.parts import check_num_vertices
from conncomp.tables import forests
from conncomp.tables.files import reading
from conncomp.tables.files.pair_file import Wanted

__all__ = ["label_edge_files", "minimum_spanning_forest_of_files", "spanning_forest_of_files"]

# The most edges per byte of a file that a header is trusted with.
ROWS_PER_BYTE = 64
# Room for vertices at first.
FEWEST_VERTICES = 1 << 10


def label_edge_files(
    files: StrPath | Sequence[StrPath],
    src: str | int = "src",
    dst: str | int = "dst",
    *,
    num_vertices: int | None = None,
    format: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> tuple[int, NDArray[Any]]:
    r"""Label the connected components of a graph whose edges are in files.

    Edges are read once, in batches, and not stored. Memory is 4 bytes per vertex, or 8 from 2³¹
    vertices on, twice that while labels are computed, and some batches.

    Parameters
    ----------
    files : str, path-like, sequence of these, or DataFrame of Dask
        Files of Parquet, Arrow IPC, CSV or TSV, or patterns such as ``"edges/*.parquet"``. For a
        DataFrame, results are Dask arrays of unknown lengths.
    src, dst : str or int, optional
        The columns of the two ends of each edge, integers of 0 or more. In CSV and TSV, each entry
        must look as Python prints an integer; 007, +7 and 1.0 are errors. Without a header, give
        the numbers of columns from 0; the default is the first two.
    num_vertices : int, optional
        The default is the largest end plus one.
    format : {"parquet", "arrow", "csv", "tsv"}, optional
        By default each file's name tells the format.
    header : bool, optional
        Whether the first row of CSV and TSV names the columns. By default the rows decide; a guess
        warns.
    progress : callable, optional
        Called with about the number of bytes read, and that of all files.

    Returns
    -------
    n_components : int
    labels : ndarray of int32 or int64, shape (num_vertices,)
        As from `connected_components` of all edges.

    Raises
    ------
    FileNotFoundError
        If a file is missing, or no file matches a pattern.
    TypeError, ValueError
        If a file is damaged or lacks a column, a column has no integers, a row has a null, or an
        end is negative, not below `num_vertices`, or implausibly large for the number of edges.
    ImportError, MemoryError
        If pyarrow is not installed, or memory is too small.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, edges in (("a.csv", "src,dst\n0,1\n"), ("b.csv", "src,dst\n3,1\n4,4\n")):
    ...         _ = pathlib.Path(folder, name).write_text(edges)
    ...     conncomp.label_edge_files(f"{folder}/*.csv")
    (3, array([0, 0, 1, 0, 2], dtype=int32))
    """
    if (other := function_for(files, "label_edge_files")) is not None:
        _refuse_what_is_for_files(format=format, header=header, progress=progress)
        return cast(tuple[int, Any], other(files, [src, dst], num_vertices))
    edges = EdgeFiles(files, (src, dst), num_vertices, format, header)
    return label_edges(edges.with_warnings(), progress)


def label_edges(edges: EdgeFiles, progress: Progress | None = None) -> tuple[int, NDArray[Any]]:
    """Label the components of the edges in open files."""
    components = _Growing(edges)
    for batch in edges.batches(progress):
        components.add(*batch.ends, edges.most)
    return components.result()


def spanning_forest_of_files(
    files: StrPath | Sequence[StrPath],
    src: str | int = "src",
    dst: str | int = "dst",
    *,
    num_vertices: int | None = None,
    format: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    r"""Find a spanning forest of a graph whose edges are in files.

    Edges are read once, in batches, and only edges that connect something new are stored: three
    numbers per vertex, beside the memory of `label_edge_files`.

    Parameters
    ----------
    files, src, dst, num_vertices, format, header, progress
        As of `label_edge_files`, and so are errors.

    Returns
    -------
    edges : ndarray of int64
        The numbers of the edges that `spanning_forest` of all edges returns, ascending. Edges are
        numbered from 0, file by file and row by row.
    src, dst : ndarray of int64
        Their ends.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "e.csv").write_text("src,dst\n0,1\n1,0\n3,1\n")
    ...     conncomp.spanning_forest_of_files(f"{folder}/e.csv")
    (array([0, 2]), array([0, 3]), array([1, 1]))
    """
    if (other := function_for(files, "spanning_forest_of_files")) is not None:
        _refuse_what_is_for_files(format=format, header=header, progress=progress)
        return cast(tuple[Any, Any, Any], other(files, [src, dst], num_vertices))
    edges = EdgeFiles(files, (src, dst), num_vertices, format, header).with_warnings()
    components = _Growing(edges)
    forest = [(np.empty(0, np.int64),) * 3]
    for batch in edges.batches(progress):
        components.make_room(edges.most)
        kept = components.new_links(*batch.ends)
        components.add(*batch.ends, edges.most)
        ends = (end[kept].astype(np.int64) for end in batch.ends)
        forest.append((edges.count - batch.rows + kept, *ends))
    numbers, sources, targets = map(np.concatenate, zip(*forest, strict=True))
    return numbers, sources, targets


def minimum_spanning_forest_of_files(
    files: StrPath | Sequence[StrPath],
    src: str | int = "src",
    dst: str | int = "dst",
    weights: str | int = "weight",
    *,
    num_vertices: int | None = None,
    format: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any]]:
    r"""Find the spanning forest of the least weight of a graph whose edges are in files.

    Edges are read once, in batches. Now and then, the forest so far and the edges since are reduced
    to their forest. Memory is four numbers per edge, for a million edges plus three times the
    number of vertices.

    Parameters
    ----------
    files, src, dst, num_vertices, format, header, progress
        As of `label_edge_files`, and so are errors; for weights as of `minimum_spanning_forest`.
    weights : str or int, optional
        The column of weights: real numbers of at most 64 bits, of one type in all files. Without a
        header, its number, 2 by default.

    Returns
    -------
    edges : ndarray of int64
        The numbers of the edges that `minimum_spanning_forest` of all edges returns, ascending,
        numbered as in `spanning_forest_of_files`. Among equal weights, the first edge is preferred.
    src, dst : ndarray of int64
        Their ends.
    weights : ndarray
        Their weights.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = "src,dst,weight\n0,1,3.5\n1,2,0.5\n2,0,1\n"
    ...     _ = pathlib.Path(folder, "e.csv").write_text(table)
    ...     conncomp.minimum_spanning_forest_of_files(f"{folder}/e.csv")
    (array([1, 2]), array([1, 2]), array([2, 0]), array([0.5, 1. ]))
    """
    if (other := function_for(files, "minimum_spanning_forest_of_files")) is not None:
        _refuse_what_is_for_files(format=format, header=header, progress=progress)
        return cast(tuple[Any, Any, Any, Any], other(files, [src, dst, weights], num_vertices))
    columns = src, dst, weights
    edges = EdgeFiles(files, columns, num_vertices, format, header).with_warnings()
    forest = forests.GrowingLeastForest(edges.weight_type, numbered=True)
    for batch in edges.batches(progress):
        forest.add(*batch.ends, batch.weights, batch.largest)
    least = forest.edges()
    sources, targets = (end.astype(np.int64, copy=False) for end in least.ends)
    return least.numbers, sources, targets, least.weights


def _refuse_what_is_for_files(**given: Any) -> None:
    """Raise if an argument for files only is given."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}={shown(value)} is for files, not a DataFrame; leave it out")


class EdgeFiles:
    """Files of edges: `columns` are both ends, perhaps weights; `count` edges are read."""

    def __init__(
        self,
        files: StrPath | Sequence[StrPath],
        columns: tuple[str | int, ...],
        num_vertices: int | None,
        format: str | None,
        header: bool | None,
    ) -> None:
        self.num_vertices = None if num_vertices is None else check_num_vertices(num_vertices)
        self.count = 0
        names = names_of_files(files)
        check_choice("format", format, (None, *reading.SUFFIXES))
        if format == "dups":
            raise ValueError("format='dups' has no edges; use cluster_dups")
        are_text = {(format or reading.format_of(name)) in ("csv", "tsv") for name in names}
        if header is not None and True not in are_text:
            raise ValueError(f"header={shown(header)} is for files of CSV and TSV; leave it out")
        pairs = zip(("src", "dst", "weights"), columns, strict=False)
        src, dst, *others = (_name(*pair, False not in are_text) for pair in pairs)
        wanted = Wanted((src,), (dst,), others[0] if others else None, argument="src")
        first_row = None if header is None else as_bool("header", header)
        self._files = [reading.open_file(name, wanted, format, True, first_row) for name in names]
        self.size = sum(file.size for file in self._files)
        self.notes = reading.notes_of(self._files)

    def with_warnings(self) -> EdgeFiles:
        """Issue the notes as warnings where the public function was called; return self."""
        for note in self.notes:
            warnings.warn(note, stacklevel=3)
        return self

    def batches(self, progress: Progress | None = None) -> Iterator[forests.Edges]:
        """Yield edges, and set `most` to the number of vertices so far."""
        check_progress(progress)
        done = 0.0
        # Readers compare the rows that headers promise with those they find. Until then, trust no
        # more rows than the files can hold.
        promised = min(sum(file.rows or 0 for file in self._files), ROWS_PER_BYTE * self.size)
        with closing(reading.batches(self._files, "refuse", native.get_num_threads())) as parts:
            for batch in parts:
                where = f"{batch.path}: "
                columns = ("src", batch.left[0]), ("dst", batch.right[0])
                (src, largest), (dst, other) = (
                    forests.as_vertices(ends.to_numpy(zero_copy_only=False), name, where)
                    for name, ends in columns
                )
                self.count += len(src)
                done += batch.bytes
                if progress is not None:
                    progress(int(done), self.size)
                largest = max(largest, other)
                rows = max(promised, self.count)
                self.most = forests.count_vertices(largest, self.num_vertices, rows, where)
                if (weights := batch.weights) is not None:
                    weights = weights.to_numpy(zero_copy_only=False)
                    weights = weights.astype(self.weight_type, copy=False)
                yield forests.all_of(src, dst, weights, largest)

    @property
    def weight_type(self) -> np.dtype[Any]:
        """The dtype of the weights of all files together."""
        kinds = []
        for file in self._files:
            kind = file.types[file.wanted.weights or ""]
            dtype = np.dtype(kind.to_pandas_dtype())
            if dtype.kind not in "biuf":
                raise TypeError(f"{file.path}: the column of weights is of {kind}, not of numbers")
            kinds.append(dtype)
        return np.result_type(*kinds)


class _Growing:
    """Components of a graph whose number of vertices grows."""

    def __init__(self, edges: EdgeFiles) -> None:
        self._used = edges.num_vertices or 0
        self._components = IncrementalComponents(self._used or FEWEST_VERTICES)

    def make_room(self, used: int) -> None:
        self._used = max(self._used, used)
        before = self._components
        if self._used > before.num_vertices:
            self._components = IncrementalComponents(max(self._used, 2 * before.num_vertices))
            roots = before.labels("roots")
            self._components.add_edges(np.arange(len(roots), dtype=roots.dtype), roots)

    def add(self, src: Any, dst: Any, used: int) -> None:
        self.make_room(used)
        self._components.add_edges(src, dst)

    def new_links(self, src: Any, dst: Any) -> Any:
        """Return the edges that connect what no edge before them connects."""
        roots = np.stack([self._components.roots(src), self._components.roots(dst)])
        apart = np.flatnonzero(roots[0] != roots[1])
        names, ends = np.unique(roots[:, apart], return_inverse=True)
        sources, targets = ends.reshape(2, -1)
        return apart[spanning_forest(Graph.from_edges(sources, targets, num_vertices=len(names)))]

    def result(self) -> tuple[int, NDArray[Any]]:
        unused = self._components.num_vertices - self._used
        dtype = np.int32 if self._used <= 1 << 31 else np.int64
        labels = self._components.labels()[: self._used].astype(dtype, copy=False)
        return self._components.count - unused, labels


def names_of_files(files: StrPath | Sequence[StrPath]) -> list[str]:
    """Return the names of files, each once; those of a pattern are sorted."""
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    try:
        patterns = [] if isinstance(files, Mapping) else [os.fspath(name) for name in files]
    except TypeError:
        patterns = []
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError(f"files={shown(files)} must be a name of a file, or several")
    found: dict[str, None] = {}
    for pattern in patterns:
        exists = os.path.lexists(pattern)
        names = [pattern] if exists else sorted(glob.glob(pattern, recursive=True))
        if not names:
            raise FileNotFoundError(2, "there is no such file, and none of that pattern", pattern)
        found |= dict.fromkeys(names)
    return list(found)


def _name(argument: str, name: Any, may_be_number: bool) -> str:
    if type(name) is int and name >= 0 and may_be_number:
        return str(name)
    if not isinstance(name, str):
        number = ", or its number from 0 where a file of text has no header"
        raise TypeError(f"{argument}={shown(name)} must be the name of a column{number}")
    return name
