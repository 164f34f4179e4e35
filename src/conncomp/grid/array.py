"""An array that is to be labelled: where it lies, and which of its elements are connected."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import (
    Device,
    as_cupy,
    as_numpy,
    as_numpy_and_mask,
    caller_stream,
    choose_device,
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

    `given` is what the caller gave, as an array of NumPy or CuPy, and `library` that of the
    caller's array. `values` lie where labels are found: on the GPU, too, if `given` lies in main
    memory. They are of the `shape` of the labels: of bonds, which have their own array, bytes, the
    first of them that of the first axis. The `neighbourhood` is along the axes after the
    `batch_axes`, whose lengths are the `batch_shape`.
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
    """What the caller gave, as an array of NumPy or CuPy, and where to work on it."""

    array: Any
    mask: NDArray[np.bool_] | None
    library: str
    place: Device


def read_array(
    values: Any, name: str = "label_image", device: str | None = None, workspace: Any = None
) -> Given:
    """Return the argument of a name, "label_image" or "bonds"; bonds have no mask."""
    plain = type(values) is np.ndarray
    placed = not plain and on_gpu(values)
    place = choose_device(device, placed, name, workspace)
    if plain:
        return Given(values.view(), None, "numpy", place)  # with a shape of its own
    library = library_of(values)
    if placed:
        return Given(as_cupy(values), None, library, place)
    if name == "bonds":
        return Given(as_numpy(values, name), None, library, place)
    return Given(*as_numpy_and_mask(values, name), library, place)


def stream_of(given: Any, library: str) -> AbstractContextManager[object]:
    """Let CuPy work where the caller does, who gave an array of a library."""
    if isinstance(given, np.ndarray):
        return nullcontext()
    return caller_stream(library, given.device.id)


def placed_on_gpu(array: Any) -> Any:
    """Return an array of NumPy or CuPy on the GPU, where a copy may still be on its way."""
    if isinstance(array, np.ndarray):
        return move_to_gpu(current_gpu().xp, array, wait=False)
    return array
