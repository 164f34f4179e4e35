"""`label_bonds`: the components of a lattice whose sites are joined by bonds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack, overload

from numpy.typing import ArrayLike, DTypeLike

from conncomp._arguments import as_bool
from conncomp._arrays import as_cupy, as_numpy, check_kind, choose_device, library_of, on_gpu
from conncomp._lazy import function_for
from conncomp.gpu import Workspace
from conncomp.grid._arguments import check_batch_axes, check_neighbourhood
from conncomp.grid.array import Array, placed_on, stream_of
from conncomp.grid.labelling import LabelChoices
from conncomp.grid.request import Labels, Numbering, Request, label_array
from conncomp.kernels.cuda.grid.image import steps_evenly
from conncomp.kernels.links import Links, joined_by_bonds

MOST_AXES = 6  # longer than 1
BITS = 8  # of a byte


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
    bonds: ArrayLike,
    *,
    return_num: Literal[True],
    batch_axes: int,
    **choices: Unpack[LabelChoices],
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

    A site is connected to the next one along an axis if there is a bond between them, as in bond
    percolation and in the cluster algorithms for spin models. Every site is in a cluster.

    Parameters
    ----------
    bonds : array_like of bool or uint8
        Of bool and of shape ``(ndim, *shape)`` for a lattice of that shape: ``bonds[k][site]`` is
        whether the site is joined to the next one along axis ``k``. Or of uint8 and of shape
        ``shape``: bit ``k``, of value ``1 << k``, is that bond. The bonds of the last sites along
        an axis count only if it is periodic. With any strides. A Dask array is labelled when its
        labels are computed, as by `label`.
    return_num : bool, optional
        Whether to return the number of clusters too.
    periodic : bool or sequence of bool, optional
        Which axes of the lattice close on themselves: one answer for all, or one for each axis.
    batch_axes : int, optional
        How many axes of the lattice, the first ones, hold separate lattices; 0 by default. Sites
        have no bonds along them: bonds of bool are of shape ``(ndim of a lattice, *batch shape,
        *shape)``.
    numbering, algorithm, dtype, out, device, workspace, **options
        As of `label`.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        Of the shape of the lattice, batch axes included; as `label` returns them. None is
        background.
    num : int or ndarray of int64
        The number of clusters; only if `return_num`. As `label` returns it.

    Raises
    ------
    TypeError
        If `bonds` is of another dtype, or `options` has a name that the algorithm does not know.
    ValueError
        If the shape of `bonds` is not that of the bonds of a lattice, the lattice has more than 6
        axes that are longer than 1, or bits for them are missing; or as `label`.
    ImportError, RuntimeError, MemoryError
        As `label`.

    See Also
    --------
    label : Connects neighbours by their values.
    connected_components : The same for graphs of any kind.

    Examples
    --------
    Three rows of four sites; bonds go down from two sites of the first row, and to the right from
    two of the second:

    >>> import conncomp
    >>> import numpy as np
    >>> bonds = np.zeros((2, 3, 4), bool)
    >>> bonds[0, 0, [0, 1]] = True
    >>> bonds[1, 1, [1, 2]] = True
    >>> conncomp.label_bonds(bonds, return_num=True)
    (array([[1, 2, 3, 4],
           [1, 2, 2, 2],
           [5, 6, 7, 8]], dtype=int32), 8)

    The same bonds as bits:

    >>> packed = bonds[0] | bonds[1].astype(np.uint8) << 1
    >>> conncomp.label_bonds(packed, numbering="roots")
    array([[ 0,  1,  2,  3],
           [ 0,  1,  1,  1],
           [ 8,  9, 10, 11]], dtype=int32)
    """
    other = function_for(bonds, "label_bonds")
    if other is not None:
        returned: Labels | tuple[Labels, Any] = other(
            bonds,
            return_num=return_num,
            periodic=periodic,
            batch_axes=batch_axes,
            numbering=numbering,
            algorithm=algorithm,
            dtype=dtype,
            out=out,
            device=device,
            workspace=workspace,
            **options,
        )
        return returned
    request = Request(
        choose_device(device, on_gpu(bonds), "bonds", workspace),
        numbering,
        algorithm,
        as_bool("return_num", return_num),
        dtype,
        out,
        workspace,
        options,
    )
    return label_array(array_of_bonds(bonds, periodic, batch_axes, request.device), request)


def array_of_bonds(
    bonds: ArrayLike,
    periodic: bool | Sequence[bool],
    batch_axes: int,
    device: str,
    *,
    even_items: bool = False,
) -> Array:
    """Check the arguments of `label_bonds` that say what is labelled.

    `even_items` says whether items must lie at equal distances in memory, as they must on a GPU.
    """
    given: Any = as_cupy(bonds) if on_gpu(bonds) else as_numpy(bonds, "bonds")
    wanted = "of bool, with a plane for each axis of the lattice, or of uint8, with a bit for each"
    check_kind(given, "bu", bonds, "bonds", wanted)
    if given.dtype.itemsize > 1:
        raise TypeError(f"bonds is of dtype {given.dtype}; it must be {wanted}")
    shape, batch = check_lattice(given, batch_axes)
    item = "a lattice of bonds" if batch else "the lattice of bonds"
    neighbourhood = check_neighbourhood(1, None, periodic, shape[batch:], item)
    read, library = given, library_of(bonds)
    if even_items or device == "cuda":
        with stream_of(given, library):
            read = placed_on(device, _with_even_items(given, batch))
    sites, links = describe_bonds(read, batch)
    return Array(given, library, sites, links, neighbourhood, batch)


def check_lattice(bonds: Any, batch_axes: int) -> tuple[tuple[int, ...], int]:
    """Return the shape of the lattice, and its number of batch axes."""
    planes = bonds.dtype == bool
    if planes and bonds.ndim < 2:
        raise ValueError(
            f"bonds has shape {bonds.shape}; bonds of bool must have the shape (ndim, *shape), for "
            "one axis (1, length)"
        )
    shape = bonds.shape[1:] if planes else bonds.shape
    batch = check_batch_axes(batch_axes, len(shape), "the lattice of bonds")
    ndim = len(shape) - batch
    if planes and len(bonds) != ndim:
        raise ValueError(
            f"bonds has shape {bonds.shape} with {len(bonds)} planes, but a lattice of shape "
            f"{shape[batch:]} has {ndim} axes; bonds of bool must have the shape "
            "(ndim, *batch shape, *shape), and bonds of uint8 hold a bit for each axis"
        )
    if not planes and ndim > BITS:
        raise ValueError(
            f"bonds has {BITS} bits a site, but the lattice has {ndim} axes; use bonds of bool"
        )
    longer = sum(length > 1 for length in shape[batch:])
    if longer > MOST_AXES:
        raise ValueError(
            f"bonds has shape {bonds.shape}: the lattice has {longer} axes that are longer than 1, "
            f"and may have up to {MOST_AXES}"
        )
    return shape, batch


def _with_even_items(bonds: Any, batch: int) -> Any:
    """Return bonds whose items are at equal distances in memory."""
    ahead = slice(1, 1 + batch) if bonds.dtype == bool else slice(batch)
    even = steps_evenly(bonds.shape[ahead], bonds.strides[ahead])
    return bonds if even else bonds.copy(order="C")


def describe_bonds(bonds: Any, batch_axes: int) -> tuple[Any, Links]:
    """Return the bytes of the sites, of the first plane if there are planes, and the link rule."""
    if bonds.dtype == bool:
        planes = bonds.view("u1")
        return planes[0], joined_by_bonds(
            tuple((k * bonds.strides[0], 255) for k in range(len(bonds)))
        )
    return bonds, joined_by_bonds(tuple((0, 1 << k) for k in range(bonds.ndim - batch_axes)))
