"""`label`, and functions of labels, of arrays of xarray (of NumPy, CuPy or Dask): with names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray

from conncomp import components, grid
from conncomp._arguments import as_batch_axes, as_sequence, shown
from conncomp._containers import laid_beside

NEAR = 0.1  # of the step between coordinates: nearer ones are the same, but for rounding


def label(label_image: Any, **arguments: Any) -> Any:
    """Label an array with names of axes; arguments are those of `conncomp.label`."""
    image = _with_names(label_image, "label_image")
    if arguments.get("out") is not None:
        told = f"out is for arrays without names, but label_image is a {type(label_image).__name__}"
        raise ValueError(f"{told}; leave it out")
    names = arguments.pop("batch_dims", None)
    batch, arguments["batch_axes"] = _batch_dims(image, names, arguments["batch_axes"])
    rest = [name for name in image.dims if name not in batch]
    arguments["periodic"] = _periodic(rest, arguments["periodic"])
    steps = xarray.Variable(rest, np.empty((0,) * len(rest)))
    arguments["structure"] = laid_beside(steps, arguments["structure"], "structure", "label_image")
    ordered = image.transpose(*batch, *rest)
    result: Any = grid.label(ordered.data, **arguments)
    if not arguments["return_num"]:
        return _like(ordered, result).transpose(*image.dims)
    labels, num = result
    if batch and isinstance(image, xarray.Variable):
        num = xarray.Variable(batch, num)
    elif batch:
        first = ordered.isel(dict.fromkeys(rest, 0), drop=True) if ordered.size else None
        coords = {} if first is None else first.coords
        num = xarray.DataArray(num, dims=batch, coords=coords, name="num")
    return _like(ordered, labels).transpose(*image.dims), num


def _of_values(function: Callable[..., Any], labels: Any, *arguments: Any, **options: Any) -> Any:
    """Return what a function makes of labels, but for their names."""
    return function(_with_names(labels, "labels").data, *arguments, **options)


component_sizes = partial(_of_values, components.component_sizes)
component_statistics = partial(_of_values, components.component_statistics)
match_labels = partial(_of_values, components.match_labels)
size_histogram = partial(_of_values, components.size_histogram)


def _like_labels(function: Callable[..., Any], labels: Any, *arguments: Any, **options: Any) -> Any:
    """Return an array with names of what a function makes of labels, or of a mask."""
    given = _with_names(labels, "labels")
    if "by" in options:
        options["by"] = lay_beside(given, options["by"], "by")
    made = function(given.data, *arguments, **options)
    if isinstance(made, tuple):
        return _like(given, made[0]), *made[1:]
    return _like(given, made)


fill_holes = partial(_like_labels, components.fill_holes)
largest_components = partial(_like_labels, components.largest_components)
relabel_consecutive = partial(_like_labels, components.relabel_consecutive)
remove_small_components = partial(_like_labels, components.remove_small_components)
sort_by_size = partial(_like_labels, components.sort_by_size)


def contacts(labels: Any, periodic: Any, batch_axes: int, **options: Any) -> Any:
    """Count contacts of labels with names of axes, some of which `periodic` may name."""
    given = _with_names(labels, "labels")
    named = _periodic(list(given.dims[as_batch_axes(batch_axes, given.ndim, "labels") :]), periodic)
    return components.contacts(given.data, periodic=named, batch_axes=batch_axes, **options)


def lay_beside(labels: Any, other: Any, name: str, of: str = "labels") -> Any:
    """Return the other array with its axes in the order of those of labels, without names."""
    laid = in_order(labels, other, name, of)
    return laid.data if isinstance(laid, _WITH_NAMES) else laid


def in_order(labels: Any, other: Any, name: str, of: str, ahead: int = 0) -> Any:
    """Return another array with axes, and elements along them, in the order of labels.

    Names that xarray gives are none. Axes that labels do not have come last. Coordinates decide
    where both have them, but for some axes ahead.
    """
    first = _with_names(labels, of)
    if not isinstance(other, _WITH_NAMES):
        return other
    if set(first.dims) - set(other.dims):
        if _is_nameless(first) or _is_nameless(other):
            return other
        here, there = (", ".join(map(str, array.dims)) for array in (first, other))
        told = f"{name} has the axes {there}, but {of} {here}"
        raise ValueError(f"{told}; rename them, or leave out the names by {name}.data")
    dims = (*first.dims, *(dim for dim in other.dims if dim not in first.dims))
    laid = other if dims == other.dims else other.transpose(*dims)
    coordinates = [getattr(array, "coords", {}) for array in (first, laid)]
    for dim in first.dims[ahead:]:
        if all(dim in known for known in coordinates):
            wanted, given = (known[dim].to_index() for known in coordinates)
            if len(wanted) == len(given) and not _are_near(wanted, given):
                what = f"{name} has other coordinates along {dim} than {of}"
                laid = laid.isel({dim: _places(wanted, given, what)})
    return laid


_WITH_NAMES = xarray.DataArray, xarray.Variable


def _with_names(given: Any, name: str) -> Any:
    if not isinstance(given, _WITH_NAMES):
        told = f"{name} is a {type(given).__name__} of xarray, which holds several arrays"
        raise TypeError(f"{told}; give one of them, by its name")
    return given.to_base_variable() if isinstance(given, xarray.Variable) else given


def _is_nameless(array: Any) -> bool:
    """Whether the names of all axes are those that xarray gives."""
    return all(dim == f"dim_{k}" for k, dim in enumerate(array.dims))


def _are_near(wanted: Any, given: Any) -> bool:
    if not {wanted.dtype.kind, given.dtype.kind} <= set("fiu") or wanted.equals(given):
        return bool(wanted.equals(given))
    first, second = (np.asarray(index, np.float64) for index in (wanted, given))
    step = np.abs(np.diff(first)).min() if len(first) > 1 else np.abs(first).max() * 1e-6
    return bool((np.abs(first - second) <= NEAR * step).all())


def _places(wanted: Any, given: Any, what: str) -> Any:
    """Return where the wanted coordinates of an axis are."""
    if _are_near(wanted, given[::-1]):
        return slice(None, None, -1)
    places = given.get_indexer(wanted) if given.is_unique else np.array([-1])
    if len(places) != len(wanted) or (places < 0).any() or not wanted.is_unique:
        raise ValueError(f"{what}; select the same of both, or leave them out by .drop_vars")
    return places


def _like(image: Any, labels: Any) -> Any:
    """Return labels with the coordinates, the attributes and the name of an image."""
    made = image.copy(deep=False, data=labels)
    made.encoding = {}  # which is how values of the image are packed in a file
    return made


def _batch_dims(image: Any, names: Any, batch_axes: Any) -> tuple[list[Any], int]:
    if names is None:
        if isinstance(batch_axes, (str, list, tuple)):
            flaw = f"batch_axes={shown(batch_axes)} must be an integer"
            raise TypeError(f"{flaw}; batch_dims= takes names")
        count = as_batch_axes(batch_axes, image.ndim, "label_image")
        return list(image.dims[:count]), count
    if batch_axes:
        told = f"batch_axes={shown(batch_axes)} and batch_dims={shown(names)} exclude each other"
        raise ValueError(f"{told}; leave one out")
    batch = [names] if isinstance(names, str) else list(as_sequence("batch_dims", names))
    _check_names("batch_dims", batch, list(image.dims))
    return batch, as_batch_axes(len(batch), image.ndim, "label_image")


def _periodic(dims: list[Any], periodic: Any) -> Any:
    named = isinstance(periodic, Sequence) and any(isinstance(each, str) for each in periodic)
    if not named:
        return periodic
    periodic = [periodic] if isinstance(periodic, str) else periodic
    _check_names("periodic", list(periodic), dims)
    return [name in periodic for name in dims]


def _check_names(argument: str, names: list[Any], dims: list[Any]) -> None:
    for k, name in enumerate(names):
        if name not in dims:
            told = f"{argument}={shown(names)} has {shown(name)}, which is no axis of an item"
            raise ValueError(f"{told}; these are {', '.join(map(str, dims))}")
        if name in names[:k]:
            raise ValueError(f"{argument}={shown(names)} has {shown(name)} twice; name it once")
