"""Graphs, images and fields to test and to measure on, the same for the same seed everywhere."""

from conncomp.generate import random
from conncomp.generate.directed import (
    bow_tie,
    chain_of_cycles,
    cycle,
    directed_rmat,
    random_directed,
)
from conncomp.generate.images import (
    all_equal,
    blobs,
    checkerboard,
    comb,
    hilbert_curve,
    maze,
    photograph,
    random_array,
    rings,
    spiral,
    voronoi,
)
from conncomp.generate.lattices import delaunay, grid, line, road_like, star
from conncomp.generate.meshes import mesh_sweep
from conncomp.generate.networks import (
    barabasi_albert,
    disjoint,
    overlapping_cliques,
    random_neighbours,
    rmat,
    uniform_random,
    wang,
    watts_strogatz,
    web_like,
)

__all__ = [
    "all_equal",
    "barabasi_albert",
    "blobs",
    "bow_tie",
    "chain_of_cycles",
    "checkerboard",
    "comb",
    "cycle",
    "delaunay",
    "directed_rmat",
    "disjoint",
    "grid",
    "hilbert_curve",
    "line",
    "maze",
    "mesh_sweep",
    "overlapping_cliques",
    "photograph",
    "random",
    "random_array",
    "random_directed",
    "random_neighbours",
    "rings",
    "rmat",
    "road_like",
    "spiral",
    "star",
    "uniform_random",
    "voronoi",
    "wang",
    "watts_strogatz",
    "web_like",
]
