"""`label_bonds`: the components of a lattice whose sites are joined by bonds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack, overload

from numpy.typing import ArrayLike, DTypeLike

from conncomp._lazy import function_for
from conncomp.gpu import Workspace
from conncomp.grid.answers import Labels, array_of, label_array
from conncomp.grid.array import read_array
from conncomp.grid.labelling import LabelChoices
from conncomp.grid.question import Numbering, question_of_bonds


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
    batch_axes : int, optional
        How many axes of the lattice, the first ones, hold separate lattices; 0 by default. Sites
        have no bonds along them: bonds of bool are of shape ``(ndim of a lattice, *batch shape,
        *shape)``.
    return_num, periodic, numbering, algorithm, dtype, out, device, workspace, **options
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
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label`; and if `bonds` is of another dtype, or its shape is not that of the bonds of a
        lattice of up to 6 axes that are longer than 1, or bits for them are missing.

    See Also
    --------
    label : Connects neighbours by their values.
    connected_components : The same for graphs of any kind.

    Examples
    --------
    Three rows of four sites; bonds go down from two sites of the first row, and to the right from
    two of the second. As bits they are an array of uint8:

    >>> import conncomp
    >>> import numpy as np
    >>> bonds = np.zeros((2, 3, 4), bool)
    >>> bonds[0, 0, [0, 1]] = True
    >>> bonds[1, 1, [1, 2]] = True
    >>> conncomp.label_bonds(bonds, return_num=True)
    (array([[1, 2, 3, 4],
           [1, 2, 2, 2],
           [5, 6, 7, 8]], dtype=int32), 8)
    >>> packed = bonds[0] | bonds[1].astype(np.uint8) << 1
    >>> conncomp.label_bonds(packed, numbering="roots")
    array([[ 0,  1,  2,  3],
           [ 0,  1,  1,  1],
           [ 8,  9, 10, 11]], dtype=int32)
    """
    arguments: dict[str, Any] = {
        "return_num": return_num,
        "periodic": periodic,
        "batch_axes": batch_axes,
        "numbering": numbering,
        "algorithm": algorithm,
        "dtype": dtype,
    }
    other = function_for(bonds, "label_bonds")
    if other is not None:
        places = {"out": out, "device": device, "workspace": workspace}
        returned: Labels | tuple[Labels, Any] = other(bonds, **arguments, **places, **options)
        return returned
    given = read_array(bonds, "bonds", device, workspace)
    arguments |= {"device": given.place, "options": options}
    question = question_of_bonds(given.array, bonds, **arguments)
    return label_array(array_of(question, given), question, out, workspace)
