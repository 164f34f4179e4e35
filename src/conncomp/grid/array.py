"""Questions about arrays, and `Array`: values as kernels read them, and a question."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import move_to_gpu
from conncomp._arrays import (
    Device,
    as_cupy,
    as_numpy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    choose_device,
    library_of,
    on_gpu,
)
from conncomp.grid._values import describe_bonds, describe_values, lattice_of, with_even_items
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood

Numbering = Literal["consecutive", "roots"]
OF_VALUES = "of bool, integer or floating dtype"


@dataclass(frozen=True, slots=True)
class Question:
    """Who is connected to whom in an array, and how its components are numbered.

    The checked arguments of `label` or `label_bonds`. A question holds no array, so an array, a
    chunk, a slab and a block of a file share one, in any process.
    """

    neighbourhood: Neighbourhood  # along the axes after the first `batch_axes`
    batch_axes: int = 0
    background: float | None = None  # as `tolerance`, for arrays of values only
    tolerance: float = 0
    of_bonds: bool = False
    consecutive: bool = True  # or else roots
    counted: bool = True  # whether the numbers of components are wanted
    dtype: Any = None  # of the labels, or "smallest", or None for the default
    device: str = "cpu"
    algorithm: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()  # a choice for each

    @property
    def numbering(self) -> Numbering:
        """`consecutive` as the argument `numbering` of `label`."""
        return "consecutive" if self.consecutive else "roots"

    def closed_along(self, axes: tuple[bool, ...]) -> Question:
        """Return the question with other periodic axes of an item."""
        return replace(self, neighbourhood=self.neighbourhood._replace(periodic=axes))


class Given(NamedTuple):
    """The caller's array, as one of NumPy or CuPy, and where to work on it."""

    array: Any
    mask: NDArray[np.bool_] | None
    library: str
    place: Device


def read_array(
    values: Any, name: str, device: str | None = None, workspace: Any = None, masks: bool = True
) -> Given:
    """Read the argument `name` of the caller; refuse masked elements unless `masks` is True."""
    plain = type(values) is np.ndarray
    placed = not plain and on_gpu(values)
    place = choose_device(device, placed, name, workspace)
    if plain:
        return Given(values.view(), None, "numpy", place)  # with a shape of its own
    library = library_of(values)
    if placed:
        return Given(as_cupy(values), None, library, place)
    if masks:
        return Given(*as_numpy_and_mask(values, name), library, place)
    return Given(as_numpy(values, name), None, library, place)


def stream_of(given: Any, library: str) -> AbstractContextManager[object]:
    """Let CuPy launch on the stream that is current in the library of the caller's array."""
    if isinstance(given, np.ndarray):
        return nullcontext()
    return caller_stream(library, given.device.id)


class Array(NamedTuple):
    """An array, and the question that is asked of it.

    `values` are on the device that labels, of the labels' shape; uint8 for bonds, the first axis'
    plane.
    """

    given: Any  # the caller's array, as one of NumPy or CuPy
    library: str  # of the caller's array
    values: Any
    links: Links
    question: Question
    in_memory: bool  # whether `given` lies in main memory

    @property
    def reads_given(self) -> bool:
        """Whether kernels read the caller's array itself, not a copy; not if it is empty."""
        return self.values is self.given and self.values.size > 0

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return tuple(self.values.shape[: self.question.batch_axes])

    @property
    def image(self) -> Image:
        """The array as kernels on a GPU take it."""
        question = self.question
        return Image(self.values, self.links, question.neighbourhood, question.batch_axes)

    def stream(self) -> AbstractContextManager[object]:
        """Let CuPy launch on the stream that is current in the caller's library."""
        return stream_of(self.given, self.library)


def read(question: Question, values: Any) -> Array:
    """Return the `Array` of values of any library, for a question made from other values."""
    name = "bonds" if question.of_bonds else "label_image"
    given = read_array(values, name, masks=not question.of_bonds)
    if question.of_bonds:
        shape, _ = lattice_of(given.array, question.batch_axes, values)
    else:
        check_kind(given.array, "biuf", values, name, OF_VALUES)
        shape = given.array.shape
    ndim = question.batch_axes + len(question.neighbourhood.periodic)
    if len(shape) != ndim:
        raise ValueError(f"a chunk has shape {shape}, and the array has {ndim} axes")
    return array_of(question, given)


def array_of(question: Question, given: Given, *, even_items: bool = False) -> Array:
    """Return the `Array` of a question; with `even_items`, items of bonds lie equally far apart."""
    values, batch, moves = given.array, question.batch_axes, question.device != "cpu"
    in_memory = isinstance(values, np.ndarray)
    if question.of_bonds and (even_items or moves):
        with stream_of(values, given.library):
            values = with_even_items(values, batch)
    if not question.of_bonds:
        of_values = question.background, given.mask, question.tolerance
        values, links = describe_values(values, *of_values)
    if moves and in_memory:  # a copy, which may still be on its way
        values = move_to_gpu(current_gpu().xp, values, wait=False)
    if question.of_bonds:
        values, links = describe_bonds(values, batch)
    return Array(given.array, given.library, values, links, question, in_memory)
