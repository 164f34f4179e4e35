"""`label`, and what labels any array by any link rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arguments import also_named, as_bool, check_choice, check_options
from conncomp._arrays import (
    Output,
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    choose_device,
    from_cupy,
    library_of,
    move_from_gpu,
    move_to_gpu,
    on_gpu,
)
from conncomp._core import native
from conncomp.gpu import Workspace
from conncomp.grid._arguments import check_batch_axes, check_neighbourhood
from conncomp.grid._values import describe_values
from conncomp.grid.links import Links
from conncomp.grid.neighbourhood import Neighbourhood
from conncomp.kernels.cuda.core.numbering import count_roots, number_roots, place_roots_within_items
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.papers import (
    directional_propagation,
    label_equivalence,
    local_propagation,
    neighbour_propagation,
    tiles,
)

Numbering = Literal["consecutive", "roots"]
Labels = NDArray[Any]

# Shorter rows leave part of a 64-bit word empty; longer ones are all as good.
SHORT_ROW = 64

# Arguments of other libraries' functions of this name, and what takes their place here.
ELSEWHERE = {
    "delta": "tolerance= is what it is called here",
    "neighbors": "connectivity=1 stands for neighbors=4, and connectivity=None for neighbors=8",
    "neighbours": "connectivity=1 stands for neighbours=4, and connectivity=None for neighbours=8",
    "periodic_boundary": "periodic=True is what it is called here",
    "return_N": "return_num=True is what it is called here",
    "out_dtype": "dtype= is what it is called here",
    "output": "out= takes an array, and dtype= a type",
    "binary_image": "label_image != 0 is a binary image",
    "bg": "background= is what it is called here",
}


def _fill_by_runs(
    values: Labels,
    links: Links,
    neighbourhood: Neighbourhood,
    batch_axes: int,
    consecutive: bool,
    labels: Labels,
    counts: Labels,
) -> None:
    axes, backward, batch, order = _describe_axes(
        values.shape, values.strides, values.itemsize, neighbourhood, batch_axes
    )
    if links.bonds:
        links = links._replace(bonds=tuple(links.bonds[k] for k in reversed(order)))
    data = values.__array_interface__["data"][0]
    flat = labels.reshape(-1)
    native.label_runs(data, *links, axes, backward, batch, consecutive, flat, counts.reshape(-1))


# Each takes (values, links, neighbourhood, batch_axes, consecutive, labels, counts), and fills the
# labels and the number of components of each item.
ON_CPU: dict[str, Callable[..., None]] = {"auto": _fill_by_runs, "runs": _fill_by_runs}


def _fill_by_default(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    small = image.size <= tiled_elements.MOST * gpu.multiprocessors
    default = tiled_elements if small or not tiled_bricks.takes(image) else tiled_bricks
    return default.fill_labels(gpu, image, labels, workspace, consecutive)


# Each takes (gpu, image, roots, workspace, **options), and fills the roots; the default is told
# whether to number components, too, and returns how many there are.
ON_GPU: dict[str, Callable[..., Any]] = {
    "auto": _fill_by_default,
    "label-equivalence": label_equivalence.fill_roots,
    "neighbour-propagation": neighbour_propagation.fill_roots,
    "local-propagation": local_propagation.fill_roots,
    "directional-propagation": directional_propagation.fill_roots,
    "tiles": tiles.fill_roots,
}

# Those of them that, without options, never wait for the GPU: CUDA graphs can capture their calls.
CAPTURABLE = frozenset({"auto", "tiles"})


def algorithms(device: str) -> tuple[str, ...]:
    """Return the names of the algorithms on a device, "cpu" or "cuda"."""
    return tuple(ON_GPU) if device == "cuda" else tuple(ON_CPU)


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
    options: dict[str, Any]

    def __post_init__(self) -> None:
        check_choice("numbering", self.numbering, ("consecutive", "roots"))
        check_choice("algorithm", self.algorithm, algorithms(self.device))
        algorithm = ON_GPU[self.algorithm] if self.device == "cuda" else None
        check_options(self.algorithm, algorithm, self.options)

    @property
    def consecutive(self) -> bool:
        """Whether components are numbered, rather than called by their roots."""
        return self.numbering == "consecutive"

    @property
    def task(self) -> tuple[Numbering, str, bool, Workspace | None]:
        """What `_label_on_gpu` takes of it, but the options."""
        return self.numbering, self.algorithm, self.return_num, self.workspace

    @property
    def keeps_labels_private(self) -> bool:
        """Whether an algorithm on a GPU must not work in memory of the caller's.

        Those that go on until nothing changes would go on for ever while the caller changes it; the
        others check what they read back of it.
        """
        return self.algorithm not in CAPTURABLE or self.options.get("merge") == "relaxation"

    def output(self, shape: tuple[int, ...], batch_axes: int, given: Any, **options: Any) -> Output:
        """Return where the labels of an array go that was given as `given`."""
        largest = prod(shape[batch_axes:])
        lowest = 0 if self.consecutive else -1
        return Output(shape, largest, self.dtype, self.out, (given,), lowest, **options)


class Source:
    """What is labelled.

    Parameters
    ----------
    given : array
        What the caller gave, as an array of NumPy or CuPy.
    read : array
        What kernels read, before it is moved.
    describe : callable
        Takes `read`, wherever it has been moved to; returns an array of the shape of the labels, as
        kernels take it, and the link rule.
    """

    def __init__(self, given: Any, read: Any, describe: Callable[[Any], tuple[Any, Links]]) -> None:
        self.given, self.read, self.describe = given, read, describe


def label_source(
    source: Source, library: str, neighbourhood: Neighbourhood, batch_axes: int, request: Request
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Return what `label` does; `library` is that of the caller's array."""
    if not isinstance(source.given, np.ndarray):
        return _label_in_gpu_memory(source, library, neighbourhood, batch_axes, request)
    values, links = source.describe(source.read)
    output = request.output(values.shape, batch_axes, source.given)
    if request.device == "cuda":
        counts = _fill_from_gpu(source, neighbourhood, batch_axes, request, output.labels)
    else:
        task = values, links, neighbourhood, batch_axes
        counts = _fill_on_cpu(*task, request, output.labels)
    labels: Labels = output.finish()
    if not request.return_num:
        return labels
    return (labels, counts) if batch_axes else (labels, int(counts))


def _fill_on_cpu(
    values: Labels,
    links: Links,
    neighbourhood: Neighbourhood,
    batch_axes: int,
    request: Request,
    labels: Labels,
) -> Labels:
    counts = np.zeros(values.shape[:batch_axes], np.int64)
    if values.size:
        fill = ON_CPU[request.algorithm]
        fill(values, links, neighbourhood, batch_axes, request.consecutive, labels, counts)
    return counts


def _fill_from_gpu(
    source: Source,
    neighbourhood: Neighbourhood,
    batch_axes: int,
    request: Request,
    labels: Labels,
) -> Labels:
    """Label what lies in main memory on the GPU; return the counts, or zeros if not wanted."""
    gpu = current_gpu()
    values, links = source.describe(move_to_gpu(gpu.xp, source.read))
    placed = gpu.xp.empty(labels.shape, labels.dtype)
    image = Image(values, links, neighbourhood, batch_axes)
    counts = _label_on_gpu(gpu, image, placed, *request.task, **request.options)
    move_from_gpu(placed, labels)
    shape = labels.shape[:batch_axes]
    return move_from_gpu(counts).reshape(shape) if request.return_num else np.zeros(shape, np.int64)


def _label_in_gpu_memory(
    source: Source, library: str, neighbourhood: Neighbourhood, batch_axes: int, request: Request
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    with caller_stream(library, source.given.device.id):
        gpu = current_gpu()
        values, links = source.describe(source.read)
        output = request.output(
            values.shape,
            batch_axes,
            source.given,
            private=request.keeps_labels_private,
            xp=gpu.xp,
        )
        image = Image(values, links, neighbourhood, batch_axes)
        counts = _label_on_gpu(gpu, image, output.labels, *request.task, **request.options)
        labels = output.finish()
        result: Labels = from_cupy(labels, library) if request.out is None else request.out
        if not request.return_num:
            return result
        counts = counts.reshape(values.shape[:batch_axes])
        if request.consecutive and not batch_axes:
            return result, int(counts)
        return result, from_cupy(counts, library)


def _label_on_gpu(
    gpu: Gpu,
    image: Image,
    labels: Any,
    numbering: Numbering,
    algorithm: str,
    return_num: bool,
    workspace: Workspace | None,
    **options: Any,
) -> Any:
    """Fill `labels`; return how many components each item has, if it is wanted, on the GPU."""
    if image.size == 0:
        return gpu.xp.zeros(image.items, np.int64)
    with Workspace() if workspace is None else workspace as memory:
        if algorithm == "auto":
            consecutive = numbering == "consecutive"
            counts = _fill_by_default(gpu, image, labels, memory, consecutive)
            return counts if return_num else None
        flat = labels.reshape(-1)
        ON_GPU[algorithm](gpu, image, flat, memory, **options)
        if numbering == "consecutive":
            return number_roots(gpu, flat, 1, memory, image.items)
        counts = count_roots(gpu, flat, memory, image.items) if return_num else None
        place_roots_within_items(gpu, flat, image.items)
        return counts


@lru_cache(maxsize=1024)
def _describe_axes(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
    neighbourhood: Neighbourhood,
    batch_axes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int8], int, tuple[int, ...]]:
    """Return what kernels on the CPU are told of an array's axes, that of the rows last.

    Axes of length 1 connect nothing and are left out.

    Returns
    -------
    axes : array of int64, shape (axes, 4)
        Length, whether it is periodic, and the strides of labels, in elements, and of values.
    backward : array of int8, shape (steps, axes of an item)
    batch : int
        How many of the axes are batch axes; they come first.
    order : tuple of int
        The others, as axes of an item.
    """
    batch = [k for k in range(batch_axes) if shape[k] > 1]
    item, item_strides = shape[batch_axes:], strides[batch_axes:]
    axes = [k for k in range(len(item)) if item[k] > 1] or [len(item) - 1]
    straight = dict(zip(axes, neighbourhood.steps(tuple(axes)).straight, strict=True))

    # Runs should be long. Values are read several times and labels are written once: rows should be
    # contiguous in the image rather than among the labels.
    def cost(k: int) -> tuple[bool, int, int, int]:
        return not straight[k], -min(item[k], SHORT_ROW), max(abs(item_strides[k]), itemsize), -k

    rows = min(axes, key=cost)
    order = (*(k for k in axes if k != rows), rows)
    steps = neighbourhood.steps(order)
    periodic = [False] * len(batch) + list(steps.periodic)
    kept = batch + [batch_axes + k for k in order]
    table = [
        (shape[k], closed, prod(shape[k + 1 :]), strides[k])
        for k, closed in zip(kept, periodic, strict=True)
    ]
    return np.array(table, np.int64), steps.packed, len(batch), order


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[False] = False,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Labels: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    *,
    return_num: Literal[True],
    connectivity: float | None = None,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: Literal[0] = 0,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, int]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None,
    return_num: Literal[True],
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: Literal[0] = 0,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, int]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    *,
    return_num: Literal[True],
    connectivity: float | None = None,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, Labels]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None,
    return_num: Literal[True],
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, Labels]: ...


@also_named(label_image="image")
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: bool = False,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Label the connected regions of an array.

    Two elements are connected if they are neighbours and equal, or nearly so. The first four
    arguments and the result are those of `skimage.measure.label`, but for what the notes say.

    Parameters
    ----------
    label_image : array_like
        One dimension or more, of bool, integer or floating dtype, with any strides. Values are
        compared as they are: 0.25 and 0.75 differ, -0.0 equals 0.0, and a NaN equals nothing.
        Masked elements are background. The keyword ``image`` works, too.
    background : number, optional
        Elements of this value are labelled 0; 0 by default. A value that it does not hold,
        such as -1 for unsigned integers, makes every element foreground; NaN makes the NaNs
        background.
    return_num : bool, optional
        Whether to return the number of components too.
    connectivity : int, optional
        Along how many axes neighbours may differ, from 1 (faces) to the number of axes (faces,
        edges and corners; the default).
    structure : array_like of bool, optional
        Which neighbours an element has, instead of `connectivity`: an array of shape
        ``(3,) * label_image.ndim``, symmetric about its centre, as `scipy.ndimage.label` takes it.
        The centre does not count.
    tolerance : number, optional
        Neighbours connect if their values differ by no more than this, too: 0 by default. Integers
        differ exactly, whatever their dtype; floating-point numbers, and `tolerance`, are compared
        in float64. A NaN connects to nothing, and so does the background.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    batch_axes : int, optional
        How many axes ahead hold separate arrays, such as the images of a batch; 0 by default. Each
        of these items is labelled as if alone: `connectivity`, `structure` and `periodic` speak of
        its axes, numbers begin again, and roots are indices in the item.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 1, 2, ... in the order in which a C-order scan meets the components,
        0 for background. "roots": the smallest flat C-order index of the component, -1 for
        background.
    algorithm : str, optional
        All give the same labels. On the CPU "auto" or "runs"; on a GPU "auto",
        "label-equivalence", "neighbour-propagation", "local-propagation" or
        "directional-propagation" [1]_, or, for up to three axes, "tiles" [3]_.
    dtype : dtype or "smallest", optional
        Of the labels; by default int32 where every index fits. Other types of integers, signed or
        not, of 8 bits to 64, if the labels fit; "smallest" is the narrowest that they fit into,
        unsigned but for roots. Labels of other types than int32 and int64 are copied from one of
        these.
    out : ndarray, optional
        A C-contiguous array of integers, of the shape of `label_image`, to write the labels to,
        where `label_image` is.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where `label_image` lies. "cuda" moves an array in main memory to
        the current GPU, and the labels back.
    workspace : Workspace, optional
        Memory on the GPU to use again.
    **options
        Of the algorithm. ``block=(32, 6)``, ``(16, 16)`` or ``(32, 32)`` of "label-equivalence",
        "neighbour-propagation" and "local-propagation", the elements of a block of threads, and
        ``cells=1`` or ``4`` of the first and the third, those of a thread [2]_.
        ``local="self-labelling"``, ``"bfs"`` or ``"union-find"``, ``merge="sewing"`` or
        ``"relaxation"``, ``tile=4``, 8, 16, 32 or 64 and ``sites=4``, 1 or ``"column"`` of "tiles":
        how tiles are labelled and how they are merged, their length, and the elements of a thread
        in self-labelling.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        As `label_image` in shape; `out` if that was given. Of the library that `label_image` is of
        if it lies on a GPU, and else of NumPy, neither a subclass nor masked.
    num : int or ndarray of int64
        The number of components; only if `return_num`. With `batch_axes` an array of the numbers
        for each item, of the shape of these axes. For an image on a GPU and ``numbering="roots"``,
        or `batch_axes`, an array on the GPU, so that the call does not wait for it; it lies in
        `workspace`, until that is used again.

    Raises
    ------
    TypeError
        If `label_image` is complex, of objects, sparse, not computed yet (of Dask) or otherwise
        without values that can be compared, `tolerance` is not a real number, or `options` has a
        name that the algorithm does not know.
    ValueError
        If `connectivity`, `structure`, `tolerance`, `periodic`, `batch_axes`, `numbering`,
        `algorithm`, `dtype`, `out` or an option does not fit, `structure` is not symmetric, an
        array of bool is given a `tolerance`, `dtype` or `out` is too small for the labels, elements
        would have more than 3**10 neighbours (11 axes that are longer than 1, at full
        connectivity), or an array for a GPU has more than 6 such axes.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none.
    MemoryError
        If there is too little memory, on the GPU too; the next call works.

    See Also
    --------
    label_bonds : The same for lattices with bonds.
    connected_components : The same for graphs.
    component_statistics : Sizes, bounding boxes and moments of the result.

    Notes
    -----
    Needs at most one label-sized array beyond the result, and on the CPU far less where all
    foreground is of one value.

    Other threads may write to `label_image` and `out` meanwhile: the labels may then be wrong, no
    more. A signal whose handler raises, such as Ctrl-C, ends the call; what is in `out` is then
    undefined.

    `skimage.measure.label` truncates floating-point values to integers first; this function does
    not. Of bool images it takes False for background, unless `background` equals 1; here, as there
    for integers, a background that is neither 0 nor 1 leaves all elements foreground. Where a
    length of 1 comes after a longer one, it numbers the components of other images than bool ones
    as if the first longer axis and the last of length 1 changed places; numbers here always follow
    a C-order scan.

    Calls on a GPU run on the stream that is current in the library of `label_image`. They wait for
    the GPU where an algorithm goes on until nothing changes, which all do but "auto" and "tiles"
    with ``merge="sewing"``: these can be captured in a CUDA graph, given ``numbering="roots"``,
    `out` and a `workspace` that was used for as large an array before.

    References
    ----------
    .. [1] K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and
       CUDA", Parallel Computing 36, 2010.
    .. [2] D. Maddix, "Optimizations of Algorithms to Identify Strongly Connected Components in
       CUDA", project report, 2014.
    .. [3] M. Weigel, "Connected-component identification and cluster update on graphics processing
       units", Physical Review E 84, 2011.

    Examples
    --------
    >>> import conncomp
    >>> image = [[1, 1, 0, 2],
    ...          [0, 0, 0, 2],
    ...          [1, 0, 2, 0]]
    >>> conncomp.label(image)
    array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 2, 0]], dtype=int32)
    >>> conncomp.label(image, connectivity=1, return_num=True)
    (array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 4, 0]], dtype=int32), 4)

    A globe's longitudes meet again, its latitudes do not:

    >>> conncomp.label([[1, 0, 0, 1], [0, 1, 0, 0]], periodic=(False, True), connectivity=1)
    array([[1, 0, 0, 1],
           [0, 2, 0, 0]], dtype=int32)

    Values that rise slowly are one region:

    >>> conncomp.label([[10, 11, 13, 20], [10, 12, 14, 21]], tolerance=1)
    array([[1, 1, 1, 2],
           [1, 1, 1, 2]], dtype=int32)

    Diagonals of one kind connect, and nothing else:

    >>> conncomp.label(image, structure=[[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    array([[1, 2, 0, 3],
           [0, 0, 0, 4],
           [5, 0, 4, 0]], dtype=int32)

    Rows of their own:

    >>> conncomp.label(image, batch_axes=1, return_num=True)
    (array([[1, 1, 0, 2],
           [0, 0, 0, 1],
           [1, 0, 2, 0]], dtype=int32), array([2, 1, 2]))
    """
    for name in options:
        if name in ELSEWHERE:
            raise TypeError(f"label has no argument {name!r}; {ELSEWHERE[name]}")
    there = on_gpu(label_image)
    request = Request(
        choose_device(device, there, "label_image"),
        numbering,
        algorithm,
        as_bool("return_num", return_num),
        dtype,
        out,
        workspace,
        options,
    )
    given: Any
    given, mask = (
        (as_cupy(label_image), None) if there else as_numpy_and_mask(label_image, "label_image")
    )
    check_kind(given, "biuf", label_image, "label_image", "of bool, integer or floating dtype")
    batch = check_batch_axes(batch_axes, given.ndim, "label_image")
    item = "an item of label_image" if batch else "label_image"
    neighbourhood = check_neighbourhood(
        connectivity, structure, periodic, given.shape[batch:], item
    )
    values, links = describe_values(given, background, mask, tolerance)
    source = Source(given, values, lambda placed: (placed, links))
    return label_source(source, library_of(label_image), neighbourhood, batch, request)
