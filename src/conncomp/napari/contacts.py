"""Which components of a layer touch, and how much."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from conncomp._arrays import on_host
from conncomp.components import contacts
from conncomp.napari.layers import grey_values, on_device, spacing_of


def contacts_table(labels: Any, *, device: str = "cpu") -> dict[str, NDArray[Any]]:
    """Return the pairs of components that share faces, the background left out.

    Parameters
    ----------
    labels : napari.layers.Labels
    device : {"cpu", "cuda"}, optional

    Returns
    -------
    dict of str to ndarray
        ``label`` and ``other``, how many faces they share, ``faces``, and the area of these in the
        units of the layer's scale, ``area``.
    """
    touching = contacts(
        on_device(grey_values(labels), device),
        connectivity=1,
        background=0,
        spacing=spacing_of(labels),
    )
    pairs, counts, areas = map(on_host, (touching.pairs, touching.counts, touching.areas))
    return {"label": pairs[:, 0], "other": pairs[:, 1], "faces": counts, "area": areas}
