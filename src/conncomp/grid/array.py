"""From what the caller gave to an array that a question is asked of."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import (
    Device,
    as_cupy,
    as_numpy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    choose_device,
    library_of,
    move_to_gpu,
    on_gpu,
)
from conncomp.grid._values import describe_bonds, describe_values, lattice_of, with_even_items
from conncomp.grid.question import OF_VALUES, Question
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.links import Links


class Given(NamedTuple):
    """What the caller gave, as an array of NumPy or CuPy, and where to work on it."""

    array: Any
    mask: NDArray[np.bool_] | None
    library: str
    place: Device


def read_array(
    values: Any, name: str, device: str | None = None, workspace: Any = None, masks: bool = True
) -> Given:
    """Return the argument of a name; refuse masked elements unless `masks` are taken."""
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
    """Let CuPy work where the caller does, who gave an array of a library."""
    if isinstance(given, np.ndarray):
        return nullcontext()
    return caller_stream(library, given.device.id)


class Array(NamedTuple):
    """An array, and the question that is asked of it: who is connected to whom.

    `given` is what the caller gave, as an array of NumPy or CuPy, and `library` that of the
    caller's array. `values` lie where labels are found: on the GPU, too, if `given` lies in main
    memory. They are of the shape of the labels: of bonds, which have their own array, bytes, the
    first of them that of the first axis.
    """

    given: Any
    library: str
    values: Any
    links: Links
    question: Question

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
        """Let CuPy work where the caller does."""
        return stream_of(self.given, self.library)


def read(question: Question, values: Any) -> Array:
    """Return an array of any library as a question is asked of it that was not made for it."""
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
    """Return an array as a question is asked of it; items of bonds are even if they must be."""
    values, batch, moves = given.array, question.batch_axes, question.device != "cpu"
    if question.of_bonds and (even_items or moves):
        with stream_of(values, given.library):
            values = with_even_items(values, batch)
    if not question.of_bonds:
        of_values = question.background, given.mask, question.tolerance
        values, links = describe_values(values, *of_values)
    if moves and isinstance(values, np.ndarray):  # a copy, which may still be on its way
        values = move_to_gpu(current_gpu().xp, values, wait=False)
    if question.of_bonds:
        values, links = describe_bonds(values, batch)
    return Array(given.array, given.library, values, links, question)
