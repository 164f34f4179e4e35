"""An array that is to be labelled: where it lies, and which of its elements are connected."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conncomp._arrays import (
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    library_of,
    move_to_gpu,
    on_gpu,
)
from conncomp.grid._arguments import check_batch_axes, check_neighbourhood
from conncomp.grid._values import describe_values
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood


@dataclass(slots=True)
class Array:
    """An array, and which of its elements are connected.

    Attributes
    ----------
    given : array
        What the caller gave, as an array of NumPy or CuPy.
    library : str
        That of the caller's array.
    values : array
        Of the shape of the labels, and where these are found: on the GPU, too, if `given` lies in
        main memory. For bonds, which have their own array, bytes, the first of them that of the
        first axis.
    links : Links
    neighbourhood : Neighbourhood
        Along the axes after the batch axes.
    batch_axes : int
        How many axes ahead hold separate arrays, the items.
    """

    given: Any
    library: str
    values: Any
    links: Links
    neighbourhood: Neighbourhood
    batch_axes: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the labels."""
        shape: tuple[int, ...] = self.values.shape
        return shape

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return self.shape[: self.batch_axes]

    @property
    def in_main_memory(self) -> bool:
        """Whether the caller's array lies there."""
        return isinstance(self.given, np.ndarray)

    def stream(self) -> AbstractContextManager[object]:
        """Let CuPy work where the caller does."""
        return stream_of(self.given, self.library)

    def opened(self) -> Array:
        """Return the same with no axis periodic."""
        open_axes = (False,) * len(self.neighbourhood.periodic)
        return replace(self, neighbourhood=self.neighbourhood._replace(periodic=open_axes))


def array_of_image(
    label_image: ArrayLike,
    background: float | None,
    connectivity: float | None,
    structure: ArrayLike | None,
    tolerance: float,
    periodic: bool | Sequence[bool],
    batch_axes: int,
    device: str,
) -> Array:
    """Check the arguments of `label` that say what is labelled."""
    given: Any
    given, mask = (
        (as_cupy(label_image), None)
        if on_gpu(label_image)
        else as_numpy_and_mask(label_image, "label_image")
    )
    check_kind(given, "biuf", label_image, "label_image", "of bool, integer or floating dtype")
    batch = check_batch_axes(batch_axes, given.ndim, "label_image")
    item = "an item of label_image" if batch else "label_image"
    neighbourhood = check_neighbourhood(
        connectivity, structure, periodic, given.shape[batch:], item
    )
    values, links = describe_values(given, background, mask, tolerance)
    library = library_of(label_image)
    return Array(given, library, placed_on(device, values), links, neighbourhood, batch)


def stream_of(given: Any, library: str) -> AbstractContextManager[object]:
    """Let CuPy work where the caller does, who gave an array of a library."""
    if isinstance(given, np.ndarray):
        return nullcontext()
    return caller_stream(library, given.device.id)


def placed_on(device: str, array: Any) -> Any:
    """Return an array of NumPy or CuPy where it is worked on; itself if it lies there.

    A copy on a GPU may still be on its way there. Labels that come back are waited for.
    """
    if device == "cuda" and isinstance(array, np.ndarray):
        return move_to_gpu(current_gpu().xp, array, wait=False)
    return array
