"""Hooking as Soman has it and as Wang corrects it: where it ends, and where it does not."""

import re

import numpy as np
import pytest

from conncomp import Graph, Workspace
from conncomp.kernels.cuda.launcher import launch
from conncomp.kernels.cuda.papers import soman
from host_cuda.host_gpu import HostGpu
from reference import components_by_search

# The smallest graph where Wang's stores can lead parents round in a circle: of all lists of fewer
# edges, or of edges between fewer vertices, none does, in any order of stores (see
# `reproductions.wang_2013.hooking`). Stores in the order of this list leave, round by round,
# parents 0 1 1 2, then 1 2 2 2, and then 1 2 1 2: 1 is above 2, and 2 above 1.
SMALLEST = 4, [(0, 2), (1, 2), (2, 3)]
# The example of Wang's report.
PRINTED = 6, [(0, 1), (1, 3), (0, 2), (2, 4), (2, 5)]


def outcome(vertices, edges, seed, **options):
    """Return "star", or why there is no end; what is returned is right."""
    src, dst = np.array(edges, np.int32).T.copy()
    graph = Graph.from_edges(src, dst, vertices)
    roots = np.full(vertices, -7, np.int32)
    try:
        soman.fill_roots(HostGpu(seed=seed), graph._parts, roots, Workspace(), **options)
    except RuntimeError as error:
        why = re.fullmatch(
            f"hook='{options['hook']}' with jump='end' comes to no end: (parents of [0-9]+ vertices"
            " form circles|edges are left that are never marked); use "
            "jump='sweep', or hook='roots'",
            str(error),
        )
        return "circle" if "circles" in why[1] else "never marked"
    np.testing.assert_array_equal(roots, components_by_search(vertices, np.array(edges)))
    return "star"


def outcomes(problem, seeds, **options):
    return {outcome(*problem, seed, jump="end", **options) for seed in range(seeds)}


@pytest.mark.parametrize("writes", soman.OPTIONS["writes"])
def test_the_smallest_circle(writes):
    """In some orders of stores; in others Wang's rule ends, and is right."""
    assert outcomes(SMALLEST, 60, hook="wang", writes=writes) == {"star", "circle"}
    assert outcomes(SMALLEST, 20, hook="roots", writes=writes) == {"star"}


def test_the_example_of_the_report():
    """Wang's rule ends on it in whatever order; Soman's, as printed, in hardly any."""
    assert outcomes(PRINTED, 20, hook="wang") == {"star"}
    assert "circle" in outcomes(PRINTED, 20, hook="soman")


def test_circles_of_random_graphs():
    seen = set()
    for seed in range(20):
        edges = np.random.default_rng(seed).integers(0, 64, (80, 2))
        seen.add(outcome(64, edges, seed, jump="end", hook="wang"))
    assert seen == {"star", "circle"}


def test_what_is_never_marked(monkeypatch):
    """Hooking is given up after so many sweeps where there is no circle yet, either."""
    monkeypatch.setattr(soman, "SWEEPS_OF_FEW", -3)
    line = 4, [(0, 1), (1, 2), (2, 3)]
    assert "never marked" in outcomes(line, 10, hook="wang")


@pytest.mark.parametrize("hook", ["soman", "wang"])
def test_jumps_after_every_sweep_leave_no_circles(hook):
    for seed in range(20):
        edges = np.random.default_rng(seed).integers(0, 64, (80, 2))
        assert outcome(64, edges, seed, hook=hook) == "star"


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_check_of_circles(index):
    """Parents of any kind: every vertex has one, which need not be smaller."""
    gpu = HostGpu()
    name = {np.int32: "int32_t", np.int64: "int64_t"}[index]
    (check,) = gpu.load(soman.FILE, (f"soman_check<{name}>",))
    for seed in range(60):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 700))
        parents = generator.integers(0, n, n).astype(index)
        if seed % 3 == 0:  # a long path, closed or not
            parents = np.roll(np.arange(n, dtype=index), -1)
            if seed % 2:
                parents[-1] = n - 1
        circling = np.zeros(1, np.int64)
        launch(check, (3, 256), n, parents, circling)
        ends = parents
        for _ in range(n.bit_length()):
            ends = ends[ends]
        assert circling[0] == np.sum(parents[ends] != ends)


@pytest.mark.parametrize("writes", soman.OPTIONS["writes"])
@pytest.mark.parametrize("hook", soman.HOOKS.values())
@pytest.mark.parametrize("sweep", [0, 1])
def test_which_of_several_stores_wins(sweep, hook, writes):
    """Trees that edges join to one other tree, each from a leaf to a leaf of its own."""
    trees, winners = 20, set()
    roots = np.arange(trees) + sweep  # sweep 1 hooks the smaller root
    other = 0 if sweep else trees
    leaves, ends = np.arange(2 * trees).reshape(2, -1) + trees + 1
    for seed in range(12):
        gpu = HostGpu(seed=seed)
        outermost = str(writes == "outermost").lower()
        rule = f"conncomp::Hook::{hook}, false, {outermost}, int32_t, int32_t"
        (kernel,) = gpu.load(soman.FILE, (f"soman_hook<{rule}>",))
        parents = np.arange(3 * trees + 1, dtype=np.int32)
        parents[leaves], parents[ends] = roots, other
        src, dst = leaves.astype(np.int32), ends.astype(np.int32)
        marked, last_change = np.zeros(trees, np.uint8), np.array([sweep - 1])
        lists = np.array([trees]), src, dst, marked
        launch(kernel, (1, 256), *lists, parents, last_change, sweep)
        assert (parents[roots] == roots).all()
        np.testing.assert_array_equal(parents[ends], roots if hook == "kEnds" else other)
        assert last_change[0] == sweep
        assert not marked.any()
        winners.add(int(parents[other]))
    if writes == "outermost":
        assert winners == {int(roots.max() if sweep else roots.min())}
    else:
        assert len(winners) > 1
