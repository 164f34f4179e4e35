"""What the report of Leyuan Wang 2013 gives in numbers; its two plots have none."""

from __future__ import annotations

MACHINE = "GeForce 540M; Core i3-2330M, 2.2 GHz"
CPU = "Boost, Core i3-2330M"

# The data of charities: milliseconds on the GPU and of Boost on the CPU, and the ratio as printed.
CHARITIES = {"charity-2k": (0.336, 8.0, 23.8), "charity-4k": (0.407, 20.0, 49.14)}

# The worked example: its edges, and the parents after the first round.
EDGES = ((0, 1), (1, 3), (0, 2), (2, 4), (2, 5))
FIRST_ROUND = [0, 0, 0, 1, 2, 2]
NEVER_MARKED = [(1, 3), (2, 4), (2, 5)]
