"""Graphs, images and fields to test and to measure on, the same for the same seed everywhere."""

from conncomp.generate import random
from conncomp.generate.lattices import delaunay, grid, line, road_like, star
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
    "barabasi_albert",
    "delaunay",
    "disjoint",
    "grid",
    "line",
    "overlapping_cliques",
    "random",
    "random_neighbours",
    "rmat",
    "road_like",
    "star",
    "uniform_random",
    "wang",
    "watts_strogatz",
    "web_like",
]
