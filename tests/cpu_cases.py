"""Every algorithm for arrays on the CPU, as arguments of `label`, by default and otherwise."""

from itertools import product

from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.on_cpu import LOCAL, MERGE, MOST_TILED_AXES, TILES

ON_CPU = ALGORITHMS["cpu"]
CASES = [{"algorithm": name} for name in ON_CPU]
CASES += [
    {"algorithm": "tiles", "local": local, "merge": merge, "tile": tile}
    for local, merge, tile in (*product(LOCAL, MERGE, TILES[:1]), ("bfs", "sewing", TILES[-1]))
]


def takes(case, shape, batch_axes=0):
    """Whether an algorithm labels arrays of a shape."""
    longer = sum(length > 1 for length in shape[batch_axes:])
    return case["algorithm"] != "tiles" or longer <= MOST_TILED_AXES
