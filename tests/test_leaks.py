"""No call keeps memory that the next one does not use again, whether it answers or raises."""

import ctypes
import gc
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp import Graph, models

MOST = 60  # of rounds that wait for a call to use its memory again
IN_A_ROW = 12
MALLINFO = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
IMAGE = np.random.default_rng(0).random((96, 200)) < 0.5
LABELS = conncomp.label(IMAGE)
ENDS = np.random.default_rng(1).integers(0, 2000, (2, 3000))
WEIGHTS = np.random.default_rng(2).random(3000)
GRAPH = Graph.from_edges(*ENDS, 2000)
NAMES = [f"n{i}" for i in range(2000)]
OBJECTS = np.take(np.array(NAMES, object), ENDS)
POTTS = models.Potts((32, 64), q=3, beta=0.9, seed=0)
GLASS = models.SpinGlass((8, 8, 8), beta=[0.5, 1.0], seed=0)
FOLDER = tempfile.TemporaryDirectory()
VOLUME, EDGES = Path(FOLDER.name, "volume.npy"), Path(FOLDER.name, "edges.txt")
np.save(VOLUME, IMAGE)
np.savetxt(EDGES, ENDS.T, fmt="%d")


def refused(call, *arguments, **options):
    with pytest.raises((TypeError, ValueError)):
        call(*arguments, **options)


def table(ends):
    return {"left": ends[0], "right": ends[1]}


def grown():
    components = conncomp.IncrementalComponents(2000)
    components.add_edges(*ENDS)
    return components.labels()


def stopped_stream():
    next(conncomp.stream_labels([IMAGE, IMAGE]))


def of_file():
    labels = VOLUME.with_name("labels.npy")
    conncomp.label_file(VOLUME, labels)
    labels.unlink()


CALLS = {
    "label": lambda: conncomp.label(IMAGE),
    "label of values": lambda: conncomp.label(IMAGE.view(np.uint8), background=None, periodic=True),
    "label again": lambda: conncomp.label(IMAGE, out=LABELS),
    "label refused": lambda: refused(conncomp.label, IMAGE, connectivity=7),
    "label without rows": lambda: conncomp.label(IMAGE[::2, ::3], return_num=True),
    "statistics": lambda: conncomp.component_statistics(LABELS, IMAGE.astype(float)),
    "contacts": lambda: conncomp.contacts(LABELS),
    "holes": lambda: conncomp.fill_holes(IMAGE),
    "members": lambda: conncomp.component_members(LABELS),
    "wrapping": lambda: conncomp.component_wrapping(IMAGE),
    "graph": lambda: conncomp.connected_components(Graph.from_edges(*ENDS, 2000)),
    "graph again": lambda: conncomp.connected_components(GRAPH),
    "graph refused": lambda: refused(Graph.from_edges, ENDS[0], ENDS[1] - 5, 2000),
    "strong": lambda: conncomp.condensation(GRAPH),
    "forest": lambda: conncomp.minimum_spanning_forest(Graph.from_edges(*ENDS, 2000), WEIGHTS),
    "growing": grown,
    "pairs": lambda: conncomp.cluster_pairs(table(ENDS), "left", "right"),
    "pairs of text": lambda: conncomp.cluster_pairs(table(np.take(NAMES, ENDS)), "left", "right"),
    "pairs of objects": lambda: conncomp.cluster_pairs(table(OBJECTS), "left", "right"),
    "stream": stopped_stream,
    "volume in a file": of_file,
    "image in a file": lambda: conncomp.read_image(VOLUME),
    "graph in a file": lambda: Graph.read(EDGES),
    "clusters": lambda: POTTS.swendsen_wang(1),
    "single clusters": lambda: POTTS.wolff(3),
    "a new model": lambda: models.Ising((32, 64), beta=0.4, seed=0).metropolis(1),
    "glass": lambda: GLASS.step(1),
    "percolation": lambda: models.Percolation((32, 64), p=0.5, seed=0),
    "generated": lambda: conncomp.generate.rmat(8, 4, seed=0),
}


@cache
def in_use_of_the_c_library():
    """Return a function that says how many bytes are taken from malloc; None without glibc."""

    class Bytes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in MALLINFO.split()]

    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return None
    ask.restype = Bytes
    return lambda: (told := ask()).uordblks + told.hblkhd


def memory():
    """Return the objects of Python, the bytes of C++ and the open files that are in use."""
    gc.collect()
    ask, files = in_use_of_the_c_library(), Path("/proc/self/fd")
    open_files = len(list(files.iterdir())) if files.exists() else 0
    return np.array([sys.getallocatedblocks(), ask() if ask else 0, open_files])


def grows(call):
    """Say whether each of many rounds of calls takes more memory than there was before."""
    before = memory()
    quiet = 0
    for _ in range(MOST):
        for _ in range(IN_A_ROW):
            call()
        now = memory()
        # Less than an object or its smallest piece of memory for each call.
        quiet = quiet + 1 if (now - before < [IN_A_ROW, 16 * IN_A_ROW, 1]).all() else 0
        if quiet == 2:
            return False
        before = now
    return True


@pytest.mark.parametrize("name", CALLS)
def test_no_call_leaks(name):
    assert not grows(CALLS[name])


@pytest.mark.parametrize(
    "keep",
    [object, lambda: np.empty(1000), lambda: VOLUME.open("rb")],
    ids=["object", "memory", "file"],
)
def test_a_leak_is_seen(keep):
    kept = []
    assert grows(lambda: kept.append(keep()))
    for file in kept:
        getattr(file, "close", bool)()
