"""``python -m tests.fuzz.broken``: break each function that targets compare, and see them notice.

A breakage replaces a function by one whose result differs in one place. It is noticed if a seed
of the target, or a case that is drawn, is found wrong; the exit status is 1 if one is not.
"""

import argparse
import contextlib
import dataclasses
import itertools
import random
import re
from functools import wraps

import networkx as nx
import numpy as np

import conncomp
from conncomp import _arrays, models
from conncomp import networkx as backend
from conncomp._core import native
from conncomp.chunked import of_xarray
from conncomp.chunked.measures.volume_file import MappedVolume
from conncomp.chunked.volumes import labelling as volume_labelling
from conncomp.chunked.volumes import sample, writing
from conncomp.chunked.volumes.formats import slices, zarr_arrays
from conncomp.cli import _rules
from conncomp.components import statistics, touching
from conncomp.files import packed_chunks, scales
from conncomp.graph.inputs import conversions, parts
from conncomp.models import places as classes
from conncomp.models import results
from conncomp.tables import columns as table_columns
from conncomp.tables import values as text_values
from conncomp.tables.clustering import Clustering
from conncomp.tables.files.csv_pairs import CsvFile

from . import spins
from .target import random_case
from .targets import TARGETS
from .worker import judge

MOST_CASES = 150


def _other(value, path=()):
    """Return a value with one entry changed: of the part that `path` names."""
    if path:
        name, *path = path
        has_keys = isinstance(name, int) or isinstance(value, dict)
        changed = _other(value[name] if has_keys else getattr(value, name), path)
        if isinstance(value, dict):
            return {**value, name: changed}
        if dataclasses.is_dataclass(value):
            return dataclasses.replace(value, **{name: changed})
        if hasattr(value, "_replace") and isinstance(name, str):
            return value._replace(**{name: changed})
        if isinstance(value, tuple):
            return (*value[:name], changed, *value[name + 1 :])
        setattr(value, name, changed)
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        changed = value.copy()
        if changed.size:
            place = changed.size // 2
            changed.flat[place] = _other(changed.flat[place])
        return changed
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, list):
        return value[1:]
    if isinstance(value, set):
        return value | {"another"}
    if isinstance(value, nx.Graph):
        value.add_node("another")
        return value
    number = type(value)(1) if value != value else value + type(value)(1)
    return number if number != value else value / 2


def _column(k, by=1):
    """Return what changes a field of the records of measurements."""

    def change(measured):
        records = measured.records.copy()
        records[..., k] += by
        return dataclasses.replace(measured, records=records)

    return change


def _part(*path):
    return lambda result: _other(result, path)


def _entry(name):
    """Return what changes a column of a table, or another entry of a dict."""
    return lambda table: {**table, name: _other(table[name])} if name in table else table


def of(owner, name, change):
    """Return a breakage: a function that changes what it returns."""
    function = getattr(owner, name)

    @wraps(function)
    def broken(*arguments, **options):
        return change(function(*arguments, **options))

    return owner, name, broken


def of_parts(owner, name, *parts):
    """Return a breakage for each part of what a function returns: a name, a number or a path."""
    paths = (part if isinstance(part, tuple) else (part,) for part in parts)
    return [of(owner, name, _part(*path)) for path in paths]


def of_property(owner, name, change):
    """Return a breakage of a property."""
    get = getattr(owner, name).fget
    return owner, name, property(lambda instance: change(get(instance)))


def of_call(owner, name, other):
    """Return a breakage: `other` is called with the function ahead of its arguments."""
    function = getattr(owner, name)

    @wraps(function)
    def broken(*arguments, **options):
        return other(function, *arguments, **options)

    return owner, name, broken


def _pads(convert, matrix):
    """Take the zeros that pad blocks for entries."""
    return matrix.tocsr() if getattr(matrix, "format", "") == "bsr" else convert(matrix)


def _stands_still(step, model, n=1):
    before = model.state()
    step(model, n)
    if n > 1:
        model.restore(before._replace(updates=model.updates))


def _lags(step, model, n=1):
    step(model, max(n - 1, 0))


def _forgets(restore, model, state):
    restore(model, state._replace(arrays=tuple(array * 0 for array in state.arrays)))


def _with_loops(arcs_of, edges):
    """Return an arc of each site to itself, too, that has a bond to itself."""
    has = np.zeros(edges.sites, bool)
    has[edges.ends[0][edges.ends[0] == edges.ends[1]]] = True
    begins, targets, couplings = arcs_of(edges)
    ends = begins[1:][has]
    targets = np.insert(targets, ends, np.flatnonzero(has)).astype(np.int32)
    if couplings is not None:
        couplings = np.insert(couplings, ends, 1 << 29).astype(np.int32)
    return np.append(0, begins[1:] + np.cumsum(has)), targets, couplings


def _by_temperature(parallel_tempering, *arguments, **options):
    found = parallel_tempering(*arguments, **options)
    order = np.argsort(found.beta)
    return dataclasses.replace(found, beta=found.beta[order], replicas=found.replicas[:, order])


def _stumbles(function, *arguments, **options):
    raise KeyError("a word that says nothing")


def _one_less(generated):
    yield from list(generated)[1:]


def _turned(copy, address, vertices, src, dst):
    return copy(address, vertices, dst, src)


def _merges(read, path, **options):
    """Read a file of text without the zeros that ids begin with."""
    path.write_text(re.sub(r"\b0+(?=\d)", "", path.read_text()))
    return read(path, **options)


def _takes_zeros(parse, ends, data, integers):
    place = parse(ends, data, integers)
    return -1 if place >= 0 and data[ends[place]] == ord("0") else place


def _takes_nothing(parse, ends, data, integers):
    place = parse(ends, data, integers)
    integers[:] = integers[::-1].copy()
    return place


def _with_another(name):
    """Return what changes a column of a table of Arrow in one place."""

    def change(table):
        column = _other(table.column(name).to_numpy())
        return table.set_column(table.column_names.index(name), name, [column])

    return change


def _without_last(add, components, src, dst, **options):
    add(components, src[:-1], dst[:-1], **options)


def _without_filters(label_file, *arguments, min_size=None, largest=None, **options):
    return label_file(*arguments, **options)


def _with_a_larger_one(function, labels, number, **options):
    return function(labels, number + 9, **options)


STATISTICS = ["labels", "sizes", "bounding_boxes", "centroids", "moments", "batch", "sums", "means"]
STATISTICS += ["minima", "maxima", "weighted_centroids", "faces"]
COLUMNS = ["num_pixels", "bbox", "area_filled", "moments"]
POTTS_RECORD = {"satisfied": 0, "active": 1, "clusters": 2, "largest": 3, "squares": 4}
POTTS_RECORD |= {"fourths": 7, "windings": 12, "rank": 13, "counts": 14}
# Sums of products and of components are in units of 2**-28.
VECTOR_RECORD = {0: 1 << 28, 1: 1, 2: 1, 3: 1, 30: 1 << 40}
EDGE_RECORD = {0: 1 << 28, 1: 1, 2: 1, 3: 1, 14: 1 << 28}
ISING_RECORD = [number for name, number in POTTS_RECORD.items() if name not in ("windings", "rank")]
PERCOLATION_RECORD = {"elements": 0, "clusters": 1, "largest": 2, "squares": 3, "axes": 5}
PERCOLATION_RECORD |= {"rank": 6, "classes": 7}

ESTIMATE = ("value", "error")
WRAPPING = ("axes", "wrapping", "bases", "counts")
OBSERVABLES = ("energy", "specific_heat", "magnetisation", "susceptibility")
SUMMARISED = [("beta",), ("measurements",), ("enough",), *itertools.product(OBSERVABLES, ESTIMATE)]
SIZES = ("clusters", "largest_cluster", "mean_size", "squared_sizes")

GENERATED = re.compile("^(?!number_).*(_components|_edges)$")

BREAKAGES = {
    "read-image": [of(conncomp, "read_image", lambda image: image.astype(object))],
    "read-graph": [of(conncomp, "connected_components", _part(1))],
    "read-pairs": [of(Clustering, "table", _with_another(name)) for name in ("cluster", "size")],
    "edge-files": [
        *(of(conncomp, "label_edge_files", _part(k)) for k in (0, 1)),
        *(of(conncomp, "spanning_forest_of_files", _part(k)) for k in range(3)),
        *(of(conncomp, "minimum_spanning_forest_of_files", _part(k)) for k in range(4)),
    ],
    "names-in-text": [
        of_call(conncomp.Graph, "read", _merges),
        of_call(native.NamedArcReader, "rename", lambda rename, reader, src, dst: None),
        of(CsvFile, "_line_of", lambda line: line + 1),
        *(of_call(native, "integers_of_text", _takes) for _takes in (_takes_zeros, _takes_nothing)),
        *(of(conncomp, "label_edge_files", _part(k)) for k in (0, 1)),
    ],
    "arguments": [of_call(conncomp, "label", _stumbles)],
    "options": [
        of_call(_rules, "_check_once", lambda function, *given: None),
        of_call(_rules.Rule, "check", lambda function, *given: None),
        of(_rules, "is_given", lambda result: not result),
    ],
    "label": [of(conncomp, "label", _part(0)), of(conncomp, "label", _part(1))],
    "label-bonds": [of(conncomp, "label_bonds", _part(k)) for k in (0, 1)],
    "wrapping": [
        of(conncomp, "percolates", lambda result: not result),
        *of_parts(conncomp, "component_wrapping", *WRAPPING),
        *of_parts(conncomp, "cluster_wrapping", *WRAPPING),
    ],
    "tables": [
        of(conncomp, "component_sizes", _part()),
        of(conncomp, "component_spans", _part()),
        *(of(conncomp, "component_members", _part(k)) for k in (0, 1)),
        *(of(conncomp, "size_histogram", _part(k)) for k in (0, 1)),
    ],
    "selection": [
        of(conncomp, name, _part())
        for name in ("largest_components", "remove_small_components", "sort_by_size")
    ],
    "relabelling": [
        of(conncomp, "relabel_consecutive", lambda x: _other(x, (0,) if type(x) is tuple else ())),
        of(conncomp, "relabel_consecutive", lambda x: _other(x, (1,)) if type(x) is tuple else x),
    ],
    "statistics": [
        *(of(conncomp, "component_statistics", _part(name)) for name in STATISTICS),
        *of_parts(conncomp.results.ComponentStatistics, "principal_axes", 0, 1),
        of_property(conncomp.results.ComponentStatistics, "volumes", _part()),
        of_property(conncomp.results.ComponentStatistics, "surface_areas", _part()),
        of(conncomp, "iterate_components", lambda walk: [*walk, "another"]),
        of_property(conncomp.results.Component, "mask", _part()),
        of(conncomp.results.Component, "crop", _part()),
    ],
    "columns": of_parts(conncomp, "component_statistics", *(("properties", k) for k in COLUMNS)),
    "containers": [
        of(_arrays, "values_and_nulls", lambda read: read and (read[0], False)),
        of(statistics, "spacing_of", lambda spacing: None),
        of(touching, "spacing_of", lambda spacing: None),
        of(of_xarray, "_like", lambda labels: labels + 1),
        of(of_xarray, "_places", lambda places: slice(None)),
        of_call(of_xarray, "in_order", lambda function, labels, other, *more: other),
    ],
    "contacts": [
        *(of(conncomp, "contacts", _part(k)) for k in ("pairs", "counts", "areas", "batch")),
        *of_parts(conncomp, "region_adjacency", ("_parts", "arcs", 1), ("_parts", "num_vertices")),
    ],
    "match": [
        *of_parts(conncomp, "match_labels", "pairs", "intersections", "unions", "batch"),
        of(conncomp, "match_labels", _part("components", 0)),
    ],
    "holes": [of(conncomp, "fill_holes", _part())],
    "colours": [of(conncomp, "colour_components", _part())],
    "graphs": [
        of(conncomp.Graph, "is_symmetric", lambda result: not result),
        of_call(native, "copy_igraph_edges", _turned),
        *(of_property(conncomp.Graph, name, _part()) for name in ("indptr", "indices", "num_arcs")),
    ],
    "connected-components": [
        of_call(conversions, "as_arcs_or_rows", _pads),
        of(conncomp, "connected_components", lambda x: _other(x, () if type(x) is int else (0,))),
        of(conncomp, "connected_components", lambda x: x if type(x) is int else _other(x, (1,))),
    ],
    "strong-components": [
        of(conncomp, "connected_components", lambda x: x if type(x) is int else _other(x, (1,))),
        *of_parts(conncomp, "condensation", "labels", "num_components"),
        of(conncomp, "condensation", _part("graph", "_parts", "csr", 1)),
    ],
    "forests": [
        of(conncomp, "spanning_forest", _part()),
        of(conncomp, "minimum_spanning_forest", _part()),
    ],
    "clusters-of-pairs": [
        *(of(conncomp, "cluster_pairs", _entry(name)) for name in ("node", "cluster", "size_2")),
        of(conncomp.ClusterPairs, "labels", _entry("cluster")),
    ],
    "ids-of-objects": [
        of(conncomp, "cluster_pairs", _entry("size")),
        of_call(
            table_columns, "held", lambda function, values, name: (np.asarray(values), None, None)
        ),
        of_call(
            text_values,
            "_encode_objects",
            lambda encode, values: encode(
                [v.rstrip("\0" if isinstance(v, str) else b"\0") for v in values]
            ),
        ),
    ],
    "quality-of-clusters": [
        of(conncomp, "cluster_quality", _entry(name))
        for name in ("size", "pairs", "density", "bridges", "cut_off", "weakest")
    ],
    "duplicates": [
        of(conncomp, "cluster_dups", _entry(name))
        for name in ("duplicates", "to_remove", "clusters")
    ],
    "label-files": [
        of(conncomp, "label_file", _part()),
        of_call(conncomp, "label_file", _without_filters),
        *(of(conncomp, "plan_labels", _part(k)) for k in ("shape", "block_shape", "blocks")),
    ],
    "films": [
        of(conncomp, "label_file", _part()),
        of_call(scales, "separate_axes", lambda function, axes, *more: []),
        of_call(volume_labelling, "batch_axes_of", lambda function, *given: 0),
    ],
    "label-volumes": [
        of(conncomp, "component_sizes", _part()),
        of(conncomp, "size_histogram", _part(0)),
        *(of(conncomp, "component_statistics", _part(name)) for name in ("sizes", "faces")),
        of(conncomp, "contacts", _part("counts")),
        of_call(conncomp, "largest_components", _with_a_larger_one),
        of_call(conncomp, "remove_small_components", _with_a_larger_one),
        of(MappedVolume, "read", _part()),
    ],
    "packed-volumes": [
        of_call(packed_chunks, "check_codecs", lambda function, *given: None),
        of_call(packed_chunks, "check_chunks", lambda function, *given: None),
    ],
    "damaged-volumes": [
        of_call(conncomp, "label_file", _stumbles),
        *(
            of_call(module, "check_place", lambda function, *given: None)
            for module in (slices, packed_chunks, zarr_arrays)
        ),
    ],
    "forged-volumes": [
        of_call(sample, "free_space", lambda function, *given: 1 << 60),
        of_call(writing, "remove_kept", lambda function, *given: None),
        of(conncomp, "label_file", lambda count: (_ for _ in ()).throw(OSError(5, "no room"))),
    ],
    "streams": [
        of(conncomp, "stream_labels", lambda batches, name=name: map(_part(name), batches))
        for name in ("labels", "sizes", "bounding_boxes", "centroids", "faces", "sums", "minima")
    ],
    "growing-graphs": [
        of_call(conncomp.IncrementalComponents, "add_edges", _without_last),
        *(of(conncomp.IncrementalComponents, k, _part()) for k in ("connected", "roots", "labels")),
        of_property(conncomp.IncrementalComponents, "count", _part()),
    ],
    "networkx": [
        *(of(backend, name, _one_less) for name in backend.__all__ if GENERATED.search(name)),
        *(
            of(backend, name, _part())
            for name in backend.__all__
            if name.startswith(("is_", "number_", "node_"))
            or name.endswith(("_tree", "condensation"))
        ),
    ],
    "potts": [
        *(of(models.Potts, "swendsen_wang", _column(k)) for k in POTTS_RECORD.values()),
        *(of(models.Potts, name, _column(0)) for name in ("wolff", "few_cluster", "metropolis")),
        *(of(models.Potts, name, _part()) for name in ("bonds", "energy", "magnetisation")),
        *(of(models.Potts, "labels", _part(k)) for k in (0, 1)),
        of(models.Potts, "measure", _column(0)),
        of(models.Potts, "wrapping", _part("bases")),
        of_call(classes, "arcs_of", _with_loops),
        of_call(models.Potts, "step", _stands_still),
        of_call(models.Potts, "restore", _forgets),
        of_property(models.Potts, "spins", _part()),
    ],
    "ising": [
        *(of(models.Ising, "swendsen_wang", _column(k)) for k in ISING_RECORD),
        of(models.Ising, "wolff", _column(0)),
        *(of(models.Ising, name, _part()) for name in ("bonds", "energy", "magnetisation")),
        *(of(models.Ising, "labels", _part(k)) for k in (0, 1)),
        of(models.Ising, "measure", _column(0)),
        of_call(classes, "arcs_of", _with_loops),
        of_call(models.Ising, "step", _stands_still),
        of_call(models.Ising, "restore", _forgets),
        *(of_property(models.Ising, name, _part()) for name in ("spins", "edges", "signs")),
    ],
    "observables": [
        of(models.Ising, "swendsen_wang", _column(16, 1 << 28)),
        of(models.Ising, "swendsen_wang", _column(-1, 1 << 32)),
        *(
            of_property(results.IsingMeasurements, name, _part())
            for name in ("wraps", "rank", "structure", "improved_structure")
        ),
    ],
    "vectors": [
        *(of(models.XY, "swendsen_wang", _column(k, by)) for k, by in VECTOR_RECORD.items()),
        of(models.XY, "wolff", _column(0, 1 << 28)),
        *(of(models.XY, name, _part()) for name in ("bonds", "energy")),
        *(of(models.Heisenberg, "labels", _part(k)) for k in (0, 1)),
        of(models.Heisenberg, "measure", _column(0, 1 << 28)),
        of_call(classes, "arcs_of", _with_loops),
        of(models.Heisenberg, "magnetisation", _part()),
        of_call(models.Heisenberg, "step", _stands_still),
        of_call(models.XY, "restore", _forgets),
        of_property(models.Heisenberg, "spins", _part()),
    ],
    "ising-graphs": [
        of(parts.Parts, "ends", lambda ends: (ends[0][::-1], ends[1][::-1])),
        # A coupling of 1, as the strongest one is, is 2**29 units.
        of(models.Ising, "swendsen_wang", _column(0, 1 << 29)),
        *(of(models.Ising, "swendsen_wang", _column(k)) for k in (1, 2, 3)),
        *(of(models.Ising, rule, _column(0, 1 << 29)) for rule in ("metropolis", "heat_bath")),
        *(of(models.Ising, name, _part()) for name in ("bonds", "energy", "magnetisation")),
        *(of(models.Ising, "labels", _part(k)) for k in (0, 1)),
        of_call(models.Ising, "step", _stands_still),
        of_call(models.Ising, "restore", _forgets),
        *(of_property(models.Ising, name, _part()) for name in ("spins", "edges", "signs")),
    ],
    "spins-on-edges": [
        *(of(models.Clock, "swendsen_wang", _column(k, by)) for k, by in EDGE_RECORD.items()),
        of(models.ON, "swendsen_wang", _column(15, 1 << 28)),
        of(models.XY, "metropolis", _column(0, 1 << 28)),
        of(models.Potts, "swendsen_wang", _column(0, 1 << 29)),
        of(models.Potts, "wolff", _column(14)),
        *(of(models.Potts, rule, _column(0, 1 << 29)) for rule in ("metropolis", "heat_bath")),
        *(of(models.ON, name, _part()) for name in ("bonds", "energy")),
        *(of(models.Potts, "labels", _part(k)) for k in (0, 1)),
        of_call(models.Clock, "step", _stands_still),
        of_call(models.ON, "restore", _forgets),
        of_property(models.Clock, "spins", _part()),
        *(of(spins, f"random_{name}", _part()) for name in ("couplings", "fields")),
    ],
    "analysis": [
        of(models, "crossing", _part()),
        *(
            of(models, "crossing", lambda found, part=part: [_other(f, part) for f in found])
            for part in (("x", "value"), ("y", "value"), ("x", "error"), ("y", "error"))
        ),
        *of_parts(models, "collapse", *itertools.product(("critical", "nu", "exponent"), ESTIMATE)),
        *of_parts(models, "collapse", "chi_squared", "freedom"),
        of(results.Collapse, "scale", _part()),
        *of_parts(models, "reweight", *results.Reweighted._fields),
        *of_parts(models, "logarithmic_bins", *results.LogarithmicBins._fields),
        *of_parts(models, "glass_equilibration_test", *ESTIMATE),
        *of_parts(models, "overlap_distribution", *results.OverlapDistribution._fields),
    ],
    "tempering": [
        *of_parts(models, "parallel_tempering", "beta", "replicas", "acceptance"),
        of(models, "parallel_tempering", _part("series", "records")),
        of_call(models, "parallel_tempering", _by_temperature),
    ],
    "percolation": [
        *(of(models.Percolation, "measure", _column(k)) for k in PERCOLATION_RECORD.values()),
        *(of(models.Percolation, name, _part()) for name in ("occupied", "bonds")),
        of(models.Percolation, "labels", lambda x: _other(x, (0,) if type(x) is tuple else ())),
        of_call(models.Percolation, "step", _lags),
        *(
            of(results.PercolationMeasurements, "summarise", _part(*path))
            for path in itertools.product(results.PercolationSummary._fields, ESTIMATE)
        ),
    ],
    "percolation-sweeps": [
        *of_parts(models.Percolation, "sweep", "series", "first_wraps"),
        *(of(results.PercolationSweep, name, _part()) for name in ("first", "wrapped")),
        *of_parts(results.PercolationSweep, "wrapping", *ESTIMATE),
        *of_parts(results.PercolationSweep, "at", *((name, "value") for name in SIZES)),
    ],
    "kawasaki": [
        *(of(models.Kawasaki, "measure", _column(k)) for k in range(3)),
        *(of(models.Kawasaki, "labels", _part(k)) for k in (0, 1)),
        of_call(models.Kawasaki, "step", _stands_still),
        of_property(models.Kawasaki, "spins", _part()),
    ],
    "spin-glass": [
        *(of(models.SpinGlass, "measure", _column(k)) for k in range(2)),
        of(models.SpinGlass, "overlaps", _part("overlap")),
        of_call(models.SpinGlass, "restore", _forgets),
        of_property(models.SpinGlass, "spins", _part()),
    ],
    "cahn-hilliard": [
        *(of(models.CahnHilliard, "measure", _column(k)) for k in (1, 3, 5, 6, 8, 10, 12, 14)),
        of(models.CahnHilliard, "labels", _part()),
        of_call(models.CahnHilliard, "step", _stands_still),
        of_call(models.CahnHilliard, "restore", _forgets),
        of_property(models.CahnHilliard, "field", _part()),
    ],
    "simulations": [
        *of_parts(models, "simulate", "updates", ("series", "records")),
    ],
    "series": [
        *of_parts(models, "autocorrelation_time", *ESTIMATE),
        *of_parts(models, "jackknife", *ESTIMATE),
        *(
            of(models, "summarise", lambda rows, path=path: [_other(rows[0], path), *rows[1:]])
            for path in SUMMARISED
        ),
    ],
}


@contextlib.contextmanager
def installed(owner, name, replacement):
    """Put the replacement in the place of a function, which may be one that the owner inherits."""
    inherited = name not in vars(owner)
    before = None if inherited else vars(owner)[name]
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        if inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def notices(target, breakage):
    """Return the number of the first case that fails, or None."""
    source = random.Random(1)
    cases = itertools.chain(target.seeds(), iter(lambda: random_case(source), None))
    with installed(*breakage):
        for number, data in enumerate(itertools.islice(cases, MOST_CASES)):
            if judge(target, data) is not None:
                return number
    return None


def main():
    parser = argparse.ArgumentParser("python -m tests.fuzz.broken", description=__doc__)
    parser.add_argument("target", nargs="*", help=", ".join(BREAKAGES))
    names = parser.parse_args().target or list(BREAKAGES)
    unnoticed = [
        f"{name}: {owner.__name__}.{attribute}, breakage {place}"
        for name in names
        for place, (owner, attribute, broken) in enumerate(BREAKAGES[name])
        if notices(TARGETS[name], (owner, attribute, broken)) is None
    ]
    print(f"{sum(len(BREAKAGES[name]) for name in names)} breakages", *unnoticed, sep="\n")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    raise SystemExit(main())
