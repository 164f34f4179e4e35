"""Components that close on themselves across periodic axes, or percolate.

Arrays are labelled with all axes open. Links over the seams, where periodic axes were cut, join
these components and close paths: see ``core/wrapping/windings.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INDEX_TYPES, as_integer, shown
from conncomp._array_storage import move_from_gpu
from conncomp._arrays import apply_in_library, in_library
from conncomp._core import native
from conncomp.grid._arguments import question_of_bonds, question_of_image
from conncomp.grid._values import MOST_BOND_AXES
from conncomp.grid.answers import at_both_faces, fill_on_gpu, label_array, run_algorithm
from conncomp.grid.array import Array, array_of, read_array
from conncomp.grid.on_cpu import link_rule
from conncomp.kernels.cuda.grid.image import steps_evenly
from conncomp.kernels.cuda.grid.windings import as_numpy, find_windings, place_windings
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.seams import (
    MOST_AXES,
    MOST_CLOSED,
    MOST_LINKS,
    Seams,
    Windings,
    no_windings,
    number_windings,
    seams_of,
)

Vectors = NDArray[np.int64]


@dataclass(frozen=True)
class ComponentWrapping:
    """How components close on themselves: what `component_wrapping` returns.

    A closed path through a component may go around periodic axes. How often along each axis, with a
    sign for the direction, is its winding vector, and those of all such paths are a lattice. Its
    basis is in Hermite normal form, so that equal lattices have equal bases: the first number other
    than 0 of each row is positive, it lies right of that of the row before, and the numbers above
    it are smaller and not negative. On a torus of two axes a component of rank 1 is a band, along
    an axis or as a helix, with two numbers other than 0; one of rank 2 is a cross.

    Attributes
    ----------
    axes : ndarray of bool, shape (n, ndim)
        For each component, in the order of items and of labels, along which axes it closes on
        itself; ndim is the number of an item's axes.
    wrapping : ndarray of int64, shape (k,)
        The rows of `axes` of the components that wrap, along any axis.
    bases : ndarray of int64, shape (k, ndim, ndim)
        The bases of their winding vectors, in rows, the last ones 0 if there are fewer.
    counts : ndarray of int64, of the shape of the batch axes
        The number of components of each item.
    """

    axes: NDArray[np.bool_]
    wrapping: NDArray[np.int64]
    bases: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def rank(self) -> NDArray[np.int64]:
        """For each component, how many independent winding vectors it has; of shape (n,)."""
        return cast(Vectors, apply_in_library(_rank, self.axes, self.wrapping, self.bases))

    @property
    def vectors(self) -> NDArray[np.int64]:
        """For each component a basis of its winding vectors; of shape (n, ndim, ndim)."""
        return cast(Vectors, apply_in_library(_vectors, self.axes, self.wrapping, self.bases))


def _rank(axes: Any, wrapping: Any, bases: Any) -> Any:
    rank = axes[:, 0].astype(np.int64) * 0
    rank[wrapping] = (bases != 0).any(2).sum(1)
    return rank


def _vectors(axes: Any, wrapping: Any, bases: Any) -> Any:
    vectors = axes[:, :, None].repeat(axes.shape[1], 2).astype(np.int64) * 0
    vectors[wrapping] = bases
    return vectors


def component_wrapping(
    label_image: ArrayLike,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = True,
    batch_axes: int = 0,
    device: str | None = None,
    workspace: Workspace | None = None,
) -> ComponentWrapping:
    """Tell which components of an array close on themselves across periodic axes, and how.

    Parameters
    ----------
    label_image, background, connectivity, structure, tolerance, batch_axes, device, workspace
        As of `label`.
    periodic : bool or sequence of bool, optional
        Which axes, up to four, close on themselves: one answer for all, or one for each axis. Each
        step counts, as for `contacts`: along an axis of length 1 an element is its own neighbour;
        along one of length 2 two elements are neighbours on both sides.

    Returns
    -------
    ComponentWrapping
        Of the components that `label` finds with the same arguments, in arrays of the library
        of `label_image`, where that lies.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label`; and if more than four axes are periodic, the array has more than ten, or 2**31
        links or more lead over the ends of periodic axes.

    See Also
    --------
    cluster_wrapping : The same for lattices with bonds.
    component_spans : Which opposite faces of an array a component joins.
    contacts : Which components touch, around periodic axes, too.

    Notes
    -----
    It takes about as long as `label`, and time for the surface of the array. A union-find keeps how
    far each part lies from its root [1]_, so it is exact.

    References
    ----------
    .. [1] J. Machta et al., "Invaded cluster algorithm for Potts models", Phys. Rev. E 54, 1996.

    Examples
    --------
    A helix goes around both axes at once:

    >>> import conncomp
    >>> helix = [[1, 1, 0, 0],
    ...          [0, 1, 1, 0],
    ...          [0, 0, 1, 1],
    ...          [1, 0, 0, 1]]
    >>> wrapping = conncomp.component_wrapping(helix, connectivity=1)
    >>> wrapping.axes
    array([[ True,  True]])
    >>> wrapping.vectors
    array([[[1, 1],
            [0, 0]]])
    """
    given = read_array(label_image, "label_image", device, workspace)
    asked = background, connectivity, structure, tolerance, periodic, batch_axes
    question = question_of_image(given.array, label_image, *asked, device=given.place)
    return wrapping_of(array_of(question, given), workspace, "label_image")


def cluster_wrapping(
    bonds: ArrayLike,
    *,
    periodic: bool | Sequence[bool] = True,
    batch_axes: int = 0,
    device: str | None = None,
    workspace: Workspace | None = None,
) -> ComponentWrapping:
    """Tell which clusters of bonds close on themselves across periodic axes, and how.

    Parameters
    ----------
    bonds, batch_axes, device, workspace
        As of `label_bonds`.
    periodic : bool or sequence of bool, optional
        As of `component_wrapping`.

    Returns
    -------
    ComponentWrapping
        Of the clusters that `label_bonds` finds with the same arguments.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label_bonds` and `component_wrapping`; and if the lattice has more than six axes.

    Examples
    --------
    >>> import conncomp
    >>> import numpy as np
    >>> bonds = np.zeros((2, 3, 4), bool)
    >>> bonds[1, 0] = True
    >>> conncomp.cluster_wrapping(bonds).wrapping
    array([0])
    """
    given = read_array(bonds, "bonds", device, workspace, masks=False)
    question = question_of_bonds(given.array, bonds, periodic, batch_axes, device=given.place)
    return wrapping_of(array_of(question, given, even_items=True), workspace, "bonds")


def percolates(
    image: ArrayLike,
    axis: int,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    device: str | None = None,
) -> bool:
    """Tell whether a component goes all the way along an axis.

    Parameters
    ----------
    image, background, connectivity, structure, tolerance, periodic, device
        As of `label`.
    axis : int
        Along an open one a component must reach from the first elements to the last; along a
        periodic one it must close on itself. Negative ones count from the last.

    Returns
    -------
    bool

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As `label` and `component_wrapping`; and if there is no such axis.

    See Also
    --------
    component_spans, component_wrapping : For each component.

    Examples
    --------
    >>> import conncomp
    >>> image = [[0, 1, 0],
    ...          [0, 1, 1],
    ...          [0, 0, 1]]
    >>> conncomp.percolates(image, 0), conncomp.percolates(image, 1)
    (True, False)
    >>> conncomp.percolates(image, 0, connectivity=1, periodic=True)  # the ends do not meet
    False
    """
    number = as_integer("axis", axis)
    given = read_array(image, "label_image", device)
    asked = background, connectivity, structure, tolerance, periodic
    question = question_of_image(given.array, image, *asked, device=given.place)
    array = array_of(question, given)
    closed = question.neighbourhood.periodic
    if not -len(closed) <= number < len(closed):
        raise ValueError(f"axis={shown(axis)} must be one of the {len(closed)} axes of image")
    if closed[number]:
        wrapping = wrapping_of(array, None, "label_image")
        return bool(wrapping.axes[:, number].any())
    with array.stream():
        answer: Any = label_array(array._replace(library="numpy"))  # labels as they are
        labels, count = answer
        xp = np if isinstance(labels, np.ndarray) else current_gpu().xp
        both = at_both_faces(xp, labels, number, count + 1, 0) if labels.size else labels
        return bool(both.any())


def wrapping_of(array: Array, workspace: Workspace | None, name: str) -> ComponentWrapping:
    """Return how components wrap; `name` is that of the argument in errors."""
    periodic = array.question.neighbourhood.periodic
    with array.stream():
        opened, seams = _open_array(array, name)
        values, links, question = opened.values, opened.links, opened.question
        index, crosses = INDEX_TYPES[values.size >= 1 << 31], seams.links and values.size
        if question.device == "cpu":
            labels = np.empty(values.shape, index)
            counts = run_algorithm(question, opened, labels)
            found = _find_on_cpu(opened, seams, labels, counts) if crosses else no_windings(counts)
            parts: Any = _parts(found.of_all_axes(periodic))
        else:
            gpu = current_gpu()
            labels = gpu.xp.empty(values.shape, index)
            counts = fill_on_gpu(question, gpu, opened.image, labels, workspace)
            if crosses:
                found = find_windings(gpu, values, links, seams, labels, counts)
            else:
                found = no_windings(as_numpy(gpu, counts))
            parts = place_windings(gpu, found.of_all_axes(periodic))
            parts = map(move_from_gpu, parts) if array.in_memory else parts
        *parts, counts = parts
        parts = *parts, counts.reshape(array.batch_shape)
        return ComponentWrapping(*in_library(parts, array.library))


def _parts(windings: Windings) -> tuple[Any, Any, Any, Any]:
    """Return axes (bool, a row for each component), and rows, bases and counts of windings."""
    axes = np.zeros((int(windings.counts.sum()), windings.bases.shape[-1]), bool)
    axes[windings.rows] = (windings.bases != 0).any(1)
    return axes, windings.rows, windings.bases, windings.counts


def _find_on_cpu(opened: Array, seams: Seams, labels: Any, counts: Any) -> Windings:
    address, rule = opened.values.__array_interface__["data"][0], link_rule(opened.links)
    struct, boxes = np.frombuffer(seams.struct.tobytes(), np.int64), seams.boxes.view(np.int64)
    smallest, bases, left_out = native.find_windings(
        address, rule, struct, boxes, seams.slots, seams.lattices, labels.reshape(-1)
    )
    left_out.sort()
    return number_windings(smallest, bases, counts, left_out.searchsorted)


def _open_array(array: Array, name: str) -> tuple[Array, Seams]:
    """Return an array with all axes open, whose items lie at equal distances, and its seams."""
    question, values, links = array.question, array.values, array.links
    batch_axes, neighbourhood = question.batch_axes, question.neighbourhood
    if not links.bonds and not steps_evenly(values.shape[:batch_axes], values.strides[:batch_axes]):
        values = values.copy(order="C")
    batch, shape = values.shape[:batch_axes], values.shape[batch_axes:]
    closed, most = sum(neighbourhood.periodic), MOST_BOND_AXES if links.bonds else MOST_AXES
    if closed > MOST_CLOSED:
        raise ValueError(
            f"periodic closes {closed} axes; up to {MOST_CLOSED} may be periodic for wrapping"
        )
    if len(shape) > most:
        raise ValueError(
            f"{name} has {len(shape)} axes; for wrapping there may be up to {most}: leave out "
            "those of length 1"
        )
    strides = tuple(stride // values.dtype.itemsize for stride in values.strides)
    to_next_item = [stride for stride, n in zip(strides, batch, strict=False) if n > 1][-1:] or [0]
    seams = seams_of(shape, strides[batch_axes:], neighbourhood, prod(batch), *to_next_item)
    if seams.links > MOST_LINKS:
        raise ValueError(
            f"{name} has {seams.links} links over the ends of periodic axes; for wrapping there "
            f"may be up to {MOST_LINKS}"
        )
    opened = question.closed_along((False,) * len(shape))
    return array._replace(values=values, question=opened), seams
