"""What is known of an algorithm: how it is called, and all that is checked and said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

from numpy.typing import DTypeLike, NDArray

from conncomp._arguments import check_option, shown
from conncomp.kernels.cuda.workspace import Workspace


def always_waits(options: Mapping[str, Any]) -> bool:
    """Say of an algorithm that it goes on until nothing changes, whatever its options."""
    return True


@dataclass(frozen=True)
class Algorithm:
    """An algorithm on a device.

    ``fill(gpu, problem, labels, workspace, consecutive, counted, **options)`` fills labels, by
    roots or consecutive numbers, and returns the number of components of each item, on a GPU as
    int64 in the workspace; it may return None where they are neither numbered nor counted. On a CPU
    gpu and workspace are None. ``waits(options)`` is whether it goes on until nothing changes: then
    labels must be memory of its own, it waits for the GPU, and a CUDA graph cannot capture it.
    ``check(problem, **options)``, if there is one, raises ValueError for what it does not take. All
    are given a choice for each option.
    """

    name: str  # what the user calls it
    device: str
    fill: Callable[..., Any]
    source: str = ""  # papers, as in the references of the function that has it
    # the choices for each, the default first
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    waits: Callable[[Mapping[str, Any]], bool] = lambda options: False
    check: Callable[..., None] | None = None

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The default choice for each option."""
        return {name: choices[0] for name, choices in self.options.items()}

    @property
    def capturable(self) -> bool:
        """Whether a CUDA graph can capture it, with the default options."""
        return self.device == "cuda" and not self.waits(self.defaults)

    def check_options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the choice for each option, the default if none is given; check their names."""
        if not options:
            return self.defaults
        for name in options:
            if name not in self.options:
                has = f"it has {', '.join(self.options)}" if self.options else "it has none"
                raise TypeError(f"algorithm={self.name!r} has no option {name!r}; {has}")
        return {
            name: check_option(name, options[name], choices) if name in options else choices[0]
            for name, choices in self.options.items()
        }


class Choices(TypedDict, total=False):
    """Arguments of all functions with algorithms, on which the types of results do not depend."""

    algorithm: str
    dtype: DTypeLike | None
    out: NDArray[Any] | None
    device: str | None
    workspace: Workspace | None


Table = dict[str, dict[str, Algorithm]]


def table_of(*algorithms: Algorithm) -> Table:
    """Return algorithms by device and by name."""
    return {
        device: {each.name: each for each in algorithms if each.device == device}
        for device in ("cpu", "cuda")
    }


def choose_algorithm(table: Table, device: str, name: str) -> Algorithm:
    """Return the algorithm that the user calls `name`."""
    try:
        return table[device][name]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, table[device]))
        raise ValueError(f"algorithm={shown(name)} is not one of {known}") from None
