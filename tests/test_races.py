"""Another thread writes to the arrays of a call: the answer may be wrong, the process goes on."""

import os

import pytest

from measured_command import in_python

RACE = """
import sys, threading, time
import numpy as np
import conncomp
from scipy import sparse

kind, seconds = sys.argv[1], float(sys.argv[2])
conncomp.set_num_threads(2)
random = np.random.default_rng(0)
stop = threading.Event()


def race(call, *arrays):
    # Half of the values are far out of any bounds, or not: both kinds of noise.
    pools = [
        [random.integers(0, 3, array.size), random.integers(-2**62, 2**62, array.size)]
        for array in arrays
    ]
    pools = [[noise.astype(a.dtype).reshape(a.shape) for noise in p] for a, p in zip(arrays, pools)]

    def scribble():
        while not stop.is_set():
            for which in (0, 1, 0):
                for array, pool in zip(arrays, pools):
                    array[...] = pool[which]

    writer = threading.Thread(target=scribble)
    writer.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            call()
        except ValueError:  # what a check may say of the values
            pass
    stop.set()
    writer.join()


if kind == "image":
    image, out = random.integers(0, 3, (300, 500), np.int32), np.empty((300, 500), np.int32)
    race(lambda: conncomp.label(image, out=out, periodic=True), image, out)
elif kind == "volume":
    image = random.integers(0, 3, (30, 40, 70), np.uint8)
    race(lambda: conncomp.label(image, connectivity=2), image)
elif kind == "shape":
    image = random.integers(0, 3, (300, 500), np.int32)

    def reshape():
        while not stop.is_set():
            image.shape = (500, 300)
            image.shape = (150000,)
            image.shape = (300, 500)

    reshaper = threading.Thread(target=reshape)
    reshaper.start()
    race(lambda: conncomp.label(image))
    reshaper.join()
elif kind == "arcs":
    src, dst = random.integers(0, 2000, (2, 5000))
    graph, out = conncomp.Graph.from_edges(src, dst, 2000), np.empty(2000, np.int32)
    race(lambda: conncomp.connected_components(graph, out=out), src, dst, out)
elif kind in ("ecl", "bfs", "recolouring"):
    src, dst = random.integers(0, 2000, (2, 5000))
    arcs, out = conncomp.Graph.from_edges(src, dst, 2000), np.empty(2000, np.int32)
    rows = conncomp.Graph.from_csr(arcs.indptr.copy(), arcs.indices.copy())

    def label():
        for graph in (arcs, rows):
            for known in (None, True):
                graph._parts.symmetric = known
                conncomp.connected_components(graph, algorithm=kind, out=out)

    race(label, src, dst, *rows.arrays, out)
elif kind == "strong":
    src, dst = random.integers(0, 2000, (2, 3000))
    arcs, out = conncomp.Graph.from_edges(src, dst, 2000), np.empty(2000, np.int32)
    rows = conncomp.Graph.from_csr(arcs.indptr.copy(), arcs.indices.copy())

    def label():
        arcs._parts.csr = None
        for graph in (arcs, rows):
            for numbering in ("roots", "topological"):
                options = {"connection": "strong", "numbering": numbering}
                conncomp.connected_components(graph, out=out, **options)
            conncomp.condensation(graph)

    race(label, src, dst, *rows.arrays, out)
elif kind == "growing":
    src, dst = random.integers(0, 2000, (2, 5000))
    out = np.empty(2000, np.int32)
    components = conncomp.IncrementalComponents(2000)

    def grow():
        components.add_edges(src, dst)
        components.connected(src, dst)
        components.roots(src)
        components.labels(out=out)

    race(grow, src, dst, out)
elif kind == "forests":
    src, dst = random.integers(0, 2000, (2, 9000))
    arcs, weights = conncomp.Graph.from_edges(src, dst, 2000), random.random(9000)
    rows = conncomp.Graph.from_csr(arcs.indptr.copy(), arcs.indices.copy())

    def find():
        for graph in (arcs, rows):
            for known in (None, True):
                graph._parts.symmetric = known
                conncomp.spanning_forest(graph)
                conncomp.minimum_spanning_forest(graph, weights)

    race(find, src, dst, *rows.arrays, weights)
elif kind == "rows":
    matrix = sparse.random_array((2000, 2000), density=1e-3, rng=0).tocsr()
    graph = conncomp.Graph.from_scipy(matrix)
    calls = (
        lambda: conncomp.connected_components(graph),
        lambda: conncomp.connected_components(graph, connection="strong"),
        lambda: conncomp.connected_components(matrix),
        lambda: conncomp.Graph.from_csr(matrix.indptr, matrix.indices).is_symmetric(),
    )
    race(lambda: [call() for call in calls], matrix.indptr, matrix.indices)
elif kind == "triples":
    matrix = sparse.random_array((2000, 2000), density=1e-3, rng=0)
    race(lambda: conncomp.connected_components(matrix), matrix.row, matrix.col)
elif kind == "columns":
    matrix = sparse.random_array((2000, 2000), density=1e-3, rng=0).tocsc()
    race(lambda: conncomp.connected_components(matrix), matrix.indptr, matrix.indices)
elif kind == "made rows":
    src, dst = random.integers(0, 2000, (2, 5000))
    graph = conncomp.Graph.from_edges(src, dst, 2000)
    race(lambda: (setattr(graph._parts, "csr", None), graph.indices), src, dst)
elif kind == "labels":
    labels = random.integers(0, 2000, (300, 500))

    def tools():
        conncomp.component_sizes(labels, background=0)
        conncomp.component_members(labels, background=0)
        conncomp.component_statistics(labels, background=0)
        conncomp.sort_by_size(labels, background=0)
        conncomp.largest_components(labels, 3, background=0)
        conncomp.contacts(labels, background=0)
        conncomp.fill_holes(labels, background=0)
        conncomp.relabel_consecutive(labels, background=0)
        conncomp.relabel_consecutive(labels, background=0, batch_axes=1)

    race(tools, labels)
print("survived")
"""

KINDS = ["image", "volume", "shape", "arcs", "rows", "triples", "columns", "made rows", "labels"]
KINDS += ["ecl", "bfs", "recolouring", "strong", "growing", "forests"]


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_race(kind):
    seconds = os.environ.get("CONNCOMP_RACE_SECONDS", "0.5")
    done = in_python(RACE, kind, seconds, timeout=None)
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-2000:]
