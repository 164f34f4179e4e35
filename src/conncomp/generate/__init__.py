"""Graphs, images and fields to test and to measure on, the same for the same seed everywhere.

:doc:`/api/generate` tells what each is hard for, and where it is from.
"""

from conncomp.generate import directed, patterns, random
from conncomp.generate.images import blobs, photograph, random_array, voronoi
from conncomp.generate.lattices import delaunay, grid, line, road_like, star
from conncomp.generate.meshes import mesh_sweep
from conncomp.generate.networks import (
    barabasi_albert,
    disjoint,
    equal_components,
    overlapping_cliques,
    random_neighbours,
    rmat,
    uniform_random,
    watts_strogatz,
    web_like,
)

__all__ = [
    "barabasi_albert",
    "blobs",
    "delaunay",
    "directed",
    "disjoint",
    "equal_components",
    "grid",
    "line",
    "mesh_sweep",
    "overlapping_cliques",
    "patterns",
    "photograph",
    "random",
    "random_array",
    "random_neighbours",
    "rmat",
    "road_like",
    "star",
    "uniform_random",
    "voronoi",
    "watts_strogatz",
    "web_like",
]
