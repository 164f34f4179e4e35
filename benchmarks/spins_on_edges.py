"""Nanoseconds a spin and update of vectors and Potts' states on any edges, with measurement.

python benchmarks/spins_on_edges.py [--device cuda] [--length 2048] [--updates 10]

Of square lattices, and of cubic ones of as many sites, near critical points; and of two of them by
the kernels of words, for comparison. Medians of five rounds, after updates from a hot start.
"""

import argparse
from statistics import median
from time import perf_counter

from conncomp.models import ON, XY, Clock, Heisenberg, Potts


def time_of(update, updates, sites):
    """Return nanoseconds a spin and update, the median of five rounds."""
    times = []
    for _ in range(5):
        begin = perf_counter()
        update(updates)  # whose records arrive here
        times.append((perf_counter() - begin) / updates / sites * 1e9)
    return median(times)


def main():
    """Print a line for each model, with each of its updates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--updates", type=int, default=10)
    asked = parser.parse_args()
    square, side = (asked.length,) * 2, round(asked.length ** (2 / 3))
    cubic = (side,) * 3
    turned = ("antiperiodic", True)  # which only the kernels of edges have
    how = {"seed": 1, "device": asked.device}
    models = {
        "XY, words": XY(square, **how),
        "XY": XY(square, periodic=turned, beta=1.1199, **how),
        "XY triangular": XY(square, lattice="triangular", beta=0.68, **how),
        "clock of 6": Clock(square, 6, beta=1.1, **how),
        "Heisenberg, words": Heisenberg(cubic, **how),
        "Heisenberg": Heisenberg(cubic, periodic=(*turned, True), beta=0.693, **how),
        "O(4)": ON(cubic, 4, beta=0.936, **how),
        "O(8)": ON(cubic, 8, beta=1.9, **how),
        "Potts of 3": Potts(square, 3, 1.0, field=1e-3, **how),
        "Potts of 3, triangular": Potts(square, 3, lattice="triangular", **how),
    }
    for name, model in models.items():
        kinds = ["swendsen_wang", "wolff"]
        if not isinstance(model, Potts):
            kinds.append("metropolis")
        times = []
        for kind in kinds:
            update = getattr(model, kind)
            update(asked.updates)
            times.append(f"{kind} {time_of(update, asked.updates, model.sites):.4f}")
        print(f"{name}: {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
