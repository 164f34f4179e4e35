"""The spacing of images of SimpleITK and ITK, which has the axes x, y, z, is that of labels."""

import sys
from types import ModuleType

import numpy as np
import pytest

import conncomp

VALUES = np.random.default_rng(4).random((4, 5, 6)) < 0.3
LABELS = conncomp.label(VALUES)
SPACING = 2.0, 0.5, 0.7  # of z, y and x
IMAGE = np.arange(LABELS.size).reshape(LABELS.shape).astype(np.int32)


class OfITK:
    """As an image of ITK: an array for NumPy, and a spacing of x, y and z."""

    __module__ = "itk.itkImagePython"

    def __init__(self, values, spacing):
        self.values, self.spacing = values, spacing

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def GetSpacing(self):  # noqa: N802
        return self.spacing[::-1]


class OfSimpleITK(OfITK):
    """As one of SimpleITK, of which NumPy would make a row of all pixels."""

    __module__ = "SimpleITK.SimpleITK"
    __array__ = None

    def GetPixelIDTypeAsString(self):  # noqa: N802
        return "32-bit signed integer"


@pytest.fixture(params=["stand-in for ITK", "stand-in for SimpleITK", "SimpleITK"])
def image_of(request, monkeypatch):
    if request.param == "stand-in for ITK":
        return OfITK
    if request.param == "stand-in for SimpleITK":
        module = ModuleType("SimpleITK")
        module.GetArrayFromImage = lambda image: np.array(image.values)
        monkeypatch.setitem(sys.modules, "SimpleITK", module)
        return OfSimpleITK
    simple_itk = pytest.importorskip("SimpleITK")

    def make(values, spacing):
        image = simple_itk.GetImageFromArray(values)
        image.SetSpacing(spacing[::-1])
        image.SetOrigin([3.0] * values.ndim)
        return image

    return make


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name], column, err_msg=name)


PROPERTIES = ["area", "centroid", "equivalent_diameter_area", "inertia_tensor", "contact_area"]
CALLS = {
    "statistics": lambda a, b, **k: vars(conncomp.component_statistics(a, b, surfaces=True, **k)),
    "of labels alone": lambda a, b, **k: vars(conncomp.component_statistics(a, **k)),
    "properties": lambda a, b, **k: conncomp.component_statistics(
        a, b, properties=[*PROPERTIES, "centroid_weighted"], **k
    ).columns(),
    "all properties": lambda a, b, **k: conncomp.component_statistics(
        a, properties="all", **k
    ).columns(),
    "contacts": lambda a, b, **k: vars(conncomp.contacts(a, **k)),
    "batches": lambda a, b, **k: vars(
        conncomp.component_statistics(a, b, batch_axes=1, **(k and {"spacing": k["spacing"][1:]}))
    ),
    "contacts in batches": lambda a, b, **k: vars(
        conncomp.contacts(a, batch_axes=1, **(k and {"spacing": k["spacing"][1:]}))
    ),
    "slabs": lambda a, b, **k: {
        str(n): batch.centroids for n, batch in enumerate(conncomp.stream_labels([a], **k))
    },
    "slabs and images": lambda a, b, **k: {
        str(n): batch.centroids for n, batch in enumerate(conncomp.stream_labels([(a, b)], **k))
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_the_spacing_of_an_image_is_used(image_of, name):
    labels, image = image_of(LABELS, SPACING), image_of(IMAGE, SPACING)
    call = CALLS[name]
    same(call(labels, image), call(LABELS, IMAGE, spacing=SPACING))
    same(call(labels, IMAGE), call(LABELS, IMAGE, spacing=SPACING))
    ones = 1.0, 1.0, 1.0
    same(call(labels, image, spacing=ones), call(LABELS, IMAGE, spacing=ones))


def test_the_spacing_of_what_lies_beside_labels(image_of):
    image = image_of(IMAGE, SPACING)
    for given in ({"image": image}, {"classes": image_of((LABELS > 0).astype("u1"), SPACING)}):
        measured = conncomp.component_statistics(conncomp.label(VALUES), **given)
        assert measured.spacing == SPACING
    np.testing.assert_allclose(measured.volumes, measured.sizes * 0.7)
    near = image_of(IMAGE, tuple(length * (1 + 1e-9) for length in SPACING))
    assert conncomp.component_statistics(image_of(LABELS, SPACING), near).spacing == SPACING
    other = image_of(IMAGE, (2.0, 0.5, 0.8))
    message = (
        r"labels has the spacing \(2.0, 0.5, 0.7\), and image \(2.0, 0.5, 0.8\); give spacing="
    )
    with pytest.raises(ValueError, match=message):
        conncomp.component_statistics(image_of(LABELS, SPACING), other)
    given = conncomp.component_statistics(image_of(LABELS, SPACING), other, spacing=3)
    assert given.spacing == (3, 3, 3)


def test_lists_of_images(image_of):
    planes = [image_of(plane, SPACING[1:]) for plane in LABELS]
    found = conncomp.component_statistics(planes, batch_axes=1)
    same(
        vars(found), vars(conncomp.component_statistics(LABELS, batch_axes=1, spacing=SPACING[1:]))
    )
    with pytest.raises(ValueError, match="has 2 lengths; it must have one for each of the 3 axes"):
        conncomp.component_statistics(planes)
    assert conncomp.component_statistics(planes, spacing=SPACING).spacing == SPACING


def test_slabs_of_other_spacing(image_of):
    slabs = [image_of(LABELS, SPACING), image_of(LABELS, (2.0, 0.5, 0.8))]
    with pytest.raises(ValueError, match=r"slabs\[0\] has the spacing .*, and slabs\[1\] "):
        list(conncomp.stream_labels(slabs))
    [*batches] = conncomp.stream_labels(slabs[:1] * 2)
    assert {batch.spacing for batch in batches} == {SPACING}


def test_views_have_the_proportions_of_images(image_of, tmp_path):
    for name, pair in {"a": image_of(LABELS, SPACING), "b": LABELS}.items():
        more = {} if name == "a" else {"spacing": SPACING}
        conncomp.write_view(tmp_path / f"{name}.html", pair, title="t", **more)
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


def test_images_of_vectors_have_one_axis_more():
    simple_itk = pytest.importorskip("SimpleITK")
    image = simple_itk.GetImageFromArray(np.stack([LABELS, LABELS], axis=-1), isVector=True)
    image.SetSpacing(SPACING[::-1])
    with pytest.raises(ValueError, match="has 3 lengths; it must have one for each of the 4 axes"):
        conncomp.component_statistics(image)
    stains = simple_itk.GetImageFromArray(np.stack([IMAGE, IMAGE], axis=-1), isVector=True)
    stains.SetSpacing(SPACING[::-1])
    found = conncomp.component_statistics(LABELS, stains, properties=["centroid_weighted"])
    assert found.spacing == SPACING


def test_spacing_of_images_beside_chunks():
    dask_array = pytest.importorskip("dask.array")
    labels = dask_array.from_array(LABELS, 3)
    found = conncomp.component_statistics(labels, OfITK(IMAGE, SPACING))
    expected = conncomp.component_statistics(LABELS, IMAGE, spacing=SPACING)
    assert found.spacing == SPACING
    np.testing.assert_allclose(found.centroids.compute(), expected.centroids)
    np.testing.assert_array_equal(found.sums.compute(), expected.sums)
