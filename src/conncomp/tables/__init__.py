"""Clusters of tables of pairs.

    table, file           ->  columns            frames.py, columns.py, files/
    columns               ->  keys, numbers      ids.py and values.py, id_space.py
    numbers of pairs      ->  table of clusters  pair_clusters.py, clustering.py

`pairs.py` does it at once or batch by batch, `dask_frames.py` as tasks.
"""

from conncomp.tables.files.dups import cluster_dups
from conncomp.tables.pairs import ClusterPairs, cluster_pairs
from conncomp.tables.quality import cluster_quality

__all__ = ["ClusterPairs", "cluster_dups", "cluster_pairs", "cluster_quality"]
