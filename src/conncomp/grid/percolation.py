"""Whether a component connects opposite faces of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conncomp._arguments import as_integer, shown
from conncomp._arrays import as_cupy, as_numpy, caller_stream, library_of, on_gpu
from conncomp.grid._faces import at_both_faces
from conncomp.grid.answers import array_of, label_array
from conncomp.grid.array import read_array
from conncomp.grid.question import question_of_image
from conncomp.grid.wrapping import wrapping_of
from conncomp.kernels.cuda.launcher import current_gpu


def percolates(
    image: ArrayLike,
    axis: int,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    device: str | None = None,
) -> bool:
    """Tell whether a component goes all the way along an axis.

    Parameters
    ----------
    image, background, connectivity, structure, tolerance, periodic, device
        As of `label`.
    axis : int
        If it is open, a component is looked for that reaches from its first elements to its last
        ones; if it is periodic, one that closes on itself along it. Negative ones count from the
        last.

    Returns
    -------
    bool

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label` and `component_wrapping`; and if there is no such axis.

    See Also
    --------
    component_spans, component_wrapping : For each component.

    Examples
    --------
    >>> import conncomp
    >>> image = [[0, 1, 0],
    ...          [0, 1, 1],
    ...          [0, 0, 1]]
    >>> conncomp.percolates(image, 0), conncomp.percolates(image, 1)
    (True, False)
    >>> conncomp.percolates(image, 0, connectivity=1, periodic=True)  # the ends do not meet
    False
    """
    number = as_integer("axis", axis)
    given = read_array(image, device=device)
    asked = background, connectivity, structure, tolerance, periodic
    question = question_of_image(given.array, image, *asked, device=given.place)
    array = array_of(question, given)
    closed = question.neighbourhood.periodic
    if not -len(closed) <= number < len(closed):
        raise ValueError(f"axis={shown(axis)} must be one of the {len(closed)} axes of image")
    if closed[number]:
        wrapping = wrapping_of(question, array, None, "label_image")
        return bool(wrapping.axes[:, number].any())
    answer: Any = label_array(array, question)
    labels, count = answer
    if not on_gpu(labels):
        return _reaches_across(np, as_numpy(labels, "labels"), number, count)
    on_device = as_cupy(labels)
    with caller_stream(library_of(labels), on_device.device.id):
        return _reaches_across(current_gpu().xp, on_device, number, count)


def _reaches_across(xp: Any, labels: Any, axis: int, components: int) -> bool:
    """Whether a label from 1 to `components` is at both ends of an axis."""
    return labels.size > 0 and bool(at_both_faces(xp, labels, axis, components + 1, 0).any())
