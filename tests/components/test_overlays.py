"""Components painted over an image, against mixtures that are worked out element by element."""

from itertools import product

import numpy as np
import pytest

import conncomp
from conncomp.components.colouring import as_shades

RNG = np.random.default_rng(7)
LABELS = conncomp.label(RNG.random((12, 17)) < 0.5, connectivity=1)
GREY = RNG.integers(0, 256, LABELS.shape).astype(np.uint8)
GREY[0, :2] = 0, 255


def is_boundary(labels, place):
    """Whether a neighbour along an axis has another label."""
    for axis, step in product(range(labels.ndim), (-1, 1)):
        neighbour = list(place)
        neighbour[axis] += step
        inside = 0 <= neighbour[axis] < labels.shape[axis]
        if inside and labels[tuple(neighbour)] != labels[place]:
            return True
    return False


def check(labels, shades, alpha, boundaries=False, **options):
    """Compare with a mixture of what `shades` and the colours on their own are."""
    picture = conncomp.colour_components(
        labels, shades, alpha=alpha, boundaries=boundaries, value_range=(0, 255), **options
    )
    colours = conncomp.colour_components(labels, **options)
    assert picture.dtype == np.uint8
    assert picture.shape == (*labels.shape, 3)
    for place in np.ndindex(labels.shape):
        share = 0 if labels[place] == 0 else alpha
        if boundaries and labels[place] != 0 and is_boundary(labels, place):
            share = 1
        expected = share * colours[place] + (1 - share) * shades[place].astype(float)
        assert abs(picture[place] - expected).max() < 1
        if share in (0, 1):
            np.testing.assert_array_equal(picture[place], expected)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("boundaries", [False, True])
@pytest.mark.parametrize("alpha", [0, 0.25, 0.6, 1])
@pytest.mark.parametrize("shape", [(12, 17), (204,), (3, 4, 17), (12, 1, 17), (2, 3, 2, 17)])
def test_over_an_image(shape, alpha, boundaries):
    labels = LABELS.reshape(shape)
    check(labels, GREY.reshape(shape), alpha, boundaries, background=0)
    colour = RNG.integers(0, 256, (*shape, 3)).astype(np.uint8)
    check(labels, colour, alpha, boundaries, background=0)


def test_over_black():
    black = np.zeros_like(GREY)
    for options in ({"alpha": 0.5}, {"alpha": 0, "boundaries": True}):
        np.testing.assert_array_equal(
            conncomp.colour_components(LABELS, **options),
            conncomp.colour_components(LABELS, black, value_range=(0, 1), **options),
        )
    np.testing.assert_array_equal(
        conncomp.colour_components(LABELS, boundaries=True), conncomp.colour_components(LABELS)
    )


def test_default_opacity():
    check(LABELS, GREY, 0.4)
    np.testing.assert_array_equal(
        conncomp.colour_components(LABELS, GREY),
        conncomp.colour_components(LABELS, GREY, alpha=0.4),
    )


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLqQefdg", ">f4", ">i2"])
def test_shades_of_all_types(dtype):
    values = np.array([[0, 1, 3], [100, 64, 50]]).astype(dtype)
    shades = as_shades(values, None)
    exact = values.astype(float)
    np.testing.assert_allclose(shades, exact * 255 / exact.max(), atol=0.51)
    low, high = as_shades(values, (1, 51)), as_shades(values, (-50, 100))
    np.testing.assert_allclose(low, ((exact - 1) / 50 * 255).clip(0, 255), atol=0.51)
    np.testing.assert_allclose(high, (exact + 50) / 150 * 255, atol=0.51)


def test_shades_of_what_is_no_number_or_vast():
    values = np.array([np.nan, -np.inf, 1.0, 2.0, 3.0, np.inf])
    assert as_shades(values, None).tolist() == [0, 0, 0, 128, 255, 255]
    largest = np.finfo(float).max
    assert as_shades(np.array([-largest, 0, largest]), None).tolist() == [0, 128, 255]
    assert as_shades(np.array([1.0, largest]), (0, 1e-300)).tolist() == [255, 255]
    for constant in ([7.0, 7.0], [np.nan, np.inf], [0, 0]):
        assert not as_shades(np.array(constant), None)[0]
    assert as_shades(np.zeros((0, 3)), None).shape == (0, 3)
    wide = np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max])
    assert as_shades(wide, None).tolist() == [0, 128, 255]


def test_shades_beyond_a_block(monkeypatch):
    values = RNG.random((40, 50))
    whole = as_shades(values, None)
    monkeypatch.setattr("conncomp.components.colouring.SHADES", 7)
    np.testing.assert_array_equal(as_shades(values, None), whole)


def test_items_are_painted_as_if_alone():
    labels = np.stack([LABELS, LABELS[::-1], np.zeros_like(LABELS)])
    image = RNG.random(labels.shape) * [[[1]], [[50]], [[3]]]
    for base in (image, np.stack([image] * 3, axis=-1)):
        options = {"boundaries": True, "alpha": 0.3}
        together = conncomp.colour_components(labels, base, batch_axes=1, **options)
        for picture, own_labels, own_base in zip(together, labels, base, strict=True):
            alone = conncomp.colour_components(own_labels, own_base, **options)
            np.testing.assert_array_equal(picture, alone)


def test_masked_labels_show_the_image():
    mask = RNG.random(LABELS.shape) < 0.3
    masked = np.ma.array(LABELS, mask=mask)
    picture = conncomp.colour_components(masked, GREY, alpha=1, value_range=(0, 255))
    shown = (picture == GREY[..., None]).all(axis=-1)
    assert shown[mask | (LABELS == 0)].all()
    assert not shown[~mask & (LABELS > 0)].any()


def test_other_backgrounds():
    roots = conncomp.label(LABELS > 0, numbering="roots")
    picture = conncomp.colour_components(roots, GREY, background=-1)
    assert (picture[roots < 0] == GREY[roots < 0][:, None]).all()
    none = conncomp.colour_components(LABELS, GREY, background=None, alpha=1)
    np.testing.assert_array_equal(none, conncomp.colour_components(LABELS, background=None))


def test_inputs_stay_and_strides_do_not_matter():
    image, labels = GREY.copy(), LABELS.copy()
    picture = conncomp.colour_components(labels[:, ::-1], image[:, ::-1])
    np.testing.assert_array_equal(image, GREY)
    np.testing.assert_array_equal(labels, LABELS)
    copies = conncomp.colour_components(labels[:, ::-1].copy(), image[:, ::-1].copy())
    np.testing.assert_array_equal(picture, copies)
    assert not np.shares_memory(conncomp.colour_components(labels * 0, image), image)


def test_nothing():
    assert conncomp.colour_components(np.zeros((0, 3), int), np.zeros((0, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"image": GREY[1:]}, ValueError, r"shape \(11, 17\).*must be of \(12, 17\)"),
        ({"image": np.zeros((12, 17, 4))}, ValueError, r"image\[\.\.\., :3\]"),
        ({"image": GREY.astype(complex)}, TypeError, "image is of dtype complex128"),
        ({"image": np.ma.masked_equal(GREY, GREY[0, 0])}, ValueError, "image has masked"),
        ({"alpha": 1.5}, ValueError, r"alpha=1\.5 must be from 0"),
        ({"alpha": float("nan")}, ValueError, "alpha=nan"),
        ({"value_range": (0, 1)}, ValueError, "give image="),
        ({"image": GREY, "value_range": 3}, TypeError, "value_range=3 must be two numbers"),
        ({"image": GREY, "value_range": (1, 1)}, ValueError, "value_range=.1, 1. must be two fini"),
        ({"image": GREY, "value_range": (0, np.inf)}, ValueError, "finite"),
        ({"image": GREY, "value_range": (0, "a")}, TypeError, "value_range='a' must be a number"),
    ],
)
def test_refusals(options, error, words):
    with pytest.raises(error, match=words):
        conncomp.colour_components(LABELS, **options)


def test_an_image_on_a_gpu_is_refused_with_a_remedy():
    class There:
        __cuda_array_interface__ = {}  # noqa: RUF012

    with pytest.raises(TypeError, match=r"image lies in GPU memory.*copy it to a NumPy array"):
        conncomp.colour_components(LABELS, There())
