"""What is asked of an array: who is connected to whom, and how components are numbered.

A question is resolved once, from the arguments of `label` or `label_bonds`, which is where their
errors are raised. It has no array, so an array, a chunk, a slab and a block of a file are asked the
same one, in any process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

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

    def closed_along(self, axes: tuple[bool, ...]) -> Question:
        """Return the same with these axes of an item periodic."""
        return replace(self, neighbourhood=self.neighbourhood._replace(periodic=axes))
