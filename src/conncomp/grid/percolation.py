"""Whether a component connects opposite faces of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from conncomp._arguments import as_integer, shown
from conncomp._arrays import choose_device, on_gpu
from conncomp.components.spanning import component_spans
from conncomp.grid.labelling import Request, label_problem, problem_of_image
from conncomp.grid.wrapping import wrapping_of


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
    >>> conncomp.percolates(image, 0, periodic=True)  # the ends do not meet at corners, but ...
    True
    >>> conncomp.percolates(image, 0, connectivity=1, periodic=True)
    False
    """
    number = as_integer("axis", axis)
    problem = problem_of_image(image, background, connectivity, structure, tolerance, periodic, 0)
    closed = problem.neighbourhood.periodic
    if not -len(closed) <= number < len(closed):
        raise ValueError(f"axis={shown(axis)} must be one of the {len(closed)} axes of image")
    chosen = choose_device(device, on_gpu(image), "label_image")
    if closed[number]:
        wrapping = wrapping_of(problem, chosen, None, "label_image")
        return bool(wrapping.axes[:, number].any())
    request = Request(chosen, "consecutive", "auto", False, None, None, None, {})
    labels: Any = label_problem(problem, request)
    return bool(component_spans(labels, background=0)[:, number].any())
