"""Columns of components beside scikit-image's, and of shapes whose values are known."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage
from skimage import data, measure
from skimage.measure._regionprops import COL_DTYPES

import conncomp

# What is of a flat solid, or of none, has no hull in scikit-image.
HULLS = ("area_convex", "feret_diameter_max", "solidity")
LAZY = {name for name, dtype in COL_DTYPES.items() if dtype is object}


def table_of(labels, image=None, properties="all", **options):
    return conncomp.component_statistics(
        labels, image, properties=properties, background=0, **options
    )


def room_for_rounding(name, column, table, weights):
    """Return how far from 0 a value may be that is 0 but for rounding."""
    if not name.startswith("moments"):
        return 1e-7 if name.startswith(("axis", "eccentricity")) else 1e-12
    powers = [int(power) for power in column.split("-")[1:]]
    if name.endswith("hu"):
        return 1e-13
    if name.endswith("normalized"):
        return 1e-10
    spans = [table[f"span-{k}"] for k in range(len(table["spans"]))]
    scale = np.prod([span**power for span, power in zip(spans, powers, strict=False)], axis=0)
    return 1e-12 * table["area"] * scale * (weights if "weighted" in name else 1)


def check_against_skimage(labels, image=None, spacing=None, left_out=()):
    """Compare every column of numbers that both have; return how many there are."""
    mine = table_of(labels, image, spacing=spacing)
    columns = mine.columns()
    boxes = np.diff(mine.bounding_boxes, axis=2)[:, :, 0] * np.array(mine.spacing)
    sizes = {"area": mine.sizes, "spans": mine.spacing}
    sizes |= {f"span-{k}": boxes[:, k] for k in range(labels.ndim)}
    names = [name for name in mine.properties if name in COL_DTYPES and name not in left_out]
    if spacing is not None and len(set(spacing)) > 1 and labels.ndim == 2:
        names.remove("perimeter_crofton")  # which scikit-image has of even spacing only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = measure.regionprops_table(labels, image, ["label", *names], spacing=spacing)
    weights = 1 if image is None else np.abs(image).max()
    for column, values in theirs.items():
        name = column.partition("-")[0]
        if name == "orientation":
            turns = (columns[column] - values) / np.pi
            bent = columns["eccentricity"] > 1e-3
            np.testing.assert_allclose(turns[bent], np.rint(turns[bent]), atol=1e-6)
            continue
        room = room_for_rounding(name, column, sizes, weights)
        right = np.isclose(columns[column], values, rtol=1e-6, atol=room, equal_nan=True)
        assert right.all(), (column, columns[column][~right], values[~right])
        if COL_DTYPES[name] is int:
            assert columns[column].dtype == np.int64
    return len(theirs)


@cache
def objects_of(name):
    """Return labels of objects of an image of scikit-image's, and the image."""
    image = getattr(data, name)()
    image = image[..., 0] if image.ndim == 3 else image
    mask = image > 110 if name == "coins" else image < 100
    return measure.label(mask[:160, :200]), image[:160, :200]


@pytest.mark.parametrize("name", ["coins", "page", "gravel", "microaneurysms"])
def test_images_of_skimage(name):
    labels, image = objects_of(name)
    assert labels.max() > 1
    # Moments of values of 1 or so, as Hu's invariants of small ones are nothing but rounding.
    assert check_against_skimage(labels, image / image.mean()) == 150


def blobs(ndim, side, seed=0, part=0.35):
    """Return labels of random blobs, some at the border, and an image of several values."""
    generator = np.random.default_rng(seed)
    field = ndimage.gaussian_filter(generator.random((side,) * ndim), 1.3)
    labels = measure.label(field > np.quantile(field, 1 - part), connectivity=1)
    return labels, generator.random(labels.shape) + 0.5


@pytest.mark.parametrize("spacing", [None, (0.3, 0.3), (0.25, 7)])
def test_blobs(spacing):
    labels, image = blobs(2, 60)
    assert check_against_skimage(labels, image, spacing) > 100


def solid(labels):
    """Return labels without those of components that are flat, or nearly."""
    boxes = conncomp.component_statistics(labels, background=0)
    thick = np.diff(boxes.bounding_boxes, axis=2).min(axis=(1, 2)) > 2
    return np.where(np.isin(labels, boxes.labels[thick]), labels, 0)


@pytest.mark.parametrize("spacing", [None, (2, 0.5, 1)])
def test_blobs_in_three_dimensions(spacing):
    labels, image = blobs(3, 22, part=0.25)
    labels = solid(labels)
    assert labels.max() > 3
    assert check_against_skimage(labels, image, spacing) > 200


SHAPES = {
    "an element": np.ones((1, 1), int),
    "elements": np.arange(1, 13).reshape(3, 4),
    "a row": np.ones((1, 70), int),
    "a column": np.ones((70, 1), int),
    "a diagonal": np.eye(9, dtype=int),
    "far apart": np.diag([1, *[0] * 89, 1]),
    "a ring": np.pad(np.zeros((3, 4), int), 2, constant_values=1),
    "rings in rings": np.pad(np.pad(np.pad([[1]], 1), 1, constant_values=1), 2),
    "another in a ring": np.pad(np.pad([[2]], 1), 1, constant_values=1),
    "an open ring": np.array([[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1]]),
    "touching": np.repeat(np.repeat([[1, 2], [3, 3]], 5, axis=0), 70, axis=1),
    "gaps in labels": np.array([[900, 0, 7], [900, 0, 7], [0, 0, 3]]),
    "a comb": np.tile([[1, 0], [1, 1]], (1, 40)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    labels = SHAPES[shape]
    check_against_skimage(labels)
    check_against_skimage(labels.astype(np.int32), np.ones(labels.shape))


@pytest.mark.parametrize("width", [1023, 1024, 1025, 2100])
def test_lines_longer_than_what_is_read_at_a_time(width):
    labels = np.random.default_rng(0).integers(0, 3, (90, width))
    names = ["perimeter", "perimeter_crofton", "euler_number", "euler_number_1"]
    table = table_of(labels, properties=names)
    for row, label in enumerate((1, 2)):
        inside = labels == label
        assert table["perimeter"][row] == pytest.approx(measure.perimeter(inside), rel=1e-12)
        crofton = measure.perimeter_crofton(inside)
        assert table["perimeter_crofton"][row] == pytest.approx(crofton, rel=1e-12)
        assert table["euler_number"][row] == measure.euler_number(inside, 2)
        assert table["euler_number_1"][row] == measure.euler_number(inside, 1)


@st.composite
def noise(draw, min_dims, max_dims, max_side):
    """Draw labels of 1 to 3 components, most of them of many pieces, of any type."""
    shape = draw(
        hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=1, max_side=max_side)
    )
    if len(shape) == 2 and draw(st.booleans()):
        shape = shape[0], draw(st.integers(60, 140))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = generator.integers(0, draw(st.integers(2, 4)), shape)
    return labels.astype(draw(st.sampled_from(["u1", "i4", "i8"])))


@settings(max_examples=25)
@given(noise(2, 2, 9))
def test_noise(labels):
    if labels.any():
        check_against_skimage(labels)


@settings(max_examples=15)
@given(noise(3, 3, 6))
def test_noise_in_three_dimensions(labels):
    if labels.any():
        check_against_skimage(labels, left_out=HULLS)


def euler_of_open_boxes(inside):
    """Return the Euler number of the interior of the closed elements: those of faces."""
    number = 0
    for code in range(2**inside.ndim):
        cells = inside
        for axis in range(inside.ndim):
            if code >> axis & 1:
                cells = cells.take(range(1, cells.shape[axis]), axis) & cells.take(
                    range(cells.shape[axis] - 1), axis
                )
        number += (-1) ** code.bit_count() * int(cells.sum())
    return number


def euler_of_closed_boxes(inside, split_corners=False):
    """Return that of closed elements, which meet at corners unless these are split."""
    padded, number = np.pad(inside, 1), 0
    for code in range(2**inside.ndim):
        cells = padded
        for axis in range(inside.ndim):
            if code >> axis & 1:
                cells = cells.take(range(1, cells.shape[axis]), axis) | cells.take(
                    range(cells.shape[axis] - 1), axis
                )
        number += (-1) ** (inside.ndim - code.bit_count()) * int(cells.sum())
    if split_corners:
        for corner in np.ndindex(*(length - 1 for length in padded.shape)):
            cube = padded[tuple(slice(k, k + 2) for k in corner)]
            number += max(ndimage.label(cube, ndimage.generate_binary_structure(3, 2))[1] - 1, 0)
    return number


@settings(max_examples=40)
@given(noise(2, 3, 5))
def test_euler_numbers_in_any_connectivity(labels):
    names = [f"euler_number_{k}" for k in range(1, labels.ndim + 1)]
    table = table_of(labels, properties=names)
    for row, label in enumerate(table.labels):
        inside = labels == label
        numbers = [int(table[name][row]) for name in names]
        assert numbers[0] == euler_of_open_boxes(inside)
        assert numbers[-1] == euler_of_closed_boxes(inside)
        if labels.ndim == 3:
            assert numbers[1] == euler_of_closed_boxes(inside, split_corners=True)


def ellipsoid(radii, margin=2):
    grid = np.meshgrid(
        *(np.arange(-int(r) - margin, int(r) + margin + 1) for r in radii), indexing="ij"
    )
    return (sum((x / r) ** 2 for x, r in zip(grid, radii, strict=True)) <= 1).astype(int)


def test_ellipse():
    table = table_of(ellipsoid((60.3, 25.3)))
    names = ["area", "feret_diameter_max", "feret_diameter_min"]
    (area, feret, shortest), pi = [table[name][0] for name in names], np.pi
    assert area == pytest.approx(pi * 60.3 * 25.3, rel=3e-3)
    assert feret == pytest.approx(121, abs=0.6)
    assert shortest == pytest.approx(51, abs=0.6)
    assert table["axis_major_length"][0] == pytest.approx(120.6, rel=2e-3)
    assert table["eccentricity"][0] == pytest.approx((1 - (25.3 / 60.3) ** 2) ** 0.5, rel=1e-3)
    # Ramanujan's formula, which is exact to 1e-6 here.
    h = (35 / 85.6) ** 2
    length = pi * 85.6 * (1 + 3 * h / (10 + (4 - 3 * h) ** 0.5))
    assert table["perimeter_crofton"][0] == pytest.approx(length, rel=0.01)
    assert table["solidity"][0] > 0.98
    assert abs(table["orientation"][0]) < 1e-9


def test_ellipse_is_round_by_its_spacing():
    table = table_of(
        ellipsoid((60, 20)), spacing=(1, 3), properties=["perimeter_crofton", "eccentricity"]
    )
    assert table["perimeter_crofton"][0] == pytest.approx(2 * np.pi * 60, rel=0.02)
    assert table["eccentricity"][0] < 0.13  # axes that differ by less than a hundredth


@pytest.mark.parametrize("spacing", [(1, 1, 1), (2, 1, 0.5)])
def test_ball(spacing):
    ball = ellipsoid([20 / length for length in spacing])
    table = table_of(ball, spacing=spacing, properties="all")
    assert table["surface_area_crofton"][0] == pytest.approx(4 * np.pi * 400, rel=0.02)
    assert table["sphericity"][0] == pytest.approx(1, abs=0.02)
    assert table["area"][0] == pytest.approx(4 / 3 * np.pi * 8000, rel=0.01)
    assert table["feret_diameter_max"][0] == pytest.approx(41, abs=2.2)
    assert table["euler_number"].tolist() == [1]


def test_torus_and_hollow_ball():
    z, y, x = np.mgrid[-8:9, -22:23, -22:23]
    torus = ((np.hypot(y, x) - 14) ** 2 + z**2 <= 6.3**2).astype(int)
    table = table_of(torus)
    assert table["euler_number"].tolist() == table["euler_number_1"].tolist() == [0]
    assert table["surface_area_crofton"][0] == pytest.approx(4 * np.pi**2 * 14 * 6.3, rel=0.02)
    assert table["area_filled"].tolist() == table["area"].tolist()
    hollow = ellipsoid((9, 9, 9)) - np.pad(ellipsoid((4, 4, 4)), 5)
    table = table_of(hollow)
    assert table["euler_number"].tolist() == [2]
    assert table["area_filled"].tolist() == [ellipsoid((9, 9, 9)).sum()]


def test_hulls_of_flat_solids():
    flat = np.zeros((3, 8, 9), int)
    flat[1, 2:6, 1:8] = 1
    flat[0, 0, 0] = 2
    table = table_of(flat, properties=["area_convex", "feret_diameter_max", "solidity"])
    assert table["area_convex"].tolist() == [28, 1]
    assert table["solidity"].tolist() == [1, 1]
    assert table["feret_diameter_max"][1] == 1


def scalars(labels, image, **options):
    """Return columns that neither a turn nor a number of a label changes."""
    table = table_of(labels, image, **options)
    names = ["area", "area_convex", "area_filled", "eccentricity", "euler_number", "extent"]
    names += ["feret_diameter_max", "feret_diameter_min", "intensity_median", "intensity_std"]
    names += ["axis_major_length", "axis_minor_length", "perimeter", "perimeter_crofton"]
    return {name: table[name] for name in names} | {"hu": np.abs(table["moments_hu"])}


TURNS = {
    "transposed": lambda array: array.T,
    "flipped": lambda array: array[::-1],
    "mirrored": lambda array: array[:, ::-1],
}


@pytest.mark.parametrize("turn", TURNS)
def test_turns_and_permutations_change_nothing(turn):
    labels, image = blobs(2, 90, seed=3)
    order = np.random.default_rng(1).permutation(labels.max() + 1)
    order = np.append(0, order[order != 0])
    wanted = scalars(labels, image)
    found = scalars(TURNS[turn](order[labels]), TURNS[turn](image))
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name][order[1:] - 1], values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ndim", [2, 3])
def test_threads_change_nothing(ndim):
    labels, image = blobs(ndim, {2: 700, 3: 64}[ndim], seed=5)
    properties = table_of(labels[:9, :9], image[:9, :9]).properties
    names, tables = [name for name in properties if name not in HULLS], []
    for threads in (1, 2, 5):
        conncomp.set_num_threads(threads)
        tables.append(table_of(labels, image, names).columns())
    for table in tables[1:]:
        for name, column in table.items():
            np.testing.assert_array_equal(column, tables[0][name])
