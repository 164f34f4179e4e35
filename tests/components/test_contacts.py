"""Contacts of labels and their graph, against loops over pairs of elements."""

from itertools import product

import cc3d
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import conncomp
from conncomp import _core, generate
from conncomp.components.touching import contact_steps
from conncomp.kernels.neighbourhood import Neighbourhood
from contacts_reference import check_contacts, contacts_by_loops

DTYPES = ["u1", "i2", "i4", "u4", "i8", "u8", ">i4"]


@st.composite
def problems(draw, most_dims=4):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=most_dims, min_side=0, max_side=5))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    background = draw(st.sampled_from([0, -1, None]))
    lowest = -1 if background == -1 and dtype.kind == "i" else 0
    labels = draw(hnp.arrays(dtype, shape, elements=st.integers(lowest, 6)))
    if draw(st.booleans()):
        labels = labels.T
    options = {
        "connectivity": draw(st.integers(1, labels.ndim) | st.none()),
        "periodic": draw(st.lists(st.booleans(), min_size=labels.ndim, max_size=labels.ndim)),
    }
    return labels, background, options


@given(problems(), st.lists(st.sampled_from([0.3, 1, 4.5]), min_size=4, max_size=4))
def test_contacts(problem, spacing):
    labels, background, options = problem
    spacing = spacing[: labels.ndim]
    touching = conncomp.contacts(labels, background=background, spacing=spacing, **options)
    expected = contacts_by_loops(labels, -1 if background is None else background, **options)
    check_contacts(touching, expected, spacing)
    assert touching.batch.shape == (len(touching.pairs), 0)


@pytest.mark.parametrize("shape", [(3, 200), (2, 3, 129), (5, 64), (300,), (2, 65, 2)])
@pytest.mark.parametrize("values", [2, 3, 9])
def test_long_lines(shape, values):
    """Words of 64 elements, whose ends meet, in lines that may close on themselves."""
    rng = np.random.default_rng(values)
    labels = np.repeat(rng.integers(0, values, (*shape[:-1], shape[-1])), 3, axis=-1)
    labels = labels[..., : shape[-1]]
    for periodic in (False, True):
        touching = conncomp.contacts(labels, background=0, periodic=periodic)
        check_contacts(touching, contacts_by_loops(labels, 0, periodic=periodic), [1] * len(shape))


@settings(max_examples=60)
@given(problems(), st.integers(0, 3))
def test_items(problem, batch_axes):
    labels, background, _ = problem
    axes = min(batch_axes, labels.ndim - 1)
    touching = conncomp.contacts(labels, background=background, batch_axes=axes)
    row = 0
    for item in np.ndindex(labels.shape[:axes]):
        alone = conncomp.contacts(labels[item], background=background)
        rows = slice(row, row + len(alone.pairs))
        assert (touching.batch[rows] == item).all()
        for name in ("pairs", "counts", "areas"):
            np.testing.assert_array_equal(
                getattr(touching, name)[rows], getattr(alone, name), strict=True
            )
        row = rows.stop
    assert row == len(touching.pairs)


def lattices_of_few(most_dims):
    """Give labels of all shapes of lengths 1 to 3, with every axis open or closed."""
    rng = np.random.default_rng(0)
    for ndim in range(1, most_dims + 1):
        for shape in product((1, 2, 3), repeat=ndim):
            labels = rng.integers(0, 4, shape)
            for periodic in product((False, True), repeat=ndim):
                for connectivity in range(1, ndim + 1):
                    yield labels, {"connectivity": connectivity, "periodic": periodic}


def test_axes_of_length_1_to_3():
    """Each step is a contact, if it leads around an axis to where another one leads, too."""
    for labels, options in lattices_of_few(3):
        spacing = [0.5, 2, 3][: labels.ndim]
        touching = conncomp.contacts(labels, background=0, spacing=spacing, **options)
        check_contacts(touching, contacts_by_loops(labels, 0, **options), spacing)
        graph = conncomp.region_adjacency(labels, background=0, **options)
        assert graph.num_arcs == 2 * len(touching.pairs)


def test_rule_of_repeated_arrays():
    """An array that is repeated along periodic axes has so many times as many contacts."""
    for labels, options in lattices_of_few(2):
        touching = conncomp.contacts(labels, background=0, **options)
        for times in product((1, 2, 3), repeat=labels.ndim):
            times = np.where(options["periodic"], times, 1)
            repeated = conncomp.contacts(np.tile(labels, times), background=0, **options)
            np.testing.assert_array_equal(repeated.pairs, touching.pairs)
            np.testing.assert_array_equal(repeated.counts, touching.counts * times.prod())
            np.testing.assert_array_equal(repeated.areas, touching.areas * times.prod())


def test_too_many_contacts():
    """Steps along periodic axes of length 1 multiply."""
    labels = np.arange(1, 5).reshape((1,) * 20 + (4,))
    touching = conncomp.contacts(labels, background=0, periodic=True)
    assert touching.counts.tolist() == [3**20] * 4
    labels = labels.reshape((1,) * 45 + (4,))
    with pytest.raises(ValueError, match="periodic closes so many axes of length 1"):
        conncomp.contacts(labels, background=0, periodic=True)
    assert conncomp.contacts(labels, background=0, periodic=True, connectivity=1).counts.sum() == 4


def cells(shape, count):
    """Label the elements by the nearest of some points."""
    return conncomp.label(generate.voronoi(shape, count), background=-1)


def test_areas_against_cc3d():
    labels = cells((40, 50, 60), 90)
    anisotropy = (2.0, 3.0, 5.0)
    for connectivity, neighbours in ((1, 6), (2, 18), (3, 26)):
        theirs = cc3d.contacts(
            labels.astype(np.uint32),
            connectivity=neighbours,
            surface_area=True,
            anisotropy=anisotropy,
        )
        touching = conncomp.contacts(labels, connectivity=connectivity, spacing=anisotropy)
        ours = dict(zip(map(tuple, touching.pairs.tolist()), touching.areas.tolist(), strict=True))
        assert ours == {pair: pytest.approx(area, rel=1e-5) for pair, area in theirs.items()}


def test_same_for_any_number_of_threads():
    labels = cells((300, 400), 2000)
    noise = np.random.default_rng(2).integers(0, 5000, (70, 60, 50))
    for array in (labels, noise):
        conncomp.set_num_threads(1)
        alone = conncomp.contacts(array, spacing=0.1)
        for threads in (2, 5):
            conncomp.set_num_threads(threads)
            together = conncomp.contacts(array, spacing=0.1)
            for name in ("pairs", "counts", "areas"):
                np.testing.assert_array_equal(
                    getattr(together, name), getattr(alone, name), strict=True
                )


def test_keys_of_any_size():
    """Keys beyond 32 bits, whose last digits the sort compares; and too many for 63."""
    steps = contact_steps(Neighbourhood(1, None, (False,)), (5,))
    rows = 1 << 31
    labels = np.array([rows - 1, rows - 2, rows - 1, 7, 5], np.int64)
    touching = _core.native.find_contacts(
        labels, (1, *steps.shape), 0, steps.packed, steps.kinds, 0, rows
    )
    pairs, counts = np.empty((touching.pairs, 2), np.int64), np.empty((touching.pairs, 1), np.int64)
    touching.write(pairs.reshape(-1), counts.reshape(-1))
    assert pairs.tolist() == [[5, 7], [7, rows - 1], [rows - 2, rows - 1]]
    assert counts.tolist() == [[1], [1], [2]]


def test_masked_labels_touch_nothing():
    masked = np.ma.masked_equal([[1, 5, 2], [1, 3, 3]], 5)
    assert conncomp.contacts(masked, connectivity=1).pairs.tolist() == [[1, 3], [2, 3]]


@settings(max_examples=60)
@given(problems(3))
def test_region_adjacency(problem):
    labels, background, options = problem
    graph = conncomp.region_adjacency(labels, background=background, **options)
    touching = conncomp.contacts(labels, background=background, **options)
    assert graph.num_vertices == (max(labels.max(), -1) + 1 if labels.size else 0)
    arcs = {
        (source, int(target))
        for source in range(graph.num_vertices)
        for target in graph.indices[graph.indptr[source] : graph.indptr[source + 1]]
    }
    pairs = {tuple(pair) for pair in touching.pairs.tolist()}
    assert arcs == pairs | {(b, a) for a, b in pairs}
    assert graph.num_arcs == 2 * len(pairs)


@settings(max_examples=60)
@given(problems(), st.integers(1, 3))
def test_region_adjacency_of_items(problem, batch_axes):
    """Vertices are those of one item after another; rows of `contacts` are arcs."""
    labels, background, options = problem
    axes = min(batch_axes, labels.ndim - 1)
    options = {
        "periodic": options["periodic"][axes:],
        "connectivity": min(options["connectivity"] or 9, labels.ndim - axes),
    }
    graph = conncomp.region_adjacency(labels, background=background, batch_axes=axes, **options)
    touching = conncomp.contacts(labels, background=background, batch_axes=axes, **options)
    shape = (*labels.shape[:axes], int(labels.max()) + 1 if labels.size else 0)
    assert graph.num_vertices == np.prod(shape)
    vertices = np.arange(graph.num_vertices).reshape(shape)
    ends = vertices[(*touching.batch.T[:, None], touching.pairs.T)] if axes else touching.pairs.T
    expected = conncomp.Graph.from_edges(
        np.concatenate(ends), np.concatenate(ends[::-1]), graph.num_vertices
    )
    np.testing.assert_array_equal(graph.indptr, expected.indptr)
    np.testing.assert_array_equal(graph.indices, expected.indices)


def test_weights_of_arcs():
    """The areas of `contacts`, twice, are those of the arcs."""
    labels = [[1, 1, 1, 3], [2, 2, 2, 3], [2, 2, 2, 3]]
    graph = conncomp.region_adjacency(labels, connectivity=1)
    areas = conncomp.contacts(labels, connectivity=1).areas
    assert areas.tolist() == [3, 1, 2]
    chosen = conncomp.minimum_spanning_forest(graph, -np.tile(areas, 2))
    assert sorted(chosen % len(areas)) == [0, 2]


@pytest.mark.parametrize("function", [conncomp.contacts, conncomp.region_adjacency])
@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (3, {}, ValueError, "labels is a scalar"),
        ([1, 2], {}, ValueError, "background=None for"),
        ([[1, 2**50]], {}, ValueError, r"labels holds .* conncomp\.relabel_consecutive\(labels\)"),
        ([[1, 2]], {"connectivity": 3}, ValueError, "connectivity=3 must be from 1 to"),
        ([[1, 2]], {"periodic": {0, 1}}, TypeError, "periodic={0, 1} must be a sequence"),
    ],
)
def test_bad_input(function, labels, options, error, message):
    with pytest.raises(error, match=message):
        function(labels, **options)


def test_labels_too_large_for_keys():
    items = np.zeros((1 << 15, 1, 1 << 6), np.int32)
    items[0, 0, 0] = (1 << 25) // 2
    with pytest.raises(ValueError, match=r"too large for .*relabel_consecutive"):
        conncomp.contacts(items, background=None, batch_axes=2)
