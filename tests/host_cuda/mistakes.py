"""Kernels with a mistake or without one, for test_executor.py: `mistakes.py false barrier_bug`."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from conncomp.kernels.cuda.launcher import launch
from host_cuda.host_gpu import HERE, HostGpu

# Grid, block, arguments (an array of so many elements, or a scalar), bytes of shared memory. Of 256
# threads, some share a clock of ThreadSanitizer.
LAUNCHES = {
    "barrier_bug": (1, 64, (64, 64), 0),
    "barrier_bug of 256": (1, 256, (256, 256), 0),
    "warp_bug": (1, 32, (32, 32), 0),
    "warp_bug of 256": (1, 256, (256, 256), 0),
    "store_bug": (2, 1, (1,), 0),
    "fence_bug": (8, 1, (8, 1, 1), 0),
    "global_bug": (2, 16, (64, np.int32(64)), 0),
    "dynamic_bug": (1, 64, (64,), 256),
    "static_bug": (1, 64, (64,), 0),
}


def main(right, *wanted):
    templates = {name.split()[0]: None for name in LAUNCHES}
    names = tuple(f"{template}<{twin}>" for template in templates for twin in ("true", "false"))
    kernels = dict(
        zip(names, HostGpu(include=HERE / "kernels").load("samples.cuh", names), strict=True)
    )
    for name in wanted:
        grid, block, arguments, shared = LAUNCHES[name]
        values = tuple(np.zeros(a, np.int32) if isinstance(a, int) else a for a in arguments)
        launch(kernels[f"{name.split()[0]}<{right}>"], (grid, block), *values, shared=shared)


if __name__ == "__main__":
    main(*sys.argv[1:])
