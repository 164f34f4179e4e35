"""Components and forests of graphs whose edges are in a DataFrame of Dask: graphs of tasks.

Each partition is reduced to its forest, and forests are merged in a tree; so no task has more than
a partition, or as many edges of some partitions as there are vertices.
"""

from __future__ import annotations

import math
from typing import Any

import dask
import dask.array
import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp.graph.graph import Graph
from conncomp.graph.inputs.parts import check_num_vertices, excess
from conncomp.graph.labelling import connected_components
from conncomp.tables.forests import Edges, all_of, forest_of, forest_of_parts

MERGED = 4  # forests that one task merges


def label_edge_files(edges: Any, src: str, dst: str, num_vertices: int | None) -> tuple[Any, Any]:
    """Do what `conncomp.label_edge_files` does, lazily."""
    count = None if num_vertices is None else check_num_vertices(num_vertices)
    labelled = dask.delayed(_label, nout=2)(_forest(edges, [src, dst], count), count)
    length = math.nan if count is None else count
    dtype = np.int32 if count is None or count <= 1 << 31 else np.int64
    return (
        dask.array.from_delayed(labelled[0], (), meta=np.zeros((), np.int64)),
        dask.array.from_delayed(labelled[1], (length,), meta=np.zeros(0, dtype)),
    )


def forest_of_edge_files(
    edges: Any, src: str, dst: str, num_vertices: int | None
) -> tuple[Any, ...]:
    """Do what `conncomp.forest_of_edge_files` does, lazily."""
    return _columns(edges, [src, dst], num_vertices)


def minimum_forest_of_edge_files(
    edges: Any, src: str, dst: str, weights: str, num_vertices: int | None
) -> tuple[Any, ...]:
    """Do what `conncomp.minimum_forest_of_edge_files` does, lazily."""
    return _columns(edges, [src, dst, weights], num_vertices)


def _columns(edges: Any, names: list[str], num_vertices: int | None) -> tuple[Any, ...]:
    """Return the numbers of the forest's edges, their ends and their weights, as Dask arrays."""
    count = None if num_vertices is None else check_num_vertices(num_vertices)
    columns = dask.delayed(_as_columns, nout=len(names) + 1)(_forest(edges, names, count))
    dtypes = [np.dtype(np.int64)] * 3 + [edges.dtypes[name] for name in names[2:]]
    return tuple(
        dask.array.from_delayed(column, (math.nan,), meta=np.zeros(0, dtype))
        for column, dtype in zip(columns, dtypes, strict=True)
    )


def _forest(edges: Any, names: list[str], num_vertices: int | None) -> Any:
    """Return what stands for the forest of all edges."""
    _check_columns(edges, names)
    parts = edges[list(dict.fromkeys(names))].to_delayed()
    forests = [dask.delayed(_forest_of_part)(part, names, num_vertices) for part in parts]
    while len(forests) > 1:
        groups = (forests[k : k + MERGED] for k in range(0, len(forests), MERGED))
        forests = [dask.delayed(forest_of_parts)(*group) for group in groups]
    return dask.delayed(_checked)(forests[0], num_vertices)


def _check_columns(edges: Any, names: list[str]) -> None:
    """Raise unless a DataFrame has some columns, of integers and the third of real numbers."""
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


def _forest_of_part(part: Any, names: list[str], num_vertices: int | None) -> Edges:
    """Return the forest of the edges of a partition."""
    columns = [part[name].to_numpy() for name in names]
    largest = -1
    for argument, ends in zip(("src", "dst"), columns, strict=False):
        if not len(ends):
            continue
        if ends.min() < 0:
            raise ValueError(
                f"the column of {argument} holds {ends.min()}; vertices are not negative"
            )
        largest = max(largest, int(ends.max()))
    if num_vertices is not None and largest >= num_vertices:
        raise ValueError(
            f"an edge has the end {largest}; num_vertices={num_vertices}, so that vertices are "
            f"numbered from 0 to {num_vertices - 1}"
        )
    if largest > np.iinfo(np.int64).max:
        raise ValueError(f"an edge has the end {largest}, too large for a vertex")
    src, dst = (ends.astype(np.int64, copy=False) for ends in columns[:2])
    return forest_of(all_of(src, dst, columns[2] if columns[2:] else None, largest))


def _checked(forest: Edges, num_vertices: int | None) -> Edges:
    """Return a forest, if there are enough edges for so many vertices."""
    if num_vertices is None and (problem := excess(forest.largest + 1, forest.rows)):
        raise ValueError(
            f"an edge has the end {forest.largest}, which makes {problem}; vertices are numbered "
            "from 0: use cluster_pairs for ids of any size, or give num_vertices if so many are "
            "meant"
        )
    return forest


def _label(forest: Edges, num_vertices: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
    vertices = forest.largest + 1 if num_vertices is None else num_vertices
    count, labels = connected_components(Graph.from_edges(*forest.ends, num_vertices=vertices))
    return np.array(count), labels


def _as_columns(forest: Edges) -> tuple[Any, ...]:
    """Return numbers, ends and weights, if there are any."""
    weights = () if forest.weights is None else (forest.weights,)
    return forest.numbers, *forest.ends, *weights
