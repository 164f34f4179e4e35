"""Distinct ids of one or several columns, whose numbers clusters unite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conncomp._array_storage import move_to_gpu, on_host
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.tables.columns import Column, arrow, is_array, without_views
from conncomp.tables.frames import ARRAY_LIBRARIES
from conncomp.tables.ids import Family, Ids, family_of
from conncomp.tables.pair_clusters import Clusters, new_clusters
from conncomp.tables.values import Keys


class IdSpace:
    """Distinct ids of one or several columns; `clusters` has a forest for each threshold."""

    def __init__(self, families: list[Family], thresholds: list[float], on_gpu: bool) -> None:
        for family in families:
            if on_gpu and family.words != 1:
                raise TypeError(
                    f"ids of the kind {family.name!r} cannot be clustered on a GPU, which takes "
                    "integers, floats, dates and times; leave device out, or number them first"
                )
        self.ids = [Ids(family) for family in families]
        # Ids of several columns: number each column, then pairs of numbers, from left to right.
        words = [family.words for family in families]
        several = words if len(words) > 1 else []
        self._id_tables = [new_clusters(of_key, [], on_gpu) for of_key in several]
        self._joined_tables = [new_clusters(1, [], on_gpu) for _ in several[2:]]
        self.clusters = new_clusters(1 if several else words[0], thresholds, on_gpu)

    @property
    def size(self) -> int:
        """Return the number of distinct ids."""
        return int(self.clusters.size)

    def admit(self, by_part: list[tuple[Column, ...]]) -> None:
        """Accept the types of columns, or raise."""
        for k, (ids, columns) in enumerate(zip(self.ids, by_part, strict=True)):
            known = self._id_tables[k] if self._id_tables else self.clusters
            ids.admit(columns, lambda known=known: known.all_keys()[0])

    def _keys(self, pieces: list[Any], columns: Sequence[Column]) -> Keys:
        keys = [
            tuple(self.placed(part) for part in ids.keys(piece, column.type))
            for ids, piece, column in zip(self.ids, pieces, columns, strict=True)
        ]
        if len(keys) == 1:
            return keys[0]
        numbers = [table.add_ids(key) for table, key in zip(self._id_tables, keys, strict=True)]
        joined = _joined(numbers[0], numbers[1])
        for table, number in zip(self._joined_tables, numbers[2:], strict=True):
            joined = _joined(table.add_ids((joined,)), number)
        return (joined,)

    def add_ids(self, pieces: list[Any], columns: Sequence[Column]) -> Any:
        """Return the numbers of ids, where the clusters lie; new ones get numbers."""
        return self.clusters.add_ids(self._keys(pieces, columns))

    def keys_of_pairs(
        self, pieces: list[Any], sides: Sequence[Sequence[Column]]
    ) -> tuple[Keys, Keys]:
        """Return the keys of both sides of pairs, where the clusters lie."""
        parts = len(sides[0])
        return self._keys(pieces[:parts], sides[0]), self._keys(pieces[parts:], sides[1])

    def placed(self, values: Any) -> Any:
        """Move an array to the GPU if the clusters are there."""
        moves = self.clusters.on_gpu and isinstance(values, np.ndarray)
        return move_to_gpu(current_gpu().xp, values) if moves else values

    def values(self, library: str, stays_on_gpu: bool = False) -> list[Any]:
        """Return columns of distinct ids: Arrow, NumPy or, if they stay on the GPU, CuPy."""
        as_arrow = not stays_on_gpu and library not in ARRAY_LIBRARIES

        def keys_of(clusters: Clusters) -> Keys:
            return tuple(part if stays_on_gpu else on_host(part) for part in clusters.all_keys())

        keys = keys_of(self.clusters)
        if not self._id_tables:
            return [self.ids[0].values(keys, as_arrow)]
        joined, numbers = keys[0], []
        for table in reversed(self._joined_tables):
            first, last = _split(joined)
            numbers.append(last)
            joined = keys_of(table)[0][first]
        numbers += [*reversed(_split(joined))]
        parts = zip(self.ids, self._id_tables, reversed(numbers), strict=True)
        return [taken(ids.values(keys_of(known), as_arrow), places) for ids, known, places in parts]

    def state(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the types of the ids, and arrays, for `from_state`."""
        parts = []
        for ids in self.ids:
            arrow_types = [kind for kind in ids.types if not isinstance(kind, np.dtype)]
            schema = None
            if arrow_types:
                pa = arrow()
                fields = [pa.field(str(k), kind) for k, kind in enumerate(arrow_types)]
                schema = pa.schema(fields).serialize().to_pybytes().hex()
            dtypes = [kind.str for kind in ids.types if isinstance(kind, np.dtype)]
            signs = ids.negative, ids.large
            parts.append({"family": ids.family, "schema": schema, "dtypes": dtypes, "signs": signs})
        arrays: dict[str, Any] = {}
        for k, clusters in enumerate([self.clusters, *self._id_tables, *self._joined_tables]):
            for j, array in enumerate(clusters.all_keys()):
                arrays[f"keys{k}_{j}"] = on_host(array)
        return parts, arrays

    @classmethod
    def from_state(
        cls, parts: list[Any], arrays: dict[str, Any], thresholds: list[float], on_gpu: bool
    ) -> IdSpace:
        """Return the ids that `state` described."""
        space = cls([Family(*part["family"]) for part in parts], thresholds, on_gpu)
        for ids, part in zip(space.ids, parts, strict=True):
            ids.types = [np.dtype(text) for text in part["dtypes"]]
            if part["schema"] is not None:
                pa = arrow()
                schema = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(part["schema"])))
                ids.types += [field.type for field in schema]
            ids.negative, ids.large = part.get("signs", (False, False))
        for k, store in enumerate([space.clusters, *space._id_tables, *space._joined_tables]):
            dtypes: list[Any] = [np.uint64] if store.words else [np.int64, np.uint8]
            given = [arrays[f"keys{k}_{j}"] for j in range(len(dtypes))]
            keys = map(np.ascontiguousarray, given, dtypes)
            store.add_ids(tuple(map(space.placed, keys)))
        for level in range(len(thresholds)):
            roots = np.ascontiguousarray(arrays[f"roots{level}"], np.int32)
            if len(roots) != space.size:
                raise ValueError("it is damaged: there is not a root for each id")
            space.clusters.unite_roots(level, space.placed(roots))
        return space


def _joined(first: Any, last: Any) -> Any:
    return (first.astype(np.uint64) << np.uint64(32) | last.astype(np.uint64)).reshape(-1, 1)


def _split(joined: Any) -> Any:
    words = joined.reshape(-1)
    halves = words >> np.uint64(32), words & np.uint64(2**32 - 1)
    return tuple(half.astype(np.int64) for half in halves)


def taken(values: Any, places: Any) -> Any:
    """Return values of NumPy, CuPy or Arrow at places."""
    if is_array(values):
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
