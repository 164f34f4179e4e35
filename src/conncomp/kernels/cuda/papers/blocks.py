"""Blocks of threads: of cells, as Maddix 2014 compares them, and of edges and vertices."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.grid.image import Image

# Cells along the last axis, and the last but one.
LARGE, SQUARE, FLAT = (32, 32), (16, 16), (32, 6)
CELLS = (1, 4)

# Threads with an edge or a vertex each, as Hawick 2010 compares them: the default, then the others.
THREADS_OF_BLOCK = (256, *(n for n in range(32, 513, 32) if n != 256))


def check(image: Image, *, block: tuple[int, int], cells: int = 1, **options: Any) -> None:
    """Raise ValueError unless the cells of a thread divide the height of a block."""
    if block[1] % cells:
        raise ValueError(
            f"cells={cells} does not divide the height of block={block!r}; use another block, or "
            "cells=1"
        )


def block_of_cells(block: tuple[int, int], cells: int) -> tuple[int, int, int]:
    """Return the width and the height of a block in cells, and its threads."""
    width, height = block
    return width, height, width * height // cells
