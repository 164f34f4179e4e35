"""Blocks of threads as Maddix 2014 compares them: their cells, and those of a thread."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.grid.image import Image

# Cells along the last axis, and the last but one.
LARGE, SQUARE, FLAT = (32, 32), (16, 16), (32, 6)
CELLS = (1, 4)


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
