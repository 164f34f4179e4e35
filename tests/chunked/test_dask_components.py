"""Sizes, selection and consecutive numbers of labels in Dask arrays, against those in memory."""

import dask.array as da
import numpy as np
import pytest

import conncomp
from chunked_cases import random_labels
from dealt import examples

FUNCTIONS = {
    "sizes": (conncomp.component_sizes, {}),
    "largest": (conncomp.largest_components, {"k": 2}),
    "no component": (conncomp.largest_components, {"k": 0}),
    "large": (conncomp.remove_small_components, {"min_size": 4}),
    "of some size": (conncomp.remove_small_components, {"min_size": 2, "max_size": 9}),
    "small": (conncomp.remove_small_components, {"min_size": 4, "invert": True}),
    "numbers": (conncomp.relabel_consecutive, {"return_labels": True}),
    "histogram": (conncomp.size_histogram, {}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_memory(name):
    function, arguments = FUNCTIONS[name]
    for seed in range(examples(40)):
        labels, chunks, known = random_labels(seed)
        lazy = da.from_array(labels, chunks)
        given, want = (function(array, **known, **arguments) for array in (lazy, labels))
        if not isinstance(given, tuple):
            given, want = (given,), (want,)
        for array, expected in zip(given, want, strict=True):
            computed = array.compute(scheduler="sync")
            np.testing.assert_array_equal(computed, expected, err_msg=str(seed), strict=True)
            assert (array.dtype, array.ndim) == (computed.dtype, computed.ndim)
        if name not in ("sizes", "histogram"):
            assert given[0].chunks == chunks


def test_consecutive_numbers_of_any_integers_and_the_labels_they_had():
    labels = np.array([[7, -(2**60), 0, 7], [2**62, 0, 3, 3]])
    numbers, old = conncomp.relabel_consecutive(da.from_array(labels, 2), return_labels=True)
    want, had = conncomp.relabel_consecutive(labels, return_labels=True)
    np.testing.assert_array_equal(numbers, want)
    np.testing.assert_array_equal(old.compute(), had)


@pytest.mark.parametrize(
    ("shape", "chunks", "options"),
    [((30, 40), (7, 40), {"connectivity": 1}), ((5, 12, 14), (2, 7, 5), {"batch_axes": 1})],
)
def test_masks(shape, chunks, options):
    mask = np.random.default_rng(1).random(shape) < 0.4
    for function, number in (
        (conncomp.remove_small_components, 5),
        (conncomp.largest_components, 1),
        (conncomp.largest_components, 2),
    ):
        kept = function(da.from_array(mask, chunks), number, **options)
        assert kept.dtype == bool
        np.testing.assert_array_equal(kept, function(mask, number, **options))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0)])
def test_no_element(name, shape):
    function, arguments = FUNCTIONS[name]
    lazy, labels = da.zeros(shape, dtype=int, chunks=2), np.zeros(shape, int)
    given, want = (function(array, batch_axes=1, **arguments) for array in (lazy, labels))
    given, want = (each if isinstance(each, tuple) else (each,) for each in (given, want))
    for array, expected in zip(given, want, strict=True):
        np.testing.assert_array_equal(array.compute(), expected, strict=True)


def test_labels_of_dask_go_on():
    mask = np.random.default_rng(2).random((20, 20, 20)) < 0.3
    labels = conncomp.label(da.from_array(mask, 9), connectivity=1)
    np.testing.assert_array_equal(
        conncomp.largest_components(labels, 3),
        conncomp.largest_components(conncomp.label(mask, connectivity=1), 3),
    )


REFUSED = [
    (lambda a: conncomp.component_sizes(a.astype(float)), TypeError, "labels is of dtype float"),
    (lambda a: conncomp.component_sizes(a, batch_axes=1), ValueError, "background has to be"),
    (lambda a: conncomp.component_sizes(a, batch_axes=2), ValueError, "batch_axes=2 must be f"),
    (lambda a: conncomp.component_sizes(a[0]), ValueError, "background has to be given"),
    (lambda a: conncomp.component_sizes(-a).compute(), ValueError, "labels holds -1; labels "),
    (lambda a: conncomp.component_sizes(a * 2**40).compute(), ValueError, "relabel_consecutiv"),
    (lambda a: conncomp.largest_components(a, -1), ValueError, "k=-1 components"),
    (lambda a: conncomp.remove_small_components(a), ValueError, "neither min_size nor max_siz"),
    (lambda a: conncomp.remove_small_components(a, 1, connectivity=1), ValueError, "for masks"),
    (lambda a: conncomp.largest_components(a, 1, connectivity=1), ValueError, "for masks"),
    (lambda a: conncomp.sort_by_size(a), TypeError, r"not computed yet; .*\.compute\(\)"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(da.from_array(np.array([[0, 1], [1, 1]]), 1))
