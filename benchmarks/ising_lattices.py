"""Nanoseconds a spin and Swendsen-Wang sweep with measurement, at the critical point.

    python benchmarks/ising_lattices.py --device cuda --length 4096

It checks first that the device goes as the CPU does. Beside ours on the CPU stand peapods and
mcising in notes-spin.md.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from conncomp.models import Ising, Potts


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def check(device):
    """Compare spins and records of a few sweeps with those of the CPU."""
    for lattice in ("triangular", "honeycomb", "kagome", "bcc"):
        models = [Ising(70, lattice=lattice, seed=3, device=d) for d in ("cpu", device)]
        records = [model.swendsen_wang(5, clusters=True).records for model in models]
        np.testing.assert_array_equal(*records)
        np.testing.assert_array_equal(*(on_host(model.spins) for model in models))


def nanoseconds(model, sites, sweeps, repeats, **measures):
    """Return the median of repeats, and their extremes, a spin and sweep."""
    model.swendsen_wang(20, **measures)
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        model.swendsen_wang(sweeps, **measures)  # returns what was measured, on the host
        times.append((time.perf_counter() - begin) / sweeps / sites * 1e9)
    return statistics.median(times), min(times), max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    check(given.device)
    length = given.length
    shapes = {"triangular": length, "honeycomb": length, "kagome": length, "bcc": 256}
    for lattice, shape in shapes.items():
        model = Ising(shape, lattice=lattice, seed=1, device=given.device)
        for clusters in (False, True):
            row = nanoseconds(model, model.sites, given.sweeps, given.repeats, clusters=clusters)
            print(f"{lattice} {shape} {clusters=}: {row[0]:.4f} ({row[1]:.4f} to {row[2]:.4f})")
    potts = Potts((length, length), seed=1, device=given.device)
    row = nanoseconds(potts, length**2, given.sweeps, given.repeats)
    print(f"square, engine of Potts: {row[0]:.4f} ({row[1]:.4f} to {row[2]:.4f})")


if __name__ == "__main__":
    main()
