"""What the report of Maddix 2014 gives in numbers, as printed."""

from __future__ import annotations

MACHINE = "Tesla C2075"

# The columns of its table. Kernels A and D have blocks of 32 x 6 threads, Kernel B has squares.
KERNELS = ("kernel A", "kernel B, 16", "kernel B, 32", "kernel D")

# Milliseconds for each image, "including the time for the data transfers".
MILLISECONDS: dict[str, tuple[float, float, float, float]] = {
    "maze": (23803.6, 5266.77, 3803.62, 18.3437),
    "maze2": (11817.3, 3484.54, 2848.66, 11.2892),
    "simple": (336.007, 75.6597, 52.7191, 3.29133),
    "simple2": (672.339, 184.219, 126.026, 4.46285),
    "smallballs": (87.9673, 22.515, 18.6664, 2.41507),
    "smallcrosses": (25.5015, 6.41411, 5.03501, 1.09056),
    "smallstanford": (17.5999, 4.0679, 3.88627, 0.931296),
    "stanford": (6594.6, 1481.25, 971.11, 11.2306),
}

# Of the time of Kernel D's kernels, for an image that is not named. A launch of the scan has 75 x
# 75 blocks of 32 x 6 threads.
SHARES = {"scanning": 0.51, "analysis": 0.316, "labelling": 0.136, "starting": 0.037}
SCANS = 6
SCAN_SECONDS = 2.835e-3  # all of them
