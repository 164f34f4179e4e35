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
from conncomp.tables.columns import Column, arrow, as_column, without_views
from conncomp.tables.ids import Family, Ids, Keys, family_of, interned_keys, new_clusters
from conncomp.tables.results import as_table

PIECE_ROWS = 1 << 20  # that are made keys of at once
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
                pieces = _pieces([*columns], begin, self._nulls)
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
            rows = {column.name: len(column) for column in (*left_columns, *right_columns)}
            if weighed is not None:
                rows["weights"] = len(weighed)
            if len(set(rows.values())) > 1:
                lengths = ", ".join(f"{name} {count}" for name, count in rows.items())
                raise ValueError(f"columns differ in length: {lengths}")
            self._prepare([left_columns, right_columns], left, weighed)
            assert self._space is not None
            kinds = [[column.type for column in side] for side in (left_columns, right_columns)]
            parts = len(left_columns)
            for begin in range(0, len(left_columns[0]), PIECE_ROWS):
                columns = [*left_columns, *right_columns, *([weighed] if weighed else [])]
                pieces = _pieces(columns, begin, self._nulls)
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
            kind: np.dtype[Any] = np.dtype(np.float64)
            if str(weights.type) in ("float32", "float", "float16", "halffloat"):
                kind = np.dtype(
                    np.float16
                    if "16" in str(weights.type) or "half" in str(weights.type)
                    else np.float32
                )
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
                    columns[node.replace("node", name, 1)] = _taken(values, column)
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


class IdSpace:
    """Distinct ids of one or several columns, and the forests of their numbers."""

    def __init__(self, families: list[Family], thresholds: list[float]) -> None:
        self.ids = [Ids(family) for family in families]
        # Each column of several has numbers of its own, and their pairs are numbered in turn.
        self._encoders = (
            [new_clusters(family.words, []) for family in families] if len(families) > 1 else []
        )
        self._folds = [new_clusters(1, []) for _ in range(len(families) - 2)]
        words = families[0].words if len(families) == 1 else 1
        self._clusters = new_clusters(words, thresholds)
        self._words = words

    @property
    def size(self) -> int:
        """Return the number of distinct ids."""
        return int(self._clusters.size)

    @property
    def parts(self) -> int:
        """Return of how many columns an id is."""
        return len(self.ids)

    def admit(self, by_part: list[tuple[Column, ...]]) -> None:
        """Accept the types of columns, or raise."""
        for k, (ids, columns) in enumerate(zip(self.ids, by_part, strict=True)):
            known = self._encoders[k] if self._encoders else self._clusters
            ids.admit(columns, lambda known=known: interned_keys(known, 1)[0])

    def _keys(self, pieces: list[Any], kinds: list[Any]) -> Keys:
        keys = [ids.keys(*part) for ids, *part in zip(self.ids, pieces, kinds, strict=True)]
        if len(keys) == 1:
            return keys[0]
        numbers = [
            _numbered(c, key, len(p))
            for c, key, p in zip(self._encoders, keys, pieces, strict=True)
        ]
        joined = _joined(numbers[0], numbers[1])
        for fold, number in zip(self._folds, numbers[2:], strict=True):
            joined = _joined(_numbered(fold, (joined,), len(joined)), number)
        return (joined,)

    def add_ids(self, pieces: list[Any], kinds: list[Any]) -> NDArray[np.int32]:
        """Return the numbers of ids, which get one if they have none."""
        return _numbered(self._clusters, self._keys(pieces, kinds), len(pieces[0]))

    def add_pairs(
        self,
        left: list[Any],
        left_kinds: list[Any],
        right: list[Any],
        right_kinds: list[Any],
        weights: Any,
        wanted: bool,
    ) -> Any:
        """Add pairs; return the numbers of both ends if they are wanted."""
        u, v = (np.empty(len(left[0]), np.int32) if wanted else None for _ in range(2))
        self._clusters.add_pairs(
            *self._keys(left, left_kinds), *self._keys(right, right_kinds), weights, u, v
        )
        return u, v

    def keep_ids_only(self) -> None:
        """Give back all that is needed to add more."""
        self._clusters.keep_ids_only()

    def roots(self, level: int) -> NDArray[np.int32]:
        """Return the first id of each one's cluster."""
        labels = np.empty(self.size, np.int32)
        self._clusters.label(level, False, labels)
        return labels

    def values(self, library: str) -> list[Any]:
        """Return the columns of the ids."""
        as_arrow = library not in ("numpy", "builtins")
        keys = interned_keys(self._clusters, self._words)
        if not self._encoders:
            return [self.ids[0].values(keys, as_arrow)]
        joined, numbers = keys[0], []
        for fold in reversed(self._folds):
            first, last = _split(joined)
            numbers.append(last)
            joined = interned_keys(fold, 1)[0][first]
        numbers += [*reversed(_split(joined))]
        found = []
        for ids, encoder, places in zip(self.ids, self._encoders, reversed(numbers), strict=True):
            values = ids.values(interned_keys(encoder, ids.family.words), as_arrow)
            found.append(_taken(values, places))
        return found

    def state(self) -> tuple[list[Any], dict[str, Any]]:
        """Return what is saved of the ids: their types, and arrays."""
        parts = []
        for ids in self.ids:
            of_arrow = [kind for kind in ids.types if not isinstance(kind, np.dtype)]
            schema = None
            if of_arrow:
                pa = arrow()
                fields = [pa.field(str(k), kind) for k, kind in enumerate(of_arrow)]
                schema = pa.schema(fields).serialize().to_pybytes().hex()
            dtypes = [kind.str for kind in ids.types if isinstance(kind, np.dtype)]
            parts.append({"family": list(ids.family), "schema": schema, "dtypes": dtypes})
        arrays: dict[str, Any] = {}
        words = [ids.family.words for ids in self.ids] if self._encoders else []
        stores = [*zip(self._encoders, words, strict=True), *((f, 1) for f in self._folds)]
        for k, (store, width) in enumerate([(self._clusters, self._words), *stores]):
            for j, array in enumerate(interned_keys(store, width)):
                arrays[f"keys{k}_{j}"] = array
        return parts, arrays

    @classmethod
    def of_state(cls, parts: list[Any], arrays: dict[str, Any], thresholds: list[float]) -> IdSpace:
        """Return what `state` has told of."""
        space = cls([Family(*part["family"]) for part in parts], thresholds)
        for ids, part in zip(space.ids, parts, strict=True):
            ids.types = [np.dtype(text) for text in part["dtypes"]]
            if part["schema"] is not None:
                pa = arrow()
                schema = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(part["schema"])))
                ids.types += [field.type for field in schema]
            signs = {str(getattr(kind, "kind", kind))[0] for kind in ids.types}
            ids._mixed = ids.family.name == "integer" and len(signs) > 1
        words = [ids.family.words for ids in space.ids] if space._encoders else []
        stores = [*zip(space._encoders, words, strict=True), *((f, 1) for f in space._folds)]
        for k, (store, width) in enumerate([(space._clusters, space._words), *stores]):
            keys = tuple(
                np.ascontiguousarray(arrays[f"keys{k}_{j}"], dtype)
                for j, dtype in enumerate([np.uint64] if width else [np.int64, np.uint8])
            )
            _numbered(store, keys, len(keys[0]) - (width == 0))
        for level in range(len(thresholds)):
            roots = np.ascontiguousarray(arrays[f"roots{level}"], np.int32)
            if len(roots) != space.size:
                raise ValueError("it is damaged: there is not a root for each id")
            space._clusters.unite_roots(level, roots)
        return space


def _numbered(clusters: Any, keys: Keys, rows: int) -> NDArray[np.int32]:
    numbers = np.empty(rows, np.int32)
    clusters.add_ids(*keys, numbers)
    return numbers


def _joined(first: NDArray[np.int32], last: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return pairs of numbers as keys of one word."""
    return (first.astype(np.uint64) << np.uint64(32) | last.astype(np.uint64)).reshape(-1, 1)


def _split(joined: NDArray[np.uint64]) -> tuple[NDArray[Any], NDArray[Any]]:
    words = joined.reshape(-1)
    return (words >> np.uint64(32)).astype(np.int64), (words & np.uint64(2**32 - 1)).astype(
        np.int64
    )


def _taken(values: Any, places: NDArray[Any]) -> Any:
    if isinstance(values, np.ndarray):
        return values[places]
    return without_views(values).take(arrow().array(places)).cast(values.type)


def as_columns(given: Any, name: str) -> list[Column]:
    """Return the column, or columns, of one side."""
    if isinstance(given, tuple):
        if not given:
            raise ValueError(f"{name}=() must have a column")
        return [as_column(part, f"{name}[{k}]") for k, part in enumerate(given)]
    column = as_column(given, name)
    if not column.is_numpy and arrow().types.is_struct(column.type):
        # A struct that is null has fields that are.
        return [Column(field, f"{name}[{k}]") for k, field in enumerate(column.values.flatten())]
    return [column]


def as_weights(given: Any) -> Column:
    """Return a column of weights; raise TypeError if they are no numbers."""
    column = as_column(given, "weights")
    good = column.type.kind in "iuf" if column.is_numpy else _is_number(column.type)
    if not good:
        raise TypeError(f"weights are of type {column.type}; they must be numbers")
    return column


def _is_number(kind: Any) -> bool:
    types = arrow().types
    return any(
        test(kind)
        for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    )


def as_doubles(piece: Any) -> NDArray[np.float64]:
    """Return a piece of weights as the kernels take them."""
    if not isinstance(piece, np.ndarray):
        piece = piece.cast(arrow().float64()).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(piece, np.float64)


def common_family(columns: tuple[Column, ...]) -> Family:
    """Return the family of columns that are to be compared."""
    families = [family_of(column.type, column) for column in columns]
    families = [family for family in families if family.name != "null"] or families[:1]
    first = families[0]
    if all(family.name == "binary" for family in families) and len({f.words for f in families}) > 1:
        return Family("binary", words=0)
    if any(family[:2] != first[:2] for family in families):
        kinds = " and ".join(f"{column.name} of type {column.type}" for column in columns)
        raise TypeError(f"{kinds} cannot be compared; cast one to the type of the other first")
    return first


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


def _pieces(columns: list[Column], begin: int, nulls: str) -> list[Any]:
    """Return rows of all columns from `begin` on, without nulls."""
    pieces = [column.piece(begin, PIECE_ROWS) for column in columns]
    missing = None
    for column, piece in zip(columns, pieces, strict=True):
        where = column.nulls(begin, piece)
        if where is None:
            continue
        if nulls == "raise":
            row = begin + int(where.argmax())
            raise ValueError(
                f"{column.name} is null at row {row}; nulls='drop' leaves out such rows"
            )
        missing = where if missing is None else missing | where
    if missing is None:
        return pieces
    kept = ~missing
    return [
        piece[kept] if isinstance(piece, np.ndarray) else piece.filter(arrow().array(kept))
        for piece in pieces
    ]
