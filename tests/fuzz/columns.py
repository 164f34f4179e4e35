"""The target of the columns of `component_statistics`."""

from itertools import product
from math import prod

import numpy as np
from scipy import ndimage
from skimage.measure import euler_number, perimeter, perimeter_crofton
from skimage.morphology import convex_hull_image

import conncomp

from . import draws
from .label_tools_reference import components_of

ALWAYS = ["num_pixels", "bbox", "area_filled", "moments", "coords"]
OF_IMAGES = ["intensity_median", "intensity_std", "intensity_quantile-0.3", "moments_weighted"]
FLAT = ["euler_number", "perimeter", "perimeter_crofton", "area_convex"]


def columns(choices):
    """Compare columns of components with sums over elements, and shapes with scikit-image's."""
    given, background, axes = draws.labels(choices, 200)
    options = draws.options_of(choices, given, background, axes)
    ndim = given.ndim - axes
    image = choices.generator().integers(-9, 9, given.shape) if choices.flag() else None
    names = ALWAYS + (OF_IMAGES if image is not None else []) + (FLAT if ndim == 2 else [])
    found = conncomp.component_statistics(given, image, properties=names, **options)
    expected = list(components_of(given, axes, background))
    for row, (index, label, inside) in enumerate(expected):
        assert found.labels[row] == label
        assert found["num_pixels"][row] == np.count_nonzero(inside)
        _check_shape(found, row, inside)
        if image is not None:
            _check_values(found, row, inside, image[index])
    assert len(found.labels) == len(expected)


def _check_shape(found, row, inside):
    """Compare what is of the shape of a component."""
    points = np.argwhere(inside)
    box = np.stack([points.min(0), points.max(0) + 1])
    np.testing.assert_array_equal(found["bbox"][row], box.ravel())
    np.testing.assert_array_equal(found["coords"][row], points)
    crop = inside[tuple(map(slice, *box))]
    filled = ndimage.binary_fill_holes(crop, np.ones((3,) * inside.ndim))
    assert found["area_filled"][row] == filled.sum()
    _check_moments(found["moments"][row], points - box[0], [1] * len(points))
    if inside.ndim == 2:
        assert found["euler_number"][row] == euler_number(crop, 2)
        assert found["area_convex"][row] == convex_hull_image(crop).sum()
        lengths = [found[name][row] for name in ("perimeter", "perimeter_crofton")]
        np.testing.assert_allclose(lengths, [perimeter(crop), perimeter_crofton(crop)], rtol=1e-9)


def _check_moments(moments, points, weights):
    """Compare moments about the origin with sums of integers."""
    for powers in product(range(4), repeat=points.shape[1]):
        terms = (
            weight * prod(x**p for x, p in zip(point, powers, strict=True))
            for point, weight in zip(points.tolist(), weights, strict=True)
        )
        np.testing.assert_allclose(moments[powers], float(sum(terms)), rtol=1e-9, atol=1e-6)


def _check_values(found, row, inside, image):
    """Compare what is of the values of a component."""
    values, points = image[inside], np.argwhere(inside)
    assert found["intensity_median"][row] == np.median(values)
    np.testing.assert_allclose(found["intensity_std"][row], values.std(), rtol=1e-12)
    quantile = np.quantile(values, 0.3)
    np.testing.assert_allclose(found["intensity_quantile-0.3"][row], quantile, rtol=1e-12)
    _check_moments(found["moments_weighted"][row], points - points.min(0), values.tolist())
