"""Components one after another, against plain NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import conncomp
from host_cupy import place_elsewhere

LABELS = hnp.arrays(
    st.sampled_from(["u1", "i4", "u8", ">i2"]),
    hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6),
    elements=st.integers(0, 9),
)


@given(LABELS, st.sampled_from([0, None]))
def test_each(labels, background):
    walked = list(conncomp.iterate_components(labels, background=background))
    present = [k for k in np.unique(labels).tolist() if background is None or k != 0]
    assert [component.label for component in walked] == present
    boxes = ndimage.find_objects(labels.astype(int) + 1) if labels.size else []
    for component in walked:
        inside = labels == component.label
        assert component.slices == boxes[component.label]
        assert component.size == inside.sum()
        assert component.batch == ()
        np.testing.assert_array_equal(component.mask, inside[component.slices], strict=True)
        cropped = component.crop(labels, fill=3)
        expected = np.where(component.mask, labels[component.slices], 3).astype(labels.dtype)
        np.testing.assert_array_equal(cropped, expected, strict=True)


@given(LABELS, st.integers(0, 3))
def test_items(labels, batch_axes):
    axes = min(batch_axes, labels.ndim - 1)
    walked = list(conncomp.iterate_components(labels, background=0, batch_axes=axes))
    expected = [
        (item, component)
        for item in np.ndindex(labels.shape[:axes])
        for component in conncomp.iterate_components(labels[item], background=0)
    ]
    assert len(walked) == len(expected)
    for component, (item, alone) in zip(walked, expected, strict=True):
        assert (component.batch, repr(component)) == (item, repr(alone))
        np.testing.assert_array_equal(component.mask, alone.mask)
        np.testing.assert_array_equal(component.crop(labels), alone.crop(labels[item]))


def test_on_another_gpu_than_the_current_one(monkeypatch):
    cupy = place_elsewhere(monkeypatch)
    labels, image = np.array([[0, 1, 1], [2, 1, 0]]), np.arange(6).reshape(2, 3)
    placed = [cupy.asarray(array) for array in (labels, image)]
    there, here = (list(conncomp.iterate_components(array)) for array in (placed[0], labels))
    for on_device, in_memory in zip(there, here, strict=True):
        np.testing.assert_array_equal(on_device.mask.get(), in_memory.mask)
        np.testing.assert_array_equal(on_device.crop(placed[1]).get(), in_memory.crop(image))
    with pytest.raises(TypeError, match="image lies in main memory, but labels in GPU memory"):
        there[0].crop(image)


def test_crops_of_colours():
    labels = [[0, 1], [2, 1]]
    image = np.arange(12).reshape(2, 2, 3)
    [first, second] = conncomp.iterate_components(labels)
    np.testing.assert_array_equal(first.crop(image), image[:, 1:])
    np.testing.assert_array_equal(second.crop(image, 7), image[1:, :1])
    image[...] = 0
    assert first.crop(image, fill=5).max() == 0


def test_masked_labels_are_background():
    masked = np.ma.masked_array([[1, 1, 1], [1, 1, 2]], [[0, 1, 0], [0, 0, 1]])
    [component] = conncomp.iterate_components(masked)
    assert (component.label, component.size) == (1, 4)
    np.testing.assert_array_equal(component.mask, [[True, False, True], [True, True, False]])


def test_lazy():
    """Masks are read when they are asked for; bad labels are reported at once."""
    labels = np.array([[1, 1, 0]])
    [component] = conncomp.iterate_components(labels)
    labels[0, 0] = 0
    assert component.mask.tolist() == [[False, True]]
    with pytest.raises(ValueError, match="labels holds -1"):
        conncomp.iterate_components([[1, -1]])
    with pytest.raises(ValueError, match="labels is a scalar"):
        conncomp.iterate_components(3)


def test_bad_images():
    [component] = conncomp.iterate_components([[1, 1]])
    with pytest.raises(ValueError, match=r"image has shape \(2, 2\); it must have .* \(1, 2\)"):
        component.crop(np.zeros((2, 2)))
    [around, _] = conncomp.iterate_components([[1, 2, 1]])
    with pytest.raises((TypeError, ValueError), match="fill='x' is no value of image"):
        around.crop([[1, 2, 3]], fill="x")
