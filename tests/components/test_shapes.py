"""Surfaces, spacings, principal axes, and statistics as tables."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from skimage.measure import regionprops

import conncomp

LABELS = hnp.arrays(
    st.sampled_from(["u1", "i4", "i8"]),
    st.one_of(
        hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6),
        st.tuples(st.integers(1, 4), st.integers(60, 140)),
    ),
    elements=st.integers(0, 4),
)


def faces_of(item, label):
    """Count faces by comparing a component with itself one further."""
    inside = np.pad(item == label, 1)
    return [np.count_nonzero(np.diff(inside, axis=k)) for k in range(item.ndim)]


@settings(max_examples=150)
@given(LABELS, st.sampled_from([0, None]), st.integers(0, 3), st.booleans())
def test_faces(labels, background, axes, far_apart):
    labels = labels.astype(int) * 1000 if far_apart else labels
    axes = min(axes, labels.ndim - 1)
    options = {"background": background, "batch_axes": axes}
    statistics = conncomp.component_statistics(labels, surfaces=True, **options)
    assert statistics.faces.shape == statistics.centroids.shape
    assert statistics.faces.dtype == np.int64
    for row, label in enumerate(statistics.labels):
        item = labels[tuple(statistics.batch[row])]
        assert statistics.faces[row].tolist() == faces_of(item, label)
    assert conncomp.component_statistics(labels, **options).faces.shape[0] == 0


def test_surfaces_of_a_box():
    labels = np.zeros((9, 9, 9), int)
    labels[2:4, 3:6, 1:8] = 1
    statistics = conncomp.component_statistics(labels, surfaces=True, spacing=(2, 0.5, 1))
    assert statistics.faces.tolist() == [[2 * 3 * 7, 2 * 2 * 7, 2 * 2 * 3]]
    assert statistics.volumes.tolist() == [4 * 1.5 * 7]
    assert statistics.surface_areas.tolist() == [2 * (1.5 * 7 + 4 * 7 + 4 * 1.5)]


@given(LABELS, st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=4), st.integers(0, 1))
def test_spacing(labels, lengths, axes):
    axes = min(axes, labels.ndim - 1)
    ndim = labels.ndim - axes
    spacing = np.array(lengths[:ndim])
    image = np.arange(labels.size).reshape(labels.shape)
    options = {"background": 0, "batch_axes": axes, "image": image, "surfaces": True}
    plain = conncomp.component_statistics(labels, **options)
    scaled = conncomp.component_statistics(labels, spacing=spacing, **options)
    for name in ("labels", "sizes", "bounding_boxes", "batch", "sums", "means", "faces"):
        np.testing.assert_array_equal(getattr(scaled, name), getattr(plain, name))
    np.testing.assert_array_equal(scaled.centroids, plain.centroids * spacing)
    np.testing.assert_array_equal(scaled.weighted_centroids, plain.weighted_centroids * spacing)
    np.testing.assert_array_equal(scaled.moments, plain.moments * np.outer(spacing, spacing))
    np.testing.assert_array_equal(scaled.volumes, plain.sizes * math.prod(spacing))
    areas = [math.prod(np.delete(spacing, k)) for k in range(ndim)]
    np.testing.assert_allclose(scaled.surface_areas, plain.faces @ np.array(areas))
    assert (plain.spacing, scaled.spacing) == ((1,) * ndim, tuple(spacing))
    same = conncomp.component_statistics(labels, spacing=np.ones(ndim), **options)
    for name in ("centroids", "weighted_centroids", "moments"):
        assert getattr(same, name).tobytes() == getattr(plain, name).tobytes()


@pytest.mark.parametrize("measure", [conncomp.component_statistics, conncomp.contacts])
@pytest.mark.parametrize(
    ("spacing", "error", "message"),
    [
        ((1,), ValueError, r"spacing=\(1,\) has 1 lengths; .* each of the 2 axes of an item"),
        ((1, 2, 3), ValueError, "each of the 2 axes"),
        ((1, 0), ValueError, r"spacing=\(1, 0\) must be positive and finite"),
        ((-1, 1), ValueError, r"spacing=\(-1, 1\) must be"),
        ((1, math.inf), ValueError, r"spacing=\(1, inf\)"),
        ((math.nan, 1), ValueError, r"spacing=\(nan, 1\)"),
        ((1, 10**400), ValueError, "must be positive and finite"),
        ((1, 1e300), ValueError, r"spacing=\(1, 1e\+300\): volumes and moments have no room"),
        ((1e160, 1e-160), ValueError, "use another unit"),
        ((1e-170, 1), ValueError, "use another unit"),
        ((1, "2"), TypeError, r"spacing\[1\]='2' must be a number"),
    ],
)
def test_bad_spacings(measure, spacing, error, message):
    with pytest.raises(error, match=message):
        measure(np.ones((2, 3), int), spacing=spacing)


def test_spacing_is_of_the_axes_of_items():
    with pytest.raises(ValueError, match="each of the 1 axes of an item"):
        conncomp.component_statistics(
            np.ones((2, 3), int), spacing=(1, 1), background=0, batch_axes=1
        )


@pytest.mark.parametrize("shape", [(40, 50), (14, 20, 17)])
def test_principal_axes(shape):
    labels = conncomp.label(np.random.default_rng(4).random(shape) < 0.35)
    statistics = conncomp.component_statistics(labels, spacing=(0.5, 2, 1)[: len(shape)])
    lengths, directions = statistics.principal_axes()
    assert (np.diff(lengths, axis=1) <= 0).all()
    for row, region in enumerate(regionprops(labels, spacing=statistics.spacing)):
        np.testing.assert_allclose(lengths[row, 0], region.axis_major_length, atol=1e-6)
        np.testing.assert_allclose(lengths[row, -1], region.axis_minor_length, atol=1e-6)
    identity = np.broadcast_to(np.eye(len(shape)), directions.shape)
    np.testing.assert_allclose(directions @ directions.swapaxes(1, 2), identity, atol=1e-9)
    variances = lengths**2 / (4 * (len(shape) + 2))
    rebuilt = np.einsum("nki,nk,nkj->nij", directions, variances, directions)
    np.testing.assert_allclose(rebuilt, statistics.moments, atol=1e-9)
    largest = np.take_along_axis(directions, abs(directions).argmax(2)[..., None], 2)
    assert (largest > 0).all()


def test_principal_axes_of_nothing():
    for labels, options in (([[0, 0]], {}), ([[1, 1]], {"moments": False})):
        lengths, directions = conncomp.component_statistics(labels, **options).principal_axes()
        assert (lengths.shape, directions.shape) == ((0, 2), (0, 2, 2))


def some_statistics(**options):
    labels = np.array([[[1, 1, 0]], [[0, 2, 2]]])
    return conncomp.component_statistics(labels, labels * 2, batch_axes=1, **options)


def test_tables():
    statistics = some_statistics(surfaces=True, spacing=(2, 3))
    frame, table = statistics.to_pandas(), statistics.to_arrow()
    names = ["label", "batch-0", "num_pixels", "area", "bbox-0", "bbox-1", "bbox-2", "bbox-3"]
    names += ["centroid-0", "centroid-1", "moment-0-0", "moment-0-1", "moment-1-1"]
    names += ["intensity_sum", "intensity_mean", "intensity_min", "intensity_max"]
    names += ["centroid_weighted-0", "centroid_weighted-1"]
    names += ["faces-0", "faces-1", "surface_area"]
    assert list(frame) == table.column_names == list(statistics.columns()) == names
    for name, column in statistics.columns().items():
        np.testing.assert_array_equal(frame[name].to_numpy(), column, strict=True)
        np.testing.assert_array_equal(table[name].to_numpy(), column, strict=True)
    assert frame["centroid_weighted-1"].tolist() == [1.5, 4.5]
    assert frame["batch-0"].tolist() == [0, 1]


def test_tables_lack_what_was_not_asked_for():
    labels = np.array([[1, 1, 0]])
    names = list(conncomp.component_statistics(labels, moments=False).columns())
    assert not any(name.startswith(("moment", "intensity", "faces", "surface")) for name in names)
    assert "batch-0" not in names


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_arrow")])
def test_tables_need_packages(monkeypatch, package, method):
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"this table needs {package}: pip install 'conncomp\[tables\]'"
    with pytest.raises(ImportError, match=message):
        getattr(some_statistics(), method)()
