"""What is fuzzed: each target makes of bytes a file, a call or a command, and judges the result.

A file is the byte that chooses its name, and its content. A call is read by `Choices`; it is valid,
so that it must work and its result is compared with a reference, but for those of ``arguments``.
"""

import contextlib
import inspect
import io
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from scipy import ndimage
from scipy.sparse import csgraph

import conncomp

from ..reference import (
    consecutive,
    label_by_bonds,
    label_by_flood_fill,
    number_items,
    roots_of_labels,
    topological,
)
from . import files
from .choices import Choices


@dataclass(frozen=True)
class Target:
    """A function of a case, cases to begin with, and whether it may refuse what it is given."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    may_refuse: bool = False


def random_seeds():
    """Return cases for `Choices`."""
    rng = np.random.default_rng(0)
    return [rng.bytes(length) for length in (8, 16, 32, 64, 128, 256) for _ in range(8)]


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
        read = conncomp.Graph.read(path, compact_ids=compact)
        graph = read[0] if compact else read
        num, labels = conncomp.connected_components(graph)
        assert len(labels) == graph.num_vertices
        if graph.num_vertices <= 1 << 20:
            n = graph.num_vertices
            ones = np.ones(graph.num_arcs, bool)
            matrix = scipy.sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
            assert_same((num, labels), csgraph.connected_components(matrix))


def label(data):
    choices = Choices(data)
    image = _array(choices)
    batch_axes = choices.below(image.ndim) if choices.flag() else 0
    ndim = image.ndim - batch_axes
    connectivity, structure = choices.pick([None, *range(1, ndim + 1)]), None
    if choices.flag():
        half = choices.generator().random((3,) * ndim) < choices.pick([0.1, 0.3, 0.7])
        connectivity, structure = None, half | np.flip(half)
    tolerance = 0
    if image.dtype.kind != "b" and choices.flag():
        tolerance = choices.pick([1, 2, 0.5, 127, 255, 2**16, 2**63, 2**64 - 1, np.inf])
    periodic = choices.pick([False, True, [choices.flag() for _ in range(ndim)]])
    background = choices.pick([None, 0, 1, -1, 2.5, np.nan, 10**30])
    neighbours = background, connectivity, periodic, structure, tolerance, batch_axes
    numbering = choices.pick(["consecutive", "roots"])
    dtype = choices.pick([None, np.int32, np.int64])
    out = np.full(image.shape, -7, dtype or np.int32) if choices.flag() else None
    conncomp.set_num_threads(1 + choices.below(4))
    before = image.tobytes()
    labels, num = conncomp.label(
        image,
        background,
        return_num=True,
        connectivity=connectivity,
        structure=structure,
        tolerance=tolerance,
        periodic=periodic,
        batch_axes=batch_axes,
        numbering=numbering,
        algorithm=choices.pick(["auto", "runs", "raster-scan", "label-equivalence"]),
        dtype=dtype,
        out=out,
    )
    assert out is None or labels is out
    assert image.tobytes() == before
    roots = label_by_flood_fill(image, *neighbours)
    numbers, counts = number_items(roots, batch_axes)
    assert_same((num, labels), (counts, roots if numbering == "roots" else numbers))
    plain = structure is None and not batch_axes and not np.any(periodic)
    if image.dtype.kind == "b" and not background and plain and image.size:
        reach = ndimage.generate_binary_structure(image.ndim, connectivity or image.ndim)
        assert ndimage.label(image, reach)[1] == num


def label_bonds(data):
    choices = Choices(data)
    values = _array(choices)
    batch_axes = choices.below(values.ndim) if choices.flag() else 0
    shape, ndim = values.shape, values.ndim - batch_axes
    bonds = choices.generator().random((ndim, *shape)) < choices.pick([0.1, 0.4, 0.5, 0.9])
    periodic = choices.pick([False, True, [choices.flag() for _ in range(ndim)]])
    numbering = choices.pick(["consecutive", "roots"])
    given = bonds = _laid_out(choices, bonds)
    if choices.flag():
        bits = 1 << np.arange(ndim, dtype=np.uint8)
        given = _laid_out(choices, np.tensordot(bits, bonds.astype(np.uint8), 1))
        bonds = np.stack([given & bit for bit in bits]) > 0
    roots = label_by_bonds(bonds, periodic, batch_axes)
    conncomp.set_num_threads(1 + choices.below(4))
    labels, num = conncomp.label_bonds(
        given, return_num=True, periodic=periodic, batch_axes=batch_axes, numbering=numbering
    )
    numbers, counts = number_items(roots, batch_axes)
    assert_same((num, labels), (counts, roots if numbering == "roots" else numbers))
    if np.count_nonzero(np.broadcast_to(periodic, ndim)) <= 4 and ndim <= 6:
        wrapping = conncomp.cluster_wrapping(given, periodic=periodic, batch_axes=batch_axes)
        np.testing.assert_array_equal(wrapping.counts, counts)


def connected_components(data):
    choices = Choices(data)
    rng = choices.generator()
    n = choices.pick([1, 2, 3, 10, 65, 300, 5000])
    arcs = rng.integers(0, n, (2, choices.pick([0, 1, 3, n // 2, n, 4 * n])))
    if choices.flag():  # a few hubs
        arcs[0] = arcs[0] % 3 % n
    rows = scipy.sparse.coo_array((np.ones(arcs.shape[1]), arcs), shape=(n, n)).tocsr()
    graph = choices.pick([_as_graph, _as_rows, _as_sparse, _as_dense, _as_networkx])(
        choices, n, arcs, rows
    )
    directed, connection = choices.flag(), choices.pick(["weak", "strong"])
    strong = directed and connection == "strong"
    numbering = choices.pick(["consecutive", "roots", *(["topological"] if strong else [])])
    weak_algorithms = ["auto", "ecl", "bfs", "recolouring"]
    conncomp.set_num_threads(1 + choices.below(4))
    num, labels = conncomp.connected_components(
        graph,
        directed,
        connection,
        numbering=numbering,
        dtype=choices.pick([None, np.int64]),
        algorithm=choices.pick(["auto", "tarjan"] if strong else weak_algorithms),
    )
    expected_num, expected = csgraph.connected_components(rows, directed, connection)
    if strong:  # numbers of strong components are those of one version of SciPy
        expected = roots_of_labels(expected)
        if numbering == "consecutive":
            expected = consecutive(expected, first=0)
        elif numbering == "topological":
            expected = topological(expected, arcs.T)
    elif numbering == "roots":
        expected = roots_of_labels(expected)
    assert_same((num, labels), (expected_num, expected))


def tools(data):
    """Run the tools of components on labels, and compare them with NumPy."""
    choices = Choices(data)
    rng = choices.generator()
    shape = choices.pick([(7,), (1,), (0,), (5, 6), (3, 1, 9), (60, 70), (0, 3)])
    dtype = choices.pick([np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
    ground = choices.pick([0, -1, None])
    if np.dtype(dtype).kind == "u" and ground == -1:
        ground = None
    least = -1 if ground == -1 else 0
    labels = rng.integers(least, choices.pick([1, 2, 5, 100]), shape).astype(dtype)
    labels = _laid_out(choices, labels)
    flat = np.ascontiguousarray(labels).reshape(-1).astype(np.int64)
    present = np.unique(flat[flat != ground] if ground is not None else flat)
    sizes = np.bincount(flat[flat >= 0], minlength=0)
    if ground == 0 and len(sizes):
        sizes[0] = 0
    options = {"background": ground}
    np.testing.assert_array_equal(conncomp.component_sizes(labels, **options), sizes)
    found, counts = np.unique(sizes[sizes > 0], return_counts=True)
    assert_same(conncomp.size_histogram(labels, **options), (found, counts))
    indptr, indices = conncomp.component_members(labels, **options)
    for value in present:
        members = indices[indptr[value] : indptr[value + 1]]
        np.testing.assert_array_equal(members, np.flatnonzero(flat == value))
    rank = sorted(present.tolist(), key=lambda value: (-sizes[value], value))
    k = choices.below(5)
    outside = -1 if ground is None else ground
    kept = np.where(np.isin(flat, rank[:k]), flat, outside).reshape(shape)
    np.testing.assert_array_equal(conncomp.largest_components(labels, k, **options), kept)
    large = np.array([value for value in rank if sizes[value] >= k], np.int64)
    kept = np.where(np.isin(flat, large), flat, outside).reshape(shape)
    np.testing.assert_array_equal(conncomp.remove_small_components(labels, k, **options), kept)
    first = int(ground == 0)
    places = {value: place for place, value in enumerate(rank, first)}
    ordered = np.array([places.get(value, ground) for value in flat.tolist()], np.int64)
    np.testing.assert_array_equal(conncomp.sort_by_size(labels, **options), ordered.reshape(shape))
    statistics = conncomp.component_statistics(labels, **options)
    assert_same((statistics.labels, statistics.sizes), (present, sizes[present]))
    for row, value in enumerate(present):
        at = np.argwhere(np.asarray(labels).astype(np.int64) == value)
        box = np.stack([at.min(0), at.max(0) + 1], axis=1)
        np.testing.assert_array_equal(statistics.bounding_boxes[row], box)
        np.testing.assert_allclose(statistics.centroids[row], at.mean(0))
        moments = np.atleast_2d(np.cov(at.T, bias=True))
        np.testing.assert_allclose(statistics.moments[row], moments, atol=1e-9)
    if labels.size:
        assert conncomp.colour_components(labels, **options).shape == (*shape, 3)


def arguments(data):
    """Call public functions with whatever: an error in words, or an answer, and no crash."""
    choices = Choices(data)
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
    ]  # fmt: skip
    function = choices.pick(
        [
            conncomp.label,
            conncomp.label_bonds,
            conncomp.connected_components,
            conncomp.Graph,
            conncomp.Graph.from_edges,
            conncomp.Graph.from_csr,
            conncomp.Graph.from_scipy,
            conncomp.component_sizes,
            conncomp.component_members,
            conncomp.size_histogram,
            conncomp.largest_components,
            conncomp.remove_small_components,
            conncomp.sort_by_size,
            conncomp.component_statistics,
            conncomp.component_spans,
            conncomp.component_wrapping,
            conncomp.cluster_wrapping,
            conncomp.percolates,
            conncomp.colour_components,
            conncomp.contacts,
            conncomp.region_adjacency,
            conncomp.fill_holes,
            conncomp.relabel_consecutive,
            conncomp.each,
            conncomp.set_num_threads,
        ]
    )
    names = [name for name in inspect.signature(function).parameters if name != "labels"]
    positional = [choices.pick(odd) for _ in range(choices.below(4))]
    named = {choices.pick(names): choices.pick(odd) for _ in range(choices.below(4))}
    named.pop("device", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*positional, **named)
        if isinstance(result, conncomp.Graph):
            conncomp.connected_components(result)
            conncomp.connected_components(result, connection="strong")
            result.is_symmetric()


def command(data):
    """Run a command line: it succeeds, or says why not in one line, and leaves no litter."""
    from conncomp.cli._command import command as group

    choices = Choices(data)
    kind, option_values = choices.pick(list(COMMANDS.items()))
    words = []
    for _ in range(choices.below(5)):
        option = choices.pick(list(option_values))
        values = option_values[option]
        words += [option] if values is None else [option, choices.pick(values)]
    content = choices.pick(files.seeds_of(files.GRAPHS if kind == "graph" else files.IMAGES))
    names = files.GRAPHS if kind == "graph" else files.IMAGES
    if choices.flag():
        at = choices.below(256)
        content = content[: at + 1] + choices.remaining() + content[at + 1 :]
    with files.in_a_folder(names, content) as path, _inside(path.parent):
        shown, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            try:
                group.main([kind, path.name, *words], prog_name="conncomp")
            except SystemExit as end:
                status = end.code or 0
        complaint = errors.getvalue()
        assert status in (0, 2), f"exit status {status}"
        assert (status == 2) == complaint.startswith("conncomp: "), complaint[:200]
        assert status == 0 or complaint.count("\n") == 1, complaint[:200]
        assert status == 0 or not shown.getvalue(), "output beside an error"
        litter = [entry.name for entry in Path().iterdir() if entry.name.startswith(".")]
        assert not litter, f"left {litter}"


BIG = "1" + "0" * 400
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
        "--top": ["1", "3", BIG, "0"],
        "--min-size": ["1", "2", BIG],
        "--stats": ["out.csv", "no/out.csv", "out.npy"],
        "--picture": ["out.png", "out.jpg", "no/out.png"],
        "--threads": ["1", "2", "4097", BIG],
        "--json": None,
    },
    "graph": {
        "-o": OUTPUTS,
        "--strong": None,
        "--algorithm": ["auto", "tarjan", "bfs", "x", ""],
        "--compact-ids": None,
        "--top": ["1", "3", BIG, "0"],
        "--histogram": ["out.png", "out.txt"],
        "--threads": ["1", "2", "0"],
        "--json": None,
    },
}


TARGETS = {
    "read-image": Target(read_image, lambda: files.seeds_of(files.IMAGES), may_refuse=True),
    "read-graph": Target(read_graph, lambda: files.seeds_of(files.GRAPHS), may_refuse=True),
    "label": Target(label, random_seeds),
    "label-bonds": Target(label_bonds, random_seeds),
    "connected-components": Target(connected_components, random_seeds),
    "tools": Target(tools, random_seeds),
    "arguments": Target(arguments, random_seeds, may_refuse=True),
    "command": Target(command, random_seeds),
}


def assert_same(found, expected):
    """Compare tuples of arrays or numbers."""
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def _array(choices):
    """Return a small array of any kind of number, and of any layout."""
    rng = choices.generator()
    ndim = 1 + choices.below(4)
    lengths = [0, 1, 2, 3, 7, 63, 64, 65, 130, 3000]
    shape = []
    for _ in range(ndim):  # with few enough neighbours for the reference
        longest = 9000 // 3**ndim // max(1, math.prod(shape))
        shape.append(min(choices.pick(lengths), max(1, longest)))
    dtype = np.dtype(choices.pick("?bBhHiIqQefdg"))
    values = rng.random(shape) < choices.pick([0.1, 0.4, 0.6, 0.9, 0.0, 1.0])
    if choices.flag():
        values = values * rng.integers(1, 4, shape)
    array = values.astype(dtype)
    if dtype.kind == "f" and choices.flag():
        array[rng.random(shape) < 0.1] = choices.pick([np.nan, -0.0, np.inf, 0.5])
    if dtype.kind in "iu" and choices.flag():
        limits = np.iinfo(dtype)
        array[rng.random(shape) < 0.1] = choices.pick([limits.min, limits.max])
    if dtype.itemsize > 1 and choices.flag():
        array = array.astype(dtype.newbyteorder())
    return _laid_out(choices, array)


def _laid_out(choices, array):
    """Return the same values with other strides, alignment or flags."""
    layout = choices.below(7)
    if layout == 1:
        return np.asfortranarray(array)
    if layout == 2:
        return np.flip(np.flip(array).copy())
    if layout == 3:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == 4:  # not aligned
        memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
        moved = memory.view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    if layout == 5:
        array.flags.writeable = False
    if layout == 6 and array.shape[0]:
        return np.broadcast_to(array[:1], array.shape)
    return array


def _as_graph(choices, n, arcs, rows):
    dtype = choices.pick([np.int32, np.int64, np.uint16, np.uint64])
    src, dst = (_laid_out(choices, end.astype(dtype)[: arcs.shape[1]]) for end in arcs)
    # A broadcast layout changes the arcs: those are made again from the original.
    if not (np.array_equal(src, arcs[0]) and np.array_equal(dst, arcs[1])):
        src, dst = arcs
    return conncomp.Graph.from_edges(src, dst, num_vertices=n)


def _as_rows(choices, n, arcs, rows):
    dtype = choices.pick([np.int32, np.int64])
    return conncomp.Graph.from_csr(rows.indptr.astype(dtype), rows.indices.astype(dtype))


def _as_sparse(choices, n, arcs, rows):
    return rows.asformat(choices.pick(["csr", "csc", "coo", "lil", "dok"]))


def _as_dense(choices, n, arcs, rows):
    return rows.toarray() if n <= 300 else rows


def _as_networkx(choices, n, arcs, rows):
    import networkx

    if n > 300:
        return rows
    return networkx.from_scipy_sparse_array(rows, create_using=networkx.DiGraph)


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
