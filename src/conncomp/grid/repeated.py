"""Calls of `label` on a GPU whose launches are made again, without the Python that decided them.

Which kernels are launched, on how many blocks and with which arguments, depends on the kind of a
call: on shapes, strides, dtypes and options, not on what the array holds. So the launches of the
first call of a kind are kept, and later ones make them again, with the addresses of their arrays:

    first call      check, describe, plan, take memory, launch ... launch     keep
    later ones      ask for the kind, new labels, launch ... launch

Cost: of an image of 256 x 256 some ten microseconds instead of some eighty, two of them for all
launches, which are made as one graph.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from conncomp._arrays import caller_stream, in_library
from conncomp._cuda_arrays import CudaLibrary, cuda_library_of
from conncomp.gpu import Workspace
from conncomp.grid.array import Array
from conncomp.grid.request import Request, are_plain, image_of, label_array
from conncomp.kernels.cuda.launcher import INDEX_TYPES, are_watched, current_gpu, kept_launches


class Repeated:
    """The launches that label arrays of one kind on one stream.

    Parameters
    ----------
    array : Array
        In GPU memory; the first of the kind.
    request : Request
        By an algorithm that does not wait, with a workspace.
    library : CudaLibrary
        Of the caller's arrays.
    labels : array
        Of CuPy, and filled by this.
    """

    def __init__(self, array: Array, request: Request, library: CudaLibrary, labels: Any) -> None:
        assert request.workspace is not None
        self._gpu, self._library, self._workspace = current_gpu(), library, request.workspace
        self.name, self._device = array.library, array.given.device.id
        self._stream = self._gpu.current_stream()
        self._shape, self._dtype, self._batch_shape = array.shape, labels.dtype, array.batch_shape
        self._return_num = request.return_num
        self._waits_for_num = request.consecutive and not array.batch_axes
        example = in_library(labels, array.library)
        self._labels_kind = type(example), library.layout(example, self._device)
        self._labels_nbytes, self._bounds = labels.nbytes, bounds_of(array.given)
        image = image_of(array)
        with self._workspace, kept_launches() as launches:
            counts = request.fill_on_gpu(self._gpu, image, labels)
        self.counts = counts.reshape(self._batch_shape)
        self.kernels = tuple(launch.kernel for launch in launches)
        self._again = self._gpu.repeat(launches, (image.values, labels))

    def __call__(self, given: Any, out: Any = None) -> Any:
        """Return what `label` does for another array of the kind, in `out` if it `takes` that."""
        labels = self.new_labels() if out is None else out
        if not self._return_num:
            self.fill(given, labels)
            return labels
        with self._workspace:
            self.fill(given, labels)
            return self.result(labels)

    def new_labels(self) -> Any:
        """Return an array to fill."""
        return self._library.empty(self._gpu, self._shape, self._dtype)

    def takes(self, given: Any, out: Any) -> bool:
        """Whether an array is as those of `new_labels`, and no part of what is given."""
        kind, layout = self._labels_kind
        if type(out) is not kind or self._library.layout(out, self._device) != layout:
            return False
        ahead = self._library.address(out) - self._library.address(given)
        first, end = self._bounds
        return ahead + self._labels_nbytes <= first or end <= ahead

    def fill(self, given: Any, labels: Any) -> None:
        """Fill labels with those of another array of the kind."""
        address = self._library.address
        with self._workspace:
            self._again.run(self._stream, (address(given), address(labels)))

    def result(self, labels: Any) -> Any:
        """Return what `label` does, once the labels are filled."""
        if not self._return_num:
            return labels
        if self._waits_for_num:
            return labels, self._again.read(self._stream, self._gpu.address(self.counts))
        with caller_stream(self.name, self._device):
            return labels, in_library(self.counts.copy(), self.name)


def bounds_of(array: Any) -> tuple[int, int]:
    """Return where an array's memory begins and ends, in bytes from its first element."""
    reaches = [
        stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)
    ]
    return sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches) + array.itemsize


# Where `label` works that goes this way.
DEVICE = "cuda"
# So large arrays are labelled by kept launches, with so many bytes of memory, which is kept, too:
# some 60 to 90 MB of the largest whose values are compared, more of others.
MOST_ELEMENTS, MOST_MEMORY = 1 << 26, 1 << 27
# When there are more kinds, all are forgotten: they are of arrays that are always different.
MOST_KINDS = 256

_kept: dict[Hashable, Repeated] = {}
_too_large: set[Hashable] = set()  # kinds that need more memory
_workspaces: dict[int, Workspace] = {}  # by device


def kind_of_call(
    label_image: Any,
    background: Any,
    return_num: Any,
    connectivity: Any,
    periodic: Any,
    batch_axes: Any,
    numbering: Any,
) -> Hashable:
    """Return what tells the kind of a call of `label` on a GPU; None if it is not kept."""
    library = cuda_library_of(label_image)
    if library is None or are_watched():
        return None
    options = background, return_num, connectivity, periodic, batch_axes, numbering
    if not are_plain(*options):
        return None
    gpu = current_gpu()
    layout = library.layout(label_image, gpu.device)
    if layout is None:
        return None
    stream = library.stream(gpu)
    if not gpu.keeps_launches_of(stream):
        return None
    return type(label_image), layout, stream, options


def call_again(kind: Hashable, label_image: Any, out: Any) -> Any:
    """Return what `label` does for an array of a kind whose launches are kept.

    None if they are not, or do not fill `out`.
    """
    repeated = _kept.get(kind)
    if repeated is None or (out is not None and not repeated.takes(label_image, out)):
        return None
    return repeated(label_image, out)


def may_be_repeated(array: Array) -> bool:
    """Whether launches read an array, and not a copy of it."""
    return (
        array.values.size > 0
        and array.values is array.given
        and image_of(array).values is array.values
    )


def may_be_kept(array: Array) -> bool:
    """Whether the launches of an array are kept for other calls of `label`."""
    small = array.values.size <= MOST_ELEMENTS
    return small and not array.in_main_memory and may_be_repeated(array)


def first_call(kind: Hashable, label_image: Any, array: Array, request: Request) -> Any:
    """Return what `label` does, and keep the launches for later calls of the kind, if they may."""
    if kind in _too_large or not may_be_kept(array):
        return label_array(array, request)
    library = cuda_library_of(label_image)
    assert library is not None
    with array.stream():
        gpu = current_gpu()
        output = request.output(array.shape, array.batch_axes, array.given, gpu.xp)
        if output.labels.dtype != INDEX_TYPES[0]:  # as those of `out`
            return label_array(array, request)
        # No other call writes to the counts of components before they are read.
        with _workspaces.setdefault(gpu.device, Workspace()) as workspace:
            first = replace(request, workspace=workspace)
            before = workspace.nbytes
            repeated = Repeated(array, first, library, output.labels)
            _keep(kind, repeated, before, workspace.nbytes)
            labels = output.finish()
            return repeated.result(
                in_library(labels, array.library) if request.out is None else labels
            )


def _keep(kind: Hashable, repeated: Repeated, before: int, nbytes: int) -> None:
    """Keep the launches of a kind, for which memory grew from so many bytes, if these are not many.

    Those that were made before it grew are forgotten: each holds on to the memory that it had.
    """
    if nbytes > MOST_MEMORY:
        _too_large.add(kind)
        _workspaces.clear()
    if nbytes > before or len(_kept) >= MOST_KINDS:
        _kept.clear()
    if len(_too_large) > MOST_KINDS:
        _too_large.clear()
    if nbytes <= MOST_MEMORY:
        _kept[kind] = repeated
