"""An array as the kernels of this folder take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels import layout
from conncomp.kernels.cuda.launcher import DeviceArray, DType, Gpu
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood, Shape, Steps, Strides, steps_along

# The numbers of dimensions that kernels are compiled for; others are filled up by axes of length 1.
RANKS = (2, 3, 6)

# How values are compared, by the names of `conncomp.kernels.links`: integers as unsigned ones.
VALUE_CTYPES = {f"u{size}": f"uint{8 * size}_t" for size in (1, 2, 4, 8)}
VALUE_CTYPES |= {"f2": "conncomp::Half", "f4": "float", "f8": "double"}

_AXIS = layout(("length index_stride value_stride periodic", "i8"))
GRIDS = {
    rank: layout(
        ("axes", (_AXIS, (rank,))),
        ("items item_stride most_moves connectivity", "i8"),
        ("neighbours", ("u4", ((3**rank + 31) // 32,))),
    )
    for rank in (1, *RANKS)
}
MOST_AXES = RANKS[-1]
_BONDS = layout(("plane", ("i8", MOST_AXES)), ("mask", ("u1", MOST_AXES)))


class Geometry(NamedTuple):
    """An array as ``CellGrid`` describes it, but for its values: strides are in elements."""

    shape: Shape
    value_strides: Strides
    steps: Steps
    items: int
    item_stride: int

    @property
    def item_size(self) -> int:
        """The number of elements of an item."""
        return prod(self.shape)

    @property
    def connectivity(self) -> int | None:
        """The connectivity of these steps, or None; 1 where there is one element."""
        return 1 if self.item_size == 1 else self.steps.connectivity


@lru_cache(maxsize=1024)
def grid_of(geometry: Geometry) -> Any:
    """Return ``CellGrid<rank>`` of ``cells.cuh``."""
    rank = len(geometry.shape)
    grid = np.zeros((), GRIDS[rank])
    stride = 1
    for k in reversed(range(rank)):
        periodic = geometry.steps.periodic[k]
        grid["axes"][k] = geometry.shape[k], stride, geometry.value_strides[k], periodic
        stride *= geometry.shape[k]
    grid["items"], grid["item_stride"] = geometry.items, geometry.item_stride
    grid["most_moves"] = geometry.steps.most_moves
    grid["connectivity"] = geometry.connectivity or 0
    grid["neighbours"] = geometry.steps.bits
    return grid[()]


@lru_cache(maxsize=1024)
def geometry_of(
    shape: Shape, strides: Strides, itemsize: int, neighbourhood: Neighbourhood, batch_axes: int
) -> Geometry:
    """Describe an array with strides in bytes, whose batch axes lie evenly."""
    item = shape[batch_axes:]
    axes = tuple(k for k in range(len(item)) if item[k] != 1)
    if any(stride % itemsize for stride in strides):
        raise ValueError(
            f"image has strides {strides}, which are not multiples of the item size, "
            f"{itemsize}; copy it"
        )
    if len(axes) > MOST_AXES:
        raise ValueError(
            f"image has {len(axes)} axes that are longer than 1; on a GPU it may have up to "
            f"{MOST_AXES}"
        )
    ahead = next(rank for rank in RANKS if rank >= len(axes)) - len(axes)
    batch = [k for k in range(batch_axes) if shape[k] != 1]
    return Geometry(
        (1,) * ahead + tuple(item[k] for k in axes),
        (0,) * ahead + tuple(strides[batch_axes + k] // itemsize for k in axes),
        steps_along(neighbourhood, axes, ahead),
        prod(shape[:batch_axes]),
        strides[batch[-1]] // itemsize if batch else 0,
    )


@lru_cache(maxsize=1024)
def steps_evenly(shape: Shape, strides: Strides) -> bool:
    """Whether elements lie at equal distances in memory, in C order."""
    axes = [k for k in range(len(shape)) if shape[k] != 1]
    return all(strides[outer] == strides[inner] * shape[inner] for outer, inner in pairwise(axes))


class _Rule(NamedTuple):
    """A link rule of ``core/links.h``: the name of its struct, and the struct."""

    name: str
    struct: Any


def _background(links: Links) -> tuple[Any, Any]:
    """Return the dtype and the value of ``Background``; half-precision numbers as their bits."""
    bits = np.dtype({"f2": "u2"}.get(links.value_type, links.value_type))
    background = links.background or bytes(bits.itemsize)
    value = np.frombuffer(background, bits)[0], links.background is not None
    return layout(("value", bits), ("present", "?")), value


def _within(links: Links) -> tuple[DType, Any]:
    kind, background = _background(links)
    limits: tuple[float, ...] = (links.limit,)
    if links.value_type.startswith("f"):
        distance = layout(("limit", "f8"))
    else:
        bits = np.dtype(links.value_type)
        distance = layout(("limit turn", bits))
        limits = links.limit, links.signed << (8 * bits.itemsize - 1)
    return layout(("background", kind), ("distance", distance)), (background, limits)


def _bonds(links: Links) -> tuple[DType, Any]:
    planes, masks = np.zeros((2, MOST_AXES), int)
    for axis, bond in enumerate(reversed(links.bonds)):
        planes[axis], masks[axis] = bond
    return _BONDS, (planes, masks)


RULES: dict[str, Callable[[Links], tuple[DType, Any]]] = {
    "equal": _background,
    "above": lambda links: (layout(("threshold", links.value_type)), (links.limit,)),
    "within": _within,
    "bonds": _bonds,
}


@lru_cache(maxsize=1024)
def rule_of(links: Links) -> _Rule:
    """Return the link rule as kernels take it."""
    kind, value = RULES[links.rule](links)
    name = f"conncomp::{links.rule.capitalize()}"
    if links.rule != "bonds":
        name += f"<{VALUE_CTYPES[links.value_type]}>"
    return _Rule(name, np.array(value, kind)[()])


class Image:
    """An array on a GPU, and which of its elements are connected.

    For bonds, `values` are bytes of the lattice's shape, the first of them that of the first axis.
    Elements of bonds must lie evenly along the `batch_axes` ahead; other arrays are copied if they
    do not. `shape` is that of an item without axes of length 1, but for those put ahead to reach
    one of `RANKS`. Raise ValueError if there are too many axes, or strides are no multiples of the
    item size.
    """

    def __init__(
        self, values: DeviceArray, links: Links, neighbourhood: Neighbourhood, batch_axes: int = 0
    ) -> None:
        if batch_axes > 1 and not steps_evenly(
            values.shape[:batch_axes], values.strides[:batch_axes]
        ):
            values = values.copy()
        self.values = values
        laid_out = values.shape, values.strides, values.dtype.itemsize
        self.geometry = geometry_of(*laid_out, neighbourhood, batch_axes)
        if links.bonds:  # those along axes of length 1 are left out, as the axes are
            along = zip(links.bonds, values.shape[batch_axes:], strict=True)
            links = links._replace(bonds=tuple(bond for bond, length in along if length != 1))
        self.links = links
        self.items, self.shape = self.geometry.items, self.geometry.shape
        self.size = self.items * self.geometry.item_size  # elements of all items
        self.rank = len(self.shape)
        self.rule_name, self.rule = rule_of(links)

    @property
    def grid(self) -> Any:
        """``CellGrid<rank>`` of ``cells.cuh``."""
        return grid_of(self.geometry)

    def blocks(self, gpu: Gpu, width: int, height: int, threads: int) -> tuple[int, int]:
        """Return the grid for `for_each_block`, whose blocks have width x height cells."""
        *planes, rows, columns = self.shape
        blocks = self.items * prod(planes) * -(-rows // height) * -(-columns // width)
        return gpu.grid(blocks * threads, threads)


# A link rule of every type that all kernels are compiled for, and the types of kernels of images.
EVERY_RULE = (
    *(Links(rule, value) for value in VALUE_CTYPES for rule in ("equal", "within")),
    Links("bonds", "u1"),
)
RULE_NAMES = tuple(rule_of(links).name for links in EVERY_RULE)
OF_IMAGES: dict[str, Any] = {"rule": RULE_NAMES, "rank": RANKS, "index": INDEX_TYPES}
