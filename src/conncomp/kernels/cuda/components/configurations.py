"""Euler numbers, intercepts, borders and faces on the GPU: drives ``configurations.cuh``."""

from __future__ import annotations

from math import prod
from typing import Any

from conncomp._arguments import INDEX_TYPES
from conncomp._core import native
from conncomp.kernels.cuda.components.moments import LabelledComponents
from conncomp.kernels.cuda.components.rows import lengths_on
from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates, launch
from conncomp.kernels.neighbourhood import Shape

FILE = "cuda/components/configurations.cuh"
KERNELS = Templates(FILE, "count_configurations", label=INDEX_TYPES, axes=(2, 3))
BORDERS = Templates(FILE, "count_borders", indices="label")
FACES = Templates(FILE, "count_faces", indices="label")
BORDER_KINDS = 3


def count_configurations(gpu: Gpu, given: LabelledComponents) -> Any:
    """Return the numbers of configurations of components, of two or three axes.

    They are int64, (n, 6) or (n, 16), as ``Configurations`` in ``core/configurations.h``.
    """
    xp, axes = gpu.xp, len(given.shape)
    count = KERNELS.one(gpu, given.labels.dtype, axes)
    weights = native.configuration_weights(axes)
    numbers = xp.zeros((given.runs.count, weights.size >> 2**axes), COUNT)
    if not len(numbers):
        return numbers
    corners = prod(length + 1 for length in given.shape)
    corners *= given.labels.size // prod(given.shape)
    lengths, table = lengths_on(gpu, *given.shape), xp.asarray(weights)
    labels, extent, places = given.described(gpu, lengths)
    launch(count, gpu.grid(corners), labels, extent, corners, places, table, numbers)
    return numbers


def count_borders(gpu: Gpu, given: LabelledComponents) -> Any:
    """Return int64, (n, 3): how many elements of each kind the borders have, of two axes."""
    count = BORDERS.one(gpu, given.labels.dtype)
    kinds = gpu.xp.zeros((given.runs.count, BORDER_KINDS), COUNT)
    if not len(kinds):
        return kinds
    lengths = lengths_on(gpu, *given.shape)
    launch(count, gpu.grid(given.labels.size), *given.described(gpu, lengths), kinds)
    return kinds


def count_faces(
    gpu: Gpu, labels: Any, background: int, rows: int, shape: Shape, components: Any, faces: Any
) -> None:
    """Count the faces of components towards other elements, in items of a shape.

    `components` are the labels that occur, int64, ascending, at least one; `faces`, int64,
    (len(components), len(shape)), are 0. See `count_labels`.
    """
    count, size, lengths = FACES.one(gpu, labels.dtype), labels.size, lengths_on(gpu, *shape)
    empty, places = labels.dtype.type(background), places_of(gpu, components, rows)
    by_element, ndim = gpu.grid(size), len(shape)
    launch(count, by_element, size, labels, empty, ndim, lengths, rows, places, faces)
