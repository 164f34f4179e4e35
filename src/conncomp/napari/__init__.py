"""The plugin for napari: layers in, layers and tables of columns out.

napari finds it by its manifest, ``napari.yaml``; `import conncomp` does not import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp import components
from conncomp._array_storage import move_to_gpu, native_layout, on_host
from conncomp._optional import optional
from conncomp.components import fill_holes as filled
from conncomp.components.columns.properties import USUAL, USUAL_OF_IMAGE
from conncomp.files.thresholds import foreground
from conncomp.grid import label as labelled
from conncomp.kernels.cuda import launcher

# The data of a layer, what it is made with, and its kind.
LayerData = tuple[NDArray[Any], dict[str, Any], str]

# The attributes that layers of the same place and size share.
PLACED = ("scale", "translate", "rotate", "shear", "units", "axis_labels")


def grey_values(layer: Any) -> NDArray[Any]:
    """Return the values of a layer of one channel, in main memory."""
    if getattr(layer, "rgb", False):
        raise ValueError(f"the layer {layer.name!r} is in colour; split its channels first")
    return np.asarray(layer.data[0] if getattr(layer, "multiscale", False) else layer.data)


def spacing_of(layer: Any) -> tuple[float, ...]:
    """Return the distances of neighbouring elements of a layer."""
    return tuple(abs(float(length)) for length in layer.scale)


def labels_layer(layer: Any, name: str, labels: NDArray[Any], **more: Any) -> LayerData:
    """Return the data of a layer of labels, which lies where another layer does."""
    placed = {key: getattr(layer, key) for key in PLACED if hasattr(layer, key)}
    return labels, {"name": f"{name} of {layer.name}", **placed, **more}, "labels"


def on_device(array: NDArray[Any], device: str) -> Any:
    """Return an array on a device, "cpu" or "cuda"."""
    if device == "cpu":
        return array
    optional("cupy")
    return move_to_gpu(launcher.import_cupy(), native_layout(array))


def placed(layer: Any, device: str) -> Any:
    """Return the values of a layer of one channel on a device."""
    return on_device(grey_values(layer), device)


def label(
    image: Any,
    threshold: float | str = "otsu",
    *,
    dark: bool = False,
    connectivity: int | None = None,
    min_size: int = 1,
    device: str = "cpu",
) -> LayerData:
    """Label the components above a threshold; return the data of a layer of labels.

    The image is a layer that is not in colour. The threshold is a number, or ``"otsu"``, ``"li"``,
    ``"triangle"`` or ``"local:51"``; with `dark`, components are not above it. Neighbours may
    differ along `connectivity` axes, by default all. Components of fewer than `min_size` elements
    are left out. The device is "cpu" or "cuda".
    """
    mask, _ = foreground(grey_values(image), threshold, is_dark=dark)
    labels: Any = labelled(on_device(mask, device), connectivity=connectivity)
    if min_size > 1:
        labels = components.remove_small_components(labels, min_size, background=0)
    return labels_layer(image, "components", on_host(labels))


def keep_largest(labels: Any, count: int = 1, *, device: str = "cpu") -> LayerData:
    """Keep so many of the largest components of a layer of labels, as the data of another."""
    kept = components.largest_components(placed(labels, device), count, background=0)
    return labels_layer(labels, "largest", on_host(kept))


def fill_holes(labels: Any, *, device: str = "cpu") -> LayerData:
    """Fill the holes of the components of a layer of labels, as the data of another."""
    return labels_layer(labels, "filled", on_host(filled(placed(labels, device), background=0)))


def contacts_table(labels: Any, *, device: str = "cpu") -> dict[str, NDArray[Any]]:
    """Return the pairs of components that share faces, the background left out, as columns.

    These are ``label`` and ``other``, how many ``faces`` they share, and the ``area`` of these in
    the units of the layer's scale. The device is "cpu" or "cuda".
    """
    options: Any = {"background": 0, "spacing": spacing_of(labels)}
    touching = components.contacts(placed(labels, device), connectivity=1, **options)
    pairs, counts, areas = map(on_host, (touching.pairs, touching.counts, touching.areas))
    return {"label": pairs[:, 0], "other": pairs[:, 1], "faces": counts, "area": areas}


def measure(
    labels: Any, image: Any = None, *, properties: Sequence[str] = (), device: str = "cpu"
) -> dict[str, NDArray[Any]]:
    """Measure the components of a layer of labels, in the units of its scale: a row for each.

    Columns have the names of scikit-image; by default they are sizes, boxes and centroids, and of
    an image the means and extremes of intensities. The first one is ``label``.
    """
    values = None if image is None else placed(image, device)
    names = tuple(properties) or USUAL + (() if image is None else USUAL_OF_IMAGE)
    options: Any = {"background": 0, "spacing": spacing_of(labels), "properties": names}
    statistics = components.component_statistics(placed(labels, device), values, **options)
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

    The column is a property with one number, as ``"area"``, or one of its columns, as
    ``"bbox-0"``; those of intensities need an image.
    """
    is_quantile = column.startswith("intensity_quantile-")
    name = column if is_quantile else column.partition("-")[0]
    table = measure(labels, image, properties=(name,), device=device)
    if column not in table:
        raise ValueError(f"column={column!r} must be one of {', '.join(table)}")
    values = table[column]
    kept = table["label"][(values >= least) & (values <= most)]
    data = grey_values(labels)
    return labels_layer(labels, f"{column} filtered", np.where(np.isin(data, kept), data, 0))
