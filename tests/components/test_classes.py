"""Classes of components, and what touches them in the table, on the CPU and on a GPU."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from host_cupy import place_on_host

TOUCHING = ("num_touching", "contacts", "contact_area")


def drawn(seed, shape, dtype="u1", axes=0):
    """Return a segmentation, and labels of its components."""
    segmentation = np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)
    return segmentation, conncomp.label(segmentation, connectivity=1, batch_axes=axes)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([(13,), (9, 14), (4, 5, 6)]),
    st.sampled_from(["?", "u1", "i2", "i8", "u8"]),
)
def test_classes_are_those_of_the_elements(seed, shape, dtype):
    segmentation, labels = drawn(seed, shape, dtype)
    table = conncomp.component_statistics(labels, classes=segmentation, background=0)
    assert table.classes.dtype == segmentation.dtype
    for label, its_class in zip(table.labels, table.classes, strict=True):
        assert np.unique(segmentation[labels == label]).tolist() == [its_class]
    columns = table.columns()
    assert list(columns)[1] == "class"
    few = conncomp.component_statistics(
        labels, classes=segmentation, properties=["area"], background=0
    )
    assert list(few.columns()) == ["label", "class", "area"]
    np.testing.assert_array_equal(few["class"], table.classes)


def test_without_classes():
    labels = [[1, 1, 0]]
    for table in (
        conncomp.component_statistics(labels),
        conncomp.component_statistics(labels, properties=["area"]),
    ):
        assert len(table.classes) == 0
        assert "class" not in table.columns()
    nothing = conncomp.component_statistics([[0]], classes=[[3]], properties=["area"])
    assert list(nothing.columns()) == ["label", "class", "area"]
    assert "class" not in conncomp.component_statistics([[0]], properties=["area"]).columns()


def test_large_classes():
    """Their sums need more than 64 bits, but nobody asks for these."""
    segmentation = np.full((3, 5), 2**64 - 7, np.uint64)
    table = conncomp.component_statistics(np.ones((3, 5), int), classes=segmentation)
    assert table.classes.tolist() == [2**64 - 7]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 3), st.sampled_from([0, 1]))
def test_the_largest_of_each_class(seed, k, axes):
    segmentation, labels = drawn(seed, (3, 8, 9), axes=axes)
    found = conncomp.largest_components(labels, k, by=segmentation, background=0, batch_axes=axes)
    expected = np.zeros_like(labels)
    items = [(index,) for index in range(3)] if axes else [()]
    for item in items:
        for each in (1, 2, 3):
            part = np.where(segmentation[item] == each, labels[item], 0)
            expected[item] += conncomp.largest_components(part, k, background=0)
    np.testing.assert_array_equal(found, expected, strict=True)


def test_nothing_to_keep():
    nothing = np.zeros((3, 4), int)
    assert conncomp.largest_components(nothing, 2, by=nothing).tolist() == nothing.tolist()


ERRORS = [
    (np.zeros((2, 2), int), ValueError, "has shape (2, 2); it must have that of labels, (1, 3)"),
    (np.zeros((1, 3)), TypeError, "of bool or integers"),
    (np.array([[4, 5, 0]]), ValueError, "has 4 and 5 within the component of label 1; label the"),
    (np.ma.masked_array([[4, 5, 0]], [[0, 1, 0]]), ValueError, "has masked elements"),
]


@pytest.mark.parametrize(("classes", "error", "message"), ERRORS)
def test_errors(classes, error, message):
    labels = np.array([[1, 1, 0]])
    with pytest.raises(error, match=f"^classes .*{re.escape(message)}"):
        conncomp.component_statistics(labels, classes=classes)
    with pytest.raises(error, match=f"^by .*{re.escape(message)}"):
        conncomp.largest_components(labels, 1, by=classes)


def test_dask_is_refused():
    array = pytest.importorskip("dask.array")
    labels = array.ones((3, 4), dtype=int)
    with pytest.raises(ValueError, match=r"classes=.* is for labels in memory; leave it out"):
        conncomp.component_statistics(labels, classes=labels)
    with pytest.raises(ValueError, match=r"by=.* is for labels in memory; leave it out"):
        conncomp.largest_components(labels, 1, by=labels)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([((9,), 0), ((7, 9), 0), ((3, 1, 5), 0), ((2, 4, 5), 1), ((0, 3), 0)]),
    st.sampled_from([0, None]),
)
def test_contacts_are_summed_up(seed, shape, background):
    (shape, axes), spacing = shape, (2, 0.5, 3)
    labels = np.random.default_rng(seed).integers(0, 6, shape) * 3
    options = {
        "background": background,
        "batch_axes": axes,
        "spacing": spacing[: len(shape) - axes],
    }
    table = conncomp.component_statistics(labels, properties=TOUCHING, **options)
    pairs = conncomp.contacts(labels, **options)
    for row, label in enumerate(table.labels):
        ends = (pairs.pairs == label).any(axis=1) & (pairs.batch == table.batch[row]).all(axis=1)
        assert table["num_touching"][row] == np.count_nonzero(ends)
        assert table["contacts"][row] == pairs.counts[ends].sum()
        assert table["contact_area"][row] == pytest.approx(pairs.areas[ends].sum())
    assert [table[name].dtype for name in TOUCHING] == [np.int64, np.int64, np.float64]


@pytest.mark.parametrize("axes", [0, 1])
def test_gpu(monkeypatch, axes):
    cupy = place_on_host(monkeypatch)
    segmentation, labels = drawn(3, (3, 20, 31), axes=axes)
    placed, classes = cupy.asarray(labels), cupy.asarray(segmentation)
    options = {"background": 0, "batch_axes": axes, "properties": TOUCHING}
    found = conncomp.component_statistics(placed, classes=classes, **options)
    expected = conncomp.component_statistics(labels, classes=segmentation, **options)
    for name, column in expected.columns().items():
        np.testing.assert_array_equal(found.columns()[name].get(), column, strict=True)
    del options["properties"]
    largest = conncomp.largest_components(placed, 2, by=classes, **options)
    wanted = conncomp.largest_components(labels, 2, by=segmentation, **options)
    np.testing.assert_array_equal(largest.get(), wanted, strict=True)
    with pytest.raises(TypeError, match="by lies in main memory, but labels in GPU memory"):
        conncomp.largest_components(placed, 2, by=segmentation, **options)
