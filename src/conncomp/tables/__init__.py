"""Clusters of tables of pairs."""

from conncomp.tables.files.dups import cluster_dups
from conncomp.tables.growing import ClusterPairs
from conncomp.tables.pairs import cluster_pairs
from conncomp.tables.quality import cluster_quality

__all__ = ["ClusterPairs", "cluster_dups", "cluster_pairs", "cluster_quality"]
