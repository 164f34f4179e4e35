"""Distinct ids of one or several columns, and the forests of their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.tables.columns import Column, arrow, without_views
from conncomp.tables.ids import Family, Ids, Keys, family_of, interned_keys, new_clusters


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
            found.append(taken(values, places))
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


def taken(values: Any, places: Any) -> Any:
    """Return values of NumPy or of Arrow at places."""
    if isinstance(values, np.ndarray):
        return values[places]
    return without_views(values).take(arrow().array(places)).cast(values.type)


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
