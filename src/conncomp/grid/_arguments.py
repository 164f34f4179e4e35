"""Checks of the arguments of `label` and `label_bonds`, which become a `Question`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._algorithms import choose_algorithm
from conncomp._arguments import as_batch_axes, as_bool, as_integer, as_sequence, check_choice, shown
from conncomp._arrays import as_numpy, check_kind
from conncomp._label_output import as_dtype
from conncomp.grid._values import check_rule, lattice_of
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.array import OF_VALUES, Question
from conncomp.kernels.neighbourhood import Neighbourhood

# Work grows with the number of neighbours: an array of 32 KB with 15 axes, each element with 14
# million neighbours, would take minutes.
MOST_NEIGHBOURS = 3**10


def question_of_image(
    image: Any,
    given: object = None,
    background: float | None = None,
    connectivity: float | None = None,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    **wanted: Any,
) -> Question:
    """Check the arguments of `label`, by the shape and dtype of what the user gave as `given`."""
    answer = _checked(**wanted)
    check_kind(image, "biuf", given, "label_image", OF_VALUES)
    batch = as_batch_axes(batch_axes, len(image.shape), "label_image", scalars=False)
    item = "an item of label_image" if batch else "label_image"
    shape = image.shape[batch:]
    neighbourhood = check_neighbourhood(connectivity, structure, periodic, shape, item)
    check_rule(image.dtype, background, tolerance)
    return Question(neighbourhood, batch, background, tolerance, **answer)


def question_of_bonds(
    bonds: Any,
    given: object = None,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    **wanted: Any,
) -> Question:
    """Check the arguments of `label_bonds`, as `question_of_image` those of `label`."""
    answer = _checked(**wanted)
    shape, batch = lattice_of(bonds, batch_axes, given)
    item = "a lattice of bonds" if batch else "the lattice of bonds"
    neighbourhood = check_neighbourhood(1, None, periodic, shape[batch:], item)
    return Question(neighbourhood, batch, of_bonds=True, **answer)


def _checked(
    device: str = "cpu",
    numbering: Any = "consecutive",
    algorithm: Any = "auto",
    return_num: Any = True,
    dtype: DTypeLike | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Check what is wanted of components, and return the attributes of a question."""
    counted = as_bool("return_num", return_num)
    check_choice("numbering", numbering, ("consecutive", "roots"))
    chosen = choose_algorithm(ALGORITHMS, device, algorithm)
    choices = chosen.check_options(options) if options else chosen.defaults
    if dtype is not None and not (isinstance(dtype, str) and dtype == "smallest"):
        dtype = as_dtype(dtype)
    answer = {"consecutive": numbering == "consecutive", "counted": counted, "dtype": dtype}
    return answer | {"device": device, "algorithm": algorithm, "options": tuple(choices.items())}


def check_periodic(periodic: bool | Sequence[bool], ndim: int, item: str) -> tuple[bool, ...]:
    """Return which of the axes are periodic; `item` names what has them."""
    if isinstance(periodic, (bool, np.bool_)):
        return (bool(periodic),) * ndim
    if isinstance(periodic, (str, bytes)) or not hasattr(periodic, "__iter__"):
        raise TypeError(
            f"periodic={shown(periodic)} must be True for all axes, False for none, or one bool "
            "for each axis"
        )
    axes = as_numpy(as_sequence("periodic", periodic), "periodic")
    if axes.ndim == 1 and len(axes) != ndim:
        raise ValueError(
            f"periodic={shown(periodic)} has {len(axes)} entries; {item} has {ndim} axes"
        )
    if axes.ndim != 1 or (axes.dtype != bool and len(axes)):
        raise TypeError(f"periodic={shown(periodic)} must be a bool, or one bool for each axis")
    return tuple(axes.tolist())


def check_neighbourhood(
    connectivity: float | None,
    structure: ArrayLike | None,
    periodic: bool | Sequence[bool],
    shape: tuple[int, ...],
    item: str,
) -> Neighbourhood:
    """Return the neighbourhood in an item of `shape`, which `item` names."""
    closed = check_periodic(periodic, len(shape), item)
    if structure is None:
        reach = len(shape)
        if connectivity is not None:
            reach = _check_connectivity(connectivity, len(shape))
        neighbourhood = Neighbourhood(reach, None, closed)
    elif connectivity is None:
        neighbourhood = Neighbourhood(None, _check_structure(structure, len(shape), item), closed)
    else:
        raise ValueError(
            f"connectivity={shown(connectivity)} and structure exclude each other; leave one out"
        )
    if 3 ** len(shape) > MOST_NEIGHBOURS:
        longer = tuple(k for k, length in enumerate(shape) if length > 1)
        count = neighbourhood.count(longer)
        if count > MOST_NEIGHBOURS:
            connected = neighbourhood.connectivity
            what, remedy = f"connectivity={connected}", "lower connectivity"
            if connected is None:
                what, remedy = "structure", "structure of fewer steps"
            raise ValueError(
                f"{what} gives an element {count} neighbours along the {len(longer)} axes of "
                f"{item} that are longer than 1, and more than {MOST_NEIGHBOURS} take too long; "
                f"use a {remedy}"
            )
    return neighbourhood


def _check_connectivity(connectivity: float, ndim: int) -> int:
    if getattr(connectivity, "ndim", 0):
        raise TypeError(
            f"connectivity={shown(connectivity)} must be an integer; structure= takes a "
            "structuring element"
        )
    whole = isinstance(connectivity, (float, np.floating)) and float(connectivity).is_integer()
    reach = as_integer("connectivity", int(connectivity) if whole else connectivity)
    if not 1 <= reach <= ndim:
        text = f"connectivity={shown(reach)} must be from 1 to the number of axes, {ndim}"
        for axes in range(1, ndim + 1):
            if reach == sum(comb(ndim, k) << k for k in range(1, axes + 1)):
                text += f": for {reach} neighbours it is {axes}"
        raise ValueError(text)
    return reach


def _check_structure(structure: ArrayLike, ndim: int, item: str) -> bytes:
    """Return a structuring element as `Neighbourhood` keeps it, without its centre."""
    given = as_numpy(structure, "structure")
    check_kind(given, "biuf", structure, "structure", "of bool, or of zeros and ones")
    if given.shape != (3,) * ndim:
        raise ValueError(
            f"structure has shape {given.shape}; {item} has {ndim} axes, so that it must be "
            f"{(3,) * ndim}"
        )
    present: NDArray[Any] = given != 0
    if given.dtype.kind != "b" and np.any(present & (given != 1)):
        raise ValueError(
            f"structure has values from {given.min()} to {given.max()}; it must be of zeros and "
            "ones"
        )
    alone = np.argwhere(present & ~np.flip(present))
    if len(alone):
        step = tuple(int(move) for move in alone[0] - 1)
        raise ValueError(
            f"structure has a step {step}, but not the opposite one; neighbours are mutual: make "
            "it symmetric, for example by structure | numpy.flip(structure)"
        )
    present[(1,) * ndim] = False
    return present.tobytes()
