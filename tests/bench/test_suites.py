"""The suites: every input of every suite is what it says, and every contender labels it right."""

import gzip

import numpy as np
import pytest

import conncomp
from conncomp.bench.inputs import SIZES
from conncomp.bench.peers import algorithms, peers
from conncomp.bench.runner import Reference, measure, reference
from conncomp.bench.suites import SUITES, graphs, grids
from reference import components_by_search, consecutive, label_by_flood_fill

NAMES = [(kind, suite) for kind in SUITES for suite in SUITES[kind]]
GENERATED = {"2d-2e20.sym", "delaunay_n24", "kron_g500-logn21"}
GENERATED |= {"r4-2e23.sym", "rmat16.sym", "rmat22.sym"}


@pytest.mark.parametrize(("kind", "suite"), NAMES)
def test_every_contender_agrees_on_every_input(kind, suite, monkeypatch):
    monkeypatch.setattr("conncomp.bench.runner.SHORTEST", 0)
    contenders = list(algorithms(kind, "cpu").values())
    for peer in peers(kind, "cpu").values():
        try:
            contenders.append(peer(2))
        except ImportError:
            continue
    inputs = [(suite, entry) for entry in SUITES[kind][suite]("tiny", None)]
    *_, result = measure(kind, inputs, contenders, size="tiny", threads=1)
    assert len(result["rows"]) == len(inputs)
    for row in result["rows"]:
        bad = [run for run in row["runs"] if run["status"] != "ok"]
        assert not bad, row["input"]
        assert {run["name"] for run in row["runs"]} >= set(algorithms(kind, "cpu"))


@pytest.mark.parametrize(("kind", "suite"), NAMES)
def test_names_stay_and_sizes_grow(kind, suite):
    listed = [SUITES[kind][suite](size, None) for size in SIZES]
    names = [[entry.name for entry in entries] for entries in listed]
    assert all(len(set(found)) == len(found) for found in names)
    if suite != "hawick-arrays":  # whose names are its sizes
        assert names == [names[0]] * len(SIZES)
    bytes_ = [sum(entry.num_bytes for entry in entries) for entries in listed]
    assert bytes_ == sorted(set(bytes_))


def test_the_eighteen_graphs():
    entries = graphs.ecl("full")
    assert len(entries) == 18
    assert {entry.name for entry in entries if not entry.stand_in} == GENERATED
    for entry, row in zip(graphs.ecl("small"), graphs.ECL, strict=True):
        graph = entry.make()
        assert 50_000 < graph.num_arcs < 300_000, entry.name
        if not entry.name.startswith("kron"):  # thinned out by multiple edges when so small
            published = row.arcs / row.vertices
            assert graph.num_arcs / graph.num_vertices == pytest.approx(published, rel=0.16)


STAND_INS = [row for row in graphs.ECL if row.stand_in]


@pytest.mark.parametrize("row", STAND_INS, ids=[row.name for row in STAND_INS])
def test_stand_ins_are_numbered_as_any(row):
    """No largest hub is vertex 0, whose arcs are all to larger ones."""
    graph = graphs.published_graph(row, 200_000 / row.arcs).make()
    degrees = np.diff(graph.indptr)
    assert degrees[0] <= max(np.quantile(degrees, 0.99), 4)
    hub = int(degrees.argmax())
    assert graph.indices[graph.indptr[hub] : graph.indptr[hub + 1]].min() < hub


@pytest.mark.parametrize(
    ("name", "components", "least_degree"),
    [("as-skitter", 756, 1), ("cit-Patents", 3627, 1), ("in-2004", 134, 0), ("uk-2002", 38359, 0)],
)
def test_stand_ins_have_their_components(name, components, least_degree):
    (row,) = (row for row in graphs.ECL if row.name == name)
    share = 2_000_000 / row.arcs
    graph = graphs.published_graph(row, share).make()
    degrees = np.diff(graph.indptr)
    assert degrees.min() == least_degree
    labelled = components_of(graph)
    assert labelled == pytest.approx(1 + (components - 1) * share, abs=1)
    assert graph.num_vertices == pytest.approx(row.vertices * share, abs=2)


def components_of(graph):
    return reference(graph, 0).components


def test_a_crawl_begins_elsewhere():
    """Its order is turned, with the small components between at even distances."""
    names = graphs._names(np, graphs.Arrangement("crawl", 6, 2), 90, 5, None)
    assert sorted(names) == list(range(100))
    large, small = names[:90], names[90:]
    assert np.flatnonzero(np.diff(large) < 0).size == 1
    assert large[0] > 30
    assert small.tolist() == [0, 1, 20, 21, 40, 41, 60, 61, 80, 81]


def test_hawick_as_published():
    wanted = {entry.name: entry.description for entry in graphs.hawick("full")}
    assert (
        wanted["disjoint1-16m"] == "16,000,000 vertices in 100 sets, 50,000,000 edges inside them"
    )
    assert wanted["disjoint3-1e6"].startswith("5,000,000 vertices in 1,000,000 sets")
    assert wanted["line-1m"] == "a line of 1,000,000 vertices"


def test_maddix_as_published():
    shapes = {
        entry.name: tuple(map(int, entry.description.rpartition(", ")[2].split(" x ")))
        for entry in grids.maddix("full")
    }
    assert shapes["maze"] == (2400, 2380)
    assert round(np.prod(shapes["stanford"]) - np.prod(shapes["maze2"]), -3) == 20_000


def test_wang_as_published():
    entries = {entry.name: entry for entry in graphs.wang("full")}
    for name, vertices, edges in (("charity-2k", 1953, 1999), ("charity-4k", 3831, 3999)):
        graph = entries[name].make()
        assert entries[name].stand_in
        assert (graph.num_vertices, graph.num_arcs) == (vertices, 2 * edges)
    assert entries["vertices-9m"].description == (
        "9,000,000 vertices, as many edges, 5,000 components"
    )


@pytest.mark.parametrize("name", ["amazon0601.txt", "amazon0601.txt.gz"])
def test_published_graph(tmp_path, name):
    # Ids with gaps, a loop, an arc and its opposite, a multiple arc.
    text = b"# from to\n5 7\n7 5\n9 9\n7 9\n7 9\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    (entry,) = [entry for entry in graphs.ecl("tiny", tmp_path) if entry.name == "amazon0601"]
    assert not entry.stand_in
    assert entry.description == f"co-purchases, from {name}"
    assert entry.num_bytes > 4_886_816
    graph = entry.make()
    assert graph.indptr.tolist() == [0, 1, 3, 4]
    assert graph.indices.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("connectivity", [1, 2])
def test_reference_of_an_array(connectivity):
    image = conncomp.generate.random_array((9, 13), 0.8, values=2)
    right = reference(image, connectivity)
    expected = consecutive(label_by_flood_fill(image, 0, connectivity), 1)
    np.testing.assert_array_equal(right.labels, expected)
    assert right.components == expected.max()


def test_reference_of_a_graph():
    graph = conncomp.generate.uniform_random(60, 40)
    sources = np.repeat(np.arange(60), np.diff(graph.indptr))
    arcs = zip(sources.tolist(), graph.indices.tolist(), strict=True)
    right = reference(graph, 0)
    np.testing.assert_array_equal(right.labels, consecutive(components_by_search(60, arcs), 0))


@pytest.mark.parametrize(
    ("labels", "numbering", "reason"),
    [
        ([0, 1, 1, 2], "consecutive", None),
        ([0, 1, 1, 2], "any", None),
        ([0, 7, 7, 3], "any", None),
        ([0, -1, -1, 3], "any", None),
        ([0, 7, 7, 3], "consecutive", "label 7 instead of 1 at 1"),
        ([0, 1, 1, 1], "consecutive", "label 1 instead of 2 at 3"),
        ([0, 1, 1, 1], "any", "different components have the same label"),
        ([0, 1, 3, 2], "any", "label 1 instead of 3 at 1"),
        ([5, 1, 1, 2], "any", "background labelled 5"),
        ([0, 0, 0, 2], "any", "different components have the same label"),
        ([-1, 1, 1, 3], "roots", None),
        ([0, 1, 1, 3], "roots", "label 0 instead of -1 at 0"),
        ([-1, 1, 1, 2], "roots", "label 2 instead of 3 at 3"),
        ([0, 1, 1], "any", "labels of shape (3,) instead of (4,)"),
    ],
)
def test_comparison(labels, numbering, reason):
    right = Reference(np.array([0, 1, 1, 2]), 2, background=True)
    assert right.disagreement(np.array(labels), numbering) == reason


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([3, 3, 0], None),
        ([4, 3, 0], "label 4 instead of 3 at 0"),
        ([2, 2, 2], "different components have the same label"),
    ],
)
def test_comparison_without_background(labels, reason):
    right = Reference(np.array([0, 0, 1]), 2, background=False)
    assert right.disagreement(np.array(labels)) == reason


def test_comparison_of_planes_and_of_nothing():
    right = Reference(np.array([[1, 1], [0, 2]]), 2, background=True)
    assert right.disagreement(np.array([[0, 0], [-1, 3]]), "roots") is None
    whole = Reference(np.array([0, 1, 0]), 2, background=False)
    assert whole.disagreement(np.array([0, 1, 0]), "roots") is None
    right = Reference(np.array([[0, 1], [0, 0]]), 1, background=True)
    assert right.disagreement(np.array([[0, 9], [9, 0]])) == "label 9 instead of 0 at (1, 0)"
    empty = Reference(np.zeros(0, int), 0, background=False)
    for numbering in ("any", "consecutive", "roots"):
        assert empty.disagreement(np.zeros(0, int), numbering) is None
