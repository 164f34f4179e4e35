"""Repeated calls of `label`: what the first call of a kind decided serves the later ones.

Which kernels run, and what they are told, depends on the kind of a call: on shapes, strides, dtypes
and options, not on the values. So it is kept, and later arrays of the kind go straight to them:

    first call      check, describe, plan, fill      keep what the kernel was told, or the launches
    later ones      look the kind up, new labels, fill

On the CPU C++ checks that the arrays of a later call are of the kind, once it holds their memory; a
call that it refuses goes the long way, which says why. Cost: 2 microseconds of Python instead of
20. On a GPU launches are replayed with the addresses of other arrays. Cost: ten microseconds for an
image of 256 x 256 instead of eighty, two of them for all launches, which are one CUDA graph. A
recording belongs to the memory that it needs: the caller's workspace, or one for all calls without.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._arrays import check_output, new_array
from conncomp._core import native
from conncomp._cuda_arrays import (
    Counted,
    CudaLibrary,
    RecordedFill,
    cuda_library_named,
    cuda_library_of,
    recorded_with,
)
from conncomp.grid.answers import fill_on_gpu, label_array, output_of
from conncomp.grid.array import Array
from conncomp.grid.runs import describe_axes, link_rule
from conncomp.kernels.cuda.launcher import are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Workspace

# The types of background, return_num, connectivity, tolerance, periodic, batch_axes, numbering and
# device in calls that are kept: arguments of them that are equal mean the same.
_NONE = type(None)
PLAIN = frozenset(
    product([_NONE, int, float], [bool], [_NONE, int], [int], [bool], [int], [str], [_NONE, str])
)

# With more kinds all are forgotten: each array is of another kind then.
MOST_ON_CPU, MOST_ON_GPU = 1024, 256
# The largest arrays and memory, in bytes, of recorded calls without a workspace. The memory stays
# allocated: 60 to 90 MB for the largest arrays whose values are compared, more for others.
MOST_ELEMENTS, MOST_MEMORY = 1 << 26, 1 << 27

# On the CPU, by kind: native.ImageKind, whether to count, and the lengths of batch axes.
_on_cpu: dict[Hashable, tuple[Any, bool, tuple[int, ...]]] = {}
_UNKNOWN = None, False, ()
_workspaces = OwnWorkspaces()  # on a GPU, by device, of calls without one
_too_large: dict[Hashable, bool] = {}  # kinds that need more memory there


def call_again(values: Any, workspace: Any, asked: Hashable, out: Any) -> tuple[Any, Any]:
    """Return the kind of a call of `label`, and what the call returns.

    The kind is None if nothing is kept of it; on a GPU it is the memory that launches are recorded
    with, and their key there. The other is None if the kind is not known, or does not take `out`.
    """
    if type(values) is not np.ndarray or workspace is not None:
        return _again_on_gpu(values, workspace, asked, out)
    kind = values.dtype, values.shape, values.strides, asked
    known, counted, batch_shape = _on_cpu.get(kind, _UNKNOWN)
    if known is None:
        return kind, None
    labels = out
    if out is None:
        labels = new_array(np, values.shape, INDEX_TYPES[0])
    elif type(out) is not np.ndarray:
        labels = check_output(out, values.shape, None, (values,), np)
    num = known.label(values, labels) if labels.dtype == INDEX_TYPES[0] else None
    if num is None:
        return kind, None
    result = labels if out is None else out
    if not counted:
        return kind, result
    return kind, (result, num.reshape(batch_shape) if batch_shape else num)


def _again_on_gpu(values: Any, workspace: Any, asked: Hashable, out: Any) -> tuple[Any, Any]:
    library = cuda_library_of(values)
    if library is None or are_watched() or type(workspace) not in (_NONE, Workspace):
        return None, None
    gpu = current_gpu()
    layout = library.layout(values, gpu.device)
    if layout is None:
        return None, None
    kind = recorded_with(gpu, library, workspace, _workspaces, type(values), layout, asked)
    memory, key = (None, None) if kind is None else kind
    recorded = None if memory is None else memory.calls.get(key)
    if recorded is None or not recorded.takes(out, values):
        return kind, None
    assert memory is not None
    labels, numbers = recorded(memory, out, library.address(values))
    return kind, labels if numbers is None else (labels, numbers)


def first_call(kind: Any, array: Array, out: Any = None, workspace: Workspace | None = None) -> Any:
    """Label an array, and keep for later calls of the kind, if there is one, how."""
    is_read = array.values is array.given and array.values.size > 0  # itself, not a copy
    if kind is None or not is_read or array.question.algorithm != "auto":
        return label_array(array, out, workspace)
    if not array.in_main_memory:
        return _first_on_gpu(kind, array, out, workspace)
    result, values, question = label_array(array, out), array.values, array.question
    if values.size <= INT32_MAX:  # labels are of int32
        shape, strides, batch_axes = values.shape, values.strides, question.batch_axes
        grid, _ = describe_axes(shape, strides, values.itemsize, question.neighbourhood, batch_axes)
        rule, layout = link_rule(array.links), (shape, strides, batch_axes)
        known = native.ImageKind(rule, grid, question.consecutive, *layout)
        _keep(_on_cpu, kind, (known, question.counted, array.batch_shape), MOST_ON_CPU)
    return result


def _first_on_gpu(kind: Any, array: Array, out: Any, workspace: Workspace | None) -> Any:
    _, key = kind
    is_own = workspace is None
    is_large = is_own and (key in _too_large or array.values.size > MOST_ELEMENTS)
    library = cuda_library_named(array.library)
    if is_large or not may_be_recorded(array):
        return label_array(array, out, workspace)
    assert library is not None
    with array.stream():
        gpu = current_gpu()
        output = output_of(array, gpu.xp, out)
        if output.labels.dtype != INDEX_TYPES[0]:  # as those of `out`
            return label_array(array, out, workspace)
        # No other call writes to the counts of components before they are read.
        with workspace or _workspaces.take(gpu.device, gpu.current_stream()) as memory:
            counted = _counted(array, is_own)
            recorded = record_fill(array, memory, library, output.labels, counted)
            if is_own and memory.nbytes > MOST_MEMORY:
                _keep(_too_large, key, True, MOST_ON_GPU)
                _workspaces.clear()
            else:
                _keep(memory.calls, key, recorded, MOST_ON_GPU)
            labels = output.finish(array.library)
            return labels if recorded.first is None else (labels, recorded.first)


def _keep(kinds: dict[Hashable, Any], kind: Hashable, kept: Any, most: int) -> None:
    if len(kinds) >= most:
        kinds.clear()
    kinds[kind] = kept


def _counted(array: Array, is_own: bool) -> Counted:
    """Return what launches say of the numbers of components; `is_own` without a workspace."""
    question = array.question
    if not question.counted:
        return "unasked"
    if question.consecutive and not question.batch_axes:
        return "told"
    return "copied" if is_own else "left"


def may_be_recorded(array: Array) -> bool:
    """Whether launches read an array, and not a copy of it."""
    values = array.values
    return values.size > 0 and values is array.given and array.image.values is values


def record_fill(
    array: Array, workspace: Workspace, library: CudaLibrary, labels: Any, counted: Counted
) -> RecordedFill:
    """Fill labels, of CuPy, of an array in GPU memory, and record the launches on this stream.

    The question is of an algorithm that does not wait; arrays of `library` are labelled later.
    """
    gpu, image = current_gpu(), array.image
    fill = partial(fill_on_gpu, array.question, gpu, image, labels, workspace)
    arrays, reads = (image.values, labels), _bounds_of(array.given)
    shape = array.batch_shape
    return RecordedFill(gpu, fill, arrays, library, workspace, shape, counted, reads)


def _bounds_of(array: Any) -> tuple[int, int]:
    """Return where an array's memory begins and ends, in bytes from its first element."""
    reaches = [stride * (n - 1) for stride, n in zip(array.strides, array.shape, strict=True)]
    return sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches) + array.itemsize
