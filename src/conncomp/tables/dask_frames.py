"""Clusters of pairs, and forests of edges, in a DataFrame of Dask, as graphs of tasks.

Clusters: tasks cluster each partition alone and hash its ids to buckets. One task per bucket finds
where each id appears first. One task numbers these places and unites, in integers, what partitions
connect. Then each partition returns the clusters of the ids that appear in it first; together they
are the table of pairs in memory. Edges: the forests of partitions are merged in a tree.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

import dask
import dask.array
import numpy as np
from dask import dataframe
from numpy.typing import NDArray

from conncomp._arguments import check_choice, shown
from conncomp._optional import optional
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.parts import check_num_vertices
from conncomp.graph.labelling import connected_components
from conncomp.tables.forests import (
    Edges,
    all_of,
    as_vertices,
    count_vertices,
    forest_of,
    forest_of_parts,
)
from conncomp.tables.pairs import cluster_pairs as cluster_in_memory

MOST_BUCKETS = 64
Indices = NDArray[np.int64]


class Partition(NamedTuple):
    """The clusters of one partition."""

    ids: Any  # a DataFrame of the distinct ids, in order of appearance
    roots: list[Indices]  # per threshold, the place of the first id of each id's cluster


class Places(NamedTuple):
    """The places of ids in a partition, and the part and place where each appears first."""

    here: Indices
    part: Indices
    place: Indices


def cluster_pairs(
    pairs: Any,
    left: Any,
    right: Any,
    *,
    weights: Any,
    nodes: Any,
    max_size: int | None,
    cluster_ids: str,
    **options: Any,
) -> Any:
    """Cluster the pairs in a DataFrame of Dask; return a lazy one."""
    check_choice("cluster_ids", cluster_ids, ("number", "first"))
    if right is None:
        raise TypeError("right is missing: the name of the other column of the DataFrame of Dask")
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"weights={shown(weights)} must be the name of a column of the DataFrame")
    if max_size is not None:
        remedy = "pass the pairs of large clusters"
        raise ValueError(f"max_size={shown(max_size)} is for tables in memory; {remedy}")
    options["weights"] = weights
    asked = {"nodes": nodes, "cluster_ids": cluster_ids, **options}
    like = cluster_in_memory(pairs._meta, left, right, **asked).iloc[:0]
    columns = [k for side in (left, right) for k in (side if isinstance(side, tuple) else (side,))]
    if any(pairs._meta[name].dtype == object for name in columns):  # tasks find the type
        names = ("node", "cluster") if cluster_ids == "first" else "node"
        of_ids = [name for name in like if name.startswith(names)]
        like = like.astype(dict.fromkeys(of_ids, object))
    cluster = dask.delayed(_cluster_part)
    parts = [cluster(part, left, right, options) for part in pairs.to_delayed()]
    if nodes is not None:
        parts.insert(0, cluster(pairs._meta, left, right, options, nodes))
    return _united(parts, like, cluster_ids)


def _united(parts: list[Any], like: Any, cluster_ids: str) -> Any:
    """Unite the clusters of all parts; return a DataFrame of Dask."""
    buckets = min(len(parts), MOST_BUCKETS)
    hashed = [dask.delayed(_hashed, nout=buckets)(part, buckets) for part in parts]
    first = dask.delayed(_first_places, nout=len(parts))
    of_buckets = [first(*(of_part[k] for of_part in hashed)) for k in range(buckets)]
    of_part = dask.delayed(_places_of_part)
    places = [of_part(*(bucket[k] for bucket in of_buckets)) for k in range(len(parts))]
    roots = [dask.delayed(getattr)(part, "roots") for part in parts]
    united = dask.delayed(_unite, nout=len(parts))(places, roots)
    names = None
    if cluster_ids == "first":
        firsts = [*map(dask.delayed(_first_ids), parts, united)]
        names = dask.delayed(_names_of_clusters)(firsts)
    pairs = zip(parts, united, strict=True)
    tables = [dask.delayed(_as_table)(part, clusters, names, like) for part, clusters in pairs]
    return dataframe.from_delayed(tables, meta=like, verify_meta=False)


def _cluster_part(
    pairs: Any, left: Any, right: Any, options: dict[str, Any], nodes: Any = None
) -> Partition:
    table = cluster_in_memory(pairs, left, right, nodes=nodes, **options)
    roots = []
    for suffix in _suffixes(table):
        numbers = table[f"cluster{suffix}"].to_numpy()
        roots.append(np.unique(numbers, return_index=True)[1][numbers])
    return Partition(table[[name for name in table.columns if name.startswith("node")]], roots)


def _suffixes(table: Any) -> list[str]:
    """Return the suffixes of "size" in names of columns, one per threshold."""
    return [name.removeprefix("size") for name in table.columns if name.startswith("size")]


def _hashed(part: Partition, buckets: int) -> list[tuple[Indices, Any]]:
    """Return the ids of each bucket, and their places in the partition."""
    for name, column in part.ids.items():
        kinds = {type(value) for value in column.iloc[:1]}
        if column.dtype == object and not kinds <= {str, bytes, UUID}:
            such = f"ids of {name} are Python objects, as {shown(column.iloc[0])}, without a hash"
            raise TypeError(f"{such} to rely on; convert them to numbers, text or dates")
    hashing = optional("pandas").util.hash_pandas_object
    bucket = hashing(part.ids, index=False).to_numpy() % np.uint64(buckets)
    places = [np.flatnonzero(bucket == k) for k in range(buckets)]
    return [(of_bucket, part.ids.iloc[of_bucket]) for of_bucket in places]


def _first_places(*of_parts: tuple[Indices, Any]) -> list[Places]:
    """Return for each part the places of its ids in a bucket, given with the ids."""
    ids = optional("pandas").concat([of_part for _, of_part in of_parts], ignore_index=True)
    places = np.concatenate([place for place, _ in of_parts])
    lengths = [len(place) for place, _ in of_parts]
    part = np.repeat(np.arange(len(lengths)), lengths)
    # Groups are numbered in order of appearance.
    group = ids.groupby(list(ids.columns), sort=False, observed=True).ngroup().to_numpy()
    first = np.unique(group, return_index=True)[1][group] if len(group) else group
    ends = np.cumsum(lengths)[:-1]
    columns = (np.split(column, ends) for column in (places, part[first], places[first]))
    return [Places(*of_part) for of_part in zip(*columns, strict=True)]


def _places_of_part(*of_buckets: Places) -> Places:
    """Return the places of all ids of a partition, in their order there."""
    places = Places(*map(np.concatenate, zip(*of_buckets, strict=True)))
    order = np.argsort(places.here)
    return Places(*(column[order] for column in places))


class Clusters(NamedTuple):
    """The clusters of the ids that appear first in one partition, per threshold."""

    new: Indices  # the places of these ids in the partition
    numbers: list[NDArray[Any]]  # the cluster of each id
    sizes: list[Indices]
    is_first: list[NDArray[np.bool_]]  # whether an id is the first of its cluster


def _unite(places: list[Places], roots: list[list[Indices]]) -> list[Clusters]:
    """Unite the clusters of all parts, given the first places of ids, and their roots."""
    lengths = [len(of_part.part) for of_part in places]
    begins = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.concatenate([begins[of_part.part] + of_part.place for of_part in places])
    is_new = flat == np.arange(len(flat))
    number = (np.cumsum(is_new) - 1)[flat]
    count = int(is_new.sum())
    levels = []
    for of_parts in zip(*roots, strict=True):
        root = np.concatenate([part + begin for part, begin in zip(of_parts, begins, strict=False)])
        graph = Graph.from_edges(number, number[root], num_vertices=count)
        labels = connected_components(graph)[1]
        is_first = np.zeros(count, bool)
        is_first[np.unique(labels, return_index=True)[1]] = True
        levels.append((labels, np.bincount(labels)[labels] if count else labels, is_first))
    united = []
    for begin, end in pairwise(begins):
        new = np.flatnonzero(is_new[begin:end])
        of_part = number[begin:end][new]
        united.append(Clusters(new, *([each[k][of_part] for each in levels] for k in range(3))))
    return united


def _first_ids(part: Partition, clusters: Clusters) -> list[Any]:
    new = part.ids.iloc[clusters.new]
    return [new[is_first] for is_first in clusters.is_first]


def _names_of_clusters(of_parts: list[list[Any]]) -> list[Any]:
    concat = optional("pandas").concat
    return [concat(of_level, ignore_index=True) for of_level in zip(*of_parts, strict=True)]


def _as_table(part: Partition, clusters: Clusters, names: list[Any] | None, like: Any) -> Any:
    nodes = part.ids.iloc[clusters.new].reset_index(drop=True)
    columns = {name: nodes[name] for name in nodes}
    for level, suffix in enumerate(_suffixes(like)):
        columns[f"size{suffix}"] = clusters.sizes[level]
        columns[f"cluster{suffix}"] = numbers = clusters.numbers[level]
        if names is not None:
            taken = names[level].iloc[numbers].reset_index(drop=True)
            for name in nodes:
                columns[name.replace("node", f"cluster{suffix}", 1)] = taken[name]
    frame = optional("pandas").DataFrame(columns)
    return frame[list(like.columns)].astype(dict(like.dtypes))


MERGED = 4  # forests that one task merges


def label_edge_files(edges: Any, names: list[str], num_vertices: int | None) -> tuple[Any, Any]:
    """Label the edges in columns of these names, lazily."""
    count = None if num_vertices is None else check_num_vertices(num_vertices)
    total, labels = dask.delayed(_label, nout=2)(_forest(edges, names), count)
    length = math.nan if count is None else count
    dtype = np.int32 if count is None or count <= 1 << 31 else np.int64
    return _as_array(total, (), np.int64), _as_array(labels, (length,), dtype)


def spanning_forest_of_files(edges: Any, names: list[str], num_vertices: int | None) -> Any:
    """Find the spanning forest of edges lazily; with weights, the minimum forest."""
    count = None if num_vertices is None else check_num_vertices(num_vertices)
    columns = dask.delayed(_as_columns, nout=len(names) + 1)(_forest(edges, names), count)
    dtypes = [np.dtype(np.int64)] * 3 + [edges.dtypes[name] for name in names[2:]]
    return tuple(_as_array(*each) for each in zip(columns, [(math.nan,)] * 4, dtypes, strict=False))


minimum_spanning_forest_of_files = spanning_forest_of_files


def _as_array(delayed: Any, shape: tuple[float, ...], dtype: Any) -> Any:
    return dask.array.from_delayed(delayed, shape, meta=np.zeros((0,) * len(shape), dtype))


def _forest(edges: Any, names: list[str]) -> Any:
    _check_columns(edges, names)
    parts = edges[list(dict.fromkeys(names))].to_delayed()
    forests = [dask.delayed(_forest_of_part)(part, names) for part in parts]
    while len(forests) > 1:
        groups = (forests[k : k + MERGED] for k in range(0, len(forests), MERGED))
        forests = [dask.delayed(forest_of_parts)(*group) for group in groups]
    return forests[0]


def _check_columns(edges: Any, names: list[str]) -> None:
    for argument, name in zip(("src", "dst", "weights"), names, strict=False):
        if not isinstance(name, str):
            raise TypeError(f"{argument}={shown(name)} must be the name of a column")
        if name not in edges.columns:
            have = ", ".join(map(repr, edges.columns[:20]))
            raise ValueError(f"{argument}={shown(name)}: it has no column of that name, but {have}")
        kind, kinds = edges.dtypes[name], "biuf" if argument == "weights" else "iu"
        if getattr(kind, "kind", "O") not in kinds or not isinstance(kind, np.dtype):
            what = "real numbers" if argument == "weights" else "integers"
            raise TypeError(f"the column of {argument} is of {kind}, not of {what} without nulls")


def _forest_of_part(part: Any, names: list[str]) -> Edges:
    src, dst, *weights = (part[name].to_numpy() for name in names)
    checked = as_vertices(src, "src"), as_vertices(dst, "dst")
    src, dst = (ends.astype(np.int64, copy=False) for ends, _ in checked)
    largest = max(largest for _, largest in checked)
    return forest_of(all_of(src, dst, weights[0] if weights else None, largest))


def _label(forest: Edges, num_vertices: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
    vertices = count_vertices(forest.largest, num_vertices, forest.rows)
    count, labels = connected_components(Graph.from_edges(*forest.ends, num_vertices=vertices))
    return np.array(count), labels


def _as_columns(forest: Edges, num_vertices: int | None) -> tuple[Any, ...]:
    count_vertices(forest.largest, num_vertices, forest.rows)  # raises if they are too many
    weights = () if forest.weights is None else (forest.weights,)
    return forest.numbers, *forest.ends, *weights
