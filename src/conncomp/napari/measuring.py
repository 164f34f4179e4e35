"""Columns of the components of a layer, and components chosen by a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import on_host
from conncomp.components import component_statistics
from conncomp.components.columns.properties import USUAL, USUAL_OF_IMAGE
from conncomp.napari.layers import (
    LayerData,
    grey_values,
    labels_layer,
    on_device,
    spacing_of,
)


def measure(
    labels: Any,
    image: Any = None,
    *,
    properties: Sequence[str] = (),
    device: str = "cpu",
) -> dict[str, NDArray[Any]]:
    """Measure the components of a layer of labels, in the units of its scale.

    Parameters
    ----------
    labels : napari.layers.Labels
    image : napari.layers.Image, optional
        What to measure the intensities of.
    properties : sequence of str, optional
        Columns by the names of scikit-image; by default sizes, boxes and centroids, and of an image
        means and extremes.
    device : {"cpu", "cuda"}, optional
        Where to measure.

    Returns
    -------
    dict of str to ndarray
        A row for each component; the first column is ``label``.

    Raises
    ------
    ValueError
        If the image is in colour or of another shape, or a property is unknown.
    """
    values = None if image is None else on_device(grey_values(image), device)
    names = tuple(properties) or USUAL + (() if image is None else USUAL_OF_IMAGE)
    statistics = component_statistics(
        on_device(grey_values(labels), device),
        values,
        properties=names,
        background=0,
        spacing=spacing_of(labels),
    )
    return {name: on_host(column) for name, column in statistics.columns().items()}


def features_of(table: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return a table as napari shows it where one points at a label: by the column ``index``."""
    return {"index": table["label"], **{k: v for k, v in table.items() if k != "label"}}


def filter_by_column(
    labels: Any,
    column: str,
    least: float = -np.inf,
    most: float = np.inf,
    *,
    image: Any = None,
    device: str = "cpu",
) -> LayerData:
    """Keep the components whose value of a column lies between two numbers, both included.

    Parameters
    ----------
    labels : napari.layers.Labels
    column : str
        A property with one number, as ``"area"``, or one of its columns, as ``"bbox-0"``.
    least, most : float, optional
    image : napari.layers.Image, optional
        For columns of intensities.
    device : {"cpu", "cuda"}, optional

    Returns
    -------
    tuple
        As of `label`.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    table = measure(labels, image, properties=(_property_of(column),), device=device)
    if column not in table:
        raise ValueError(f"column={column!r} must be one of {', '.join(table)}")
    values = table[column]
    kept = table["label"][(values >= least) & (values <= most)]
    data = grey_values(labels)
    return labels_layer(labels, f"{column} filtered", np.where(np.isin(data, kept), data, 0))


def _property_of(column: str) -> str:
    """Return the property that a column is of; its indices follow hyphens."""
    if column.startswith("intensity_quantile-"):
        return column
    return column.partition("-")[0]
