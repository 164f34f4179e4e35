"""The target of images and labels in containers of other libraries.

What is compared is what NumPy's masked arrays give, which other targets compare with references.
"""

import dataclasses
from importlib import import_module

import numpy as np

import conncomp

from . import draws

NAMES = ("t", "z", "y", "x")
# Each of an array, and of what tells the background and the batch.
OF_IMAGES = [
    lambda a, b, **k: conncomp.label(a, return_num=True),
    lambda a, b, **k: conncomp.label(a, b, numbering="roots"),
    lambda a, b, **k: conncomp.component_wrapping(a, periodic=True).axes,
    lambda a, b, **k: [batch.sizes for batch in conncomp.stream_labels([a])],
]
OF_LABELS = [
    lambda a, b, **k: conncomp.component_sizes(a, background=b, **k),
    lambda a, b, **k: conncomp.size_histogram(a, background=b, **k),
    lambda a, b, **k: conncomp.component_spans(a, background=b, **k),
    lambda a, b, **k: conncomp.component_statistics(a, background=b, surfaces=True, **k),
    lambda a, b, **k: conncomp.contacts(a, background=b, **k),
    lambda a, b, **k: conncomp.match_labels(a, a, background=b, **k),
    lambda a, b, **k: conncomp.fill_holes(a, background=b, **k),
    lambda a, b, **k: conncomp.largest_components(a, 2, background=b, **k),
    lambda a, b, **k: conncomp.remove_small_components(a, 2, background=b, **k),
    lambda a, b, **k: conncomp.sort_by_size(a, background=b, **k),
    lambda a, b, **k: conncomp.relabel_consecutive(a, background=b, **k),
    lambda a, b, **k: conncomp.colour_components(a, background=b, **k),
    lambda a, b, **k: [
        (each.label, each.mask) for each in conncomp.iterate_components(a, background=b, **k)
    ],
]
WITH_LENGTHS = OF_LABELS[3:5]
# Each of labels and an array beside them, both with names.
OF_PAIRS = [
    lambda a, b, c: conncomp.match_labels(a, b, background=c),
    lambda a, b, c: conncomp.component_statistics(a, b, background=c),
    lambda a, b, c: conncomp.component_statistics(
        a, b, background=c, properties=["intensity_mean", "centroid_weighted"]
    ).columns(),
    lambda a, b, c: conncomp.colour_components(a, b, background=c),
    lambda a, b, c: [each.crop(b) for each in conncomp.iterate_components(a, background=c)],
]


def containers(choices):
    """Compare calls on other containers with those on masked arrays."""
    kind = choices.below(4)
    if kind == 2:
        _pairs(choices)
        return
    given, background, axes = draws.labels(choices, 200, 3)
    plain = given.astype(given.dtype.newbyteorder("="))
    if choices.below(3) == 1:
        images = OF_IMAGES
        if choices.flag():
            plain = plain.astype(choices.pick([np.float64, np.float32, bool]))
    else:
        images = OF_LABELS
        if plain.dtype == np.uint8 and choices.flag():
            plain = plain.astype(np.int64)
    held, (array, spacing) = _held(choices, plain, kind)
    if images is OF_IMAGES:
        if array.size:  # as slabs have
            call = choices.pick(OF_IMAGES)
            same(call(held, background), call(array, background))
        return
    options = {"batch_axes": min(axes, array.ndim - 1)}
    known = dict(options)
    is_long = spacing is not None and choices.below(4) != 3
    calls = WITH_LENGTHS if is_long else [choices.pick(OF_LABELS)]
    if spacing is not None and calls[0] in WITH_LENGTHS:
        known["spacing"] = spacing[options["batch_axes"] :]
        if choices.below(4) == 1:  # which wins
            known["spacing"] = options["spacing"] = 2.0
    for call in calls:
        same(call(held, background, **options), call(array, background, **known))


def _held(choices, array, kind):
    """Return an array in a container, and what it is there: an array of NumPy and a spacing."""
    if kind == 1 or array.size == 0:
        return _of_xarray(choices, array)
    if kind == 3:
        return _image(choices, array[None] if array.ndim == 1 else array)
    flat = array.reshape(-1) if choices.flag() else array.reshape(len(array), -1)
    if flat.ndim == 1:
        return choices.pick([_arrow, _pandas, _polars])(choices, flat), (flat, None)
    return choices.pick([_arrow_table, _pandas_table, _polars_table])(choices, flat), (flat, None)


def _of_xarray(choices, array):
    xarray = import_module("xarray")
    values = np.ma.filled(array, 0)
    dims = NAMES[-values.ndim :]
    if choices.flag():
        return xarray.Variable(dims, values), (values, None)
    coords = {dim: np.arange(n)[::-1] for dim, n in zip(dims, values.shape, strict=True)}
    return xarray.DataArray(values, coords if choices.flag() else None, dims), (values, None)


def _image(choices, array):
    values = np.ma.filled(array, 0)
    values = values.astype(np.uint8) if values.dtype == bool else np.ascontiguousarray(values)
    spacing = tuple(choices.pick([1.0, 0.5, 3.0]) for _ in values.shape)
    image = import_module("SimpleITK").GetImageFromArray(values)
    image.SetSpacing(spacing[::-1])
    return image, (values, spacing)


def _arrow(choices, flat):
    arrow = import_module("pyarrow")
    column = arrow.array(np.ma.getdata(flat), mask=np.ma.getmaskarray(flat))
    form = choices.below(3)
    if form == 1:
        at = choices.below(len(flat) + 1)
        return arrow.chunked_array([column[:at], column[at:]])
    return column.dictionary_encode() if form == 2 else column


def _pandas(choices, flat):
    pandas = import_module("pandas")
    name = flat.dtype.name
    name = "boolean" if name == "bool" else name.replace("i", "I", 1).replace("f", "F", 1)
    name = name.replace("uI", "UI")
    values = pandas.array(np.ma.getdata(flat), dtype=name)
    values[np.ma.getmaskarray(flat)] = pandas.NA
    return values if choices.flag() else pandas.Series(values)


def _polars(choices, flat):
    polars = import_module("polars")
    values = polars.Series(np.ma.getdata(flat))
    hidden = polars.Series(np.ma.getmaskarray(flat))
    return values.set(hidden, None)


def _columns(table, column, choices):
    return {str(k): column(choices, table[:, k]) for k in range(table.shape[1])}


def _arrow_table(choices, table):
    return import_module("pyarrow").table(_columns(table, _arrow, choices))


def _pandas_table(choices, table):
    return import_module("pandas").DataFrame(_columns(table, _pandas, choices))


def _polars_table(choices, table):
    return import_module("polars").DataFrame(_columns(table, _polars, choices))


def _pairs(choices):
    """Compare labels and what lies beside them, in an order of its own, with both in one order."""
    xarray = import_module("xarray")
    given, background, _ = draws.labels(choices, 200)
    labels = np.array(np.ma.filled(given, 0) if background != -1 else np.ma.filled(given, 1))
    labels = np.abs(labels.astype(np.int64))
    beside = choices.generator().integers(0, 9, labels.shape)
    dims = NAMES[-labels.ndim :]
    coords = {d: _coordinates(choices, n) for d, n in zip(dims, labels.shape, strict=True)}
    first = xarray.DataArray(labels, coords, dims)
    other = xarray.DataArray(beside, coords, dims)
    for dim in dims:
        turn = choices.below(3)
        if turn == 1:
            other = other.isel({dim: slice(None, None, -1)})
        if turn == 2:
            other = other.isel({dim: choices.generator().permutation(other.sizes[dim])})
    order = choices.generator().permutation(len(dims))
    other = other.transpose(*(dims[k] for k in order))
    call = choices.pick(OF_PAIRS)
    same(call(first, other, background), call(labels, beside, background))


def _coordinates(choices, length):
    form = choices.below(3)
    if form == 1:
        return np.linspace(-75, 75, length)
    if form == 2:
        return [f"{k}" for k in range(length)]
    return np.arange(length)


def same(found, expected):
    """Compare results, whatever they are made of."""
    if dataclasses.is_dataclass(expected):
        found, expected = vars(found), vars(expected)
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    np.testing.assert_array_equal(found, expected)
