"""Runs every kernel on small inputs that hurt: ``everything.py PART ...``; ``--help`` lists them.

A script of its own, for compute-sanitizer slows down all that its process does. What comes out is
held against the CPU; what was launched is written down, so that a test can tell which kernels are
left out. With ``--host`` the host executor takes the place of the GPU, and some cases those of all.
"""

import argparse
import os
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from functools import partial
from itertools import count, product
from time import perf_counter
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

import conncomp
from conncomp import Graph, IncrementalComponents, Workspace, generate, label, label_bonds
from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms
from conncomp.kernels.cuda import launcher, recordings
from conncomp.kernels.cuda.graph import blocked_afforest, ecl, strong_components
from conncomp.kernels.cuda.grid import (
    bundle_tiles,
    item_runs,
    row_tiles,
    run_tiles,
    tiled_bricks,
    tiled_elements,
    tiled_quads,
)
from conncomp.kernels.cuda.models import kawasaki, spin_sweeps, spin_tiles, vector_spins, words
from conncomp.kernels.cuda.papers.tiles import LOCAL, MERGE
from conncomp.models import (
    ON,
    XY,
    CahnHilliard,
    Clock,
    Heisenberg,
    Ising,
    Kawasaki,
    Percolation,
    Potts,
    SpinGlass,
    parallel_tempering,
)
from hard_graphs import HARD_GRAPHS, star
from models.test_devices import ALIKE
from models.test_structure import MODELS as OBSERVED
from signatures import described
from specialisations import names_by_file

# On the host executor the tests of each room hold all cases against references; here a part has
# what launches each of its kernels. A sanitizer sees all of them.
SOME = "--host" in sys.argv and not os.environ.get("CONNCOMP_HOST_CUDA_SANITIZER")
turns = count()


def some(cases, share=6):
    """Return the cases, or on the host executor every sixth, from the next one on each call on."""
    cases = list(cases)
    share = min(share, len(cases))
    return cases[next(turns) % share :: share] if SOME else cases


# ------------------------------------------------------------------------------------------ graphs

GRAPHS = {name: HARD_GRAPHS[name] for name in ("none", "one", "loop", "multiple", "brooms")}
GRAPHS |= {name: HARD_GRAPHS[name] for name in ("cliques", "middle degrees", "star, hub last")}
GRAPHS["hub of the whole grid"] = star(5000, 1)
# Those of many sweeps or components, for the algorithms that do not mind.
LONG_GRAPHS = {name: HARD_GRAPHS[name] for name in ("line shuffled", "grid", "critical")}
FAST = ("auto", "ecl", "soman")
ECL = [{"init": i, "jump": j, "finish": f} for i, j, f in ((1, 1, 1), (2, 2, 2), (3, 3, 3))]
GRAPH_VARIANTS = {
    "ecl": ECL,
    "soman": [
        {"jump": "end"},
        {"hook": "wang", "writes": "outermost"},
        {"hook": "soman"},
        {"writes": "outermost"},
    ],
    "vertex-propagation": [{"rows": "shared"}, {"rows": "sorted"}],
}

CONNECTIONS = {"weak": graph_algorithms.ALGORITHMS, "strong": graph_algorithms.STRONG_ALGORITHMS}


def label_graphs(cupy, connection, chosen):
    """Label graphs by the algorithms that are `chosen`, a function of the name."""
    for algorithm in filter(chosen, CONNECTIONS[connection]["cuda"]):
        label_graphs_by(cupy, algorithm, connection)


def label_graphs_by(cupy, algorithm, connection):
    for name, (src, dst, n) in (GRAPHS | LONG_GRAPHS).items():
        if name in LONG_GRAPHS and (connection == "strong" or algorithm not in FAST):
            continue
        task = {"connection": connection}
        in_memory = Graph.from_edges(src, dst, n)
        listed, *rows = graphs_of(cupy, src, dst, n)
        # What is listed from both ends has strong components of its own.
        graphs = listed, *rows[: 2 if connection == "weak" else 1]
        for graph in graphs:
            variants = GRAPH_VARIANTS.get(algorithm, []) if name == "brooms" else []
            for options, numbering in some(product(({}, *variants), NUMBERINGS), 4):
                asked = {**task, "numbering": numbering}
                _, right = conncomp.connected_components(in_memory, **asked)
                _, labels = conncomp.connected_components(
                    graph, algorithm=algorithm, **asked, **options
                )
                check(labels, right, algorithm, options, name)


def contract_chains(cupy):
    """Strong components where a sample of arcs tells of long chains."""
    graph = generate.directed.cycle(strong_components.LEAST_CHAINED, shuffle=True)
    there = Graph.from_csr(cupy.asarray(graph.indptr), cupy.asarray(graph.indices))
    for each in (graph, there):
        assert conncomp.connected_components(each, connection="strong")[0] == 1


def hook_as_printed(cupy):
    """Hook as Wang has it, on the example of his report, where that ends in any order of stores."""
    src, dst = np.array([[0, 1], [1, 3], [0, 2], [2, 4], [2, 5]], np.int32).T.copy()
    graph = Graph.from_edges(cupy.asarray(src), cupy.asarray(dst), 6)
    options = {"algorithm": "soman", "hook": "wang", "jump": "end"}
    _, labels = conncomp.connected_components(graph, **options)
    check(labels, np.zeros(6, np.int32), options)


def graphs_of(cupy, src, dst, n):
    """Return a graph on the GPU as a list of arcs, as rows, and as rows from both ends."""
    arcs = cupy.asarray(src), cupy.asarray(dst)
    both = cupy.concatenate(arcs), cupy.concatenate(arcs[::-1])
    listed, doubled = Graph.from_edges(*arcs, n), Graph.from_edges(*both, n)
    rows = [Graph.from_csr(graph.indptr, graph.indices) for graph in (listed, doubled)]
    return Graph.from_edges(*arcs, n), *rows


def label_postponed(cupy):
    """Weak components of few arcs a vertex, in no order, as of many vertices."""
    draw, n = np.random.default_rng(0), 3000
    src, dst = np.concatenate([draw.permutation(n).reshape(2, -1) for _ in range(4)], 1)
    *_, doubled = graphs_of(cupy, src, dst, n)
    with patch.object(blocked_afforest, "POSTPONING_FROM", 0):
        _, labels = conncomp.connected_components(doubled)
    check(labels, conncomp.connected_components(Graph.from_edges(src, dst, n))[1])


def count_paths(cupy):
    src, dst, n = HARD_GRAPHS["brooms"]
    for graph in graphs_of(cupy, src, dst, n):
        assert ecl.count_paths(launcher.current_gpu(), graph._parts).longest >= 0


def find_forests(cupy):
    names = "none", "one", "loop", "multiple", "brooms", "cliques", "middle degrees", "critical"
    draw = np.random.default_rng(0)
    for name in names:
        src, dst, n = HARD_GRAPHS[name]
        listed, _, doubled = graphs_of(cupy, src, dst, n)
        for graph in (listed, doubled):
            in_memory = graph.to("cpu")
            # Of arcs that are listed more than once a GPU wants to see as many both ways.
            assert in_memory.is_symmetric() or not graph.is_symmetric(), name
            check(conncomp.spanning_forest(graph), conncomp.spanning_forest(in_memory), name)
            for weights in some(weights_of(in_memory, draw)):
                found = conncomp.minimum_spanning_forest(graph, cupy.asarray(weights))
                right = conncomp.minimum_spanning_forest(in_memory, weights)
                check(found, right, name, weights.dtype)


def weights_of(graph, draw):
    """Yield few weights, many, and those that are the same from both ends."""
    count = graph.num_arcs
    yield draw.integers(-2, 3, count).astype(np.int32)
    yield draw.normal(size=count)
    if graph._parts.csr is not None:
        src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr))
        dst = np.asarray(graph.indices, np.int64)
        yield ((src + dst) * 7919 % 31).astype(np.float32)


def grow(cupy):
    names = "brooms", "line shuffled", "critical", "star"
    for name, dtype in some(product(names, ("i4", "i8"))):
        src, dst, n = (part.astype(dtype) if np.ndim(part) else part for part in HARD_GRAPHS[name])
        graphs = [IncrementalComponents(n, device=device) for device in ("cuda", "cpu")]
        for begin in range(0, len(src), 300):
            batch = src[begin : begin + 300], dst[begin : begin + 300]
            placed = tuple(map(cupy.asarray, batch))
            for graph, ends in zip(graphs, (placed, batch), strict=True):
                graph.add_edges(*ends)
            answers = [
                (graph.connected(ends[0], ends[1][::-1]), graph.roots(ends[0]))
                for graph, ends in zip(graphs, (placed, batch), strict=True)
            ]
            for found, right in zip(*answers, strict=True):
                check(found, right, name)
        for numbering, labels in product(NUMBERINGS, (np.int32, np.int64)):
            check(*(graph.labels(numbering=numbering, dtype=labels) for graph in graphs), name)
        assert graphs[0].count == graphs[1].count


def cluster_tables(cupy):
    """Let a table of ids grow, of one column and of two."""
    generator = np.random.default_rng(3)
    clusters = [conncomp.ClusterPairs(threshold=[0.2, 0.7]) for _ in range(2)]
    for rows in (0, 1, 50, 5000):
        left, right = (generator.integers(-4000, 4000, rows) for _ in range(2))
        weights = generator.random(rows)
        for kept, xp in zip(clusters, (cupy, np), strict=True):
            kept.add(*map(xp.asarray, (left, right, weights)))
        for table in zip(*(kept.labels().values() for kept in clusters), strict=True):
            check(*table, rows)
    sides = (left, right), (right, left)
    placed = [tuple(map(cupy.asarray, side)) for side in sides]
    tables = conncomp.cluster_pairs(*placed), conncomp.cluster_pairs(*sides)
    for columns in zip(*(table.values() for table in tables), strict=True):
        check(*columns, "two columns")


# ------------------------------------------------------------------------------------------ arrays

NUMBERINGS = "roots", "consecutive"
IMAGES = [
    (generate.random_array((67, 33), 0.592746), 1),
    (generate.random_array((65, 38), 0.9, values=2), 2),
    (generate.patterns.rings((33, 70)), 2),
    (generate.random_array((9, 17, 11), 0.4), 3),
]
BLOCKS = [{"block": (16, 16)}, {"block": (32, 32)}]
ARRAY_VARIANTS = {
    "label-equivalence": [{"block": (32, 32), "cells": 4}, {"first": "blocks"}, {"lower": "store"}],
    "neighbour-propagation": BLOCKS,
    "local-propagation": [{"block": (32, 32), "cells": 4}],
    "tiles": [
        *({"local": local, "merge": merge} for local, merge in product(LOCAL, MERGE)),
        {"sites": 1},
        {"sites": "column"},
        {"trees": "size", "paths": "compressed", "tile": 4},
        {"local": "union-find", "trees": "index", "paths": "compressed"},
        {"paths": "kept"},
    ],
}


def label_images(cupy, algorithm):
    there = {"algorithm": algorithm}
    for image, connectivity in IMAGES:
        variants = ARRAY_VARIANTS.get(algorithm, []) if image is IMAGES[0][0] else []
        for options in ({}, *variants):
            for numbering, periodic in some(zip(NUMBERINGS, (False, True), strict=True), 4):
                asked = {"connectivity": connectivity, "numbering": numbering, "periodic": periodic}
                both(cupy, label, image, there=there | options, **asked)
    # The kernels of "tiles" are for up to three axes.
    batches = (3, 20, 31), (2, 7, 9, 11), (3, 400), (2, 3, 5, 6, 7)
    batches = batches[: 2 if algorithm == "tiles" else 4]
    for shape, numbering in some(product(batches, NUMBERINGS)):
        asked = {"batch_axes": 1, "return_num": True, "numbering": numbering}
        both(cupy, label, generate.random_array(shape, 0.5), there=there, **asked)


def label_by_paper(cupy, algorithm):
    label_images(cupy, algorithm)
    shapes = (20, 31), (5, 7, 9), (3, 4, 3, 5)
    label_by_links(cupy, shapes[: 2 if algorithm == "tiles" else 3], algorithm)


def label_by_default(cupy):
    label_images(cupy, "auto")
    label_by_links(cupy)
    with patch.object(tiled_quads, "MOST", 0):  # what else takes images of bytes
        label_images(cupy, "auto")
    with patch.object(tiled_quads, "MOST_WORDS_IN_BLOCK", 0):  # as where items are large
        # Of a shape of its own, as plans are kept.
        both(cupy, label, generate.random_array((41, 71), 0.5))
    for values in (2, 3):  # a block an item, of one value and of several
        batch = generate.random_array((2, 130, 270), 0.5).astype(np.uint8)
        batch[:, :, 100:] *= values - 1
        with patch.object(tiled_quads, "MOST", 0):
            both(cupy, label, batch, batch_axes=1)
    label_items(cupy)


def tell_a_number(cupy):
    """Make launches again, of which the last one tells a number."""
    number = cupy.asarray(np.array([2**40]))
    again = recordings.record(launcher.current_gpu(), lambda: number, tells=True)
    for _ in range(3):
        again.run(())
        assert again.answer() == 2**40


def label_items(cupy):
    """Label a batch by runs, a block an item."""
    batch = generate.random_array((4, 40, 100), 0.5).astype(np.uint8)
    enough = patch.object(launcher.current_gpu(), "shared_memory", 200_000)
    with enough, patch.object(tiled_quads, "MOST", 0), patch.object(item_runs, "LEAST_WORDS", 0):
        item_runs.can_label.cache_clear()
        both(cupy, label, batch, batch_axes=1)
    item_runs.can_label.cache_clear()


def label_by_bricks(cupy):
    """Label by the default for large arrays, in tiles as large as theirs and in small ones."""
    with patch.object(tiled_elements, "MOST", 0), patch.object(tiled_quads, "MOST", 0):
        label_by_links(cupy)
        # Of items that a block numbers.
        both(cupy, label, generate.random_array((2, 130, 190), 0.5), batch_axes=1)
        with one_multiprocessor():
            label_images(cupy, "auto")
            label_by_links(cupy, ((64, 140), (32, 16, 64)))  # in tiles that the compiler knows
            label_sparse(cupy)
            label_volumes(cupy)


def label_sparse(cupy):
    """Label an image of few elements, and one of many values, as if they were large."""
    few = generate.random_array((192, 384), 0.05)
    many = generate.random_array((192, 384), 1, values=3)
    tiled_bricks.plan_of.cache_clear()
    with patch.object(row_tiles, "LEAST", 0):
        for image in (few, many.astype(np.int32)):
            both(cupy, label, image, numbering="roots")
    tiled_bricks.plan_of.cache_clear()


def label_volumes(cupy):
    """Label volumes of bytes, of one value and of several, as if they were large."""
    shape = 20, 35, 140
    tiled_bricks.plan_of.cache_clear()
    with patch.object(run_tiles, "LEAST_FILLED", 0), patch.object(bundle_tiles, "LEAST", 0):
        run_tiles.can_label.cache_clear()
        for values in 1, 2, 200:
            image = generate.random_array(shape, 0.4, values=values).astype(np.uint8)
            for numbering, connectivity in product(NUMBERINGS, (1, 3)):
                both(cupy, label, image, numbering=numbering, connectivity=connectivity)
    run_tiles.can_label.cache_clear()
    tiled_bricks.plan_of.cache_clear()


SHAPES = (2000,), (40, 70), (9, 17, 21), (3, 5, 6, 7), (2, 300), (2, 20, 40), (2, 9, 12, 20)


def label_by_links(cupy, shapes=SHAPES, algorithm="auto"):
    """Label by values within a tolerance, by bonds, and with neighbourhoods of any steps."""
    draw, by = np.random.default_rng(0), {"algorithm": algorithm}
    for shape in some(shapes, 4):
        image = draw.integers(0, 9, shape).astype(np.int16)
        bonds = draw.random((len(shape), *shape)) < 0.5
        for batch_axes in (0, 1) if shape[0] == 2 else (0,):
            diagonal = diagonal_steps(len(shape) - batch_axes)
            links = (
                {"tolerance": 1, "periodic": True},
                {"tolerance": 2, "connectivity": 1},
                {"structure": diagonal},
                {"structure": diagonal, "tolerance": 1},
            )
            for option, numbering in some(product(links, NUMBERINGS)):
                asked = {**option, "numbering": numbering, "batch_axes": batch_axes}
                both(cupy, label, image, there=by, **asked)
            for periodic, numbering in some(product((False, True), NUMBERINGS)):
                asked = {"periodic": periodic, "numbering": numbering, "batch_axes": batch_axes}
                both(cupy, label_bonds, bonds[batch_axes:], there=by, **asked)


def diagonal_steps(ndim):
    """Return a structure of two steps, to corners that are opposite to each other."""
    steps = np.zeros((3,) * ndim, bool)
    steps[(0,) * ndim] = steps[(2,) * ndim] = True
    return steps


def find_windings(cupy):
    draw = np.random.default_rng(0)
    for shape, density in (((40, 33), 0.6), ((9, 12, 11), 0.4), ((4, 5, 6, 3), 0.3), ((50,), 0.9)):
        image, bonds = draw.random(shape) < density, draw.random((len(shape), *shape)) < 0.5
        for periodic in some((True, (True,) + (False,) * (len(shape) - 1)), 4):
            both(cupy, conncomp.component_wrapping, image, periodic=periodic)
            both(cupy, conncomp.cluster_wrapping, bonds, periodic=periodic)


# ---------------------------------------------------------------------------------------- labels

NOISE = generate.random_array((61, 43), 0.7, values=40).astype(np.int32)
LABELS = [
    NOISE,
    NOISE.astype(np.int64) * 10**9,
    np.arange(3000).reshape(60, 50),
    np.full((70, 65), 1, np.int32),
    generate.random_array((5, 9, 20), 0.8, values=30).astype(np.int64),
    generate.random_array((2, 3, 2, 1, 3, 4, 5), 0.8, values=9).astype(np.int32),
]
MANY = LABELS[1]  # whose numbers are too large for tables


def measure_labels(cupy):
    for labels, axes in product([each for each in LABELS if each is not MANY], (0, 1)):
        options = {"background": 0, "batch_axes": axes}
        for function in (
            conncomp.component_sizes,
            conncomp.component_members,
            conncomp.size_histogram,
            conncomp.component_spans,
            conncomp.sort_by_size,
            partial(conncomp.largest_components, k=3),
            partial(conncomp.remove_small_components, min_size=4),
        ):
            both(cupy, function, labels, **options)
        for dtype in ("u1", "f4", *some(("i2", "i4", "i8", "f8"))):
            image = np.random.default_rng(1).integers(0, 100, labels.shape).astype(dtype)
            both(cupy, conncomp.component_statistics, labels, image, surfaces=True, **options)


def find_neighbours(cupy):
    for labels, axes in product([each for each in LABELS if each is not MANY], (0, 1)):
        for function in (
            conncomp.contacts,
            partial(conncomp.contacts, connectivity=1, periodic=True),
            lambda each, **options: conncomp.match_labels(each, each[::-1].copy(), **options),
            conncomp.fill_holes,
            partial(conncomp.fill_holes, connectivity=1, max_size=3),
        ):
            both(cupy, function, labels, background=0, batch_axes=axes)
        if axes == 0 and labels.ndim < 4:
            graphs = [
                conncomp.region_adjacency(each, background=0)
                for each in (cupy.asarray(labels), labels)
            ]
            for name in ("indptr", "indices"):
                check(*(getattr(graph, name) for graph in graphs))


def renumber(cupy):
    for labels, axes in product(LABELS, (0, 1)):
        options = {"background": 0, "batch_axes": axes, "return_labels": True}
        both(cupy, conncomp.relabel_consecutive, labels, **options)
    for labels in (each for each in LABELS if each is not MANY and each.ndim < 4):
        measure_columns(cupy, labels)
    walks = (
        conncomp.iterate_components(each, background=0) for each in (cupy.asarray(NOISE), NOISE)
    )
    for found, right in zip(*walks, strict=True):
        check(found.mask, right.mask)
        check(found.crop(cupy.asarray(NOISE), 1), right.crop(NOISE, 1))


def measure_columns(cupy, labels):
    """Compare all columns, of which sums of real numbers may differ in their last digits."""
    random = np.random.default_rng(1)
    two_channels = random.integers(0, 200, (*labels.shape, 2)).astype(np.uint8)
    for arrays in ((labels, random.random(labels.shape)), (labels, two_channels)):
        placed = (cupy.asarray(each) for each in arrays)
        found = conncomp.component_statistics(*placed, properties="all", background=0)
        asked = {"properties": list(found.properties), "background": 0}
        right = conncomp.component_statistics(*arrays, **asked).columns()
        for name, column in found.columns().items():
            close = {"rtol": 1e-6, "atol": 1e-3, "err_msg": name}
            np.testing.assert_allclose(on_host(column), right[name], **close)


# ---------------------------------------------------------------------------------------- models

UPDATES = [
    ("swendsen_wang", {}),
    ("swendsen_wang", {"clusters": True, "wrapping": True}),
    ("wolff", {"clusters": True}),
    ("few_cluster", {"p_flip": 0.6, "wrapping": True}),
    ("metropolis", {}),
]
# As bricks in tiles of several kinds, and lattices that do not fill them.
LATTICES = [
    {"shape": (20, 36), "beta": 0.9, "replicas": 2},
    {"shape": (130, 70), "q": 3, "beta": 1.0},
    {"shape": (33, 64), "q": 5, "beta": 1.2, "periodic": (True, False)},
    {"shape": (9, 12, 16), "beta": 0.45, "replicas": 3},
    {"shape": (300,), "q": 4, "beta": 2.0},
    {"shape": (300,), "beta": 2.0, "periodic": False},
    {"shape": (3000,), "beta": 2.0, "replicas": 2},
    {"shape": (9, 16, 40), "beta": 0.45},
    {"shape": (3, 4, 5, 6), "beta": 0.3, "replicas": 2},
    {"shape": (7, 3), "q": 17, "beta": 1.6},
]


def pairs_of(model, /, **arguments):
    """Return two models with the same parameters, on the GPU and on the CPU."""
    return [model(**arguments, seed=5, device=device) for device in ("cuda", "cpu")]


def update_spins(cupy, **options):
    for arguments in some(LATTICES):
        if options and not 1 < len(arguments["shape"]) < 4:
            continue
        models = pairs_of(Potts, **arguments)
        if options:
            models[0] = Potts(**arguments, seed=5, device="cuda", **options)
        update_both(models)
    if not options:
        with one_multiprocessor():  # and so in tiles that the compiler knows
            for shape in some(((64, 140), (32, 16, 64)), 4):
                update_both(pairs_of(Potts, shape=shape, q=2, beta=0.6))


def update_both(models):
    lattice = models[1].lattice
    alike(models, lattice, "bonds", "labels")
    halves = [n // 2 if n % 2 == 0 else n for n in lattice.shape]
    for name, options in UPDATES:
        asked = {"tile": halves, **options} if name == "few_cluster" else options
        alike(models, (lattice, name), update(name, 2, **asked), "spins")


def update(name, *given, **options):
    """Return what makes an update of a model by its name."""
    return lambda model: getattr(model, name)(*given, **options)


def go_on(kind, arguments, updates, *looks):
    """Compare what two models measure, and more, after some updates, and after as many again."""
    models = pairs_of(kind, **arguments)
    for _ in range(2):
        for model in models:
            model.step(updates)
        alike(models, arguments, "measure", *looks)


# Boxes of some segments, by blocks of a cluster and of a grid, and of a whole lattice.
def sweep_spins(cupy):
    spin_sweeps.THREADS, spin_sweeps.LEAST_SHARED = 128, 64 << 10
    spin_sweeps.BLOCKS_OF_MULTIPROCESSOR = 2
    clusters = spin_sweeps.CLUSTERS
    for arguments in (LATTICES[1], *some(LATTICES)):  # one of a single replica
        for least, given in ((64, clusters), (64, (0,)), (1 << 20, (0,))):
            spin_sweeps.LEAST_BOX = spin_sweeps.LEAST_OF_MANY = least
            spin_sweeps.CLUSTERS = given
            models = pairs_of(Potts, **arguments)
            alike(models, (arguments, least), update("swendsen_wang", 3), "spins")


# A block a lattice, and tiles of rows of lattices of any size.
def update_by_rows(cupy):
    for arguments in some(LATTICES):
        with one_multiprocessor(shared_memory=64 << 10):  # that of the host has 3500 bytes
            models = pairs_of(Potts, **{**arguments, "replicas": 3})
            alike(models, arguments, update("swendsen_wang", 3), "spins")
        if len(arguments["shape"]) == 1:
            continue
        with (
            patch.object(words, "MOST_OF_MULTIPROCESSOR", 0),
            patch.object(spin_tiles, "LEAST_FILLED", 0),
        ):
            models = pairs_of(Potts, **arguments)
            for model in models:
                model.step(), model.step()
            check(*(model.spins for model in models), arguments)


def update_by_tiles(cupy):
    for local, merge in product(LOCAL, MERGE):
        update_spins(cupy, labelling="tiles", local=local, merge=merge, tile=8)


def update_as_weigel(cupy):
    for activation in (1, 4, "column"):
        update_spins(cupy, labelling="tiles", tile=8, activation=activation)
    arguments = {"shape": (24, 40), "beta": 0.9, "replicas": 3, "seed": 4}
    grown = Potts(**arguments, device="cuda", labelling="wave-front")
    in_memory = Potts(**arguments)
    for tile in (4, (24, 40)):
        for model in (grown, in_memory):
            model.few_cluster(2, tile=tile, p_flip=0.6)
        check(grown.spins, in_memory.spins, tile)


STAR = Graph.from_edges(np.zeros(699, int), np.arange(1, 700), 700)  # all unions lead to its middle
# What the tests hold against the CPU: rows of less than a word, and of several; of more than a
# tile, and of one that is not full.
SPINS = [
    *ALIKE,
    (Ising, (3, 70), {"lattice": "triangular", "replicas": 3, "temperature": 3.0}),
    (Ising, (1, 2, 3), {"lattice": "fcc", "replicas": 2, "temperature": 9.0}),
    (Ising, STAR, {"replicas": 3, "temperature": 2.5}),
    (Ising, STAR, {"coupling": -0.5, "field": np.linspace(-1, 1, 700), "temperature": 2.5}),
    (XY, (130, 40), {"coupling": -1.0, "periodic": (False, True), "beta": 0.8}),
    (XY, (3, 70), {"replicas": 3, "beta": 0.8}),
    (XY, (300,), {"periodic": False, "beta": 0.8}),
    (XY, (9, 20), {"field": 0.3, "beta": 0.8}),
    (Heisenberg, (2, 3, 4, 5), {"periodic": (True, False, True, False), "beta": 0.8}),
    (Heisenberg, (5, 9), {"lattice": "kagome", "coupling": -1.0, "beta": 0.8}),
    (ON, (20, 9), {"n": 7, "beta": 0.8}),
    (Potts, (9, 70), {"q": 70, "lattice": "triangular", "beta": 1.0}),
    (Potts, (9, 70), {"q": 3, "coupling": -1.0, "field": -0.2, "beta": 1.0}),
]


def update_all(cupy, kinds):
    """Update spins of some kinds; vectors in launches of several updates, and of one."""
    chunks = (vector_spins.MOST_CHUNK, 0)[: 2 if XY in kinds else 1]
    cases = [case for case in SPINS if case[0] in kinds]
    share = 1 if XY in kinds else 2  # as few lattices of vectors are swept in one launch
    for chunk, (kind, shape, arguments) in some(product(chunks, cases), share):
        vector_spins.MOST_CHUNK = chunk  # of 0 sites, which none of the lattices is so small as
        models = pairs_of(kind, shape=shape, **arguments)
        sizes = {} if {"coupling", "field"} & set(arguments) else {"clusters": True}
        rules = ["metropolis"] + ["heat_bath"] * (kind in (Ising, Potts))
        sweeps = (update("swendsen_wang", 2, **given) for given in ({}, sizes))
        alike(models, (kind, arguments), "bonds", *sweeps, "wolff", *rules, rounded)


def rounded(model):
    return model.spins.round(12)


def observe(cupy):
    """Measure structure factors, and how clusters by words, cells and edges wrap."""
    for name, make in OBSERVED.items():
        models = [make(seed=5, device=device) for device in ("cuda", "cpu")]
        how = {"observe": "structure", "clusters": True, "wrapping": True}
        alike(models, name, update("swendsen_wang", 2, **how))


def temper(cupy):
    models = pairs_of(Potts, shape=(16, 24), beta=[0.7, 0.8, 0.9], replicas=3)
    for update in ("metropolis", "wolff", "swendsen-wang"):
        found, right = (parallel_tempering(model, 3, update=update) for model in models)
        check(found.series.records, right.series.records, update)


def percolate(cupy):
    cases = [
        {"shape": (20, 70)},
        {"shape": (33, 65), "periodic": (True, False)},
        {"shape": (64, 128), "periodic": False},
        {"shape": (9, 14, 20)},
        {"shape": (600,), "p": 0.9},
        {"shape": (3, 2, 3, 2), "p": 0.4},
    ]
    kinds = product(("site", "bond"), (None, 2))
    asked = [
        {**case, "kind": kind, "replicas": replicas}
        for case, (kind, replicas) in product(cases, kinds)
    ]
    asked.append({"shape": (20, 30), "lattice": "triangular"})
    for arguments in some(asked, 3):
        measure_both(**arguments)
    with one_multiprocessor():
        for shape, kind in product(((64, 140), (32, 16, 64)), ("site", "bond")):
            measure_both(shape=shape, kind=kind)


def measure_both(kind="site", **arguments):
    drawn = "bonds" if kind == "bond" else "occupied"
    go_on(Percolation, {"kind": kind, **arguments}, 1, "labels", drawn)


def exchange(cupy):
    """Exchange spins in blocks, each of which has a replica, and by blocks that share one."""
    cases = [
        {"lattice": "square", "shape": (32, 48), "replicas": 2},
        {"lattice": "sc", "shape": (8, 12, 16), "replicas": 2},
        {"lattice": "bcc", "shape": (8, 8, 16), "fraction": 0.3},
    ]
    for most_shared, arguments in some(product((kawasaki.MOST_SHARED, 0), cases), 2):
        with patch.object(kawasaki, "MOST_SHARED", most_shared):
            go_on(Kawasaki, {"temperature": 2.5, **arguments}, 3, "spins", "labels")
    with patch.object(kawasaki, "MOST_SHARED", 0):  # several blocks
        arguments = {"lattice": "square", "shape": (256, 256), "temperature": 2.5}
        go_on(Kawasaki, arguments, 3, "spins", "labels")


def change_glasses(cupy):
    """Sweep, move clusters of pairs and measure, by bits and by numbers."""
    lattices = ((9,), True), ((6, 7), False), ((4, 4, 6), True), ((2, 3, 4, 2), True)
    for couplings, field, update in product(
        ("pm", "gaussian"), (None, 0.3), ("metropolis", "heat-bath")
    ):
        for shape, closed in some(lattices):
            arguments = {"couplings": couplings, "beta": [0.3, 0.9], "copies": 3, "samples": 12}
            arguments |= {"field": field, "periodic": closed, "update": update}
            models = pairs_of(SpinGlass, shape=shape, **arguments)
            for model in models:
                model.step(2, houdayer=True)
            links = lambda model: model.overlaps().link_overlap  # noqa: E731
            alike(models, arguments, "spins", "energy", links)


def separate(cupy):
    shapes = (12, 20), (5, 7), (2, 3), (37, 64), (6, 8, 12), (3, 2, 5), (9, 16, 40)
    for shape, dtype, noise in some(product(shapes, ("float32", "float64"), (0.0, 0.03))):
        described = {"shape": shape, "dtype": dtype, "noise": noise, "amplitude": 0.8}
        with patch.object(tiled_elements, "MOST", 0):
            separate_both(**described, replicas=2 if noise else None)
    with one_multiprocessor(), patch.object(tiled_elements, "MOST", 0):
        for shape, dtype in some(product(((64, 140), (32, 16, 64)), ("float32", "float64"))):
            separate_both(shape=shape, dtype=dtype)


def separate_both(**arguments):
    labels = (update("labels", threshold=0.05, numbering=each) for each in NUMBERINGS)
    domains = update("measure", threshold=0.05)
    go_on(CahnHilliard, arguments, 2, "field", *labels, domains)


# ----------------------------------------------------------------------------------------- parts


def is_any_of(*names):
    return lambda name: name in names


def is_none_of(*names):
    return lambda name: name not in names


# Each takes some seconds on a GPU, and a minute or two under racecheck.
PARTS = {
    "graphs": partial(label_graphs, connection="weak", chosen=is_any_of("auto")),
    "graphs-ecl": partial(label_graphs, connection="weak", chosen=is_any_of("ecl")),
    "graphs-papers": partial(label_graphs, connection="weak", chosen=is_none_of("auto", "ecl")),
    "graphs-printed": hook_as_printed,
    "graphs-postponed": label_postponed,
    "paths": count_paths,
    "strong": partial(label_graphs, connection="strong", chosen=is_any_of("auto")),
    "strong-chains": contract_chains,
    "strong-papers": partial(label_graphs, connection="strong", chosen=is_none_of("auto")),
    "forests": find_forests,
    "growing": grow,
    "tables": cluster_tables,
    "arrays": label_by_default,
    "arrays-told": tell_a_number,
    "arrays-bricks": label_by_bricks,
    **{
        f"arrays-{algorithm}": partial(label_by_paper, algorithm=algorithm)
        for algorithm in grid_algorithms.ALGORITHMS["cuda"]
        if algorithm != "auto"
    },
    "wrapping": find_windings,
    "labels": measure_labels,
    "labels-neighbours": find_neighbours,
    "labels-numbers": renumber,
    "potts": update_spins,
    "potts-sweeps": sweep_spins,
    "potts-rows": update_by_rows,
    "potts-tiles": update_by_tiles,
    "potts-weigel": update_as_weigel,
    "ising": partial(update_all, kinds=(Ising,)),
    "vectors": partial(update_all, kinds=(XY, Heisenberg)),
    "spins on edges": partial(update_all, kinds=(Potts, Clock, ON)),
    "observables": observe,
    "tempering": temper,
    "percolation": percolate,
    "kawasaki": exchange,
    "spin-glass": change_glasses,
    "cahn-hilliard": separate,
}

# ------------------------------------------------------------------------------------- machinery


def on_host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def check(found, right, *about):
    """Raise AssertionError unless arrays on the GPU, or what holds some, are those in memory."""
    for one, other in zip(columns_of(found), columns_of(right), strict=True):
        np.testing.assert_array_equal(on_host(one), on_host(other), err_msg=str(about))


def both(cupy, function, *arrays, there=None, **options):
    """Check that a function gives of arrays on the GPU what it does of those in memory.

    `there` has options of the call on the GPU alone.
    """
    found = function(*map(cupy.asarray, arrays), **options, **(there or {}))
    check(found, function(*arrays, **options), function, options, there)


def alike(models, about, *looks):
    """Check that models give the same: attributes and methods by name, or functions of a model."""
    for look in looks:
        given = [look(model) if callable(look) else getattr(model, look) for model in models]
        given = [each() if callable(each) else each for each in given]
        check(*(getattr(each, "records", each) for each in given), about, look)


def columns_of(result):
    """Return the arrays of a tuple, a dictionary or a dataclass, or the only one."""
    if isinstance(result, dict):
        return result.values()
    if hasattr(result, "__dataclass_fields__"):
        return [getattr(result, field.name) for field in fields(result)]
    return result if isinstance(result, tuple) else (result,)


@contextmanager
def one_multiprocessor(**features):
    """Let the GPU say that it has one, so that small inputs get tiles as large as large ones."""
    gpu = launcher.current_gpu()
    with patch.multiple(gpu, multiprocessors=1, **features):
        yield


def replace(name, substitute):
    """Put a function into the place of one of the launcher, in all modules that have it."""
    original = getattr(launcher, name)
    rooms = "conncomp", "host_cuda"
    for module in [sys.modules[key] for key in sys.modules if key.split(".")[0] in rooms]:
        if getattr(module, name, None) is original:
            setattr(module, name, substitute)


def place_on_host():
    """Let the host executor take the place of the GPU; return the stand-in for CuPy."""
    from host_cupy import HostCuPyGpu
    from stand_in import CuPy

    cupy = CuPy()
    pageable = SimpleNamespace(type=0)
    runtime = {"getDevice": lambda: 0, "pointerGetAttributes": lambda address: pageable}
    runtime = SimpleNamespace(**runtime)
    cupy.cuda = SimpleNamespace(runtime=runtime, Device=lambda number: nullcontext())
    gpu = HostCuPyGpu(cupy)
    replace("import_cupy", lambda: cupy)
    replace("current_gpu", lambda: gpu)
    return cupy


def take_apart(workspace, gpu, *parts):
    """Do what `Workspace.take` does with an allocation for each part, so that ends are watched."""
    key = gpu.current_stream(), parts
    if key not in workspace._views:
        arrays = tuple(gpu.xp.empty(max(count, 1), dtype)[:count] for count, dtype in parts)
        workspace._views[key] = arrays
    return workspace._views[key]


def record_launches(file):
    """Write down what is launched: a kernel file, a kernel with its template arguments, and others.

    It is written at once, so that the lines are right whatever ends the process.
    """
    named, lines, load, launch = {}, set(), launcher.Gpu.load, launcher.launch
    known = names_by_file()

    def load_named(gpu, kernel_file, names, *options):
        kernels = load(gpu, kernel_file, names, *options)
        for kernel, name in zip(kernels, names, strict=True):
            # What is loaded together is loaded from a file that includes those of all.
            files = kernel_file, *(file for file in known if name in known[file])
            own = next((file for file in files if name in known.get(file, ())), kernel_file)
            named.setdefault(kernel.call, f"{own} {name}")
        return kernels

    def launch_recorded(kernel, grid, *arguments, **options):
        if kernel.call in named:
            line = "\t".join((named[kernel.call], *map(described, arguments)))
            if line not in lines:
                print(line, file=file, flush=True)
                lines.add(line)
        launch(kernel, grid, *arguments, **options)

    launcher.Gpu.load = load_named
    replace("launch", launch_recorded)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--racecheck", action="store_true", help="compile kernels for racecheck")
    parser.add_argument("--host", action="store_true", help="on the host executor, without a GPU")
    parser.add_argument("--launched", default=os.devnull, help="a file that gets a line a kernel")
    arguments = parser.parse_args()
    names_by_file()  # imports all drivers, whose `launch` is replaced
    Workspace.take = take_apart
    if arguments.host:
        cupy = place_on_host()
    else:
        cupy = launcher.import_cupy()
        cupy.cuda.set_allocator(None)  # so that the ends of arrays are those of allocations
    if arguments.racecheck:
        options_of = launcher.compile_options
        launcher.compile_options = lambda file: (*options_of(file), "-DCONNCOMP_RACECHECK")
    with open(arguments.launched, "w") as file:
        record_launches(file)
        for part in arguments.parts:
            start = perf_counter()
            PARTS[part](cupy)
            print(f"{part} ran, in {perf_counter() - start:.1f} s", flush=True)
    print("everything ran")


if __name__ == "__main__":
    main()
