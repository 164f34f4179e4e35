"""Each parameter of each public function is given what it cannot be, and says so by its name.

What is wrong depends on the kind of the parameter, which its annotation says: text for a bool, a
fraction or a bool for an integer, and for any of them a graph, an object and a function.
"""

import ast
import inspect
import math
import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import conncomp
from conncomp import Graph, IncrementalComponents, generate, models
from conncomp.generate import directed, patterns, random


class Opaque:
    def __repr__(self):
        return "something"


GRAPH = Graph.from_edges([0, 1], [1, 2], 4)
OF_NO_KIND = {
    "object": Opaque(),
    "graph": GRAPH,
    "matrix": scipy.sparse.csr_array(np.eye(3)),
    "complex": 1j,
    "function": len,
    "dictionary": {"a": 2},
}
WRONG = {
    "bool": {"text": "no", "2": 2, "None": None, "list": [], "half": 0.5, "NaN": math.nan},
    "int": {"text": "abc", "half": 1.5, "one": 1.0, "True": True, "list": [1, 2], "NaN": math.nan},
    "float": {"text": "0.5", "list": [[1], [2, 3]], "True": True},
    "str": {"5": 5, "text": "no such", "bytes": b"auto", "True": True, "list": ["auto"]},
    "array": {"text": "abc", "ragged": [[1], [2, 3]], "objects": np.array([Opaque(), None])},
}
KINDS = {
    "bool": "bool",
    "int": "int",
    "int | None": "int",
    "float": "float",
    "float | None": "float",
    "str": "str",
    "str | None": "str",
    "ArrayLike": "array",
    "ArrayLike | None": "array",
    "Any": None,
}
IMAGE = np.eye(4, dtype=np.int64)
FIELD = {"shape": (4, 4), "beta": 0.5}
HERE = {"graph": GRAPH}
SMALL = {"shape": (4, 4)}
CURVES = {n: [[x, x * n, 0.1] for x in (-1.0, 0.0, 1.0, 2.0)] for n in (2, 3)}
GLASS = models.SpinGlass((2, 3), beta=0.5, copies=2)
TABLE = {"l": ["a", "b"], "r": ["b", "c"], "w": [0.5, 0.9]}
CLUSTERS = conncomp.cluster_pairs(TABLE, "l", "r")
SPINS = models.Ising((4, 4), beta=[0.4, 0.5], seed=1)


def reweighted(**options):
    return models.reweight(np.mean, [1.0, 2.0, 4.0], **options)


CALLS = {
    "label": (conncomp.label, {"label_image": IMAGE}),
    "label_bonds": (conncomp.label_bonds, {"bonds": np.ones((2, 3, 3), bool)}),
    "stream_labels": (conncomp.stream_labels, {"slabs": [IMAGE]}),
    "component_wrapping": (conncomp.component_wrapping, {"label_image": IMAGE}),
    "cluster_wrapping": (conncomp.cluster_wrapping, {"bonds": np.ones((2, 3, 3), bool)}),
    "percolates": (conncomp.percolates, {"image": IMAGE, "axis": 0}),
    "connected_components": (conncomp.connected_components, {"csgraph": GRAPH}),
    "condensation": (conncomp.condensation, {"csgraph": GRAPH}),
    "spanning_forest": (conncomp.spanning_forest, HERE),
    "minimum_spanning_forest": (conncomp.minimum_spanning_forest, {**HERE, "weights": [1, 2]}),
    **{
        name: (getattr(conncomp, name), {"labels": IMAGE})
        for name in (
            *("colour_components", "component_members", "component_sizes", "component_spans"),
            *(
                "component_statistics",
                "contacts",
                "iterate_components",
                "fill_holes",
                "largest_components",
            ),
            *("region_adjacency", "relabel_consecutive", "size_histogram", "sort_by_size"),
        )
    },
    "remove_small_components": (
        conncomp.remove_small_components,
        {"labels": IMAGE, "min_size": 2},
    ),
    "match_labels": (conncomp.match_labels, {"labels_a": IMAGE, "labels_b": IMAGE}),
    "cluster_pairs": (conncomp.cluster_pairs, {"pairs": TABLE, "left": "l", "right": "r"}),
    "cluster_quality": (
        conncomp.cluster_quality,
        {"clusters": CLUSTERS, "pairs": TABLE, "left": "l", "right": "r"},
    ),
    "ClusterPairs": (conncomp.ClusterPairs, {}),
    "set_num_threads": (conncomp.set_num_threads, {"n": 1}),
    "IncrementalComponents": (IncrementalComponents, {"num_vertices": 4}),
    "add_edges": (IncrementalComponents(4).add_edges, {"src": [0], "dst": [1]}),
    "connected": (IncrementalComponents(4).connected, {"u": [0], "v": [1]}),
    "roots": (IncrementalComponents(4).roots, {"vertices": [0]}),
    "incremental labels": (IncrementalComponents(4).labels, {}),
    "Graph": (Graph, {"num_vertices": 3, "arcs": ([0], [1])}),
    "from_edges": (Graph.from_edges, {"src": [0], "dst": [1]}),
    "from_csr": (Graph.from_csr, {"indptr": [0, 1, 1], "indices": [1]}),
    "from_scipy": (Graph.from_scipy, {"matrix": scipy.sparse.eye_array(2)}),
    "in_arc_order": (GRAPH.in_arc_order, {"values": [1, 2]}),
    "to": (GRAPH.to, {"device": "cpu"}),
    **{
        name: (getattr(random, name), {"count": 3, **({"high": 5} if name == "integers" else {})})
        for name in ("integers", "permutation", "uniform", "uniform_bits")
    },
    "philox": (random.philox, {"seed": 1, "counter": (1, 2, 3, 4)}),
    **{
        name: (attrgetter(name)(generate), SMALL)
        for name in (
            *("blobs", "grid", "photograph", "random_array", "road_like"),
            *("patterns.all_equal", "patterns.checkerboard", "patterns.comb", "patterns.maze"),
            "patterns.rings",
        )
    },
    **{
        name: (attrgetter(name)(generate), {"num_vertices": 8, **options})
        for name, options in {
            "barabasi_albert": {"edges_per_vertex": 2},
            "directed.bow_tie": {"links_per_vertex": 2},
            "directed.cycle": {},
            "delaunay": {},
            "disjoint": {"num_edges": 12, "num_components": 2},
            "line": {},
            "overlapping_cliques": {"max_size": 4},
            "directed.random_arcs": {"mean_degree": 2.0},
            "random_neighbours": {"degree": 2},
            "star": {},
            "uniform_random": {"num_edges": 9},
            "equal_components": {"num_edges": 12, "num_components": 2},
            "watts_strogatz": {"degree": 2, "probability": 0.5},
            "web_like": {"links_per_vertex": 2},
        }.items()
    },
    "chain_of_cycles": (generate.directed.chain_of_cycles, {"num_cycles": 2, "length": 3}),
    "rmat": (generate.rmat, {"scale": 3, "edges_per_vertex": 2}),
    "directed.rmat": (generate.directed.rmat, {"scale": 3, "arcs_per_vertex": 2}),
    "hilbert_curve": (generate.patterns.hilbert_curve, {"order": 2}),
    "spiral": (generate.patterns.spiral, {"size": 5}),
    "mesh_sweep": (generate.mesh_sweep, {"shape": (3, 3, 3)}),
    "voronoi": (generate.voronoi, {"shape": (4, 4), "cells": 3}),
    "Ising": (models.Ising, FIELD),
    "Ising of a graph": (models.Ising, {"shape": GRAPH, "beta": 0.5}),
    "Potts": (models.Potts, FIELD),
    "XY": (models.XY, FIELD),
    "Heisenberg": (models.Heisenberg, FIELD),
    "Clock": (models.Clock, {**FIELD, "q": 5}),
    "ON": (models.ON, {**FIELD, "n": 4}),
    "SpinGlass": (models.SpinGlass, FIELD),
    "Kawasaki": (models.Kawasaki, {"shape": (4, 4, 4)}),
    "CahnHilliard": (models.CahnHilliard, SMALL),
    "Percolation": (models.Percolation, SMALL),
    **{
        f"{type(model).__name__}.{name}": (getattr(model, name), options)
        for model in (SPINS, models.Potts((4, 4)), models.XY((4, 4), beta=0.5), GLASS)
        for name, options in {
            "swendsen_wang": {},
            "wolff": {},
            "few_cluster": {"tile": 2, "p_flip": 0.5},
            "metropolis": {},
            "heat_bath": {},
            "step": {"n": 1},
            "labels": {},
            "updater": {},
        }.items()
        if hasattr(model, name)
    },
    **{
        f"{type(model).__name__}.{name}": (getattr(model, name), {})
        for model in (models.Kawasaki(4), models.CahnHilliard((4, 4)), models.Percolation((4, 4)))
        for name in ("step", "labels", "measure", "updater")
        if hasattr(model, name)
    },
    "sweep": (models.Percolation((4, 4)).sweep, {"runs": 2}),
    "stable_time_step": (models.CahnHilliard.stable_time_step, {"ndim": 2}),
    "random_couplings": (models.random_couplings, {"size": 4}),
    "random_fields": (models.random_fields, {"size": 4}),
    "parallel_tempering": (models.parallel_tempering, {"model": SPINS, "rounds": 2}),
    "simulate": (models.simulate, {"model": SPINS, "sweeps": 2}),
    "autocorrelation_time": (models.autocorrelation_time, {"series": np.arange(64.0)}),
    "crossing": (models.crossing, {"curves": CURVES, "degree": 1}),
    "collapse": (
        models.collapse,
        {"curves": CURVES, "critical": 0.1, "exponent": 0.0, "degree": 1},
    ),
    "reweight": (reweighted, {"energy": [1.0, 2.0, 4.0], "beta": 0.5, "at": 0.6, "bins": 2}),
    "logarithmic_bins": (models.logarithmic_bins, {"series": np.eye(8)}),
    "glass_equilibration_test": (
        models.glass_equilibration_test,
        {"energy": [1.0, 2.0], "link_overlap": [0.1, 0.2], "beta": 0.5, "bonds": 3},
    ),
    "overlap_distribution": (
        models.overlap_distribution,
        {"measured": [GLASS.overlaps()], "beta": 0.5, "bins": 4},
    ),
    "summarise": (models.summarise, {"series": SPINS.swendsen_wang(64), "beta": 0.5}),
}


# What updates take by name beyond their signatures.
OPTIONS = {
    **{
        f"{model}.{update}": {"clusters": "bool", "wrapping": "bool", "measure": "bool"}
        for model in ("Ising", "Potts", "XY")
        for update in ("swendsen_wang", "wolff")
    },
    "simulate": {"clusters": "bool", "wrapping": "bool"},
    "parallel_tempering": {"clusters": "bool", "wrapping": "bool"},
    "Clock": {"beta": "array", "seed": "int", "first_replica": "int"},
    "ON": {"beta": "array", "seed": "int", "first_replica": "int"},
}


def _with_files(folder):
    """Return calls of functions on files, and what they take."""
    image, edges = folder / "image.npy", folder / "edges.csv"
    np.save(image, IMAGE)
    edges.write_text("src,dst\n0,1\n1,2\n")
    return {
        "read_image": (conncomp.read_image, {"path": image}),
        "write_image": (conncomp.write_image, {"path": folder / "written.npy", "image": IMAGE}),
        "write_view": (conncomp.write_view, {"path": folder / "view.html", "labels": IMAGE}),
        "label_file": (
            conncomp.label_file,
            {"source": image, "target": folder / "labels.npy"},
        ),
        "plan_labels": (conncomp.plan_labels, {"source": image}),
        "open_volume": (conncomp.open_volume, {"source": image}),
        "read": (Graph.read, {"path": edges}),
    }


# Arguments that are not wrong, after all.
RIGHT = {
    *(("graph", name) for name in ("csgraph", "graph", "shape")),
    *(("matrix", name) for name in ("csgraph", "graph", "matrix")),
    *(("True", name) for name in ("background",)),
    ("objects", "values"),  # which are only put in order
    ("matrix", "dtype"),  # that it has
    ("one", "connectivity"),
    ("function", "watch"),
    ("function", "progress"),
    ("complex", "image"),
    ("text", "title"),
    ("text", "scheduler"),  # an address where nobody answers
}
# By which name an argument is called where it is passed on.
ALSO = {("percolates", "image"): "label_image"}
TABLES = {"cluster_pairs", "cluster_quality"}


def parameters_of(function):
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            yield name, KINDS.get(str(parameter.annotation))


def wrong_values(kind):
    yield from OF_NO_KIND.items()
    yield from WRONG.get(kind, {}).items()


def check(call, function, options):
    """Give each parameter what is wrong; anything but an error that names it is reported."""
    for name, kind in [*parameters_of(function), *OPTIONS.get(call, {}).items()]:
        for word, value in wrong_values(kind):
            if (word, name) in RIGHT or (call in TABLES and word == "matrix"):
                continue
            if "target" in options:
                options["target"].unlink(missing_ok=True)
            try:
                result = function(**{**options, name: value})
                if inspect.isgenerator(result):
                    list(result)
            except (TypeError, ValueError) as error:
                called = ALSO.get((call, name), name)
                if "\n" in str(error):
                    yield f"{name}: {word} takes several lines: {error}"
                if not re.search(rf"\b{re.escape(called)}\b", str(error)):
                    yield f"{name}: {word} is not named: {error}"
            except Exception as error:
                yield f"{name}: {word} raises {error!r}"
            else:
                yield f"{name}: {word} is taken"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("restore_threads")
def test_what_is_wrong_is_refused_by_its_name(call):
    assert list(check(call, *CALLS[call])) == []


def test_what_is_wrong_for_functions_on_files_is_refused_by_its_name(tmp_path):
    for call, (function, options) in _with_files(tmp_path).items():
        assert list(check(call, function, options)) == [], call


def test_every_public_function_is_here():
    known = {function for function, _ in CALLS.values()}
    rooms = (conncomp, conncomp.diagnostics, generate, directed, patterns, random, models)
    public = {
        getattr(room, name)
        for room in rooms
        for name in room.__all__
        if inspect.isfunction(getattr(room, name))
    }
    missing = {function.__name__ for function in public - known}
    assert missing <= ELSEWHERE


# Functions without arguments, on files (here and in tests/tables), or of other rooms.
ELSEWHERE = {
    *("read_image", "write_image", "write_view", "label_file", "plan_labels", "open_volume"),
    *(
        "label_edge_files",
        "spanning_forest_of_files",
        "minimum_spanning_forest_of_files",
        "cluster_dups",
    ),
    *("get_num_threads", "show_config", "kernel_times", "path_lengths"),
    *("reweight", "jackknife", "summarise_overlaps", "Labeller"),
}


@pytest.mark.parametrize(
    "call",
    [call for call, (function, _) in CALLS.items() if "seed" in dict(parameters_of(function))],
)
def test_seeds_are_of_64_bits(call):
    function, options = CALLS[call]
    for seed in (-1, 2**64, 2**70, np.int64(-1), np.float64(1)):
        with pytest.raises((TypeError, ValueError), match="seed="):
            function(**{**options, "seed": seed})
    for seed in (0, 2**64 - 1, np.int8(3), np.uint64(2**64 - 1)):
        function(**{**options, "seed": seed})


@pytest.mark.parametrize("connection", ["strong", "weak", "STRONG"])
def test_the_kind_of_components_in_the_place_of_directed_is_refused(connection):
    for graph in (GRAPH, scipy.sparse.csr_array(np.eye(3)), np.eye(3)):
        with pytest.raises(TypeError, match=r"directed='.*name the kind of components by connect"):
            conncomp.connected_components(graph, connection)
    for slip in (lambda: conncomp.label(IMAGE, 0, 2), lambda: conncomp.label(IMAGE, 0, "yes")):
        with pytest.raises(TypeError, match="return_num="):
            slip()


@pytest.mark.parametrize("kind", [bool, np.bool_, int, np.int8, np.uint64])
def test_bools_and_zero_and_one_are_bools(kind):
    for value in (0, 1):
        found = conncomp.label(IMAGE, return_num=kind(value))
        assert isinstance(found, tuple) == bool(value)
    with pytest.raises(TypeError, match="return_num="):
        conncomp.label(IMAGE, return_num=np.array(True))


@pytest.mark.parametrize(
    "call",
    [
        lambda: conncomp.label(IMAGE, connectivity=True),
        lambda: conncomp.largest_components(IMAGE, True),
        lambda: conncomp.remove_small_components(IMAGE, True),
        lambda: Graph.from_edges([0], [1], True),
        lambda: generate.line(True),
        lambda: models.Ising(True),
        lambda: models.Ising((4, 4), seed=True),
        lambda: models.Ising((4, 4), beta=True),
    ],
)
def test_bools_are_no_numbers(call):
    with pytest.raises(TypeError, match="True"):
        call()


@pytest.mark.parametrize("value", [GRAPH, models.Ising((2, 2)), conncomp.Workspace()])
def test_functions_of_labels_refuse_what_else_this_package_has(value):
    for name in (
        "contacts",
        "component_sizes",
        "match_labels",
        "fill_holes",
        "iterate_components",
        "sort_by_size",
    ):
        arguments = (value, IMAGE) if name == "match_labels" else (value,)
        with pytest.raises(TypeError, match="labels"):
            list(getattr(conncomp, name)(*arguments))
    with pytest.raises(TypeError, match="csgraph is a "):
        conncomp.connected_components(conncomp.component_statistics(IMAGE))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: conncomp.component_statistics(IMAGE, intensity_image=IMAGE),
            "component_statistics has no argument 'intensity_image'; image= is",
        ),
        (
            lambda: conncomp.iterate_components(IMAGE, intensity_image=IMAGE),
            "the .crop() of each component",
        ),
        (lambda: conncomp.largest_components(IMAGE, n=2), "no argument 'n'; k= is"),
        (lambda: conncomp.remove_small_components(IMAGE, threshold=2), "min_size= is"),
        (lambda: conncomp.match_labels(IMAGE, IMAGE, threshold=0.5), "scores(threshold=)"),
    ],
)
def test_names_of_other_libraries_lead_to_those_here(call, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        call()


def test_braces_in_messages_are_filled_in():
    """A brace is doubled where there is an f before the quotes, and only there."""
    for path in Path(conncomp.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not {"{{", "}}"} & set(re.findall(r"\{\{|\}\}", node.value)), path
