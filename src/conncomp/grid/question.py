"""Questions about arrays: who is connected to whom, and how components are numbered.

The arguments of `label` or `label_bonds` are checked once, and become a question. It holds no
array, so an array, a chunk, a slab and a block of a file share one question, in any process.
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

    Attributes
    ----------
    neighbourhood : along the axes after the first `batch_axes`
    background, tolerance : checked; for arrays of values only
    consecutive : whether labels are consecutive, or else roots
    counted : whether the numbers of components are wanted
    dtype : of the labels, or "smallest", or None for the default
    options : a choice for each option of the `algorithm`
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
        """`consecutive` as the argument `numbering` of `label`."""
        return "consecutive" if self.consecutive else "roots"

    def closed_along(self, axes: tuple[bool, ...]) -> Question:
        """Return the question with other periodic axes of an item."""
        return replace(self, neighbourhood=self.neighbourhood._replace(periodic=axes))
