"""`ClusterPairs`: clusters of ids that grow by tables of pairs."""

from __future__ import annotations

import json
import math
import os
import zipfile
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, as_sequence, check_choice, shown
from conncomp._arrays import library_of
from conncomp._core import native
from conncomp.tables.columns import (
    PIECE_ROWS,
    Column,
    as_columns,
    as_doubles,
    as_weights,
    check_lengths,
    rows_without_nulls,
    weight_type,
)
from conncomp.tables.id_space import IdSpace, common_family, taken
from conncomp.tables.results import as_table

FORMAT = 1  # of files


class ClusterPairs:
    """The clusters of ids that are linked by pairs, which come in batches.

    Parameters
    ----------
    threshold : float or sequence of float, optional
        Pairs count whose weight is at least that. Of several thresholds each has clusters of its
        own.
    nulls : {"raise", "drop"}, optional
        What to do with pairs of which an id, or the weight, is null or not a number.

    See Also
    --------
    cluster_pairs : For one table.

    Notes
    -----
    It keeps the distinct ids and 4 bytes for each of them and threshold, not the pairs.

    Examples
    --------
    >>> import conncomp
    >>> clusters = conncomp.ClusterPairs()
    >>> clusters.add([10, 30], [20, 40])
    >>> clusters.add([20], [30])
    >>> clusters.labels()["cluster"]
    array([0, 0, 0, 0], dtype=int32)
    >>> len(clusters)
    4
    """

    def __init__(self, *, threshold: Any = None, nulls: str = "raise") -> None:
        check_choice("nulls", nulls, ("raise", "drop"))
        self._nulls = nulls
        self._given_thresholds = as_thresholds(threshold)
        self._weight_type: np.dtype[Any] | None = None
        self._space: IdSpace | None = None
        self._library = "numpy"
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return 0 if self._space is None else self._space.size

    def add(self, left: Any, right: Any, weights: Any = None) -> None:
        """Add pairs.

        Parameters
        ----------
        left, right : column, or tuple of columns
            As of `cluster_pairs`. Types of later batches may be others where equality is clear.
        weights : column, optional
            Needed if there are thresholds.

        Raises
        ------
        TypeError, ValueError
            As of `cluster_pairs`. Pairs before the one that is at fault may be in.

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs(threshold=0.5)
        >>> clusters.add(["a", "c"], ["b", "d"], [0.9, 0.1])
        >>> clusters.labels()["size"]
        array([2, 2, 1, 1], dtype=int32)
        """
        self._add(left, right, weights, None)

    def add_nodes(self, nodes: Any) -> None:
        """Add ids, which may be without a pair.

        Parameters
        ----------
        nodes : column, or tuple of columns

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs()
        >>> clusters.add_nodes(["a", "b"])
        >>> len(clusters)
        2
        """
        with self._lock:
            columns = as_columns(nodes, "nodes")
            self._prepare([columns], nodes, None)
            assert self._space is not None
            for begin in range(0, len(columns[0]), PIECE_ROWS):
                pieces = rows_without_nulls([*columns], begin, self._nulls)
                kinds = [column.type for column in columns]
                self._space.add_ids(pieces, kinds)

    def labels(self) -> Any:
        """Return the table of clusters, as `cluster_pairs` does.

        Returns
        -------
        table
            Of the library of the first batch.

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs()
        >>> clusters.add([7], [9])
        >>> clusters.labels()["node"]
        array([7, 9])
        """
        with self._lock:
            return self._table("number", [self._roots(k) for k in range(self._levels)])

    @property
    def _levels(self) -> int:
        return max(len(self._given_thresholds or ()), 1)

    def _add(self, left: Any, right: Any, weights: Any, links: Any) -> None:
        with self._lock:
            left_columns, right_columns = as_columns(left, "left"), as_columns(right, "right")
            weighed = None if weights is None else as_weights(weights)
            if self._given_thresholds and weighed is None:
                raise ValueError("threshold needs weights, one for each pair")
            columns = [*left_columns, *right_columns, *([] if weighed is None else [weighed])]
            check_lengths(columns)
            self._prepare([left_columns, right_columns], left, weighed)
            assert self._space is not None
            kinds = [[column.type for column in side] for side in (left_columns, right_columns)]
            parts = len(left_columns)
            for begin in range(0, len(left_columns[0]), PIECE_ROWS):
                pieces = rows_without_nulls(columns, begin, self._nulls)
                weight = None if weighed is None else as_doubles(pieces.pop())
                wanted = weight if self._given_thresholds else None
                u, v = self._space.add_pairs(
                    pieces[:parts], kinds[0], pieces[parts:], kinds[1], wanted, links is not None
                )
                if links is not None:
                    links.add(u, v, weight, self._space.size)

    def _prepare(self, sides: list[list[Column]], given: Any, weights: Column | None) -> None:
        """Check types, and make the clusters when the first columns have come."""
        widths = {len(side) for side in sides}
        if len(widths) > 1 or (self._space is not None and self._space.parts not in widths):
            raise ValueError(
                "ids on the left and on the right, and of all batches, must be of as many columns"
            )
        if weights is not None:
            kind = weight_type(weights)
            if self._weight_type not in (None, kind) and self._given_thresholds:
                raise TypeError(
                    f"weights are {kind}, but those before {self._weight_type}; cast them"
                )
            self._weight_type = kind
        by_part = list(zip(*sides, strict=True))
        if self._space is None or self._space.size == 0:  # there is no type to keep to yet
            self._library = library_of(given[0] if isinstance(given, tuple) else given)
            families = [common_family(columns) for columns in by_part]
            self._space = IdSpace(families, self._native_thresholds())
        self._space.admit(by_part)

    def _native_thresholds(self) -> list[float]:
        """Return thresholds as weights of their type are compared with them, ascending."""
        if not self._given_thresholds:
            return [-math.inf]
        kind = self._weight_type or np.dtype(np.float64)
        return sorted(float(kind.type(value)) for value in self._given_thresholds)

    def _roots(self, which: int) -> NDArray[np.int32]:
        """Return the first id of each id's cluster, at a threshold as it was given."""
        if self._space is None:
            return np.empty(0, np.int32)
        given = self._given_thresholds or [0.0]
        level = sorted(range(len(given)), key=given.__getitem__).index(which)
        return self._space.roots(level)

    def _table(
        self, cluster_ids: str, roots: list[NDArray[np.int32]], divided: NDArray[Any] | None = None
    ) -> Any:
        thresholds = self._given_thresholds or []
        suffixes = [f"_{value:g}" for value in thresholds] if len(roots) > 1 else [""]
        if len(set(suffixes)) < len(suffixes):
            suffixes = [f"_{value!r}" for value in thresholds]
        clusters: dict[str, Any] = {}
        for suffix, root in zip(suffixes, roots, strict=True):
            numbers, sizes = root.copy(), np.empty_like(root)
            native.number_clusters(numbers, sizes)
            clusters[f"cluster{suffix}"] = root if cluster_ids == "first" else numbers
            clusters[f"size{suffix}"] = sizes
            if divided is not None:
                clusters[f"divided{suffix}"] = divided[root]
        nodes = (
            [np.empty(0, np.int64)] if self._space is None else self._space.values(self._library)
        )
        names = ["node"] if len(nodes) == 1 else [f"node_{k}" for k in range(len(nodes))]
        columns = dict(zip(names, nodes, strict=True))
        for name, column in clusters.items():
            if cluster_ids == "first" and name.startswith("cluster"):
                for node, values in zip(names, nodes, strict=True):
                    columns[node.replace("node", name, 1)] = taken(values, column)
            else:
                columns[name] = column
        return as_table(columns, self._library)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            Of a file of NumPy's format npz.

        Raises
        ------
        OSError
            If it cannot be written.

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
        from conncomp.io.files import atomic_path

        with self._lock:
            facts: dict[str, Any] = {
                "format": FORMAT,
                "nulls": self._nulls,
                "thresholds": self._given_thresholds,
                "weights": None if self._weight_type is None else self._weight_type.name,
                "library": self._library,
            }
            arrays: dict[str, Any] = {}
            if self._space is not None:
                facts["parts"], arrays = self._space.state()
                arrays |= {f"roots{k}": self._space.roots(k) for k in range(self._levels)}
            text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
            with atomic_path(path) as temporary, temporary.open("wb") as file:
                np.savez(file, facts=text, **cast(Any, arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ClusterPairs:
        """Read what `save` has written.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        ClusterPairs

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            If it is none of `save`, or damaged.

        Examples
        --------
        See `save`.
        """
        from conncomp.io.images import read_npz

        try:
            with open(path, "rb") as file:
                with zipfile.ZipFile(file) as archive:
                    names = [name.removesuffix(".npy") for name in archive.namelist()]
                arrays: dict[str, Any] = {name: read_npz(file, name)[0] for name in names}
            facts = json.loads(bytes(arrays.pop("facts")))
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {FORMAT}")
            loaded = cls(threshold=facts["thresholds"], nulls=facts["nulls"])
            loaded._library = facts["library"]
            loaded._weight_type = None if facts["weights"] is None else np.dtype(facts["weights"])
            if "parts" in facts:
                loaded._space = IdSpace.of_state(
                    facts["parts"], arrays, loaded._native_thresholds()
                )
            return loaded
        except (OSError, MemoryError):
            raise
        except Exception as error:  # of what is no archive, or another one
            raise ValueError(
                f"{os.fspath(path)} is no file of ClusterPairs.save: {error}"
            ) from error


def as_thresholds(given: Any) -> list[float] | None:
    """Return thresholds as a list; None if there is none."""
    if given is None:
        return None
    several = hasattr(given, "__len__") or hasattr(given, "__iter__")
    values = [
        as_number("threshold", value)
        for value in (as_sequence("threshold", given) if several else [given])
    ]
    if not values:
        raise ValueError("threshold=[] must have a threshold")
    if any(math.isnan(value) for value in values) or len(set(values)) < len(values):
        raise ValueError(f"threshold={shown(given)} must be different numbers, none of them NaN")
    return values
