"""The functions that take DataFrames of Dask, by the names of those that take tables in memory."""

from conncomp.tables.dask_frames.clusters import cluster_pairs
from conncomp.tables.dask_frames.edges import (
    forest_of_edge_files,
    label_edge_files,
    minimum_forest_of_edge_files,
)

__all__ = [
    "cluster_pairs",
    "forest_of_edge_files",
    "label_edge_files",
    "minimum_forest_of_edge_files",
]
