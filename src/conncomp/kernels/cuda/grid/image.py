"""An array as the kernels of this folder take it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import as_integer, check_choice
from conncomp.kernels.cuda.launcher import Gpu, first_entry

# The numbers of dimensions that kernels are compiled for; others are filled up by axes of length 1.
RANKS = (2, 3, 6)

# The sizes of blocks that Maddix 2014 compares.
BLOCKS = ((32, 6), (16, 16), (32, 32))

# How values are compared, by the names of `conncomp.grid.labelling`: integers as unsigned ones.
VALUE_CTYPES = {
    "u1": "uint8_t",
    "u2": "uint16_t",
    "u4": "uint32_t",
    "u8": "uint64_t",
    "f2": "conncomp::Half",
    "f4": "float",
    "f8": "double",
}

# The value type of an array that holds no values but the bonds of a lattice: for each site a byte,
# with a bit for the bond to the next site along the last axis (bit 0), the one before (bit 1), ...
BONDS = "bonds"

_AXIS = np.dtype([(name, "i8") for name in ("length", "index_stride", "value_stride", "periodic")])
GRIDS = {rank: np.dtype([("axes", _AXIS, (rank,)), ("connectivity", "i8")]) for rank in (1, *RANKS)}


class Geometry(NamedTuple):
    """What kernels need to know of an array but its values.

    Attributes
    ----------
    shape, periodic : tuple
        As of `Image`.
    value_strides : tuple of int
        In elements.
    connectivity : int
    """

    shape: tuple[int, ...]
    value_strides: tuple[int, ...]
    periodic: tuple[bool, ...]
    connectivity: int


@lru_cache(maxsize=1024)
def grid_of(geometry: Geometry) -> Any:
    """Return ``Grid<rank>`` of ``cells.cuh``."""
    shape, strides, periodic, connectivity = geometry
    grid = np.zeros((), GRIDS[len(shape)])
    stride = 1
    for k in reversed(range(len(shape))):
        grid["axes"][k] = shape[k], stride, strides[k], periodic[k]
        stride *= shape[k]
    grid["connectivity"] = connectivity
    return grid[()]


@lru_cache(maxsize=1024)
def _geometry_of(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    itemsize: int,
    periodic: tuple[bool, ...],
    connectivity: int,
    keep: bool,
) -> Geometry:
    """Describe an array with strides in bytes; `keep` all its axes, with faces connecting."""
    axes = [k for k in range(len(shape)) if keep or shape[k] != 1]
    if any(stride % itemsize for stride in strides):
        raise ValueError(
            f"image has strides {strides}, which are not multiples of the item size, "
            f"{itemsize}; copy it"
        )
    if len(axes) > RANKS[-1]:
        raise ValueError(
            f"image has {len(axes)} axes that are longer than 1; on a GPU it may have up to "
            f"{RANKS[-1]}"
        )
    ahead = next(rank for rank in RANKS if rank >= len(axes)) - len(axes)
    return Geometry(
        (1,) * ahead + tuple(shape[k] for k in axes),
        (0,) * ahead + tuple(strides[k] // itemsize for k in axes),
        (False,) * ahead + tuple(bool(periodic[k]) for k in axes),
        1 if keep else min(connectivity, max(len(axes), 1)),
    )


@lru_cache(maxsize=1024)
def _ground_of(value_type: str, ground: bytes | None) -> tuple[Any, bool]:
    """Return a background as arguments of a kernel."""
    # It only compares half-precision numbers: it takes their bits.
    bits = np.dtype({"f2": "u2", BONDS: "u1"}.get(value_type, value_type))
    return np.frombuffer(ground or bytes(bits.itemsize), bits)[0], ground is not None


class Image:
    """An array on a GPU, and which of its elements are neighbours.

    Parameters
    ----------
    values : array
        With any strides that are multiples of the item size.
    value_type : str
        One of `VALUE_CTYPES`, or `BONDS`: then all axes are kept, and faces connect.
    ground : bytes or None
        The value of the background; with None there is no background.
    periodic : sequence of bool
        Which axes close on themselves.
    connectivity : int

    Attributes
    ----------
    shape : tuple of int
        Without axes of length 1, which connect nothing, but for those that are put ahead to make
        it as long as one of `RANKS`.
    periodic : tuple of bool
        For each axis of `shape`.
    grid : numpy.void
        ``Grid<rank>`` of ``cells.cuh``.
    ground : tuple
        The background as two arguments of a kernel: its value, and whether there is one.

    Raises
    ------
    ValueError
        If there are more axes than kernels are compiled for, or strides that do not fit.
    """

    def __init__(
        self,
        values: Any,
        value_type: str,
        ground: bytes | None,
        periodic: Sequence[bool],
        connectivity: int,
    ) -> None:
        self.values, self.value_type = values, value_type
        self.geometry = _geometry_of(
            values.shape,
            values.strides,
            values.dtype.itemsize,
            tuple(periodic),
            connectivity,
            value_type == BONDS,  # their bits are those of all axes
        )
        self.shape, _, self.periodic, self.connectivity = self.geometry
        self.rank = len(self.shape)
        self.ground = _ground_of(value_type, ground)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def grid(self) -> Any:
        """``Grid<rank>`` of ``cells.cuh``."""
        return grid_of(self.geometry)

    def blocks(self, gpu: Gpu, width: int, height: int, threads: int) -> tuple[int, int]:
        """Return the grid for `for_each_block`, whose blocks have so many cells and threads."""
        *planes, rows, columns = self.shape
        blocks = int(np.prod(planes, dtype=np.int64)) * -(-rows // height) * -(-columns // width)
        return gpu.blocks(blocks * threads, threads), threads


def block_of_cells(block: tuple[int, int], cells: int) -> tuple[int, int, int]:
    """Check two options; return the width and the height of a block in cells, and its threads."""
    check_choice("block", tuple(block), BLOCKS)
    check_choice("cells", as_integer("cells", cells), (1, 4))
    width, height = block
    if height % cells:
        raise ValueError(f"cells={cells} does not divide the height of block={block!r}")
    return width, height, width * height // cells


def until_unchanged(last_change: Any, run: Callable[[int], None]) -> None:
    """Call ``run(1)``, ``run(2)``, ... until a round does not put its number into `last_change`."""
    for number in count(1):
        run(number)
        if first_entry(last_change) != number:
            return


def value_kinds() -> Iterator[tuple[str, int]]:
    """Yield every value type and rank that kernels are compiled for."""
    for value_type in VALUE_CTYPES:
        for rank in RANKS:
            yield value_type, rank
