"""`label` with structures, tolerances and batches against a flood fill, SciPy and cc3d."""

import math
from itertools import product

import cc3d
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import ndimage

import conncomp
from conncomp import label
from cpu_cases import CASES, takes
from reference import consecutive, label_by_flood_fill, number_items, roots_of_labels
from strategies import FLOATS, INTEGERS, LAYOUTS, images, lay_out, shapes

NUMBERS = [name for name in (*INTEGERS, *FLOATS) if name != "b1"]


def random_structure(rng, ndim, density):
    """Return a random structuring element that is symmetric about its centre."""
    half = rng.random((3,) * ndim) < density
    return half | np.flip(half)


@st.composite
def neighbourhoods(draw, ndim):
    """Draw arguments of `label`: a connectivity or a structure, and periodicity."""
    periodic = draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim))
    kind = draw(st.sampled_from(["connectivity", "random", "rows apart", "only rows"]))
    if kind == "connectivity":
        return {"periodic": periodic, "connectivity": draw(st.integers(1, ndim))}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    structure = random_structure(rng, ndim, draw(st.sampled_from([0.1, 0.3, 0.6])))
    axis = draw(st.integers(0, ndim - 1))
    others = tuple(slice(None) if k == axis else 1 for k in range(ndim))
    if kind == "rows apart":
        structure[others] = False
    if kind == "only rows":
        structure[...] = False
        structure[others] = True
    if draw(st.booleans()):
        structure = structure.astype(draw(st.sampled_from(["u1", "i8"])))
    return {"periodic": periodic, "structure": structure}


# Values a few steps apart, at the ends of the dtype, too.
def close_values(dtype, rng, count):
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        most = np.finfo(dtype).max
        pool = [0, -0.0, tiny, 3 * tiny, 1, 1.25, 1.5, 2, -1, most, -most]
        pool += [math.nan, math.inf, -math.inf]
    else:
        info = np.iinfo(dtype)
        pool = [0, 1, 2, 3, 5, 8, info.max, info.max - 1, info.max - 3, info.max // 2]
        pool += [info.min, info.min + 1, info.min + 2, info.min + 4]
    return np.array([pool[k] for k in rng.integers(0, len(pool), count)], dtype)


@st.composite
def tolerances(draw, dtype):
    if dtype.kind == "f":
        # Half and single precision differ exactly in float64.
        most = float(np.finfo(dtype).max) if dtype.itemsize < 16 else 1e308
        small = [0, -0.0, 0.25, 0.3, 1, 2, np.float32(0.5), np.longdouble(1), np.int8(1)]
        return draw(st.sampled_from([*small, 5e-324, most, 2 * most, math.inf, 10**400]))
    bits = 8 * dtype.itemsize
    most = 2**bits - 1
    small = [0, 0.5, 1, 1.99, 2, 3, np.float32(1), np.uint8(2), np.longdouble(2)]
    return draw(st.sampled_from([*small, most - 1, most, most + 1, most // 2, 1e30, math.inf]))


@st.composite
def problems(draw):
    """Draw an array and arguments of `label`."""
    dtype = np.dtype(draw(st.sampled_from(NUMBERS)))
    shape = draw(shapes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = close_values(dtype, rng, draw(st.sampled_from([2, 3, 6, 14])))
    image = lay_out(rng.choice(pool, shape).astype(dtype), draw(st.sampled_from(LAYOUTS)))
    batch_axes = draw(st.integers(0, image.ndim - 1))
    arguments = draw(neighbourhoods(image.ndim - batch_axes))
    background = draw(st.sampled_from([0, 1, -1, 0.25, math.nan, math.inf, 10**400]))
    tolerance = draw(tolerances(dtype))
    return image, {
        **arguments,
        "background": background,
        "tolerance": tolerance,
        "batch_axes": batch_axes,
    }


@given(
    problem=problems(),
    case=st.sampled_from(CASES),
    threads=st.sampled_from([1, 2, 3, 8]),
    masked=st.booleans(),
)
@settings(max_examples=1500)
def test_equals_flood_fill(problem, case, threads, masked):
    image, arguments = problem
    assume(takes(case, image.shape, arguments["batch_axes"]))
    if masked:
        image = np.ma.masked_array(image, np.arange(image.size).reshape(image.shape) % 3 == 1)
    before = image.copy()
    conncomp.set_num_threads(threads)
    with np.errstate(over="ignore"):
        expected = label_by_flood_fill(image, **arguments)
    numbers, expected_counts = number_items(expected, arguments["batch_axes"])
    for numbering, labels in (("roots", expected), ("consecutive", numbers)):
        task = {"numbering": numbering, "return_num": True, **case}
        found, counts = label(image, **task, **arguments)
        np.testing.assert_array_equal(found, labels)
        np.testing.assert_array_equal(counts, expected_counts)
        assert isinstance(counts, int) == (not arguments["batch_axes"])
    np.testing.assert_array_equal(image, before)


@given(image=images(), batch_axes=st.integers(0, 4), data=st.data())
@settings(max_examples=300)
def test_structures_and_batches_of_any_values(image, batch_axes, data):
    batch_axes = min(batch_axes, image.ndim - 1)
    arguments = {"batch_axes": batch_axes, **data.draw(neighbourhoods(image.ndim - batch_axes))}
    expected = label_by_flood_fill(image, **arguments)
    np.testing.assert_array_equal(label(image, numbering="roots", **arguments), expected)
    numbers, counts = number_items(expected, batch_axes)
    labels, found = label(image, return_num=True, **arguments)
    np.testing.assert_array_equal(labels, numbers)
    np.testing.assert_array_equal(found, counts)


# ---- structures --------------------------------------------------------------------------------


def every_structure(ndim):
    """Yield every structuring element."""
    steps = [step for step in product((-1, 0, 1), repeat=ndim) if step < (0,) * ndim]
    for chosen in product([False, True], repeat=len(steps)):
        structure = np.zeros((3,) * ndim, bool)
        for step, present in zip(steps, chosen, strict=True):
            structure[tuple(1 + x for x in step)] = structure[tuple(1 - x for x in step)] = present
        yield structure


@pytest.mark.parametrize("density", [0.5, 0.97, 1])
@pytest.mark.parametrize("values", [1, 3])
@pytest.mark.parametrize("shape", [(9, 70), (70, 9)])
def test_every_structure_in_two_dimensions(shape, values, density):
    rng = np.random.default_rng(0)
    image = rng.integers(1, values + 1, shape) * (rng.random(shape) < density)
    for structure in every_structure(2):
        for periodic in product([False, True], repeat=2):
            roots = label(image, structure=structure, periodic=periodic, numbering="roots")
            expected = label_by_flood_fill(image, None, None, list(periodic), structure)
            np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize(
    "shape", [(9, 2, 150), (2, 9, 150), (2, 2, 150), (5, 2, 2, 70), (2, 5, 2, 70)]
)
@pytest.mark.parametrize("density", [0.1, 0.4])
def test_short_axes(shape, density):
    for seed in range(20):
        image = np.random.default_rng(seed).random(shape) < density
        labels = label(image, connectivity=len(shape))
        expected, _ = ndimage.label(image, np.ones((3,) * len(shape)))
        expected = consecutive(roots_of_labels(expected, background=0), first=1)
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_structures_equal_scipy(ndim):
    rng = np.random.default_rng(ndim)
    shape = [0, 0, (300, 400), (50, 60, 70), (14, 15, 16, 40)][ndim]
    image = rng.random(shape) < 0.4
    for density in (0.1, 0.2, 0.5, 1):
        structure = random_structure(rng, ndim, density)
        expected, expected_num = ndimage.label(image, structure)
        expected = consecutive(roots_of_labels(expected, background=0), first=1)
        for threads in (1, 2, 8):
            conncomp.set_num_threads(threads)
            labels, num = label(image, return_num=True, structure=structure)
            np.testing.assert_array_equal(labels, expected)
            assert num == expected_num


def test_body_centred_lattice():
    """Corners only: two sublattices that never meet."""
    corners = np.zeros((3, 3, 3), bool)
    corners[::2, ::2, ::2] = True
    labels, num = label(np.ones((4, 6, 8)), structure=corners, return_num=True, periodic=True)
    assert num == 4  # the parities of the differences of coordinates
    parity = np.indices((4, 6, 8)) % 2
    assert len(np.unique(labels)) == len(
        np.unique((parity[0] ^ parity[1]) * 2 + (parity[0] ^ parity[2]))
    )


def test_planes_that_do_not_touch():
    plane = np.zeros((3, 3, 3), bool)
    plane[1] = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    image = np.random.default_rng(0).random((6, 40, 70)) < 0.6
    roots = label(image, structure=plane, numbering="roots")
    of_planes = label(image, connectivity=1, batch_axes=1, numbering="roots")
    first = np.arange(6).reshape(-1, 1, 1) * of_planes[0].size
    np.testing.assert_array_equal(roots, np.where(image, of_planes + first, -1))


# ---- tolerances --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [name for name in NUMBERS if name not in FLOATS])
def test_ends_of_integers(dtype):
    info = np.iinfo(dtype)
    most = info.max - info.min
    image = np.array([info.min, info.max], dtype)
    for tolerance, num in ((0, 2), (1, 2), (most - 1, 2), (most, 1), (most + 1, 1), (math.inf, 1)):
        assert label(image, background=1, tolerance=tolerance, return_num=True)[1] == num
    image = np.array([info.max - 1, info.max], dtype)
    assert label(image, tolerance=1, return_num=True)[1] == 1
    image = np.array([info.min + 1, info.min], dtype)
    assert label(image, background=5, tolerance=1, return_num=True)[1] == 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_floats(dtype):
    image = np.array([1, 1.25, 1.5, 3, math.inf, math.inf, math.nan, math.nan, -math.inf], dtype)
    labels = label(image, tolerance=0.25)
    np.testing.assert_array_equal(labels, [1, 1, 1, 2, 3, 3, 4, 5, 6])
    labels = label(image, tolerance=math.inf)
    np.testing.assert_array_equal(labels, [1, 1, 1, 1, 1, 1, 2, 3, 4])
    labels = label(image, background=math.nan, tolerance=0.25)
    np.testing.assert_array_equal(labels, [1, 1, 1, 2, 3, 3, 0, 0, 4])


def test_floats_are_compared_in_float64():
    image = np.array([0.1, 0.2], np.float32)
    difference = float(image[1]) - float(image[0])
    assert label(image, tolerance=difference, return_num=True)[1] == 1
    assert label(image, tolerance=math.nextafter(difference, 0), return_num=True)[1] == 2


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f2", "f4", "f8", "g"])
def test_masked_elements_connect_to_nothing(dtype):
    image = np.ma.masked_array(np.arange(256).astype(dtype).reshape(2, 128), np.eye(2, 128))
    for background in (0, 300.5, -(2**63) - 1):
        roots = label(image, background, tolerance=1, numbering="roots", periodic=True)
        expected = label_by_flood_fill(image, background, None, True, tolerance=1)
        np.testing.assert_array_equal(roots, expected)


def test_long_doubles_near_the_background():
    """What differs from the background in long double only is none, and links as in float64."""
    almost = np.nextafter(np.longdouble(1), np.longdouble(2))
    image = np.array([1, almost, 1.5, 1], np.longdouble)
    np.testing.assert_array_equal(label(image, background=1, tolerance=0.5), [0, 1, 1, 0])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i4", "f4"])
@pytest.mark.parametrize("connectivity", [6, 26])
def test_tolerance_equals_cc3d(dtype, connectivity):
    rng = np.random.default_rng(0)
    smooth = ndimage.gaussian_filter(rng.random((40, 50, 60)), 2)
    image = (1 + 400 * (smooth - smooth.min())).astype(dtype)
    for delta in (1, 2, 5):
        expected = cc3d.connected_components(image, connectivity=connectivity, delta=delta)
        expected = roots_of_labels(expected, background=0)
        reach = {6: 1, 26: 3}[connectivity]
        labels = label(image, connectivity=reach, tolerance=delta, numbering="roots")
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("shape", [(70000, 3), (3, 70000), (300, 400), (40, 50, 60)])
def test_tolerance_in_large_arrays(shape):
    """Slopes, where runs are long and every step between rows is a contact, equal a flood fill."""
    rng = np.random.default_rng(0)
    image = sum(np.ogrid[tuple(slice(n) for n in shape)]) // 3 + rng.integers(0, 3, shape)
    expected = None
    for threads in (1, 2, 8):
        conncomp.set_num_threads(threads)
        labels = label(image, -1, tolerance=1, numbering="roots")
        if expected is None:
            expected = label_by_flood_fill(image, -1, tolerance=1)
        np.testing.assert_array_equal(labels, expected)


# ---- batches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (2, 0, 0), (0,) * 3])
@pytest.mark.parametrize("batch_axes", [0, 1, 2])
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_nothing_to_label(shape, batch_axes, numbering):
    options = {"batch_axes": batch_axes, "numbering": numbering, "return_num": True}
    labels, num = label(np.zeros(shape), **options)
    assert labels.shape == shape
    assert np.shape(num) == shape[:batch_axes]
    assert not np.any(num)


@pytest.mark.parametrize("values", [1, 3])
@pytest.mark.parametrize("shape", [(700, 8, 9), (5, 6, 30, 130), (3, 1, 200, 200), (4000, 3)])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_batches_equal_a_loop(shape, layout, values):
    image = np.random.default_rng(0).integers(0, values + 1, shape, np.uint8)
    image = image.copy(order=layout)
    for batch_axes in range(1, len(shape)):
        for periodic, connectivity in ((False, 1), (True, None)):
            options = {"periodic": periodic, "connectivity": connectivity}
            many = {"batch_axes": batch_axes, "return_num": True, **options}
            for numbering in ("consecutive", "roots"):
                expected = np.empty(shape, np.int32)
                expected_counts = np.empty(shape[:batch_axes], np.int64)
                for item in np.ndindex(shape[:batch_axes]):
                    expected[item], expected_counts[item] = label(
                        image[item], numbering=numbering, return_num=True, **options
                    )
                for threads in (1, 2, 8):
                    conncomp.set_num_threads(threads)
                    labels, counts = label(image, numbering=numbering, **many)
                    np.testing.assert_array_equal(labels, expected)
                    np.testing.assert_array_equal(counts, expected_counts)


def test_batches_of_any_label_dtype():
    image = np.random.default_rng(0).integers(0, 2, (20, 10, 10))
    expected, counts = label(image, batch_axes=1, return_num=True)
    assert counts.dtype == np.int64
    assert image.size > np.iinfo(np.int8).max  # though no item is
    for dtype in ("i1", "u1", "i8", "smallest"):
        labels = label(image, batch_axes=1, dtype=dtype)
        np.testing.assert_array_equal(labels, expected)
        assert labels.dtype == ("u1" if dtype == "smallest" else dtype)
    out = np.zeros(image.shape, np.int16)
    assert label(image, batch_axes=1, out=out) is out
    np.testing.assert_array_equal(out, expected)
