"""What layers of napari hold, and layers made of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import move_to_gpu, native_layout
from conncomp._optional import optional
from conncomp.kernels.cuda import launcher

# The data of a layer, what it is made with, and its kind.
LayerData = tuple[NDArray[Any], dict[str, Any], str]

# What layers of the same place and size share.
PLACED = ("scale", "translate", "rotate", "shear", "units", "axis_labels")


def grey_values(layer: Any) -> NDArray[Any]:
    """Return the values of a layer of one channel, in main memory."""
    if getattr(layer, "rgb", False):
        raise ValueError(f"the layer {layer.name!r} is in colour; split its channels first")
    if getattr(layer, "multiscale", False):
        return np.asarray(layer.data[0])
    return np.asarray(layer.data)


def spacing_of(layer: Any) -> tuple[float, ...]:
    """Return the distances of neighbouring elements of a layer."""
    return tuple(abs(float(length)) for length in layer.scale)


def unit_of_layer(layer: Any) -> str:
    """Return the unit of a layer's lengths; "" if they are pixels."""
    units = [f"{unit:~}" for unit in getattr(layer, "units", None) or ()]
    unit = units[-1] if units else ""
    return "" if unit in ("px", "pixel") else unit


def labels_layer(layer: Any, name: str, labels: NDArray[Any], **more: Any) -> LayerData:
    """Return what a layer of labels is made of, which lies where another layer does."""
    placed = {key: getattr(layer, key) for key in PLACED if hasattr(layer, key)}
    return labels, {"name": f"{name} of {layer.name}", **placed, **more}, "labels"


def on_device(array: NDArray[Any], device: str) -> Any:
    """Return an array where it is to be worked on, "cpu" or "cuda"."""
    if device == "cpu":
        return array
    optional("cupy")
    return move_to_gpu(launcher.import_cupy(), native_layout(array))
