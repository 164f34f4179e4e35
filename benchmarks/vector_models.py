"""Nanoseconds a spin and update of the XY and the Heisenberg model, at their critical points.

    python benchmarks/vector_models.py --device cuda

It checks first that the device goes as the CPU does. `--kernels` makes a few sweeps of one model
only, for a profiler.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from functools import partial

import numpy as np

from conncomp.models import XY, Heisenberg, Potts

SHAPES = {
    "cuda": [
        (XY, (4096, 4096)),
        (Heisenberg, (256, 256, 256)),
        (XY, (256, 256, 256)),
        (XY, (128, 128)),
    ],
    "cpu": [(XY, (1024, 1024)), (Heisenberg, (96, 96, 96))],
}
CHECKED = [
    (XY, (600, 700)),
    (Heisenberg, (70, 80, 90)),
    (XY, (32, 32)),
    (XY, (9, 8, 7, 64)),
]


def check(device):
    """Compare spins and records of a few updates with those of the CPU."""
    for model_type, shape in CHECKED:
        models = [model_type(shape, beta=1.0, seed=3, device=d) for d in ("cpu", device)]
        for clusters in (True, False):
            records = [model.swendsen_wang(4, clusters=clusters).records for model in models]
            np.testing.assert_array_equal(*records)
        np.testing.assert_array_equal(*(model.wolff(2).records for model in models))
        np.testing.assert_array_equal(*(model.state().arrays[1] for model in models))


def nanoseconds(update, sites, count, repeats):
    """Return the median of repeats, and their extremes, a spin and update."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        update(count)  # returns what was measured, on the host
        times.append((time.perf_counter() - begin) / count / sites * 1e9)
    return statistics.median(times), min(times), max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kernels", type=int, help="the number of one of the shapes")
    parser.add_argument("--json", help="a file for the figures")
    given = parser.parse_args()
    shapes = SHAPES[given.device]
    if given.kernels is not None:
        model_type, shape = shapes[given.kernels]
        model_type(shape, seed=1, device=given.device).swendsen_wang(12)
        return
    check(given.device)
    figures = {}

    def report(name, update, sites):
        figures[name] = nanoseconds(update, sites, given.updates, given.repeats)
        print("{}: {:.4f} ({:.4f} to {:.4f})".format(name, *figures[name]), flush=True)

    for model_type, shape in shapes:
        model = model_type(shape, seed=1, device=given.device)
        model.swendsen_wang(40)
        name = f"{model_type.__name__} {shape}"
        report(f"{name} measured", model.swendsen_wang, model.sites)
        clusters = partial(model.swendsen_wang, clusters=True)
        report(f"{name} clusters", clusters, model.sites)
        report(f"{name} alone", lambda n, m=model: (m.step(n), m.energy()), model.sites)
        report(f"{name} wolff", model.wolff, model.sites)
    for shape in ((4096, 4096), (256, 256, 256)) if given.device == "cuda" else ((1024, 1024),):
        potts = Potts(shape, seed=1, device=given.device)
        potts.swendsen_wang(20)
        report(f"Potts {shape} measured", potts.swendsen_wang, potts.lattice.sites)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
