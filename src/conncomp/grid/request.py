"""What was asked of `label`, and how that is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from conncomp._algorithms import Algorithm, choose_algorithm
from conncomp._arguments import check_choice
from conncomp._arrays import Output, in_library, move_from_gpu
from conncomp.gpu import Workspace, check_workspace
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.array import Array
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu

Numbering = Literal["consecutive", "roots"]
Labels = NDArray[Any]


@dataclass(slots=True)
class Request:
    """How labels are wanted: arguments of `label`, and the device to work on."""

    device: str
    numbering: Numbering
    algorithm: str
    return_num: bool
    dtype: DTypeLike | None
    out: Any
    workspace: Workspace | None
    options: Mapping[str, Any]
    chosen: Algorithm = field(init=False)

    def __post_init__(self) -> None:
        check_choice("numbering", self.numbering, ("consecutive", "roots"))
        check_workspace(self.workspace)
        self.chosen = choose_algorithm(ALGORITHMS, self.device, self.algorithm)
        self.options = self.chosen.check_options(self.options)

    @property
    def consecutive(self) -> bool:
        """Whether components are numbered, rather than called by their roots."""
        return self.numbering == "consecutive"

    @property
    def needs_private_labels(self) -> bool:
        """Whether what the algorithm fills must not be the caller's `out`.

        What goes on until nothing changes would go on for ever while the caller changes it; other
        algorithms check what they read back of it.
        """
        return self.chosen.waits(self.options)

    def output(self, shape: tuple[int, ...], batch_axes: int, given: Any, xp: Any) -> Output:
        """Return where the labels of an array go that was given as `given`, of `xp`."""
        return Output(
            shape,
            prod(shape[batch_axes:]),
            self.dtype,
            self.out,
            (given,),
            lowest=0 if self.consecutive else -1,
            # Labels that come from a GPU are copied in any case.
            private=self.needs_private_labels and (self.device == "cpu" or xp is not np),
            xp=xp,
            # Where labels are indices in the whole array meanwhile.
            largest_index=prod(shape) if self.device == "cuda" else 0,
        )

    def fill(self, array: Array, labels: Any) -> Any:
        """Fill labels, which lie where the caller's array does; return the number of components.

        Of each item, if wanted, where `labels` lie.
        """
        if self.device == "cpu":
            return self.fill_on_cpu(array, labels)
        gpu, image = current_gpu(), image_of(array)
        if not array.in_main_memory:
            return self.fill_on_gpu(gpu, image, labels)
        filled = gpu.xp.empty(labels.shape, labels.dtype)
        counts = self.fill_on_gpu(gpu, image, filled)
        move_from_gpu(filled, labels)
        return move_from_gpu(counts) if self.return_num else None

    def fill_on_cpu(self, array: Array, labels: Labels) -> Labels:
        """Fill `labels`; return how many components each item has."""
        self.chosen.check(array, **self.options)
        task = self.consecutive, self.return_num
        counts: Labels = self.chosen.fill(None, array, labels, None, *task, **self.options)
        return counts

    def fill_on_gpu(self, gpu: Gpu, image: Image, labels: Any) -> Any:
        """Fill `labels`; return how many components each item has, if wanted, on the GPU."""
        if image.size == 0:
            return gpu.xp.zeros(image.items, np.int64)
        self.chosen.check(image, **self.options)
        task = self.consecutive, self.return_num
        with Workspace() if self.workspace is None else self.workspace as memory:
            return self.chosen.fill(gpu, image, labels, memory, *task, **self.options)


def image_of(array: Array) -> Image:
    """Return an array on the GPU as kernels there take it."""
    return Image(array.values, array.links, array.neighbourhood, array.batch_axes)


def label_array(
    array: Array, request: Request
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Return what `label` does."""
    with array.stream():
        xp = np if array.in_main_memory else current_gpu().xp
        output = request.output(array.shape, array.batch_axes, array.given, xp)
        counts = request.fill(array, output.labels)
        labels = output.finish()
        result: Labels = in_library(labels, array.library) if request.out is None else labels
        if not request.return_num:
            return result
        # What would have to wait for the GPU stays there.
        if not array.batch_axes and (request.consecutive or array.in_main_memory):
            return result, int(counts[0])
        return result, in_library(counts.reshape(array.batch_shape), array.library)


def is_by_default(tolerance: Any, algorithm: Any, device: Any, here: str) -> bool:
    """Whether the work on an array depends on its kind only; `here` is the device it lies on."""
    return (
        type(tolerance) is int
        and tolerance == 0
        and type(algorithm) is str
        and algorithm == "auto"
        and (device is None or (type(device) is str and device == here))
    )


def are_plain(
    background: Any,
    return_num: Any,
    connectivity: Any,
    periodic: Any,
    batch_axes: Any,
    numbering: Any,
) -> bool:
    """Whether arguments of `label` are of the types that calls which are kept are told apart by.

    What is equal to one of these and of another type may be refused.
    """
    return (
        type(background) in (type(None), int, float)
        and type(return_num) is bool
        and type(connectivity) in (type(None), int)
        and type(periodic) is bool
        and type(batch_axes) is int
        and type(numbering) is str
    )
