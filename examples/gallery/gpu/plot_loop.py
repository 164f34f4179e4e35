"""
Label inside the loop of a simulation (CuPy)
============================================

A simulation that lives on the GPU wants to know its domains at every step, without a
copy to main memory and without a wait. ``numbering="roots"`` calls each component by
its smallest index, so that there is no number of components to wait for, and ``out=``
is the array that every call writes to. An element that is its own root stands for a
component: to count these is to count domains. Together with a ``conncomp.Workspace``
the whole step can be captured in a CUDA graph: the page about simulations shows that,
too.

Where there is no CuPy, or no GPU, ``xp`` is NumPy and the loop is the same, line by
line. The output tells which of the two it was.
"""

import matplotlib.pyplot as plt
import numpy as np

import conncomp

try:
    import cupy

    xp = cupy if cupy.cuda.is_available() else np
except ImportError:
    xp = np

# %%
# The equation of Allen and Cahn: each cell prefers -1 or +1, and the values of its
# neighbours. Opposite edges are neighbours.

side, launches, steps = 256, 60, 10
start = np.random.default_rng(1).uniform(-1, 1, (side, side)).astype(np.float32)
field = xp.asarray(start)
roots = xp.empty((side, side), np.int32)
index = xp.arange(side * side, dtype=np.int32).reshape(side, side)
counts = xp.zeros(launches, np.int64)
pictures = {}

for launch in range(launches):
    for _ in range(steps):
        around = sum(xp.roll(field, by, axis) for by in (-1, 1) for axis in (0, 1))
        field += 0.1 * (around - 3 * field - field**3)
    above = field > 0
    conncomp.label(above, connectivity=1, periodic=True, numbering="roots", out=roots)
    counts[launch] = (roots == index).sum()
    if launch + 1 in (1, 6, 60):
        pictures[launch + 1] = roots.copy()

print(f"{launches} labellings, by {xp.__name__}")
print("domains:", counts.tolist()[::10])

# %%
# Only pictures leave the GPU. The background of roots is -1. A domain that an edge of
# the picture cuts goes on at the opposite edge.


def in_main_memory(array):
    """Return an array of NumPy."""
    return array if xp is np else array.get()


figure, axes = plt.subplots(2, 2, figsize=(7.4, 7), layout="constrained")
for panel, (launch, labels) in zip(axes.flat, pictures.items(), strict=False):
    colours = conncomp.colour_components(in_main_memory(labels), background=-1)
    panel.imshow(colours, interpolation="none")
    panel.set_title(f"step {launch * steps}: {int(counts[launch - 1])} domains")
    panel.set_axis_off()
times = steps * np.arange(1, launches + 1)
axes[1, 1].loglog(times, in_main_memory(counts), ".", color="#30638e")
axes[1, 1].set(xlabel="step", title="domains")
plt.show()
