"""Runs every algorithm on a GPU, on small inputs that hurt: ``everything.py TOOL graphs|arrays``.

A script of its own, for the tool slows down all that its process does.
"""

import sys
from itertools import product

import numpy as np

from conncomp import Graph, connected_components, generate, label
from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.grid import tiled_elements
from conncomp.kernels.cuda.papers.tiles import LOCAL, MERGE
from hard_graphs import HARD_GRAPHS, star

GRAPHS = {name: HARD_GRAPHS[name] for name in ("none", "one", "loop", "multiple", "brooms")}
GRAPHS |= {name: HARD_GRAPHS[name] for name in ("cliques", "middle degrees", "star, hub last")}
GRAPHS["hub of the whole grid"] = star(5000, 1)
# Those of many sweeps or components, for the algorithms that do not mind.
LONG_GRAPHS = {name: HARD_GRAPHS[name] for name in ("line shuffled", "grid", "critical")}
FAST = ("auto", "ecl", "soman")
ECL_VARIANTS = [
    {"init": i, "jump": j, "finish": f} for i, j, f in ((1, 1, 1), (2, 2, 2), (3, 3, 3))
]

IMAGES = [
    (generate.random_array((67, 33), 0.592746), 1),
    (generate.random_array((65, 38), 0.9, values=2), 2),
    (generate.rings((33, 70)), 2),
    (generate.random_array((9, 17, 11), 0.4), 3),
]
BLOCKS = [{"block": (16, 16)}, {"block": (32, 32)}]
ARRAY_VARIANTS = {
    "label-equivalence": [{"block": (32, 32), "cells": 4}],
    "neighbour-propagation": BLOCKS,
    "local-propagation": [{"block": (32, 32), "cells": 4}],
    "tiles": [{"local": local, "merge": merge} for local, merge in product(LOCAL, MERGE)],
}

CONNECTIONS = {
    "weak": graph_algorithms.ALGORITHMS,
    "strong": graph_algorithms.STRONG_ALGORITHMS,
}


def label_graphs(cupy):
    for connection, table in CONNECTIONS.items():
        for algorithm in table["cuda"]:
            label_graphs_by(cupy, algorithm, connection)


def label_graphs_by(cupy, algorithm, connection):
    for name, (src, dst, n) in (GRAPHS | LONG_GRAPHS).items():
        if name in LONG_GRAPHS and (connection == "strong" or algorithm not in FAST):
            continue
        task = {"connection": connection}
        right = connected_components(Graph.from_edges(src, dst, n), numbering="roots", **task)[1]
        arcs = cupy.asarray(src), cupy.asarray(dst)
        both = cupy.concatenate(arcs), cupy.concatenate(arcs[::-1])
        listed, doubled = Graph.from_edges(*arcs, n), Graph.from_edges(*both, n)
        rows = [Graph.from_csr(graph.indptr, graph.indices) for graph in (listed, doubled)]
        # What is listed from both ends has strong components of its own.
        graphs = Graph.from_edges(*arcs, n), *rows[: 2 if connection == "weak" else 1]
        for graph in graphs:
            variants = ECL_VARIANTS if (algorithm, name) == ("ecl", "brooms") else []
            for options in ({}, *variants):
                for numbering in ("roots", "consecutive"):
                    labels = connected_components(
                        graph, algorithm=algorithm, numbering=numbering, **task, **options
                    )[1].get()
                    expected = (
                        right if numbering == "roots" else np.unique(right, return_inverse=True)[1]
                    )
                    assert np.array_equal(labels, expected), (algorithm, options, name)


def label_arrays(cupy):
    label_images(cupy, grid_algorithms.ALGORITHMS["cuda"])
    # The default for large arrays, in tiles as large as theirs.
    tiled_elements.MOST, launcher.current_gpu().multiprocessors = 0, 1
    label_images(cupy, ["auto"])


def label_images(cupy, algorithms):
    for algorithm, (image, connectivity) in product(algorithms, IMAGES):
        variants = ARRAY_VARIANTS.get(algorithm, []) if image is IMAGES[0][0] else []
        for options in ({}, *variants):
            for numbering, periodic in (("roots", False), ("consecutive", True)):
                asked = {"connectivity": connectivity, "numbering": numbering, "periodic": periodic}
                labels = label(cupy.asarray(image), algorithm=algorithm, **asked, **options).get()
                assert np.array_equal(labels, label(image, **asked)), (algorithm, options, asked)


if __name__ == "__main__":
    tool, what = sys.argv[1:]
    cupy = launcher.import_cupy()
    cupy.cuda.set_allocator(None)  # so that the ends of arrays are those of allocations
    if tool == "racecheck":
        options_of = launcher.compile_options
        launcher.compile_options = lambda file: (*options_of(file), "-DCONNCOMP_RACECHECK")
    {"graphs": label_graphs, "arrays": label_arrays}[what](cupy)
    print("everything ran")
