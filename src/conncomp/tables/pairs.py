"""`cluster_pairs` turns a table of pairs into a table of clusters; `ClusterPairs` can grow."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any, NamedTuple, cast

import numpy as np

from conncomp._arguments import check_choice, shown
from conncomp._containers import function_for
from conncomp.tables.clustering import Clustering
from conncomp.tables.frames import Table, library_of_side, library_of_table


def cluster_pairs(
    pairs: Any,
    left: Any,
    right: Any = None,
    *,
    weights: Any = None,
    threshold: Any = None,
    nodes: Any = None,
    max_size: int | None = None,
    cluster_ids: str = "number",
    nulls: str = "raise",
    device: str | None = None,
) -> Any:
    """Return the clusters of ids that are linked by pairs.

    Parameters
    ----------
    pairs, left, right : table and names, or two columns
        ``cluster_pairs(table, "l", "r")`` takes two columns of a table, ``cluster_pairs(left,
        right)`` two columns of one length. Any library with ``__arrow_c_stream__`` or
        ``__arrow_c_array__`` works (Polars, pyarrow, pandas, relations of DuckDB), and so do NumPy
        arrays, sequences of Python objects, and dicts of these. Ids are integers of any width,
        floats, strings, binary, UUIDs, dates, times, decimals, categories, structs, or a tuple of
        several columns. They compare exactly; mixing kinds, such as 1 and ``"1"`` or True, is an
        error. An iterator of tables, such as a pyarrow.RecordBatchReader, is read table by table,
        keeping only the distinct ids. A Dask DataFrame gives a lazy Dask DataFrame; its ids are
        numbers, strings, binary, dates, times or categories.
    weights : column or name, optional
    threshold : float or sequence of float, optional
        Use only pairs whose weight is at least this. A node without one is a cluster of its own.
    nodes : column, optional
        Ids that come first in the result, in this order, even without pairs. If ids have several
        columns, a tuple of these.
    max_size : int, optional
        Divide larger clusters, by raising the threshold within them only. Pairs of equal weight
        are dropped together. It needs `weights`, takes at most one threshold, and does not work
        with Dask or on a GPU.
    cluster_ids : {"number", "first"}, optional
        Number clusters 0, 1, ... in the order of their first nodes, or name them by these.
    nulls : {"raise", "drop"}, optional
        What to do with rows in which an id or weight is null: None, NaN or NaT.
    device : {None, "cpu", "cuda"}, optional
        Where to work; by default where the columns lie. ``"cuda"`` moves columns in main memory to
        the current GPU, and results back. Ids on a GPU are numbers, dates or times.

    Returns
    -------
    table
        A table of the library of the input: a dict of arrays for NumPy, lists, CuPy and PyTorch,
        and an Arrow table for libraries that have none. Text and bytes of NumPy have fixed width,
        or are Python objects where that would lose NULs or take much more memory. There is one row
        per node, in the order in which nodes first appear, row by row, left before right. Columns
        are ``node`` (``node_0``, ``node_1``, ... if ids have several), ``cluster`` and ``size``;
        for several thresholds ``cluster_0.8``, ``size_0.8``, ...; with `max_size` also ``divided``,
        the weight of the pairs that would have made the cluster too large, or NaN.

    Raises
    ------
    TypeError
        If a column mixes kinds of values, has a kind that cannot be compared, or another kind than
        the other column.
    ValueError
        If columns differ in length, an id is null or fits no type, or an argument is invalid.
    MemoryError, ImportError
        If a sequence claims more entries than memory holds; if a column is no NumPy array and
        pyarrow is not installed.

    Notes
    -----
    A hash table numbers the ids, and a union-find unites the numbers. Equal hashes never count as
    equal ids, and each process draws a new hash function. Results do not depend on the number of
    threads. `ClusterPairs` takes batches, and `cluster_quality` finds clusters to check.

    Examples
    --------
    >>> import conncomp
    >>> table = conncomp.cluster_pairs(["ann", "bob", "cy"], ["anne", "rob", "si"])
    >>> table["node"]
    array(['ann', 'anne', 'bob', 'rob', 'cy', 'si'], dtype='<U4')
    >>> table["cluster"]
    array([0, 0, 1, 1, 2, 2], dtype=int32)

    Several thresholds, in one pass:

    >>> pairs = {"l": [1, 2], "r": [2, 3], "score": [0.9, 0.6]}
    >>> found = conncomp.cluster_pairs(pairs, "l", "r", weights="score", threshold=[0.5, 0.8])
    >>> found["size_0.5"], found["size_0.8"]
    (array([3, 3, 3], dtype=int32), array([2, 2, 1], dtype=int32))

    Tables that come one after another:

    >>> tables = ({"l": [k], "r": [k + 1]} for k in range(1000))
    >>> len(conncomp.cluster_pairs(tables, "l", "r")["node"])
    1001
    """
    weighed = weights is not None
    if weighed and threshold is None and max_size is None:
        raise ValueError("weights is for threshold or max_size; give one, or leave it out")
    if (other := function_for(pairs, "cluster_pairs")) is not None:
        options: dict[str, Any] = {"weights": weights, "threshold": threshold, "nodes": nodes}
        options |= {"max_size": max_size, "cluster_ids": cluster_ids}
        return other(pairs, left, right, nulls=nulls, device=device, **options)
    check_choice("cluster_ids", cluster_ids, ("number", "first"))
    clustering = Clustering(
        threshold=threshold, nulls=nulls, device=device, max_size=max_size, weighed=weighed
    )
    tables: Iterable[Any] = [pairs]
    if isinstance(pairs, Iterator) and right is not None:
        if weighed and not isinstance(weights, str):
            raise TypeError("weights must be the name of a column, as pairs come table by table")
        tables = pairs
    if nodes is not None:
        clustering.add_nodes(nodes)
    library = "pyarrow"
    for table in tables:
        columns = columns_of(table, left, right, weights)
        clustering.add(columns.left, columns.right, columns.weights)
        library = columns.library
    return clustering.table(cluster_ids, library)


class PairColumns(NamedTuple):
    """The columns of pairs, or tuples of columns, and the library of the input."""

    left: Any
    right: Any
    weights: Any
    library: str


def columns_of(pairs: Any, left: Any, right: Any, weights: Any) -> PairColumns:
    """Return the columns that the arguments of `cluster_pairs` mean."""
    if right is None:
        if isinstance(left, str):
            raise TypeError("right is missing: the name of the other column of the table")
        if isinstance(weights, str):
            raise TypeError(f"weights={weights!r} is a name, but there is no table; give a column")
        return PairColumns(pairs, left, weights, library_of_side(pairs))
    table = Table(pairs, "pairs")
    weighed = table.column(weights, "weights") if isinstance(weights, str) else weights
    first, second = table.columns(left, "left"), table.columns(right, "right")
    return PairColumns(first, second, weighed, library_of_table(pairs, first))


FORMAT = 1  # the version in files


class ClusterPairs:
    """Clusters of ids linked by pairs that come in batches.

    Unlike `cluster_pairs`, which takes one table, this object can grow. It stores the distinct ids,
    and 4 bytes per id and threshold, but no pairs.

    Parameters
    ----------
    threshold : float or sequence of float, optional
        Use only pairs whose weight is at least this; each of several has its own clusters.
    nulls : {"raise", "drop"}, optional
        What to do with pairs in which an id or the weight is null or not a number.
    device : {None, "cpu", "cuda"}, optional
        Where to store the clusters; by default where the first batch lies. ``"cuda"`` moves columns
        in main memory to the current GPU, and results back. It raises ImportError if CuPy is not
        installed, and RuntimeError if there is no GPU.

    Examples
    --------
    >>> import conncomp
    >>> clusters = conncomp.ClusterPairs()
    >>> clusters.add([10, 30], [20, 40])
    >>> clusters.add([20], [30])
    >>> clusters.add_nodes([50])
    >>> clusters.labels()["cluster"]
    array([0, 0, 0, 0, 1], dtype=int32)
    >>> len(clusters)
    5
    """

    def __init__(
        self, *, threshold: Any = None, nulls: str = "raise", device: str | None = None
    ) -> None:
        self._clustering = Clustering(threshold=threshold, nulls=nulls, device=device)
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return len(self._clustering)

    def add(self, left: Any, right: Any, weights: Any = None) -> None:
        """Add pairs.

        Parameters
        ----------
        left, right : column, or tuple of columns
            As in `cluster_pairs`. Later batches may have other types if values compare exactly.
            After a TypeError or ValueError, the pairs before the wrong one may have been added.
        weights : column, optional
            Needed if there are thresholds.

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs(threshold=0.5)
        >>> clusters.add(["a", "c"], ["b", "d"], [0.9, 0.1])
        >>> clusters.labels()["size"]
        array([2, 2, 1, 1], dtype=int32)
        """
        with self._lock:
            self._clustering.add(left, right, weights)

    def add_nodes(self, nodes: Any) -> None:
        """Add ids that may have no pair.

        Parameters
        ----------
        nodes : column, or tuple of columns
        """
        with self._lock:
            self._clustering.add_nodes(nodes)

    def labels(self) -> Any:
        """Return the table of `cluster_pairs`, in the library of the first batch."""
        with self._lock:
            return self._clustering.labels()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save ids and clusters to a file, completely or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, in NumPy's npz format. OSError is raised if it cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs()
        >>> clusters.add([1], [2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "clusters.npz")
        ...     clusters.save(path)
        ...     len(conncomp.ClusterPairs.load(path))
        2
        """
        from conncomp.files.access import atomic_path

        with self._lock:
            facts, arrays = self._clustering.state()
            text = np.frombuffer(json.dumps({"format": FORMAT, **facts}).encode(), np.uint8)
            size = sum(array.nbytes for array in arrays.values())
            with atomic_path(path, size) as temporary, temporary.open("wb") as file:
                np.savez(file, facts=text, **cast(Any, arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str | None = None) -> ClusterPairs:
        """Load a file of `save`; see there for an example.

        Parameters
        ----------
        path : str or path-like
            OSError is raised if there is no such file, ValueError if it is damaged or not of
            `save`.
        device : {None, "cpu", "cuda"}, optional
            Where to store the clusters; by default in main memory. Clusters on a GPU take later
            batches from either memory.
        """
        from conncomp.files.images import read_npz

        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path={shown(path)} must be the name of a file")
        try:
            with open(path, "rb") as file:
                with zipfile.ZipFile(file) as archive:
                    names = [name.removesuffix(".npy") for name in archive.namelist()]
                arrays: dict[str, Any] = {name: read_npz(file, name)[0] for name in names}
            facts = json.loads(bytes(arrays.pop("facts")))
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {FORMAT}")
            loaded = cls()
            loaded._clustering = Clustering.from_state(facts, arrays, device)
            return loaded
        except (OSError, MemoryError):
            raise
        except Exception as error:  # no archive, or another one
            raise ValueError(f"{path} is no file of ClusterPairs.save: {error}") from error
