"""What is asked of an array: who is connected to whom, and how components are numbered.

A question is resolved once, from the arguments of `label` or `label_bonds`, which is where their
errors are raised. It has no array, so an array, a chunk, a slab and a block of a file are asked the
same one, in any process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, DTypeLike

from conncomp._algorithms import Algorithm, choose_algorithm
from conncomp._arguments import as_batch_axes, as_bool, check_choice
from conncomp._arrays import as_dtype, check_kind
from conncomp.grid._arguments import check_neighbourhood
from conncomp.grid._values import check_rule, lattice_of
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.neighbourhood import Neighbourhood

Numbering = Literal["consecutive", "roots"]
OF_VALUES = "of bool, integer or floating dtype"


@dataclass(frozen=True, slots=True)
class Question:
    """Who is connected to whom in an array, and what is wanted of its components.

    The `neighbourhood` is along the axes after the `batch_axes`. Of values there are `background`
    and `tolerance`, checked. Components are numbered (`consecutive`), or called by their roots, and
    `counted`, if wanted. `device` is where to work, and `options` are all of the `algorithm`.
    """

    neighbourhood: Neighbourhood
    batch_axes: int = 0
    background: float | None = None
    tolerance: float = 0
    of_bonds: bool = False
    consecutive: bool = True
    counted: bool = True
    dtype: Any = None
    device: str = "cpu"
    algorithm: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def numbering(self) -> Numbering:
        """How components are numbered, as the argument of that name says."""
        return "consecutive" if self.consecutive else "roots"

    @property
    def engine(self) -> Algorithm:
        """What labels arrays."""
        return ALGORITHMS[self.device][self.algorithm]

    def closed_along(self, axes: tuple[bool, ...]) -> Question:
        """Return the same with these axes of an item periodic."""
        return replace(self, neighbourhood=self.neighbourhood._replace(periodic=axes))


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
    made = {"consecutive": numbering == "consecutive", "counted": counted, "dtype": dtype}
    return made | {"device": device, "algorithm": algorithm, "options": tuple(choices.items())}
