"""`label` against a flood fill, SciPy, scikit-image and cc3d."""

import math
from itertools import product

import cc3d
import numpy as np
import pytest
import skimage.measure
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import conncomp
from conncomp import label
from conncomp.generate import patterns
from reference import consecutive, label_by_flood_fill, label_by_neighbour_pairs, roots_of_labels
from strategies import FLOATS, INTEGERS, LAYOUTS, images, lay_out

BACKGROUNDS = [None, 0, -1, 1, 2, 0.25, 0.5, True, math.nan, math.inf, -math.inf]
UNREPRESENTABLE = [256, 2**63, 2**64, -(2**63) - 1, 1e300, 10**30, 10**400, -(10**400)]


@given(
    image=images(),
    background=st.one_of(st.none(), st.sampled_from(BACKGROUNDS + UNREPRESENTABLE)),
    axes=st.lists(st.booleans(), min_size=5, max_size=5),
    reach=st.integers(1, 5),
    dtype=st.sampled_from([None, np.int32, np.int64]),
    threads=st.sampled_from([1, 2, 3, 8]),
)
@settings(max_examples=1000)
def test_equals_flood_fill(image, background, axes, reach, dtype, threads):
    periodic, connectivity = axes[: image.ndim], min(reach, image.ndim)
    before = image.copy()
    conncomp.set_num_threads(threads)
    options = {"connectivity": connectivity, "periodic": periodic, "dtype": dtype}
    roots = label(image, background, numbering="roots", **options)
    expected = label_by_flood_fill(image, background, connectivity, periodic)
    np.testing.assert_array_equal(roots, expected)
    assert roots.dtype == (dtype or np.int32)
    labels, num = label(image, background, return_num=True, **options)
    np.testing.assert_array_equal(labels, consecutive(expected, first=1))
    assert labels.dtype == (dtype or np.int32)
    assert num == labels.max(initial=0)
    np.testing.assert_array_equal(image, before)


@given(
    seed=st.integers(0, 2**32),
    before=st.lists(st.integers(1, 3), max_size=1),
    length=st.integers(60, 200),
    after=st.lists(st.integers(1, 3), max_size=2),
    density=st.sampled_from([0.1, 0.5, 0.9]),
    reach=st.integers(1, 4),
    periodic=st.booleans(),
)
def test_longest_axis_anywhere(seed, before, length, after, density, reach, periodic):
    image = np.random.default_rng(seed).random((*before, length, *after)) < density
    connectivity = min(reach, image.ndim)
    np.testing.assert_array_equal(
        label(image, connectivity=connectivity, periodic=periodic, numbering="roots"),
        label_by_flood_fill(image, None, connectivity, periodic),
    )


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_every_connectivity_and_periodicity(ndim):
    shape = [(130,), (6, 67), (4, 5, 6), (3, 4, 3, 5)][ndim - 1]
    rng = np.random.default_rng(ndim)
    for density, *periodic in product([0.2, 0.5], *[[False, True]] * ndim):
        image = rng.random(shape) < density
        for connectivity in range(1, ndim + 1):
            np.testing.assert_array_equal(
                label(image, None, connectivity=connectivity, periodic=periodic, numbering="roots"),
                label_by_flood_fill(image, None, connectivity, periodic),
            )


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (1, 2, 3)])
@pytest.mark.parametrize("periodic", [False, True])
def test_every_binary_image_of_few_elements(shape, periodic):
    for bits in product([False, True], repeat=math.prod(shape)):
        image = np.array(bits).reshape(shape)
        for connectivity in range(1, image.ndim + 1):
            np.testing.assert_array_equal(
                label(image, connectivity=connectivity, periodic=periodic, numbering="roots"),
                label_by_flood_fill(image, None, connectivity, periodic),
            )


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_all_different(dtype):
    image = np.arange(100).astype(dtype).reshape(4, 25)
    expected = label_by_flood_fill(image)
    np.testing.assert_array_equal(label(image, numbering="roots"), expected)


@pytest.mark.parametrize(
    ("image", "background", "expected"),
    [
        (np.array([1, -1, 1], np.int8), -1, [1, 0, 2]),
        (np.array([1, 255, 1], np.uint8), -1, [1, 2, 3]),
        (np.array([1, 255, 1], np.uint8), 255.0, [1, 0, 2]),
        (np.array([1, 255, 1], np.uint8), np.uint8(1), [0, 1, 0]),
        (np.array([1, -128, 1], np.int8), np.int8(-128), [1, 0, 2]),
        (np.array([1, 1, 0], np.int8), 0.5, [1, 1, 2]),
        (np.array([-(2**63), 1, 2**63 - 1]), np.float64(2**63), [1, 2, 3]),
        (np.array([-(2**63), 1, 2**63 - 1]), -(2**63), [0, 1, 2]),
        (np.array([2**53, 2**53 + 1, 5]), 2.0**53, [0, 1, 2]),
        (np.array([1, 0], np.uint64), np.float64(2**64), [1, 2]),
        (np.array([True, False]), True, [0, 1]),
        (np.array([True, False]), 2, [1, 2]),
        (np.array([0.0, -0.0, 1.0]), 0, [0, 0, 1]),
        (np.array([0.0, -0.0, 1.0]), -0.0, [0, 0, 1]),
        (np.array([0.0, -0.0, 1.0]), 1, [1, 1, 0]),
        (np.array([math.nan, math.nan, 0.0]), 0, [1, 2, 0]),
        (np.array([math.nan, math.nan, 0.0]), math.nan, [0, 0, 1]),
        (np.array([math.nan, math.nan, 0.0], np.longdouble), math.nan, [0, 0, 1]),
        (np.array([math.inf, math.inf, 1.0], np.float16), 1e6, [1, 1, 2]),
        (np.array([math.inf, math.inf, 1.0], np.float32), 1e300, [1, 1, 2]),
        (np.array([math.inf, -math.inf, 1.0]), 10**400, [1, 2, 3]),
        (np.array([math.inf, -math.inf, 1.0]), -(10**400), [1, 2, 3]),
        (np.array([math.inf, -math.inf, 1.0]), math.inf, [0, 1, 2]),
        (np.array([0.1, 0.2], np.float32), 0.1, [0, 1]),
    ],
)
def test_background(image, background, expected):
    np.testing.assert_array_equal(label(image, background), expected)


def test_names_of_the_first_argument():
    image = np.array([[1, 0, 2]])
    for labels in (label(image), label(label_image=image), label(image=image)):
        np.testing.assert_array_equal(labels, [[1, 0, 2]])


@pytest.mark.parametrize("whole", [float, np.float32, np.float64, np.longdouble, np.int8])
def test_connectivity_of_any_type(whole):
    image = [[1, 0], [0, 1]]
    assert label(image, connectivity=whole(1), return_num=True)[1] == 2
    assert label(image, connectivity=whole(2), return_num=True)[1] == 1
    assert label(image, return_num=True)[1] == 1


class Shapeless(np.ndarray):
    """A subclass that is in the way of who reshapes it."""

    def reshape(self, *arguments, **options):
        raise AssertionError("reshaped")


SUBCLASSES = [np.matrix, np.recarray, np.memmap, Shapeless]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", SUBCLASSES)
@pytest.mark.parametrize("dtype", ["i4", "i8", "u1"])
def test_subclasses(kind, dtype):
    image = np.random.default_rng(3).integers(0, 3, (5, 70)).astype(dtype)
    labels = label(image.view(kind))
    assert type(labels) is np.ndarray
    np.testing.assert_array_equal(labels, label(image))
    out = np.zeros(image.shape, dtype).view(kind)
    assert label(image, out=out) is out
    np.testing.assert_array_equal(out.view(np.ndarray), labels)


class Tensor:
    """As those of PyTorch in main memory: what may have to be differentiated is not exported."""

    __module__ = "torch"

    def __init__(self, values, detached=False):
        self.values, self.detached = values, detached

    def __dlpack_device__(self):
        return (1, 0)

    def detach(self):
        return Tensor(self.values, True)

    def __array__(self, dtype=None, copy=None):
        if not self.detached:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.array(self.values)


def test_tensors_in_main_memory():
    labels = label(Tensor([[1.5, 1.5, 0.5]]))
    assert type(labels) is np.ndarray
    np.testing.assert_array_equal(labels, [[1, 1, 2]])


@given(images(), st.integers(0, 2**32), st.sampled_from(BACKGROUNDS + UNREPRESENTABLE))
@settings(max_examples=200)
def test_masked_elements_are_background(image, seed, background):
    mask = np.random.default_rng(seed).random(image.shape) < 0.3
    before = image.copy()
    masked = np.ma.masked_array(image, mask)
    roots = label(masked, background, numbering="roots")
    assert type(roots) is np.ndarray
    np.testing.assert_array_equal(roots, label_by_flood_fill(masked, background))
    np.testing.assert_array_equal(image, before)


LABEL_DTYPES = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]


@pytest.mark.parametrize("dtype", LABEL_DTYPES)
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_dtypes(dtype, numbering):
    image = np.random.default_rng(3).integers(0, 3, (5, 20))
    if numbering == "roots" and dtype.startswith("u"):
        with pytest.raises(ValueError, match="without a -1 for the background"):
            label(image, numbering=numbering, dtype=dtype)
        return
    roots = label_by_flood_fill(image)
    expected = roots if numbering == "roots" else consecutive(roots, 1)
    labels, num = label(image, numbering=numbering, return_num=True, dtype=dtype)
    assert num == len(np.unique(roots)) - 1
    np.testing.assert_array_equal(labels, expected.astype(dtype), strict=True)
    for asked in ({}, {"dtype": dtype}):
        out = np.full(image.shape, 77, dtype)
        given, count = label(image, numbering=numbering, return_num=True, out=out, **asked)
        assert given is out
        assert count == num
        np.testing.assert_array_equal(out, labels)


@pytest.mark.parametrize(
    ("num", "consecutive_dtype", "roots_dtype"),
    [
        (0, "u1", "i1"),
        (128, "u1", "i1"),
        (129, "u1", "i2"),
        (255, "u1", "i2"),
        (256, "u2", "i2"),
        (2**15, "u2", "i2"),
        (2**15 + 1, "u2", "i4"),
        (2**16, "u4", "i4"),
    ],
)
def test_smallest_dtype(num, consecutive_dtype, roots_dtype):
    image = np.arange(1, num + 1)
    labels = label(image, dtype="smallest")
    np.testing.assert_array_equal(labels, image.astype(consecutive_dtype), strict=True)
    roots = label(image, dtype="smallest", numbering="roots")
    np.testing.assert_array_equal(roots, (image - 1).astype(roots_dtype), strict=True)


@pytest.mark.parametrize("shape", [(2, 3), (0, 3)])
def test_smallest_dtype_of_roots_of_background_alone(shape):
    roots = label(np.zeros(shape), dtype="smallest", numbering="roots")
    assert roots.dtype == np.int8
    assert (roots == -1).all()


# The images below have more than 65,536 elements, so that several threads have parts to join.


def far_corner(shape):
    image = np.zeros(shape, bool)
    image[(-1,) * len(shape)] = True
    return image


LARGE_SHAPES = [(300, 400), (40, 50, 60), (70000, 3), (3, 70000), (20, 20, 20, 20), (140000,)]

LARGE = {
    **{
        f"{density:.0%} of {'x'.join(map(str, shape))}": np.random.default_rng(7).random(shape)
        < density
        for shape in LARGE_SHAPES
        for density in (0.1, 0.3, 0.6, 0.95)
    },
    "spiral": patterns.spiral(301) == 1,
    "spiral, the other way round": (patterns.spiral(301) == 1)[::-1, ::-1],
    "comb along columns": patterns.comb((300, 301)).view(bool),
    "comb along rows": patterns.comb((301, 300)).T.copy().view(bool),
    "rings": patterns.rings((280, 300)).view(bool),
    "shells": patterns.rings((45, 45, 45)).view(bool),
    "checkerboard": patterns.checkerboard((300, 300)).view(bool),
    "checkerboard in 3-D": patterns.checkerboard((41, 42, 43)).view(bool),
    "all equal": np.ones((40, 50, 60), bool),
    "all background": np.zeros((40, 50, 60), bool),
    "far corner": far_corner((300, 400)),
    "far corner in 3-D": far_corner((40, 50, 60)),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_binary_images_equal_scipy(name):
    image = LARGE[name]
    for connectivity in range(1, image.ndim + 1):
        structure = ndimage.generate_binary_structure(image.ndim, connectivity)
        expected, expected_num = ndimage.label(image, structure)
        roots = roots_of_labels(expected, background=0)
        expected = consecutive(roots, first=1)
        for threads in (1, 2, 3, 8):
            conncomp.set_num_threads(threads)
            labels, num = label(image, return_num=True, connectivity=connectivity)
            np.testing.assert_array_equal(labels, expected)
            assert num == expected_num
            labels = label(image, connectivity=connectivity, numbering="roots")
            np.testing.assert_array_equal(labels, roots)


@pytest.mark.parametrize("name", [name for name in LARGE if not name.startswith(("30%", "95%"))])
def test_large_periodic_images_equal_neighbour_pairs(name):
    image = LARGE[name]
    every, first, last = [True] * image.ndim, [True], [False] * (image.ndim - 1)
    for connectivity, periodic in [
        (1, every),
        (image.ndim, every),
        (image.ndim, first + last),
        (image.ndim, last + first),
    ]:
        expected = label_by_neighbour_pairs(image, None, connectivity, periodic)
        for threads in (1, 2, 8):
            conncomp.set_num_threads(threads)
            roots = label(image, connectivity=connectivity, periodic=periodic, numbering="roots")
            np.testing.assert_array_equal(roots, expected)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f2", "f4", "f8", "g", ">i4"])
@pytest.mark.parametrize("shape", [(300, 250), (30, 40, 63), (25000, 3)])
@pytest.mark.parametrize("values", [2, 3, 50])
def test_large_images_of_several_values(dtype, shape, values):
    image = np.random.default_rng(values).integers(0, values, shape).astype(dtype)
    for background in (None, -1):
        for connectivity in {1, len(shape)}:
            expected = label_by_neighbour_pairs(image, background, connectivity)
            for threads in (1, 2, 8):
                conncomp.set_num_threads(threads)
                roots = label(image, background, connectivity=connectivity, numbering="roots")
                np.testing.assert_array_equal(roots, expected)


# More than 131,072 runs or words of 64 elements: then they are numbered in several parts too.


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_many_runs(dtype, layout):
    image = np.arange(1, 600 * 600 + 1, dtype=dtype).reshape((600, 600), order=layout)
    raster = np.arange(600 * 600).reshape(600, 600)
    for threads in (1, 2, 8):
        conncomp.set_num_threads(threads)
        np.testing.assert_array_equal(label(image), raster + 1)
        np.testing.assert_array_equal(label(image, numbering="roots"), raster)


@pytest.mark.soak
def test_many_words():
    image = np.random.default_rng(8).random((3000, 3100)) < 0.4
    for connectivity in (1, 2):
        structure = ndimage.generate_binary_structure(2, connectivity)
        roots = roots_of_labels(ndimage.label(image, structure)[0], background=0)
        expected = consecutive(roots, first=1)
        for threads in (1, 8):
            conncomp.set_num_threads(threads)
            np.testing.assert_array_equal(label(image, connectivity=connectivity), expected)


@pytest.mark.parametrize("shape", [(300, 400), (40, 50, 60), (1, 70000), (300, 1, 300)])
@pytest.mark.parametrize("background", [0, -1, 2])
def test_equals_scikit_image(shape, background):
    image = np.random.default_rng(5).integers(0, 4, shape)
    for connectivity in range(1, len(shape) + 1):
        expected = skimage.measure.label(image, background, connectivity=connectivity)
        if 1 in shape:  # there scikit-image numbers in another order
            expected = consecutive(roots_of_labels(expected, background=0), first=1)
        labels = label(image, background, connectivity=connectivity)
        np.testing.assert_array_equal(labels, expected)


@given(
    dtype=st.sampled_from(["?", "u1", "i1", "u2", "i2", "i4", "u4", "i8"]),
    shape=st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=3),
    background=st.sampled_from([None, 0, 1, 2, -1, 300, True, False, 1.0, np.int8(2)]),
    reach=st.sampled_from([None, 1, 2, 3]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=300)
def test_equals_scikit_image_but_for_what_is_documented(dtype, shape, background, reach, seed):
    """Bool images with a background beyond 0 and 1, and the order where an axis has length 1."""
    image = np.random.default_rng(seed).integers(0, 2 if dtype == "?" else 3, shape).astype(dtype)
    connectivity = None if reach is None else min(reach, len(shape))
    compared = image
    if dtype == "?" and background not in (None, 0, 1):
        compared = image.astype(np.uint8)  # of integers, scikit-image compares all values
    expected = skimage.measure.label(compared, background, connectivity=connectivity)
    late = [k for k, length in enumerate(shape) if length == 1]
    longer = [k for k, length in enumerate(shape) if length > 1]
    if compared.dtype != bool and late and longer and longer[0] < late[-1]:
        swapped = image.swapaxes(longer[0], late[-1])
        ordered = label(swapped, background, connectivity=connectivity)
        np.testing.assert_array_equal(ordered.swapaxes(longer[0], late[-1]), expected)
        expected = consecutive(roots_of_labels(expected, background=0), first=1)
    labels = label(image, background, connectivity=connectivity)
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize(("connectivity", "name"), [(1, 6), (2, 18), (3, 26)])
@pytest.mark.parametrize("values", [2, 5, 60000])
def test_equals_cc3d(connectivity, name, values):
    image = np.random.default_rng(values).integers(0, values, (50, 60, 70)).astype(np.uint16)
    expected = cc3d.connected_components(image, connectivity=name)
    np.testing.assert_array_equal(
        label(image, connectivity=connectivity, numbering="roots"),
        roots_of_labels(expected, background=0),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_images_of_every_layout(layout):
    values = np.random.default_rng(6).integers(0, 3, (90, 20, 65)).astype(np.int16)
    image = lay_out(values.copy(), layout)
    plain = image.copy(order="C")
    for periodic in (False, (True, False, True)):
        np.testing.assert_array_equal(
            label(image, periodic=periodic, numbering="roots"),
            label_by_neighbour_pairs(plain, None, None, periodic),
        )
