"""`label` and `label_bonds`, and what labels any array by any link rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from conncomp._algorithms import Choices, choose_algorithm
from conncomp._arguments import also_named
from conncomp._arrays import on_gpu
from conncomp._containers import function_for
from conncomp.grid._arguments import question_of_bonds, question_of_image
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.answers import Labels, label_array
from conncomp.grid.array import Numbering, Question, array_of, read, read_array
from conncomp.grid.repeated import answer_first_call, call_again
from conncomp.kernels.cuda.workspace import Workspace

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
    **dict.fromkeys(("axis", "axes"), "batch_axes= tells how many axes ahead are those of a batch"),
    "wrap_axes": "periodic= has a bool for each axis",
    "input": "label_image= is what it is called here",
    "mask": "numpy.where(mask, label_image, background) leaves out what is not in a mask",
    "threshold": "label_image > threshold is a binary image",
    "ltype": "dtype= is what it is called here",
    "max_labels": "labels are as many as there are",
}

# The arguments of calls of `label` that are kept, in order, and their types: of these types, equal
# arguments mean the same.
_NONE = type(None)
ASKED: Mapping[str, tuple[type, ...]] = {
    "background": (_NONE, int, float),
    "return_num": (bool,),
    "connectivity": (_NONE, int),
    "tolerance": (int,),
    "periodic": (bool,),
    "batch_axes": (int,),
    "numbering": (str,),
    "device": (_NONE, str),
}
PLAIN = frozenset(product(*ASKED.values()))


class LabelChoices(Choices, total=False):
    """Arguments of `label` and `label_bonds` on which the type of the result does not depend."""

    periodic: bool | Sequence[bool]
    numbering: Numbering
    # Options of the papers' algorithms.
    block: tuple[int, int]
    cells: int
    first: str
    lower: str
    local: str
    merge: str
    tile: int | None
    sites: int | str
    trees: str
    paths: str


class ImageChoices(LabelChoices, total=False):
    """`LabelChoices`, and those of `label` alone."""

    structure: ArrayLike | None
    tolerance: float


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[False] = False,
    connectivity: float | None = None,
    *,
    batch_axes: int = 0,
    **choices: Unpack[ImageChoices],
) -> Labels: ...


@overload
def label(  # type: ignore[overload-overlap]  # 0 is an int, too
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[True] = ...,
    connectivity: float | None = None,
    *,
    batch_axes: Literal[0] = 0,
    **choices: Unpack[ImageChoices],
) -> tuple[Labels, int]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[True] = ...,
    connectivity: float | None = None,
    *,
    batch_axes: int,
    **choices: Unpack[ImageChoices],
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

    Neighbours are connected if they are equal, or nearly so. The first four arguments and the
    result are those of `skimage.measure.label`.

    Parameters
    ----------
    label_image : array_like
        Of bool, integer or floating dtype, one dimension or more, any strides and any library that
        shares its memory, such as PyTorch; an image of SimpleITK or ITK, whose axes are reversed; a
        column or table of Arrow, pandas or Polars; or a Dask array, which is labelled when its
        labels are computed. A NaN equals nothing. Masked elements and nulls are background. The
        keyword ``image`` works, too.
    background : number, optional
        Elements of this value, 0 by default, are labelled 0. NaN is that of all NaNs; with one that
        the dtype does not hold all is foreground.
    return_num : bool, optional
        Whether to return the number of components too.
    connectivity : int, optional
        Along how many axes neighbours may differ, from 1 (faces) to all (corners too; the default).
    structure : array_like of bool, optional
        Which neighbours an element has, instead of `connectivity`: of shape ``(3,) * ndim``, and
        symmetric about its centre, which does not count.
    tolerance : number, optional
        How much values of connected neighbours may differ: exactly, or in float64; 0 by default.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis. For an array of
        xarray their names will do, and ``batch_dims=["time"]`` names batch axes.
    batch_axes : int, optional
        How many axes ahead hold separate arrays, such as the images of a batch; 0 by default. Each
        item is labelled as if alone: other arguments speak of its axes.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 1, 2, ... in the order in which a C-order scan meets the components,
        0 for background. "roots": the smallest flat C-order index of the component, and -1.
    algorithm : str, optional
        All give the same labels. On the CPU "auto" or "runs", or, on one thread, "raster-scan",
        "label-equivalence" or, for up to three axes, "tiles"; on a GPU "auto", "label-equivalence",
        "neighbour-propagation", "local-propagation" or "directional-propagation", or, for up to
        three axes, "tiles".
    dtype : dtype or "smallest", optional
        Of the labels: any integers that they fit into, by default int32, or int64 where an index
        needs it; "smallest" is the narrowest type, unsigned but for roots. Others cost a copy.
    out : ndarray, optional
        To write the labels to: C-contiguous, of integers, of the shape of `label_image` and where
        that is, of any library with DLPack.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where `label_image` lies. "cuda" moves an array in main memory to
        the current GPU, and the labels back, faster if both are pinned (``cupyx.empty_pinned``).
    workspace : Workspace, optional
        Memory on the GPU to use again. An error on a CPU.
    **options
        Of the papers' algorithms: ``block``, ``cells``, ``first``, ``lower``, ``local``, ``merge``,
        ``tile``, ``sites``, ``trees`` and ``paths``; see docs/algorithms/options.rst.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        Of the shape of `label_image`, and where that lies; `out` if that was given. Of its library,
        if that has ``from_dlpack``, is Dask or xarray; else a plain array of NumPy.
    num : int or ndarray of int64
        The number of components; only if `return_num`. With `batch_axes` an array of the shape of
        these axes. For an image on a GPU and ``numbering="roots"``, or `batch_axes`, an array on
        the GPU, in `workspace` until that is used again.

    Raises
    ------
    TypeError, ValueError
        If `label_image` holds no values that can be compared, is sparse, or is a sequence other
        than a list or tuple; if another argument does not fit; if elements would have more than
        3**10 neighbours, or an array for a GPU has more than 6 axes that are longer than 1; for a
        Dask array, if `out`, `workspace` or ``dtype="smallest"`` is given, or chunks are unknown.
    ImportError, RuntimeError, MemoryError
        If the GPU is to be used, and there is no CuPy or GPU; or if there is too little memory.

    Notes
    -----
    docs/arrays.rst says how `skimage.measure.label` differs. Other threads that write to
    `label_image` or `out` make labels wrong, no more; after Ctrl-C `out` is undefined.

    Calls on a GPU run on the stream that is current in the library of `label_image`. They wait for
    the GPU where an algorithm goes on until nothing changes, which all do but "auto" and "tiles"
    with ``merge="sewing"``: these can be captured in a CUDA graph, given ``numbering="roots"``,
    `out` and a `workspace` that was used for as large an array before.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.label([[1, 1, 0, 2], [0, 0, 0, 2], [1, 0, 2, 0]], return_num=True)
    (array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 2, 0]], dtype=int32), 3)
    """
    call_key: Any = None
    again: Labels | tuple[Labels, Any] | None
    asked = background, return_num, connectivity, tolerance, periodic, batch_axes, numbering, device
    if options:
        for name in options:
            if name in ELSEWHERE:
                raise TypeError(f"label has no argument {name!r}; {ELSEWHERE[name]}")
    elif (
        structure is None and dtype is None and type(algorithm) is str and algorithm == "auto"
    ) and tuple(map(type, asked)) in PLAIN:
        call_key, again = call_again(label_image, workspace, asked, out)
        if again is not None:
            return again
    arguments: dict[str, Any] = dict(zip(ASKED, asked, strict=True))
    arguments |= {"structure": structure, "algorithm": algorithm, "dtype": dtype}
    other = None if type(label_image) is np.ndarray else function_for(label_image, "label")
    if other is not None:
        arguments |= {"out": out, "workspace": workspace, **options}
        return cast(Labels, other(label_image, **arguments))
    given = read_array(label_image, "label_image", device, workspace)
    arguments |= {"device": given.place, "options": options}
    question = question_of_image(given.array, label_image, **arguments)
    return answer_first_call(call_key, array_of(question, given), out, workspace)


@overload
def label_bonds(
    bonds: ArrayLike,
    *,
    return_num: Literal[False] = False,
    batch_axes: int = 0,
    **choices: Unpack[LabelChoices],
) -> Labels: ...


@overload
def label_bonds(  # type: ignore[overload-overlap]  # 0 is an int, too
    bonds: ArrayLike,
    *,
    return_num: Literal[True],
    batch_axes: Literal[0] = 0,
    **choices: Unpack[LabelChoices],
) -> tuple[Labels, int]: ...


@overload
def label_bonds(
    bonds: ArrayLike, *, return_num: Literal[True], batch_axes: int, **choices: Unpack[LabelChoices]
) -> tuple[Labels, Labels]: ...


def label_bonds(
    bonds: ArrayLike,
    *,
    return_num: bool = False,
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
    """Label the clusters of a lattice whose sites are joined by bonds.

    A bond connects a site to the next one along an axis, as in bond percolation and in the cluster
    algorithms for spin models. Every site is in a cluster.

    Parameters
    ----------
    bonds : array_like of bool or uint8
        Of bool and of shape ``(ndim, *shape)`` for a lattice of that shape: ``bonds[k][site]`` is
        whether the site is joined to the next one along axis ``k``. Or of uint8 and of shape
        ``shape``: bit ``k``, of value ``1 << k``, is that bond. The bonds of the last sites along
        an axis count only if it is periodic. A Dask array is labelled as by `label`.
    batch_axes : int, optional
        How many axes ahead hold separate lattices; 0 by default. Bonds of bool are then of shape
        ``(ndim of a lattice, *batch shape, *shape)``.
    return_num, periodic, numbering, algorithm, dtype, out, device, workspace, **options
        As of `label`.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        Of the shape of the lattice, batch axes included; as `label` returns them.
    num : int or ndarray of int64
        The number of clusters; only if `return_num`. As `label` returns it.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label`; and if `bonds` is of another dtype, or its shape is not that of the bonds of a
        lattice of up to 6 axes that are longer than 1, or bits for them are missing.

    Examples
    --------
    Bonds go down from two sites of the first row, and to the right from two of the second:

    >>> import conncomp
    >>> import numpy as np
    >>> bonds = np.zeros((2, 3, 4), bool)
    >>> bonds[0, 0, [0, 1]] = True
    >>> bonds[1, 1, [1, 2]] = True
    >>> conncomp.label_bonds(bonds)
    array([[1, 2, 3, 4],
           [1, 2, 2, 2],
           [5, 6, 7, 8]], dtype=int32)
    >>> packed = bonds[0] | bonds[1].astype(np.uint8) << 1  # the same
    """
    arguments: dict[str, Any] = {"return_num": return_num, "periodic": periodic, "dtype": dtype}
    arguments |= {"batch_axes": batch_axes, "numbering": numbering, "algorithm": algorithm}
    arguments["device"] = device
    if (other := function_for(bonds, "label_bonds")) is not None:
        return cast(Labels, other(bonds, **arguments, out=out, workspace=workspace, **options))
    given = read_array(bonds, "bonds", device, workspace, masks=False)
    arguments |= {"device": given.place, "options": options}
    question = question_of_bonds(given.array, bonds, **arguments)
    return label_array(array_of(question, given), out, workspace)


def ask(question: Question, values: Any) -> Any:
    """Return the labels of a part of a larger array, such as a chunk, as `label` does."""
    if question.device == "cpu" and on_gpu(values):
        choose_algorithm(ALGORITHMS, "cuda", question.algorithm)
        question = replace(question, device="cuda")
    call_key, again = None, None
    if question.algorithm == "auto" and question.dtype is None and not question.of_bonds:
        call_key, again = call_again(values, None, question, None)
    return answer_first_call(call_key, read(question, values)) if again is None else again
