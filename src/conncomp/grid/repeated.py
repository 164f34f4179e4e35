"""Calls of `label` on a GPU whose launches are made again, without the Python that decided them.

Which kernels are launched, on how many blocks and with which arguments, depends on the kind of a
call: on shapes, strides, dtypes and options, not on what the array holds. So the launches of the
first call of a kind are kept, and later ones make them again, with the addresses of their arrays:

    first call      check, describe, plan, take memory, launch ... launch     keep
    later ones      ask for the kind, new labels, launch ... launch

Cost: of an image of 256 x 256 some ten microseconds instead of some eighty, two of them for all
launches, which are made as one graph. They are kept with the memory that they need: a workspace of
the caller, or one for all calls without.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from conncomp._arrays import in_library
from conncomp._cuda_arrays import Counted, CudaLibrary, RepeatedFill, cuda_library_of, kept_with
from conncomp.gpu import Workspace
from conncomp.grid.answers import fill_on_gpu, image_of, label_array, output_of
from conncomp.grid.array import Array
from conncomp.grid.question import Question
from conncomp.kernels.cuda.launcher import INDEX_TYPES, are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces


class Repeated:
    """The launches that label arrays of one kind on one stream.

    Parameters
    ----------
    array : Array
        In GPU memory; the first of the kind.
    question : Question
        By an algorithm that does not wait.
    workspace : Workspace
    library : CudaLibrary
        Of the caller's arrays.
    labels : array
        Of CuPy, and filled by this.
    counted : Counted
    """

    def __init__(
        self,
        array: Array,
        question: Question,
        workspace: Workspace,
        library: CudaLibrary,
        labels: Any,
        counted: Counted,
    ) -> None:
        gpu, image = current_gpu(), image_of(array)
        self._library, self.name = library, array.library
        self._labels_nbytes, self._bounds = labels.nbytes, bounds_of(array.given)
        self._is_counted = counted != "unasked"
        fill = partial(fill_on_gpu, question, gpu, image, labels, workspace)
        arrays, shape = (image.values, labels), array.batch_shape
        self.fill = RepeatedFill(gpu, fill, arrays, library, workspace, shape, counted)

    def __call__(self, given: Any, out: Any, workspace: Workspace) -> Any:
        """Return what `label` does for another array of the kind, in `out` if it `takes` that.

        The workspace is that of the first call.
        """
        return self.result(*self.fill(workspace, out, self._library.address(given)))

    def takes(self, given: Any, out: Any) -> bool:
        """Whether an array is as the labels, and no part of what is given."""
        if not self.fill.takes(out):
            return False
        ahead = self._library.address(out) - self._library.address(given)
        first, end = self._bounds
        return bool(ahead + self._labels_nbytes <= first or end <= ahead)

    def result(self, labels: Any, numbers: Any) -> Any:
        """Return what `label` does."""
        return (labels, numbers) if self._is_counted else labels


def bounds_of(array: Any) -> tuple[int, int]:
    """Return where an array's memory begins and ends, in bytes from its first element."""
    reaches = [
        stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)
    ]
    return sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches) + array.itemsize


# Where `label` works that goes this way, and with what.
DEVICE, WORKSPACES = "cuda", (type(None), Workspace)
# So large arrays are labelled by kept launches, with so many bytes of memory, which is kept, too:
# some 60 to 90 MB of the largest whose values are compared, more of others.
MOST_ELEMENTS, MOST_MEMORY = 1 << 26, 1 << 27
# When there are more kinds, all are forgotten: they are of arrays that are always different.
MOST_KINDS = 256

_too_large: set[Hashable] = set()  # kinds that need more memory
_workspaces = OwnWorkspaces()  # by device, of calls without one


def call_again(
    label_image: Any, workspace: Workspace | None, options: Hashable, out: Any
) -> tuple[Any, Any]:
    """Return what tells the kind of a call of `label` on a GPU, and what that returns.

    The kind, None if it is not kept, is the memory that its launches are kept with, and what they
    are found there by. The other is None if there are none, or they do not fill `out`.
    """
    library = cuda_library_of(label_image)
    if library is None or are_watched():
        return None, None
    gpu = current_gpu()
    layout = library.layout(label_image, gpu.device)
    if layout is None:
        return None, None
    kind = kept_with(gpu, library, workspace, _workspaces, type(label_image), layout, options)
    memory, key = (None, None) if kind is None else kind
    repeated = None if memory is None else memory.calls.get(key)
    if repeated is None or (out is not None and not repeated.takes(label_image, out)):
        return kind, None
    assert memory is not None
    return kind, repeated(label_image, out, memory)


def may_be_repeated(array: Array) -> bool:
    """Whether launches read an array, and not a copy of it."""
    return (
        array.values.size > 0
        and array.values is array.given
        and image_of(array).values is array.values
    )


def may_be_kept(array: Array, workspace: Workspace | None) -> bool:
    """Whether the launches of an array are kept for other calls of `label`."""
    fits = workspace is not None or array.values.size <= MOST_ELEMENTS
    return fits and not array.in_main_memory and may_be_repeated(array)


def first_call(
    kind: Any,
    label_image: Any,
    array: Array,
    question: Question,
    out: Any,
    workspace: Workspace | None,
) -> Any:
    """Return what `label` does, and keep the launches for later calls of the kind, if they may."""
    _, key = kind
    is_own = workspace is None
    if (is_own and key in _too_large) or not may_be_kept(array, workspace):
        return label_array(array, question, out, workspace)
    library = cuda_library_of(label_image)
    assert library is not None
    with array.stream():
        gpu = current_gpu()
        output = output_of(question, array.shape, array.given, gpu.xp, out)
        if output.labels.dtype != INDEX_TYPES[0]:  # as those of `out`
            return label_array(array, question, out, workspace)
        # No other call writes to the counts of components before they are read.
        with workspace or _workspaces.take(gpu.device, gpu.current_stream()) as memory:
            counted = _counted(array, question, is_own)
            repeated = Repeated(array, question, memory, library, output.labels, counted)
            if is_own and memory.nbytes > MOST_MEMORY:
                _give_back(key)
            else:
                _keep(key, repeated, memory.calls)
            labels = output.finish()
            if out is None:
                labels = in_library(labels, array.library)
            return repeated.result(labels, repeated.fill.first)


def _counted(array: Array, question: Question, is_own: bool) -> Counted:
    """Return what launches say of the numbers of components; `is_own` without a workspace."""
    if not question.counted:
        return "unasked"
    if question.consecutive and not array.batch_axes:
        return "told"
    return "copied" if is_own else "left"


def _keep(key: Hashable, repeated: Repeated, calls: dict[Hashable, Repeated]) -> None:
    """Keep the launches of a kind, if these are not many."""
    if len(calls) >= MOST_KINDS:
        calls.clear()
    calls[key] = repeated


def _give_back(key: Hashable) -> None:
    """Give memory back of which a kind takes too much, and remember that."""
    if len(_too_large) >= MOST_KINDS:
        _too_large.clear()
    _too_large.add(key)
    _workspaces.clear()
