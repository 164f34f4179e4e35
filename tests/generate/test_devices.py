"""What is made on a GPU is what is made on the CPU, bit for bit.

The code that works on CuPy's arrays runs here on a stand-in for them, and where there is a GPU on
the arrays themselves.
"""

import numpy as np
import pytest

import stand_in
from conncomp import generate
from conncomp.generate import _edges, networks, random
from families import ARRAYS, GRAPHS, SHUFFLED_GRAPHS, UNSEEDED_ARRAYS, UNSEEDED_GRAPHS

EVERY_ARRAY = ARRAYS | UNSEEDED_ARRAYS
GRAPH_CALLS = [(name, {} if name in UNSEEDED_GRAPHS else {"seed": 2**40 + 3}) for name in GRAPHS]
GRAPH_CALLS += [(name, {"seed": 5, "shuffle": True}) for name in SHUFFLED_GRAPHS]
# Where nothing is drawn, or nothing but what there always is.
SMALLEST = {
    "line": lambda **k: generate.line(1, **k),
    "star": lambda **k: generate.star(1, **k),
    "grid": lambda **k: generate.grid((1, 1), **k),
    "road_like": lambda **k: generate.road_like((1, 1), connected=True, **k),
    "road_like without roads": lambda **k: generate.road_like((3, 4), 0, **k),
    "uniform_random": lambda **k: generate.uniform_random(0, 0, **k),
    "random_neighbours": lambda **k: generate.random_neighbours(2, 0, **k),
    "disjoint": lambda **k: generate.disjoint(0, 0, 0, connected=True, **k),
    "wang": lambda **k: generate.equal_components(0, 0, 0, **k),
    "wang of single vertices": lambda **k: generate.equal_components(5, 0, 5, **k),
    "barabasi_albert": lambda **k: generate.barabasi_albert(2, 1, **k),
    "watts_strogatz": lambda **k: generate.watts_strogatz(5, 0, 0.5, **k),
    "rmat": lambda **k: generate.rmat(0, 0, simple=True, **k),
    "rmat of loops": lambda **k: generate.rmat(0, 3, simple=True, **k),
    "web_like": lambda **k: generate.web_like(1, 3, **k),
    "web_like in a wide window": lambda **k: generate.web_like(9, 3, window=2**40, **k),
    "overlapping_cliques": lambda **k: generate.overlapping_cliques(1, shared=0, **k),
}


def same_graph(here, there):
    assert here.num_vertices == there.num_vertices
    assert here._parts.symmetric
    assert there._parts.symmetric
    for one, other in zip(here.arrays, there.arrays, strict=True):
        np.testing.assert_array_equal(one, other.get() if hasattr(other, "get") else other)
        assert one.dtype == other.dtype or one.size == 0


def same_array(here, there):
    np.testing.assert_array_equal(here, there.get())
    assert here.dtype == there.dtype
    assert there.flags.c_contiguous


@pytest.mark.parametrize(("name", "options"), GRAPH_CALLS)
def test_graphs(cupy, name, options):
    there = GRAPHS[name](device="cuda", **options)
    kind = np.ndarray if isinstance(cupy, stand_in.CuPy) else cupy.ndarray
    assert all(isinstance(array, kind) for array in there.arrays)
    same_graph(GRAPHS[name](**options), there)


@pytest.mark.parametrize("name", SMALLEST)
def test_smallest_graphs(cupy, name):
    same_graph(SMALLEST[name](), SMALLEST[name](device="cuda"))


@pytest.mark.parametrize("name", EVERY_ARRAY)
def test_arrays(cupy, name):
    there = EVERY_ARRAY[name](device="cuda")
    assert isinstance(there, cupy.ndarray)
    same_array(EVERY_ARRAY[name](), there)


def test_edges_drawn_in_parts(cupy, monkeypatch):
    monkeypatch.setattr(networks, "PART", 1000)
    same_graph(generate.rmat(9, 5, seed=1), generate.rmat(9, 5, seed=1, device="cuda"))
    # More levels than a block of random numbers has words, and probabilities at their ends.
    for shares in ({}, {"a": 1, "b": 0, "c": 0}, {"a": 0, "b": 0, "c": 0}):
        here, there = (generate.rmat(11, 1, device=device, **shares) for device in ("cpu", "cuda"))
        same_graph(here, there)


@pytest.mark.parametrize("values", [[], [0], [3, 0, 3, 5, 3]])
def test_count_each(cupy, values):
    here = np.array(values, np.int32)
    for high in (0, 6, 9) if len(values) == 0 else (6, 9):
        there = _edges.count_each(cupy, cupy.asarray(here), high)
        np.testing.assert_array_equal(np.bincount(here, minlength=high), there.get())


@pytest.mark.parametrize("counts", [[], [0], [0, 0, 3, 0, 1, 2, 0], [1, 1]])
def test_repeat(cupy, counts):
    values, times = np.arange(10, 10 + len(counts)), np.array(counts, np.int64)
    there = _edges.repeat(cupy, cupy.asarray(values), cupy.asarray(times))
    np.testing.assert_array_equal(np.repeat(values, times), there.get())


def test_the_stand_in_is_as_strict_as_cupy():
    cupy = stand_in.CuPy()
    here, there = np.arange(3), cupy.arange(3)
    assert isinstance(there, stand_in.Array)
    assert isinstance(there.sum(), stand_in.Array)
    for mixed in (
        lambda: here + there,
        lambda: there + here,
        lambda: there[here],
        lambda: np.asarray(there),
        lambda: there.__setitem__(0, here[:1]),
        lambda: cupy.concatenate([here, there]),
        lambda: cupy.repeat(there, there),
    ):
        with pytest.raises(TypeError):
            mixed()


@pytest.mark.parametrize("make", [generate.line, generate.patterns.rings, random.permutation])
def test_unknown_device(make):
    with pytest.raises(ValueError, match="device='tpu'"):
        make(3, device="tpu")


@pytest.mark.gpu
def test_large_graphs_and_arrays_on_a_gpu():
    for make in (
        lambda **k: generate.rmat(18, 70, simple=True, shuffle=True, **k),
        lambda **k: generate.disjoint(10**6, 5 * 10**6, 1000, connected=True, **k),
        lambda **k: generate.web_like(10**6, 7, 0.6, **k),
        lambda **k: generate.overlapping_cliques(300_000, 150, exponent=1.5, **k),
        lambda **k: generate.road_like((700, 800), 0.6, segments=5, **k),
    ):
        same_graph(make(seed=9), make(seed=9, device="cuda"))
    for make in (
        lambda **k: generate.random_array((5000, 5000), 0.6, values=9, **k),
        lambda **k: generate.patterns.spiral(4097, **k),
        lambda **k: generate.patterns.hilbert_curve(11, **k),
    ):
        same_array(make(), make(device="cuda"))
