"""An array that is to be labelled: where it lies, and which of its elements are connected."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import (
    as_cupy,
    as_numpy,
    as_numpy_and_mask,
    caller_stream,
    library_of,
    move_to_gpu,
    on_gpu,
)
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
    shape, batch_shape : tuple of int
        Of the labels, and the lengths of the batch axes.
    in_main_memory : bool
        Whether the caller's array lies there.
    """

    given: Any
    library: str
    values: Any
    links: Links
    neighbourhood: Neighbourhood
    batch_axes: int
    shape: tuple[int, ...] = field(init=False)
    batch_shape: tuple[int, ...] = field(init=False)
    in_main_memory: bool = field(init=False)

    def __post_init__(self) -> None:
        self.shape = self.values.shape
        self.batch_shape = self.shape[: self.batch_axes]
        self.in_main_memory = isinstance(self.given, np.ndarray)

    def stream(self) -> AbstractContextManager[object]:
        """Let CuPy work where the caller does."""
        return stream_of(self.given, self.library)


class Given(NamedTuple):
    """What the caller gave, as an array of NumPy or CuPy, its mask, and the name of its library."""

    array: Any
    mask: NDArray[np.bool_] | None
    library: str


def read_image(label_image: ArrayLike) -> Given:
    """Return the argument of that name."""
    if type(label_image) is np.ndarray:
        return Given(label_image.view(), None, "numpy")  # with a shape of its own
    if on_gpu(label_image):
        return Given(as_cupy(label_image), None, library_of(label_image))
    return Given(*as_numpy_and_mask(label_image, "label_image"), library_of(label_image))


def read_bonds(bonds: ArrayLike) -> Given:
    """Return the argument of that name."""
    array = as_cupy(bonds) if on_gpu(bonds) else as_numpy(bonds, "bonds")
    return Given(array, None, library_of(bonds))


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
