"""Images of kinds that `label` has met on the CPU: what was checked of one holds for the others.

What a kernel on the CPU is told of an image depends on its layout and on the options, not on what
the image holds. So it is kept, and later images of the kind go straight to the kernel:

    first image     check, describe, label         keep what the kernel was told
    later ones      ask for the kind, new labels, label

That the arrays of a later call are of the kind is checked by C++ once it holds their memory; a call
that it refuses goes the long way, which says why. Cost: 2 microseconds of Python instead of 20.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp._arrays import check_output, new_array
from conncomp._core import native
from conncomp.grid.answers import Labels, label_array
from conncomp.grid.array import Array
from conncomp.grid.question import Question
from conncomp.grid.runs import describe_axes, link_rule

# Where `label` works that goes this way, and with what.
DEVICE, WORKSPACES = "cpu", (type(None),)
# When there are more kinds, all are forgotten: they are of images that are always different.
MOST_KINDS = 1024

# To native.ImageKind, whether to count, and the lengths of batch axes.
_kinds: dict[Hashable, tuple[Any, bool, tuple[int, ...]]] = {}
_UNKNOWN = None, False, ()


def call_again(
    image: Any, workspace: None, options: Hashable, out: Any
) -> tuple[Hashable, Labels | tuple[Labels, Any] | None]:
    """Return what tells the kind of a call with an image of NumPy, and what `label` returns.

    The latter is None if the kind is not known, or its kernel does not read the image or fill
    `out`.
    """
    kind = image.dtype, image.shape, image.strides, options
    known, return_num, batch_shape = _kinds.get(kind, _UNKNOWN)
    if known is None:
        return kind, None
    labels = out
    if out is None:
        labels = new_array(np, image.shape, INDEX_TYPES[0])
    elif type(out) is not np.ndarray:
        labels = check_output(out, image.shape, None, (image,), np)
    num = known.label(image, labels) if labels.dtype == INDEX_TYPES[0] else None
    if num is None:
        return kind, None
    result: Labels = labels if out is None else out
    if not return_num:
        return kind, result
    return kind, (result, num.reshape(batch_shape) if batch_shape else num)


def first_call(
    kind: Hashable, image: Any, array: Array, question: Question, out: Any, workspace: None
) -> Labels | tuple[Labels, Any]:
    """Return what `label` does, and keep what the kernel is told for later images of the kind."""
    result = label_array(array, question, out)
    # Labels of int32, and the kernel reads the image itself, not a copy.
    if array.values is array.given and 0 < array.values.size <= np.iinfo(np.int32).max:
        if len(_kinds) >= MOST_KINDS:
            _kinds.clear()
        shape, strides, itemsize = image.shape, image.strides, image.itemsize
        batch_axes = array.batch_axes
        grid, _ = describe_axes(shape, strides, itemsize, array.neighbourhood, batch_axes)
        rule, layout = link_rule(array.links), (shape, strides, batch_axes)
        known = native.ImageKind(rule, grid, question.consecutive, *layout)
        _kinds[kind] = known, question.counted, array.batch_shape
    return result
