"""Classes of errors: each parameter of each function is given what it cannot be.

A parameter's result is a letter for each of `WRONG`: the class of the error, or a dot for a result.
"""

import contextlib
import inspect
import math
import re
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from .names import cc, generate, models
from .running import Classes

GRAPH = cc.Graph.from_edges([0, 1], [1, 2], 4)
IMAGE = np.eye(4, dtype=np.int64)
BONDS = np.ones((2, 3, 3), bool)
WRONG = {
    "None": None,
    "text": "abc",
    "no text": "",
    "bytes": b"abc",
    "7": 7,
    "-5": -5,
    "huge": 10**30,
    "half": 0.5,
    "one": 1.0,
    "NaN": math.nan,
    "True": True,
    "list": [1, 2],
    "ragged": [[1], [2, 3]],
    "matrix": np.array([[0.5, np.nan], [1.0, 2.0]]),
    "empty": np.zeros(0),
    "objects": np.array([object(), None]),
    "complex": 1j,
    "function": len,
    "dictionary": {"a": 2},
    "graph": GRAPH,
    "array of int": np.arange(4),
    "bool array": np.eye(4, dtype=bool),
}
LETTERS = {
    "TypeError": "T",
    "ValueError": "V",
    "OverflowError": "O",
    "IndexError": "I",
    "KeyError": "K",
    "MemoryError": "M",
    "RuntimeError": "R",
    "AttributeError": "A",
}
LETTERS |= dict.fromkeys(("OSError", "FileNotFoundError", "FileExistsError"), "F")
LETTERS |= {"IsADirectoryError": "F", "NotADirectoryError": "F", "PermissionError": "F"}
MEANING = {letter: name for name, letter in reversed(LETTERS.items())}
MEANING |= {".": "a result", "?": "another error", "_": "left out", "F": "OSError"}
# Values that would be called now and then, ask a network, or limit this process.
LEFT_OUT = {
    "progress": {"function"},
    "watch": {"function"},
    "scheduler": {"text", "no text", "bytes"},
    "memory": {"7", "huge", "text"},
    # What the system says of paths is its own.
    **{name: {"no text", "bytes"} for name in ("path", "source", "target", "output", "checkpoint")},
}

RULE = "connectivity structure tolerance periodic batch_axes"
ANSWER = "numbering algorithm dtype out device workspace"
OF_LABELS = "labels background batch_axes"
OF_MODEL = "shape replicas seed first_replica start device"
OF_SPINS = f"{OF_MODEL} lattice temperature beta coupling field periodic"
FIELD = {"shape": (4, 4), "beta": 0.5}
CURVES = {n: [[x, x * n, 0.1] for x in (-1.0, 0.0, 1.0, 2.0)] for n in (2, 3)}
TABLE = {"l": ["a", "b"], "r": ["b", "c"], "w": [0.5, 0.9]}


def calls():
    for key, (function, options, names) in {**of_functions(), **of_models()}.items():
        yield key, partial(_classes, partial(_letters, function, options), names)
    for key, (function, options, names) in of_files().items():
        yield key, partial(_classes, partial(_letters_in_folders, function, options), names)
    yield from _of_conflicts()


def _classes(letters, names):
    """Return the letters of each parameter, with how many times each stands in a row."""
    return Classes(" ".join(f"{name}={_packed(''.join(letters(name)))}" for name in names.split()))


def _packed(letters):
    """Write 3T for TTT."""
    return re.sub(r"(.)\1+", lambda run: f"{len(run[0])}{run[1]}", letters)


def explain(was, now):
    """Yield what differs between the letters of a function's parameters, in words."""
    was, now = (dict(part.split("=") for part in text.split()) for text in (was, now))
    for name in {**was, **now}:
        if was.get(name) == now.get(name):
            continue
        if name not in was or name not in now:
            yield f"{name}: {'no longer' if name in was else 'not yet'} recorded"
            continue
        pairs = zip(WRONG, _letters_of(was[name]), _letters_of(now[name]), strict=True)
        yield from (
            f"{name}={word}: was {MEANING[old]}, is {MEANING[new]}"
            for word, old, new in pairs
            if old != new
        )


def _letters_of(packed):
    return re.sub(r"(\d+)(\D)", lambda run: int(run[1]) * run[2], packed)


def _letters(function, options, name):
    for word in WRONG:
        yield _letter(function, options(), name, word)


def _letters_in_folders(function, options, name):
    for word in WRONG:
        made = tempfile.TemporaryDirectory(prefix="conncomp-bits-")
        with made as folder, contextlib.chdir(folder):
            yield _letter(function, options(Path(folder)), name, word)


def _letter(function, options, name, word):
    if word in LEFT_OUT.get(name, ()):
        return "_"
    before = cc.get_num_threads()
    try:
        result = function(**(options | {name: WRONG[word]}))
        if hasattr(result, "__next__"):
            list(result)
    except Exception as error:
        classes = [cls.__name__ for cls in type(error).__mro__]
        return next((LETTERS[each] for each in classes if each in LETTERS), "?")
    finally:
        cc.set_num_threads(before)
    return "."


def _given(function, names, **options):
    """Return a function, what makes its other arguments, and the names of the wrong ones."""
    return function, lambda: dict(options), names


def _of(make, method):
    """Return a function that makes an object and calls a method of it."""

    def call(**options):
        return getattr(make(), method)(**options)

    call.__signature__ = inspect.signature(getattr(make(), method))
    return call


def of_functions():
    grow = partial(cc.IncrementalComponents, 4)
    labelled = {
        "colours": (cc.colour_components, "image alpha boundaries value_range"),
        "members": (cc.component_members, ""),
        "sizes": (cc.component_sizes, ""),
        "spans": (cc.component_spans, ""),
        "statistics": (
            cc.component_statistics,
            "image properties moments surfaces classes spacing",
        ),
        "contacts": (cc.contacts, "connectivity spacing periodic"),
        "each": (cc.each, ""),
        "holes": (cc.fill_holes, "connectivity max_size"),
        "largest": (cc.largest_components, "k by connectivity"),
        "adjacency": (cc.region_adjacency, "connectivity periodic"),
        "consecutive": (cc.relabel_consecutive, "return_labels"),
        "not small": (cc.remove_small_components, "min_size max_size invert connectivity"),
        "histogram": (cc.size_histogram, ""),
        "sorted": (cc.sort_by_size, ""),
    }
    pairs = {"pairs": TABLE, "left": "l", "right": "r"}
    arrays = {
        "label": _given(
            cc.label, f"label_image background return_num {RULE} {ANSWER}", label_image=IMAGE
        ),
        "label_bonds": _given(
            cc.label_bonds, f"bonds return_num periodic batch_axes {ANSWER}", bonds=BONDS
        ),
        "stream": (
            cc.stream_labels,
            lambda: {"slabs": [IMAGE]},
            "slabs background connectivity structure tolerance periodic surfaces spacing",
        ),
        "component wrapping": _given(
            cc.component_wrapping,
            f"label_image background {RULE} device workspace",
            label_image=IMAGE,
        ),
        "cluster wrapping": _given(
            cc.cluster_wrapping, "bonds periodic batch_axes device workspace", bonds=BONDS
        ),
        "percolates": _given(
            cc.percolates,
            "image axis background connectivity structure tolerance periodic device",
            image=IMAGE,
            axis=0,
        ),
        "match": _given(
            cc.match, "labels_a labels_b background batch_axes", labels_a=IMAGE, labels_b=IMAGE
        ),
        "scores": _given(_of(partial(cc.match, IMAGE, IMAGE), "scores"), "threshold"),
        "threads": _given(cc.set_num_threads, "n"),
    }
    arrays |= {
        key: _given(
            function,
            f"{OF_LABELS} {names}",
            labels=IMAGE,
            **{"min_size": 2} if key == "not small" else {},
        )
        for key, (function, names) in labelled.items()
    }
    graphs = {
        "components": _given(
            cc.connected_components,
            f"csgraph directed connection return_labels {ANSWER}",
            csgraph=GRAPH,
        ),
        "condensation": _given(cc.condensation, "csgraph numbering algorithm", csgraph=GRAPH),
        "forest": _given(cc.spanning_forest, "graph device workspace", graph=GRAPH),
        "minimum forest": _given(
            cc.minimum_spanning_forest,
            "graph weights device workspace",
            graph=GRAPH,
            weights=[1, 2],
        ),
        "growing": _given(cc.IncrementalComponents, "num_vertices device dtype", num_vertices=4),
        "growing edges": _given(_of(grow, "add_edges"), "src dst wait", src=[0], dst=[1]),
        "growing connected": _given(_of(grow, "connected"), "u v wait", u=[0], v=[1]),
        "growing roots": _given(_of(grow, "roots"), "vertices wait", vertices=[0]),
        "growing labels": _given(_of(grow, "labels"), "numbering dtype out"),
        "graph": _given(cc.Graph, "num_vertices arcs csr", num_vertices=3, arcs=([0], [1])),
        "graph of edges": _given(cc.Graph.from_edges, "src dst num_vertices", src=[0], dst=[1]),
        "graph of rows": _given(cc.Graph.from_csr, "indptr indices", indptr=[0, 1, 1], indices=[1]),
        "graph of SciPy": _given(cc.Graph.from_scipy, "matrix"),
        "graph of networkx": _given(cc.Graph.from_networkx, "graph"),
        "arc order": _given(GRAPH.in_arc_order, "values"),
        "graph to": _given(GRAPH.to, "device"),
    }
    tables = {
        "pairs": (
            cc.cluster_pairs,
            lambda: dict(pairs),
            "pairs left right weights threshold nodes max_size cluster_ids nulls device",
        ),
        "quality": (
            cc.cluster_quality,
            lambda: {"clusters": cc.cluster_pairs(**pairs), **pairs},
            "clusters pairs left right weights threshold node cluster nulls",
        ),
        "batches": _given(cc.ClusterPairs, "threshold nulls device"),
        "batch": _given(_of(cc.ClusterPairs, "add"), "left right weights", left=["a"], right=["b"]),
    }
    return arrays | graphs | tables | _of_generated()


def _of_generated():
    few = {
        "barabasi_albert": ({"edges_per_vertex": 2}, "edges_per_vertex shuffle"),
        "bow_tie": ({"links_per_vertex": 2}, "links_per_vertex shuffle"),
        "cycle": ({}, "shuffle"),
        "delaunay": ({}, "order"),
        "disjoint": (
            {"num_edges": 12, "num_components": 2},
            "num_edges num_components connected",
        ),
        "line": ({}, "shuffle"),
        "overlapping_cliques": ({"max_size": 4}, "max_size exponent shared shuffle"),
        "random_directed": ({"mean_degree": 2.0}, "mean_degree"),
        "random_neighbours": ({"degree": 2}, "degree"),
        "star": ({}, "hub"),
        "uniform_random": ({"num_edges": 9}, "num_edges"),
        "wang": ({"num_edges": 12, "num_components": 2}, "num_edges num_components shuffle"),
        "watts_strogatz": ({"degree": 2, "probability": 0.5}, "degree probability shuffle"),
        "web_like": ({"links_per_vertex": 2}, "links_per_vertex copying window shuffle"),
    }
    others = {
        "all_equal": ({"shape": (4, 4)}, "shape value"),
        "blobs": ({"shape": (4, 4)}, "shape sigma density seed"),
        "checkerboard": ({"shape": (4, 4)}, "shape"),
        "comb": ({"shape": (4, 4)}, "shape"),
        "grid": ({"shape": (4, 4)}, "shape periodic shuffle"),
        "maze": ({"shape": (4, 4)}, "shape seed"),
        "photograph": ({"shape": (4, 4)}, "shape seed"),
        "random_array": ({"shape": (4, 4)}, "shape density values block seed"),
        "rings": ({"shape": (4, 4)}, "shape"),
        "road_like": ({"shape": (4, 4)}, "shape keep segments connected shuffle"),
        "chain_of_cycles": ({"num_cycles": 2, "length": 3}, "num_cycles length shuffle"),
        "rmat": ({"scale": 3, "edges_per_vertex": 2}, "scale edges_per_vertex a b c simple"),
        "directed_rmat": ({"scale": 3, "arcs_per_vertex": 2}, "scale arcs_per_vertex a b c"),
        "hilbert_curve": ({"order": 2}, "order"),
        "spiral": ({"size": 5}, "size"),
        "mesh_sweep": ({"shape": (3, 3, 3)}, "shape form elements direction shuffle"),
        "voronoi": ({"shape": (4, 4), "cells": 3}, "shape cells seed"),
    }
    others |= {
        name: ({"num_vertices": 8, **options}, f"num_vertices {names} seed" * (name != "star"))
        for name, (options, names) in few.items()
    }
    others["star"] = {"num_vertices": 8}, "num_vertices hub"
    random = generate.random
    return {
        **{
            name: (getattr(generate, name), partial(dict, options), f"{names} device")
            for name, (options, names) in others.items()
        },
        "integers": _given(
            random.integers, "count high seed purpose start dtype device", count=3, high=5
        ),
        "uniform": _given(random.uniform, "count seed purpose start dtype device", count=3),
        "bits": _given(random.uniform_bits, "count seed purpose start dtype device", count=3),
        "permutation": _given(random.permutation, "count seed purpose device", count=3),
        "philox": _given(random.philox, "seed counter", seed=1, counter=(1, 2, 3, 4)),
    }


def of_models():
    ising = partial(models.Ising, (4, 4), beta=[0.4, 0.5], seed=1)
    glass = partial(models.SpinGlass, (2, 3), beta=0.5, copies=2)
    measured = {"series": np.linspace(0, 1, 64)}
    made = {
        "Ising": _given(models.Ising, OF_SPINS, **FIELD),
        "Ising of a graph": _given(models.Ising, OF_SPINS, shape=GRAPH, beta=0.5),
        "Potts": _given(models.Potts, f"{OF_SPINS} q labelling", **FIELD),
        "XY": _given(models.XY, OF_SPINS, **FIELD),
        "Heisenberg": _given(models.Heisenberg, OF_SPINS, **FIELD),
        "Clock": _given(models.Clock, f"{OF_SPINS} q", q=5, **FIELD),
        "O(n)": _given(models.ON, f"{OF_SPINS} n", n=4, **FIELD),
        "glass": _given(
            models.SpinGlass,
            f"{OF_MODEL} couplings beta temperature periodic samples copies update positive "
            "dilution field first_sample",
            **FIELD,
        ),
        "Kawasaki": _given(
            models.Kawasaki,
            f"{OF_MODEL} lattice temperature beta fraction coupling",
            shape=(4, 4, 4),
        ),
        "fields": _given(
            models.CahnHilliard,
            f"{OF_MODEL} mobility b u K dx dt mean amplitude noise dtype",
            shape=(4, 4),
        ),
        "percolation": _given(
            models.Percolation,
            "shape kind p lattice periodic replicas first_replica seed device",
            shape=(4, 4),
        ),
        "sweep": _given(
            _of(partial(models.Percolation, (4, 4)), "sweep"),
            "runs first_run batches between",
            runs=2,
        ),
        "critical beta": _given(models.Potts.critical_beta, "q ndim lattice", q=2),
        "critical temperature": _given(models.Ising.critical_temperature, "lattice"),
        "critical p": _given(models.Percolation.critical_p, "kind ndim lattice"),
        "stable time step": _given(
            models.CahnHilliard.stable_time_step, "ndim mobility b u K dx largest", ndim=2
        ),
        "cell": _given(
            models.UnitCell,
            "vectors sites bonds",
            vectors=[[1.0]],
            sites=[[0.0], [0.5]],
            bonds=[(0, 1, [0]), (1, 0, [1])],
        ),
        "couplings": _given(
            models.random_couplings, "size kind seed sample positive dilution", size=4
        ),
        "random fields": _given(models.random_fields, "size kind seed sample", size=4),
        "simulate": (
            models.simulate,
            lambda: {"model": ising(), "sweeps": 2},
            "model sweeps thermalise measure_every checkpoint_every progress force watch update "
            "clusters wrapping observe",
        ),
        "tempering": (
            models.parallel_tempering,
            lambda: {"model": ising(), "rounds": 2},
            "model rounds sweeps_between watch update",
        ),
        "autocorrelation": (models.autocorrelation_time, partial(dict, measured), "series"),
        "logarithmic bins": _given(models.logarithmic_bins, "series agreeing", series=np.eye(8)),
        "crossing": _given(models.crossing, "curves degree seed", curves=CURVES, degree=1),
        "collapse": _given(
            models.collapse,
            "curves critical nu exponent degree",
            curves=CURVES,
            critical=0.1,
            exponent=0.0,
            degree=1,
        ),
        "reweight": _given(
            lambda function=np.mean, **options: models.reweight(
                function, [1.0, 2.0, 4.0], **options
            ),
            "energy beta at bins",
            energy=[1.0, 2.0, 4.0],
            beta=0.5,
            at=0.6,
            bins=2,
        ),
        "jackknife": _given(
            lambda function=np.mean, **given: models.jackknife(function, np.arange(9.0), **given),
            "bin_length",
        ),
        "Katzgraber": _given(
            models.katzgraber_young,
            "energy link_overlap beta bonds variance",
            energy=[1.0, 2.0],
            link_overlap=[0.1, 0.2],
            beta=0.5,
            bonds=3,
        ),
        "overlap distribution": (
            models.overlap_distribution,
            lambda: {"measured": [glass().overlaps()], "beta": 0.5, "bins": 4},
            "measured beta bins",
        ),
        "overlap summary": (
            models.summarise_overlaps,
            lambda: {"measured": [glass().overlaps()] * 9, "shape": (2, 3)},
            "measured shape",
        ),
        "summary": (
            models.summarise,
            lambda: {"series": ising().swendsen_wang(9), "beta": 0.5},
            "series beta measure_every",
        ),
    }
    methods = {
        "swendsen_wang": "sweeps measure clusters wrapping observe",
        "wolff": "updates measure observe",
        "metropolis": "sweeps measure observe",
        "step": "n",
        "labels": "numbering return_num",
    }
    makers = {
        "Ising": (ising, {"heat_bath": "sweeps measure observe", "updater": "update observe"}),
        "Potts": (
            partial(models.Potts, (4, 4)),
            {
                "heat_bath": "sweeps measure observe",
                "few_cluster": "updates tile p_flip measure",
                "updater": "update tile p_flip clusters",
            },
        ),
        "XY": (partial(models.XY, (4, 4), beta=0.5), {"updater": "update observe"}),
    }
    for kind, (make, more) in makers.items():
        for method, names in (methods | more).items():
            needed = {"tile": 2, "p_flip": 0.5} if method == "few_cluster" else {}
            made[f"{kind} {method}"] = _of(make, method), partial(dict, needed), names
    made["glass step"] = _given(_of(glass, "step"), "n houdayer")
    made["glass updater"] = _given(_of(glass, "updater"), "houdayer overlaps tempering")
    for kind, make, names in (
        ("Kawasaki", partial(models.Kawasaki, 4), "numbering return_num"),
        (
            "fields",
            partial(models.CahnHilliard, (4, 4)),
            "numbering return_num threshold connectivity",
        ),
        ("percolation", partial(models.Percolation, (4, 4)), "p numbering return_num"),
    ):
        made[f"{kind} step"] = _given(_of(make, "step"), "n")
        made[f"{kind} labels"] = _given(_of(make, "labels"), names)
    return made


def of_files():
    def image(folder):
        np.save(folder / "image.npy", IMAGE)
        return folder / "image.npy"

    def edges(folder):
        (folder / "edges.csv").write_text("src,dst,weight\n0,1,0.5\n1,2,0.5\n")
        return folder / "edges.csv"

    known = "src dst num_vertices format header progress"
    return {
        "read image": (cc.read_image, lambda folder: {"path": image(folder)}, "path key mmap"),
        "write image": (
            cc.write_image,
            lambda folder: {"path": folder / "a.tif", "image": IMAGE},
            "path image axes",
        ),
        "view": (
            cc.write_view,
            lambda folder: {"path": folder / "a.html", "labels": IMAGE},
            "labels image part title value_range background spacing batch_axes",
        ),
        "label file": (
            cc.label_file,
            lambda folder: {"source": image(folder), "target": folder / "l.npy"},
            "source target background connectivity structure tolerance periodic batch_axes key "
            "channel threshold min_size largest numbering dtype memory scheduler progress",
        ),
        "plan": (
            cc.plan_labels,
            lambda folder: {"source": image(folder)},
            "source background connectivity periodic batch_axes key channel threshold memory",
        ),
        "open": (
            cc.open_volume,
            lambda folder: {"source": image(folder)},
            "source key channel memory progress",
        ),
        "read graph": (
            cc.Graph.read,
            lambda folder: {"path": edges(folder)},
            "path compact_ids integers header format progress",
        ),
        "edges": (cc.label_edge_files, lambda folder: {"files": edges(folder)}, known),
        "forest of edges": (
            cc.forest_of_edge_files,
            lambda folder: {"files": edges(folder)},
            known,
        ),
        "minimum forest of edges": (
            cc.minimum_forest_of_edge_files,
            lambda folder: {"files": edges(folder)},
            f"{known} weights",
        ),
        "simulation": (
            models.simulate,
            lambda folder: {"model": models.Ising((4, 4), seed=1), "sweeps": 2},
            "output checkpoint",
        ),
    }


def _of_conflicts():
    label, strong = partial(cc.label, IMAGE), partial(cc.connected_components, GRAPH)
    mask = IMAGE > 0
    ising, potts = partial(models.Ising, (4, 4)), partial(models.Potts, (4, 4))
    structure = np.ones((3, 3))
    yield from {
        "connectivity and structure": partial(label, connectivity=1, structure=structure),
        "structure that is not symmetric": partial(label, structure=[[1, 0, 0]] * 3),
        "structure of another size": partial(label, structure=np.ones((5, 5))),
        "structure of other axes": partial(label, structure=np.ones(3)),
        "tolerance of a mask": partial(cc.label, mask, tolerance=1),
        "tolerance below 0": partial(label, tolerance=-1),
        "option of none": partial(label, algorithm="runs", tile=8),
        "option of auto": partial(label, tile=8),
        "tile of 5": partial(label, algorithm="tiles", tile=5),
        "out and another dtype": partial(label, out=np.zeros((4, 4), "i4"), dtype="i8"),
        "out that overlaps": partial(label, out=IMAGE),
        "periodic of other axes": partial(label, periodic=(True, True, True)),
        "periodic and batches": partial(label, periodic=(True, True), batch_axes=1),
        "all axes are batches": partial(label, batch_axes=2),
        "connectivity of batches": partial(label, connectivity=2, batch_axes=1),
        "workspace on the CPU": partial(label, workspace=cc.Workspace()),
        "neighbors": partial(label, neighbors=4),
        "algorithm of strong": partial(strong, algorithm="tarjan"),
        "strong by another": partial(strong, connection="strong", algorithm="ecl"),
        "option of no algorithm": partial(strong, jump=1),
        "labels that are not asked for": partial(
            strong, return_labels=False, out=np.zeros(4, "i4")
        ),
        "weak and undirected": partial(strong, directed=False, connection="strong"),
        "largest of labels by connectivity": partial(cc.largest_components, IMAGE, connectivity=1),
        "largest of a mask with a background": partial(cc.largest_components, mask, background=-1),
        "holes with a background": partial(cc.fill_holes, mask, background=-1),
        "neither size": partial(cc.remove_small_components, IMAGE, invert=True),
        "range without image": partial(cc.colour_components, IMAGE, value_range=(0, 1)),
        "alpha without image": partial(cc.colour_components, IMAGE, alpha=0.5),
        "image of another shape": partial(cc.component_statistics, IMAGE, np.ones((3, 4))),
        "classes of another shape": partial(
            cc.component_statistics, IMAGE, classes=np.ones(3, int)
        ),
        "spacing of other axes": partial(cc.component_statistics, IMAGE, spacing=(1, 1, 1)),
        "beta and temperature": partial(ising, beta=0.5, temperature=2.0),
        "neither beta": partial(models.XY, (4, 4)),
        "critical of a graph": partial(models.Ising, GRAPH),
        "lattice of a graph": partial(models.Ising, GRAPH, beta=0.5, lattice="kagome"),
        "axes of a lattice": partial(models.Ising, (4, 4, 4), lattice="triangular"),
        "no lattice": partial(ising, lattice="none"),
        "replicas and temperatures": partial(ising, temperature=[1.0, 2.0], replicas=3),
        "labelling on the CPU": partial(potts, labelling="tiles"),
        "wave front on the CPU": partial(potts, labelling="wave-front"),
        "labelling of a field": partial(potts, field=0.1, beta=0.5, labelling="serial"),
        "options of auto": partial(potts, tile=4),
        "couplings of other bonds": partial(ising, beta=0.5, coupling=np.ones(5)),
        "field of another shape": partial(ising, beta=0.5, field=np.ones(5)),
        "antiperiodic field": partial(ising, beta=0.5, field=1.0, periodic="antiperiodic"),
        "start of another shape": partial(ising, start=np.ones((3, 4))),
        "start of no spins": partial(ising, start=np.full((4, 4), 3)),
        "clusters of metropolis": lambda: ising().updater(update="metropolis", clusters=True),
        "tile of wolff": lambda: potts().updater(update="wolff", tile=2),
        "no tile": lambda: potts().updater(update="few-cluster"),
        "tile that does not divide": lambda: potts().few_cluster(tile=3, p_flip=0.5),
        "probability above 1": lambda: potts().few_cluster(tile=2, p_flip=1.5),
        "observed twice": lambda: ising().metropolis(observe=["structure", "structure"]),
        "houdayer of one copy": lambda: models.SpinGlass((4, 4), beta=1.0).step(houdayer=True),
        "overlaps of one copy": lambda: models.SpinGlass((4, 4), beta=1.0).overlaps(),
        "positive of gaussian": partial(
            models.SpinGlass, (4, 4), "gaussian", beta=1.0, positive=0.3
        ),
        "length of 5": partial(models.Kawasaki, (5, 4, 4)),
        "no fraction": partial(models.Kawasaki, 4, fraction=1.5),
        "time step too long": partial(models.CahnHilliard, (4, 4), dt=10.0),
        "state of another": lambda: ising().restore(models.State(1, ())),
        "state of other arrays": lambda: ising().restore(potts().state()),
        "state before the first": lambda: ising().restore(ising().state()._replace(updates=-1)),
        "configurations of no p": lambda: models.Percolation((4, 4)).labels(1.5),
        "bonds of sites": lambda: models.Percolation((4, 4)).bonds(),
        "sites of bonds": lambda: models.Percolation((4, 4), "bond").occupied(),
        "no interval": lambda: models.Percolation((4, 4)).sweep(2, between=(0.5, 0.4)),
    }.items()
    for dtype in ("float32", "float16", "int32"):
        fields = partial(models.CahnHilliard, (4, 4), dtype=dtype)
        yield f"fields of {dtype}", lambda fields=fields: fields().field.dtype
