"""The description of an algorithm, its checks, and tables of algorithms.

Who fills labels, called by whom, with what:

    `fill`            `answer`, for an array          labels
    `fill_array`      that `fill`                     array, workspace, labels
    `fill_on_gpu`     `fill_array`, recordings        question, gpu, image, labels, workspace
    `Algorithm.fill`  `run_algorithm`, graphs, spins  problem, task
    `fill_labels`     "auto" for arrays on a GPU      gpu, image, labels, workspace, consecutive
    `fill_roots`      the `fill` of `by_roots`        gpu, problem, roots, workspace
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, NamedTuple, Protocol, TypedDict

from numpy.typing import DTypeLike, NDArray

from conncomp._arguments import check_option, shown
from conncomp.kernels.cuda.core.numbering import (
    count_roots,
    modules_of,
    number_roots,
    place_roots_within_items,
)
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.workspace import Workspace


def always_waits(options: Mapping[str, Any]) -> bool:
    """Say of an algorithm that it goes on until nothing changes, whatever its options."""
    return True


class Task(NamedTuple):
    """The task of an algorithm: to fill `labels` with roots or `consecutive` numbers."""

    gpu: Any  # None on a CPU, as the workspace
    labels: Any
    workspace: Any
    consecutive: bool
    counted: bool = True  # whether anybody asks how many components there are


class Problem(Protocol):
    """An `Image`, or the `Parts` of a graph, which an algorithm labels on a GPU."""

    items: int  # of one size


class Fill(Protocol):
    """Fills labels; returns how many components each item has, on a GPU int64 in the workspace.

    It may return None where they are neither numbered nor counted.
    """

    def __call__(self, problem: Any, task: Task, /, *args: Any, **options: Any) -> Any: ...


# Fills roots of a `Problem`, indices in all items, and may count them as `Fill` does.
FillRoots = Callable[Concatenate[Gpu, Any, Any, Workspace, ...], Any]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm on a device.

    ``waits(options)`` is whether it goes on until nothing changes: then labels must be memory of
    its own, it waits for the GPU, and a CUDA graph cannot capture it. ``check(problem,
    **options)`` raises ValueError for what it does not take. All get a choice for each option.
    """

    name: str  # what the user calls it
    device: str
    fill: Fill
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


def by_roots(fill_roots: FillRoots, first: int) -> Fill:
    """Return a `fill` by `fill_roots`; consecutive labels begin with `first`."""

    def fill(problem: Problem, task: Task, **options: Any) -> Any:
        gpu, labels, workspace = task.gpu, task.labels.reshape(-1), task.workspace
        items = problem.items
        with gpu.loading(modules_of(labels, items) if task.consecutive else ()):
            counts = fill_roots(gpu, problem, labels, workspace, **options)
        if task.consecutive:
            return number_roots(gpu, labels, first, workspace, items)
        if counts is None and task.counted:
            counts = count_roots(gpu, labels, workspace, items)
        place_roots_within_items(gpu, labels, items)
        return counts

    return fill


def paper_on_gpu(name: str, fill: FillRoots, source: str, first: int, **traits: Any) -> Algorithm:
    """Return a paper's algorithm on a GPU, which waits unless `traits` say otherwise."""
    traits = {"waits": always_waits, **traits}
    return Algorithm(name, "cuda", by_roots(fill, first), source, **traits)


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
