"""Hulls and Feret diameters of solids, whose memory is that of lines, not of elements."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist

import conncomp
from conncomp.components.columns import crops


def ball(radius):
    along = np.arange(-radius, radius + 1)
    squares = along[:, None, None] ** 2 + along[:, None] ** 2 + along**2
    return (squares <= radius**2).astype(np.uint8)


def all_corners(points):
    """Return the corners of the hull of the midpoints of all elements' faces."""
    midpoints = np.concatenate([points + step for step in crops.MIDPOINTS])
    return midpoints[ConvexHull(midpoints).vertices]


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_elements_between_others_are_no_corners(seed, count):
    generator = np.random.default_rng(seed)
    points = np.unique(generator.integers(0, generator.integers(1, 6), (count, 3)), axis=0)
    kept = crops._outermost(points)
    assert {*map(tuple, kept)} <= {*map(tuple, points)}
    found, wanted = all_corners(kept), all_corners(points)
    assert {*map(tuple, found)} == {*map(tuple, wanted)}


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 300), st.sampled_from([1, 7, 1 << 20]))
def test_largest_distance(seed, count, block):
    points = np.random.default_rng(seed).integers(0, 50, (count, 3)).astype(float)
    kept, crops.BLOCK = crops.BLOCK, block
    try:
        found = crops._largest_distance(points)
    finally:
        crops.BLOCK = kept
    assert found == pytest.approx(pdist(points).max() if count > 1 else 0, rel=1e-14)


def test_memory_of_hulls():
    """A solid takes far less than bytes for each of its elements."""
    labels = np.ones((90, 90, 90), np.uint8)
    conncomp.component_statistics(labels[:3], properties=["area_convex"])  # imports
    tracemalloc.start()
    table = conncomp.component_statistics(labels, properties=["solidity", "feret_diameter_max"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * labels.size
    assert table["solidity"].tolist() == [1]
    assert table["feret_diameter_max"][0] == pytest.approx((2 * 89**2 + 90**2) ** 0.5)


@pytest.mark.parametrize("radius", [1, 4, 15])
def test_balls(radius):
    table = conncomp.component_statistics(ball(radius), properties="all", spacing=2)
    assert table["area_convex"][0] >= table["area"][0]
    assert table["feret_diameter_max"][0] == pytest.approx(4 * radius + 2, rel=0.03)


@pytest.mark.parametrize(("radii", "most"), [((3, 5), 0.11), ((5, 10), 0.06), ((10, 20), 0.02)])
def test_surfaces_are_as_close_as_the_page_says(radii, most):
    for radius in np.linspace(*radii, 6):
        for middle in ([0, 0, 0], [0.5, 0.5, 0.5], [0.4, 0.2, 0.1]):
            places = np.indices((2 * int(radius) + 5,) * 3).T - int(radius) - 2
            inside = ((places - middle) ** 2).sum(axis=-1) <= radius**2
            table = conncomp.component_statistics(
                inside.astype(np.uint8), properties=["surface_area_crofton"]
            )
            sphere = 4 * np.pi * radius**2
            assert table["surface_area_crofton"][0] == pytest.approx(sphere, rel=most)
