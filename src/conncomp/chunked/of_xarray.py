"""`label`, and functions of labels, of arrays of xarray, whose axes have names.

These are of NumPy, of CuPy, or in chunks of Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import xarray

from conncomp import components, grid
from conncomp._arguments import as_batch_axes, as_sequence, shown
from conncomp._arrays import as_numpy


def label(label_image: Any, **arguments: Any) -> Any:
    """Do what `conncomp.label` does, whose arguments these are, for a DataArray."""
    if not isinstance(label_image, xarray.DataArray):
        return as_numpy(label_image, "label_image")  # which says what to do
    if arguments.get("out") is not None:
        raise ValueError(
            "out is for arrays without coordinates, but label_image is a DataArray; leave it out"
        )
    names = arguments.pop("batch_dims", None)
    batch, arguments["batch_axes"] = _batch_dims(label_image, names, arguments["batch_axes"])
    rest = [name for name in label_image.dims if name not in batch]
    arguments["periodic"] = _periodic(rest, arguments["periodic"])
    ordered = label_image.transpose(*batch, *rest)
    result: Any = grid.label(ordered.data, **arguments)
    if not arguments["return_num"]:
        return _like(ordered, result).transpose(*label_image.dims)
    labels, num = result
    if batch:
        first = ordered.isel(dict.fromkeys(rest, 0), drop=True) if ordered.size else None
        coords = {} if first is None else first.coords
        num = xarray.DataArray(num, dims=batch, coords=coords, name="num")
    return _like(ordered, labels).transpose(*label_image.dims), num


def component_statistics(labels: Any, image: Any, **arguments: Any) -> Any:
    """Do what `conncomp.component_statistics` does, for labels in a DataArray.

    An image or classes in one, too, get the order of the labels' axes, and the axis that labels do
    not have comes last, as that of channels.
    """
    if not isinstance(labels, xarray.DataArray):
        return as_numpy(labels, "labels")  # which says what to do
    classes = arguments.pop("classes")
    values, known = (_in_order_of(labels, other) for other in (image, classes))
    return components.component_statistics(labels.data, values, classes=known, **arguments)


def _like_labels(function: Callable[..., Any], labels: Any, *arguments: Any, **options: Any) -> Any:
    """Return a DataArray of what a function makes of labels, or of a mask, for each element."""
    if not isinstance(labels, xarray.DataArray):
        return as_numpy(labels, "labels")  # which says what to do
    if "by" in options:
        options["by"] = _in_order_of(labels, options["by"])
    made = function(labels.data, *arguments, **options)
    if isinstance(made, tuple):
        return _like(labels, made[0]), *made[1:]
    return _like(labels, made)


fill_holes = partial(_like_labels, components.fill_holes)
largest_components = partial(_like_labels, components.largest_components)
relabel_consecutive = partial(_like_labels, components.relabel_consecutive)
remove_small_components = partial(_like_labels, components.remove_small_components)
sort_by_size = partial(_like_labels, components.sort_by_size)


def contacts(labels: Any, periodic: Any, batch_axes: int, **options: Any) -> Any:
    """Do what `conncomp.contacts` does, whose arguments these are, for labels in a DataArray."""
    if not isinstance(labels, xarray.DataArray):
        return as_numpy(labels, "labels")  # which says what to do
    count = as_batch_axes(batch_axes, labels.ndim, "labels")
    named = _periodic(list(labels.dims[count:]), periodic)
    return components.contacts(labels.data, periodic=named, batch_axes=batch_axes, **options)


def _in_order_of(labels: Any, other: Any) -> Any:
    """Return what lies beside labels, with its axes in their order where names tell it."""
    if not isinstance(other, xarray.DataArray):
        return other
    others = [name for name in other.dims if name not in labels.dims]
    is_named = len(others) + labels.ndim == other.ndim
    return (other.transpose(*labels.dims, *others) if is_named else other).data


def _like(image: Any, labels: Any) -> Any:
    """Return labels with the coordinates, the attributes and the name of an image."""
    return image.copy(deep=False, data=labels)


def _batch_dims(image: Any, names: Any, batch_axes: Any) -> tuple[list[Any], int]:
    """Return the names of the batch axes, and how many there are."""
    if names is None:
        if isinstance(batch_axes, (str, list, tuple)):
            raise TypeError(
                f"batch_axes={shown(batch_axes)} must be an integer; batch_dims= takes names"
            )
        count = as_batch_axes(batch_axes, image.ndim, "label_image")
        return list(image.dims[:count]), count
    if batch_axes:
        raise ValueError(
            f"batch_axes={shown(batch_axes)} and batch_dims={shown(names)} exclude each other; "
            "leave one out"
        )
    batch = [names] if isinstance(names, str) else list(as_sequence("batch_dims", names))
    _check_names("batch_dims", batch, list(image.dims))
    return batch, as_batch_axes(len(batch), image.ndim, "label_image")


def _periodic(dims: list[Any], periodic: Any) -> Any:
    """Return which of some axes are periodic, as `conncomp.label` takes it."""
    named = isinstance(periodic, Sequence) and any(isinstance(each, str) for each in periodic)
    if not named:
        return periodic
    periodic = [periodic] if isinstance(periodic, str) else periodic
    _check_names("periodic", list(periodic), dims)
    return [name in periodic for name in dims]


def _check_names(argument: str, names: list[Any], dims: list[Any]) -> None:
    for k, name in enumerate(names):
        if name not in dims:
            raise ValueError(
                f"{argument}={shown(names)} has {shown(name)}, which is no axis of an item; these "
                f"are {', '.join(map(str, dims))}"
            )
        if name in names[:k]:
            raise ValueError(f"{argument}={shown(names)} has {shown(name)} twice; name it once")
