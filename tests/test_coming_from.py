"""The tables of the page "Coming from": both calls of each row, and what is said of them."""

import importlib.util
import sys
from pathlib import Path

import cc3d
import cv2
import networkx
import numpy as np
import pytest
import scipy.cluster.hierarchy
import skimage
from scipy import ndimage, sparse
from scipy.sparse import csgraph

import conncomp
from reference import roots_of_labels

DOCS = Path(__file__).parents[1] / "docs"


def tables():
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("coming_from", DOCS / "coming_from.py")
        module = sys.modules["coming_from"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module.TABLES


ROWS = [
    pytest.param(row, id=f"{name}-{number}")
    for name, (_, rows) in tables().items()
    for number, row in enumerate(rows)
    if row.runs and row.is_there
]


def alike(a, b):
    """Whether labels are the same but for the numbers."""
    return np.array_equal(*(roots_of_labels(np.asarray(x), background=0) for x in (a, b)))


def raises(error, call):
    with pytest.raises(error):
        call()
    return True


def is_topological(arcs, labels):
    matrix = arcs.tocoo()
    return bool((labels[matrix.row] >= labels[matrix.col]).all())


def inputs():
    """Return what the calls are about, by name."""
    random = np.random.default_rng(20)
    image = random.integers(0, 4, (40, 50), np.uint8)
    mask = random.random((40, 50)) < 0.4
    sources, targets = random.integers(0, 60, (2, 70))
    left, right = random.integers(0, 60, (2, 45)).astype("U")
    arcs = sparse.csr_array((np.ones(70), (sources, targets)), shape=(60, 60))
    arcs.data[:] = 1
    weighted = sparse.csr_array(sparse.triu(arcs + arcs.T, 1))
    weighted.data = random.random(weighted.nnz) + 1
    labels = conncomp.label(mask)
    return {
        "image": image,
        "bytes": image,
        "mask": mask,
        "labels": labels,
        "zones": conncomp.label(image // 2, background=-1, dtype=np.uint32),
        "statistics": conncomp.component_statistics(labels),
        "volume": random.integers(0, 4, (9, 10, 11)).astype(np.uint16),
        "field": random.integers(0, 12, (40, 50)) / 4,
        "line": random.integers(0, 4, (12, 15, 1)),
        "matrix": arcs + arcs.T,
        "arcs": arcs,
        "left": left,
        "right": right,
        "weighted": weighted,
        "graph": networkx.gnm_random_graph(60, 40, seed=20),
        "digraph": networkx.gnm_random_graph(40, 70, seed=20, directed=True),
    }


@pytest.mark.parametrize("row", ROWS)
def test_both_calls_and_what_differs(row):
    scope = {
        **{"np": np, "conncomp": conncomp, "cc3d": cc3d, "cv2": cv2, "nx": networkx},
        **{"skimage": skimage, "ndimage": ndimage, "csgraph": csgraph, "scipy": scipy},
        **{"equal": np.array_equal, "alike": alike, "raises": raises},
        **{"is_topological": is_topological},
        **inputs(),
    }
    scope["a"], scope["b"] = eval(row.theirs, scope), eval(row.ours, scope)
    assert eval(row.same, scope), "the results are not the same"
    for words, evidence in row.differs:
        assert eval(evidence, scope), words
