"""Labels of an image's components, and labels of some of them: layers in, layers out."""

from __future__ import annotations

from typing import Any

from conncomp._arrays import on_host
from conncomp.components import fill_holes as filled
from conncomp.components import largest_components, remove_small_components
from conncomp.files.thresholds import foreground
from conncomp.grid import label as labelled
from conncomp.napari.layers import LayerData, grey_values, labels_layer, on_device


def label(
    image: Any,
    threshold: float | str = "otsu",
    *,
    dark: bool = False,
    connectivity: int | None = None,
    min_size: int = 1,
    device: str = "cpu",
) -> LayerData:
    """Label the components of what lies above a threshold.

    Parameters
    ----------
    image : napari.layers.Image or napari.layers.Labels
    threshold : float or str, optional
        A number, or ``"otsu"``, ``"li"``, ``"triangle"`` or ``"local:51"``.
    dark : bool, optional
        Whether components are what is not above the threshold.
    connectivity : int, optional
        Along how many axes neighbours may differ; all by default.
    min_size : int, optional
        Components of fewer elements are left out.
    device : {"cpu", "cuda"}, optional
        Where to label.

    Returns
    -------
    tuple
        The data of a layer of labels, what it is made with, and its kind.

    Raises
    ------
    ValueError
        If the image is in colour, or has no threshold.
    """
    mask, _ = foreground(grey_values(image), threshold, is_dark=dark)
    labels: Any = labelled(on_device(mask, device), connectivity=connectivity)
    if min_size > 1:
        least = min(min_size, labels.size + 1)
        labels = remove_small_components(labels, least, background=0)
    return labels_layer(image, "components", on_host(labels))


def keep_largest(labels: Any, count: int = 1, *, device: str = "cpu") -> LayerData:
    """Keep the largest components of a layer of labels.

    Parameters
    ----------
    labels : napari.layers.Labels
    count : int, optional
        How many.
    device : {"cpu", "cuda"}, optional

    Returns
    -------
    tuple
        As of `label`.
    """
    data: Any = on_device(grey_values(labels), device)
    kept = largest_components(data, min(count, data.size), background=0)
    return labels_layer(labels, "largest", on_host(kept))


def fill_holes(labels: Any, *, device: str = "cpu") -> LayerData:
    """Fill the holes of the components of a layer of labels.

    Parameters
    ----------
    labels : napari.layers.Labels
    device : {"cpu", "cuda"}, optional

    Returns
    -------
    tuple
        As of `label`.
    """
    data: Any = on_device(grey_values(labels), device)
    return labels_layer(labels, "filled", on_host(filled(data, background=0)))
