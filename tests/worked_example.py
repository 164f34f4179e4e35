"""Draws what the kernels do to an image of 16 x 16, for the page worked_example.md beside them."""

import numpy as np

from conncomp import label
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.launcher import launch
from conncomp.kernels.cuda.workspace import Workspace
from gpu_arrays import describe
from host_cuda.host_gpu import HostGpu

IMAGE = """
. . # # . . . . . . . . . . . .
. . # . . . . # # . . . . # . .
. # # . . . # # # # . . . . . .
. . . . . . . . . . . . . . . .
. . . . # . . . . . . . # # # .
. . # # # . . . . . . . # . # .
. . # . . . . . . . . . # . # .
. . # . . . . # . . . # # . # .
. . # . . . # . . . . # . . # .
. . # # . # . . . . . # . . # .
. . . # . . . . . # # # . . # .
. # . # # # # . . # . . . . # .
. . . . . . # # # # . # . . . .
. . . . . . . . . . . . # . . .
. # # . . . . . . . # . . # . .
. # . . . . . . . . # . . . . .
"""
SIDE, BRICK = 16, 8
UNWRITTEN = -7


def image():
    rows = [row.split() for row in IMAGE.strip().splitlines()]
    return (np.array(rows) == "#").astype(np.uint8)


def bricks():
    """Yield the slices of the four bricks, in order."""
    for y in range(0, SIDE, BRICK):
        for x in range(0, SIDE, BRICK):
            yield slice(y, y + BRICK), slice(x, x + BRICK)


def stages(choose_tile):
    """Run the kernels one by one.

    `choose_tile` puts a function in the place of `tiled_bricks.choose_tile`. Tiles are one row of
    bricks high, as a warp needs a brick for each lane: most lie beyond the image.

    Returns words of foreground and of settled first elements, brick by brick, and the labels after
    each kernel.
    """
    choose_tile(lambda *given: (5, 0, 0))
    gpu, workspace, described = HostGpu(), Workspace(), describe(image())
    labels = np.full((SIDE, SIDE), UNWRITTEN, np.int32)
    plan = tiled_bricks.plan_of(described.geometry, described.links, labels.dtype, 1, False)
    label, join, write = (gpu.load(*module)[0] for module in plan.modules)
    memory = workspace.take_struct(gpu, tiled_bricks.TABLE, plan.table)
    table = memory.struct
    given = plan.tiles, plan.rule, described.values
    launch(label, plan.by_tile, *given, labels, table, shared=plan.shared)
    after = [labels.copy()]
    of_border = plan.tile_count, plan.border
    launch(join, plan.by_border, plan.tiles, *of_border, described.values, labels, table)
    after.append(labels.copy())
    launch(
        write, plan.by_tile, plan.tiles, described.values, labels, table, plan.columns, None, None
    )
    after.append(labels)
    of_image = [tile * plan.by_tile[1] + brick for tile in (0, 1) for brick in (0, 1)]
    return memory["foreground"][of_image], memory["settled"][of_image], after


def bits_of(word):
    """Return the elements of a brick's word as an array of 8 x 8."""
    return np.array([int(word) >> bit & 1 for bit in range(BRICK**2)]).reshape(BRICK, BRICK)


def drawn(symbols, width):
    """Return a drawing of 16 x 16 symbols, with lines between bricks and between tiles."""
    lines = []
    for y, row in enumerate(symbols):
        if y == BRICK:
            lines.append("=" * (SIDE * (width + 1) + 1))
        cells = [f"{symbol:>{width}}" for symbol in row]
        lines.append(" ".join([*cells[:BRICK], "|", *cells[BRICK:]]).rstrip())
    return "\n".join(lines)


def drawings(choose_tile):
    """Return the drawings of the page by name."""
    foreground, settled, (entries, joined, labels) = stages(choose_tile)
    words = "\n".join(f"brick {k}: {int(word):016x}" for k, word in enumerate(foreground))
    components = np.full((SIDE, SIDE), ".", "U1")
    alone = np.zeros((SIDE, SIDE), bool)
    for at, word in zip(bricks(), settled, strict=True):
        numbers = label(image()[at])
        letters = np.array([".", *"abcdefghij"])[numbers]
        first = np.unique(numbers, return_index=True)[1]
        letters.flat[first] = np.char.upper(letters.flat[first])
        components[at] = letters
        alone[at] = bits_of(word)
    return {
        "image": drawn(np.where(image(), "#", "."), 1),
        "bits": words,
        "components": drawn(components, 1),
        "entries": drawn(shown_entries(entries, alone), 4),
        "joins": drawn(shown_entries(followed(joined), alone), 4),
        "labels": drawn(np.where(labels < 0, ".", labels.astype(str)), 4),
    }


def followed(labels):
    """Return each entry as the root that it leads to: which it holds depends on who was first."""
    flat = labels.ravel().copy()
    for i in range(flat.size):
        while flat[i] >= 0 and flat[flat[i]] != flat[i]:
            flat[i] = flat[flat[i]]
    return flat.reshape(labels.shape)


def shown_entries(labels, alone):
    """Return entries as text: "*" for what is settled, "~n" for a settled label n."""
    symbols = np.where(labels < 0, "~" + (~labels).astype(str).astype("U8"), labels.astype("U8"))
    symbols[labels == UNWRITTEN] = "."
    symbols[alone] = "*"
    return symbols
