"""What is fuzzed: each target makes of bytes a file, a call or a command, and judges the result.

A file is the byte that chooses its name, and its content. A call is read by `Choices`; it is valid,
so that it must work and its result is compared with a reference, but for those of ``arguments``.
Targets of calls are in files of their own.
"""

import contextlib
import inspect
import io
import re
import warnings
from operator import attrgetter
from pathlib import Path

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

import conncomp
from conncomp.generate.random import philox
from conncomp.tables.clustering import Clustering
from conncomp.tables.columns import as_doubles
from conncomp.tables.files.reading import Wanted, batches, check_types, open_file

from ..pairs_reference import table_of
from . import (
    analysis,
    columns,
    containers,
    files,
    glasses,
    graphs,
    grids,
    label_tools,
    models,
    names,
    networkx_graphs,
    observables,
    options,
    pairs,
    spins,
    volumes,
)
from .target import Target, assert_same, of_calls


def read_image(data):
    with files.in_a_folder(files.IMAGES, data) as path:
        image = conncomp.read_image(path)
        assert isinstance(image, np.ndarray)
        assert image.dtype.kind in "biufc"
        if image.ndim and image.size and image.dtype.kind != "c":
            _, num = conncomp.label(image, return_num=True, connectivity=1)
            assert 0 <= num <= image.size


def read_graph(data):
    with files.in_a_folder(files.GRAPHS, data) as path:
        # Every other case by its content; the others with vertex numbers as they are written.
        compact = bool(len(data) % 2)
        integers = [True, False][len(data) // 2 % 2] and path.suffix in (".csv", ".tsv", ".txt")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a first row that is not clear
            read = conncomp.Graph.read(path, compact_ids=compact, integers=integers)
        graph = read[0] if compact else read
        num, labels = conncomp.connected_components(graph)
        assert len(labels) == graph.num_vertices
        if graph.num_vertices <= 1 << 20:
            n = graph.num_vertices
            ones = np.ones(graph.num_arcs, bool)
            matrix = scipy.sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
            assert_same((num, labels), csgraph.connected_components(matrix))


def read_pairs(data):
    with files.in_a_folder(files.PAIRS, data) as path:
        wanted = Wanted(()) if path.suffix == ".dups" else Wanted(("l",), ("r",), "w")
        opened = open_file(path, wanted, integers=bool(len(data) % 2))
        check_types([opened])
        weighed = wanted.weights is not None
        clustering = Clustering(
            threshold=0 if weighed else None, max_size=None, nulls="raise", weighed=weighed
        )
        pairs, nodes = [], []
        for batch in batches([opened], "drop", 2):
            sides = batch.left, batch.right
            clustering.add(*(side if len(side) > 1 else side[0] for side in sides), batch.weights)
            left, right = (
                zip(*(column.tolist() for column in side), strict=True) for side in sides
            )
            counts = [True] * batch.rows if not weighed else as_doubles(batch.weights) >= 0
            for u, v, joins in zip(left, right, counts, strict=True):
                nodes += [u, v]
                pairs += [(u, v)] if joins else []
        found = clustering.table("number", "pyarrow")
        if len(nodes) <= 1000:
            _, cluster, size = table_of(pairs, nodes)
            assert_same((found.column("cluster"), found.column("size")), (cluster, size))


SPARSE = ("bsr", "csc", "dia", "dok", "lil")
CALLED = """
label label_bonds stream_labels connected_components condensation spanning_forest
minimum_spanning_forest match_labels Graph Graph.from_edges Graph.from_csr Graph.from_scipy
component_sizes component_members size_histogram largest_components remove_small_components
sort_by_size component_statistics component_spans component_wrapping cluster_wrapping percolates
colour_components contacts region_adjacency fill_holes relabel_consecutive iterate_components
cluster_pairs cluster_quality set_num_threads
"""


def arguments(choices):
    """Call public functions with whatever: an error in words, or an answer, and no crash."""
    odd = [
        None, True, -1, 0, 1, 2**31, 2**63, 10**300, 0.5, np.nan, "all", b"x", [], [[]], [1, 2],
        [[1, 0], [0]], {}, object(), 1j, np.int8(3), np.float32(1), np.array(1), np.zeros(0),
        np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.ones((2, 2), bool), np.array(["a"]),
        np.array([10**8]), np.array([-1, 2**62]), np.array([0, 1, 3]), np.array([object()]),
        np.ma.masked_equal([1, 2, 1], 2), np.zeros((2,) * 20, bool), np.matrix([[0, 1], [1, 0]]),
        np.zeros(3, "M8[s]"), np.zeros(2, [("a", int)]), scipy.sparse.eye_array(3).tocsr(),
        scipy.sparse.coo_array((2, 3)), np.broadcast_to(np.int32(1), (5, 5)),
        conncomp.Graph.from_edges([0, 1], [1, 2]), (np.array([0]), np.array([1])),
        (np.array([10**8]), np.array([10**9])), (np.array([0, 2]), np.array([7, 9])),
        range(2**40), range(2**80), [b"a\0", b"a"], ["a", 1], [2**64 - 1, 3], {"l": [1], "r": [2]},
        *(scipy.sparse.coo_array(np.eye(4, k=1)).asformat(layout) for layout in SPARSE),
        conncomp.models.Ising(2, beta=0.5), conncomp.Workspace(), np.True_, "strong",
    ]  # fmt: skip
    function = choices.pick([philox, *(attrgetter(name)(conncomp) for name in CALLED.split())])
    names = [name for name in inspect.signature(function).parameters if name != "labels"]
    positional = [choices.pick(odd) for _ in range(choices.below(4))]
    named = {choices.pick(names): choices.pick(odd) for _ in range(choices.below(4))}
    named.pop("device", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*positional, **named)
        _check_bools(function, positional, named)
        if function is conncomp.stream_labels:
            list(result)
        if isinstance(result, conncomp.Graph):
            conncomp.connected_components(result)
            conncomp.connected_components(result, connection="strong")
            result.is_symmetric()


def _check_bools(function, positional, named):
    """What is taken for a bool must be one, or 0 or 1."""
    signature = inspect.signature(function)
    for name, value in signature.bind(*positional, **named).arguments.items():
        if signature.parameters[name].annotation == "bool":
            assert isinstance(value, (bool, int, np.bool_, np.integer)), name
            assert value in (0, 1), name


def command(choices):
    """Run a command line: it succeeds, or says why not in one line, and leaves no litter."""
    from conncomp.cli._command import command as group

    kind, option_values = choices.pick(list(COMMANDS.items()))
    names = {"graph": files.GRAPHS, "cluster": files.PAIRS}.get(kind, files.IMAGES)
    words = []
    for _ in range(choices.below(5)):
        option = choices.pick(list(option_values))
        values = option_values[option]
        words += [option] if values is None else [option, choices.pick(values)]
    content = choices.pick(files.seeds_of(names))
    if choices.flag():
        at = choices.below(256)
        content = content[: at + 1] + choices.remaining() + content[at + 1 :]
    with files.in_a_folder(names, content) as path, contextlib.chdir(path.parent):
        shown, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            try:
                group.main([kind, path.name, *words], prog_name="conncomp")
            except SystemExit as end:
                status = end.code or 0
        complaint = errors.getvalue()
        assert all(line.startswith("conncomp: ") for line in complaint.splitlines()), complaint
        # What is told of values, and then the error.
        lines = [line for line in complaint.splitlines() if not re.search(TOLD, line)]
        if kind == "measure" and status == 1:  # a file could not be measured, and is named
            assert lines[0].startswith(f"conncomp: {path.name}: "), complaint[:200]
            assert len(lines) == 2, complaint[:200]
            return
        single = [word for word in words if word in option_values.keys() - AGAIN]
        assert status == 2 or len(set(single)) == len(single), f"twice, in silence: {words}"
        assert status in (0, 2), f"exit status {status}"
        assert len(lines) == (status == 2), complaint[:200]
        assert status == 0 or not shown.getvalue(), "output beside an error"
        litter = [entry.name for entry in Path().iterdir() if entry.name.startswith(".")]
        assert not litter, f"left {litter}"


TOLD = "looks like intensities|holds fractions|is taken as "
BIG = "1" + "0" * 400
AGAIN = {"--left", "--right", "--node"}  # may be given several times
OUTPUTS = [
    "out.npy",
    "out.npz",
    "out.tif",
    "out.png",
    "out.csv",
    "out.txt",
    "no/out.npy",
    "out",
    "",
]
OUTPUTS += ["in", ".", "out\x1b[31m.npy"]
COMMANDS = {
    "label": {
        "-o": OUTPUTS,
        "--key": ["labels", "", "x"],
        "--threshold": ["otsu", "0", "0.5", "-1e308", BIG, "nan", "x", "1e999"],
        "--background": ["0", "1", "-1", "nan", BIG, "-inf", "x", "1e400"],
        "--connectivity": ["1", "2", "3", "0", BIG, "x"],
        "--periodic": ["all", "none", "0", "0,1", "true,false", "-1", ",", BIG, "x"],
        "--join-time": None,
        "--top": ["1", "3", BIG, "0"],
        "--min-size": ["1", "2", BIG],
        "--stats": ["out.csv", "no/out.csv", "out.npy"],
        "--picture": ["out.png", "out.jpg", "no/out.png"],
        "--threads": ["1", "2", "4097", BIG],
        "--json": None,
    },
    "measure": {
        "-o": ["out.parquet", "out.csv", "out.arrow", *OUTPUTS],
        "--key": ["labels", "", "x"],
        "--threshold": ["otsu", "li", "triangle", "local", "local:3", "local:4", "0", BIG, "x"],
        "--dark": None,
        "--channel": ["0", "1", BIG],
        "--grey": None,
        "--series": ["0", "1", BIG],
        "--planes": None,
        "--join-time": None,
        "--intensity": ["{name}", "no", "{x}", "{stem}.npy", ""],
        "--properties": ["all", "area", "area,perimeter", "slice,coords", "x", "", ","],
        "--spacing": ["1", "2,0.5", "1e300,1e-300", "0", "nan", BIG],
        "--unit": ["mm", "um", "x", ""],
        "--min-size": ["1", "2", BIG],
        "--connectivity": ["1", "2", "3", "0"],
        "--labels": ["out.npy", "{stem}.png", "{name}", "o/{parent}.tif", "in.npy"],
        "--picture": ["out.png", "{stem}.png", "in.png", "x.jpg"],
        "--memory": ["1G", "1", "x", BIG],
        "--workers": ["1", "2", "0"],
        "--resume": None,
        "--json": None,
    },
    "graph": {
        "-o": OUTPUTS,
        "--strong": None,
        "--algorithm": ["auto", "tarjan", "bfs", "x", ""],
        "--compact-ids": None,
        "--integers": None,
        "--header": None,
        "--no-header": None,
        "--top": ["1", "3", BIG, "0"],
        "--histogram": ["out.png", "out.txt"],
        "--threads": ["1", "2", "0"],
        "--json": None,
    },
    "cluster": {
        "-o": ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.tsv", *OUTPUTS],
        "--left": ["l", "r", "file_1", "x", "", "0", "1", BIG],
        "--right": ["r", "l", "document_2", "w", "", "1"],
        "--weight": ["w", "x", "l", ""],
        "--threshold": ["0", "0.5,1", "1,1", "nan", BIG, "x", ","],
        "--max-size": ["1", "2", BIG, "0"],
        "--cluster-ids": ["first", "number", "x"],
        "--nodes": ["in.parquet", "in.csv", ".", "no"],
        "--node": ["l", "w", ""],
        "--nulls": ["drop", "raise"],
        "--format": ["parquet", "arrow", "csv", "tsv", "dups", "x"],
        "--integers": None,
        "--header": None,
        "--no-header": None,
        "--memory": ["8G", "1", "1e9", BIG, "", "100000G"],
        "--top": ["1", BIG, "0"],
        "--threads": ["1", "2"],
        "--json": None,
    },
}


def named(module, functions, **options):
    """Return targets of functions by their names, as a command has them."""
    return {
        name.replace("_", "-"): of_calls(getattr(module, name), **options)
        for name in functions.split()
    }


OF_GRAPHS = "connected_components strong_components forests edge_files"
OF_PAIRS = "clusters_of_pairs ids_of_objects quality_of_clusters duplicates"
OF_LABELS = "tables selection relabelling statistics contacts match holes colours"
OF_VOLUMES = "label_files forged_volumes label_volumes packed_volumes films streams"
TARGETS = {
    "read-image": Target(read_image, lambda: files.seeds_of(files.IMAGES), may_refuse=True),
    "read-graph": Target(read_graph, lambda: files.seeds_of(files.GRAPHS), may_refuse=True),
    "read-pairs": Target(read_pairs, lambda: files.seeds_of(files.PAIRS), may_refuse=True),
    "arguments": of_calls(arguments, may_refuse=True),
    "command": of_calls(command),
    **named(options, "options"),
    **named(grids, "label label_bonds wrapping"),
    **named(label_tools, OF_LABELS),
    **named(columns, "columns"),
    **named(containers, "containers"),
    **named(graphs, "graphs growing_graphs", unpickles=True),
    **named(graphs, OF_GRAPHS),
    **named(names, "names_in_text"),
    **named(volumes, OF_VOLUMES),
    **named(volumes, "damaged_volumes", may_refuse=True),
    **named(pairs, OF_PAIRS),
    **named(networkx_graphs, "networkx"),
    **named(models, "potts percolation kawasaki cahn_hilliard", unpickles=True),
    **named(models, "tempering percolation_sweeps simulations series"),
    **named(spins, "ising vectors ising_graphs spins_on_edges", unpickles=True),
    **named(glasses, "spin_glass", unpickles=True),
    **named(observables, "observables"),
    **named(analysis, "analysis"),
}
