"""Thresholds of site and bond percolation on eight lattices, by wrapping, to some 10^-5.

    python benchmarks/percolation_thresholds.py --seconds 20 --json thresholds.json

In two dimensions p_c is where as many runs wrap along no axis as have a cross, on a torus of any
shape. In three, cells are cubes, so that the probability to wrap along any axis is the same at p_c
of all lattices: 0.45997(8), by J. Wang and others, Phys. Rev. E 87, 052107 (2013). Where it is
that, is off by L^-(y + w) with 1/nu = y = 1.141 and w = 1.2 (ibid.), which two sizes tell.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from itertools import product

import numpy as np

import conncomp
from conncomp.models import Percolation, UnitCell

WRAPPING, SHIFT = 0.45997, 1.141 + 1.2


def cubic_cell(places, square):
    """Return a cube of sites, given the squared distance of neighbours."""
    sites, bonds = np.array(places), []
    for (start, a), (end, b) in product(enumerate(sites), repeat=2):
        for step in product((-1, 0, 1), repeat=3):
            distance = b + step - a
            back = end, start, tuple(-n for n in step)
            if abs(distance @ distance - square) < 1e-9 and back not in bonds:
                bonds.append((start, end, step))
    return UnitCell(np.eye(3), sites, bonds)


FCC = [(0.5, 0.5, 0), (0, 0, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)]
CUBES = {
    "bcc": cubic_cell([(0, 0, 0), (0.5, 0.5, 0.5)], 3 / 4),
    "fcc": cubic_cell(FCC, 1 / 2),
    "diamond": cubic_cell([np.add(x, y) for y in (0, 0.25) for x in FCC], 3 / 16),
}
SIZES = {
    "square": (64,),
    "triangular": (64,),
    "honeycomb": (48,),
    "kagome": (40,),
    "cubic": (16, 32),
    "bcc": (12, 24),
    "fcc": (10, 20),
    "diamond": (8, 16),
}


def runs_for(model, p, seconds):
    """Return runs of so many seconds, of which no series are kept."""
    begin, sweeps, runs, done = time.perf_counter(), [], 64, 0
    while (spent := time.perf_counter() - begin) < seconds:
        if sweeps:
            runs = int(min(4 * runs, max(64, done / spent * (seconds - spent)), 200_000))
        sweeps.append(model.sweep(runs, first_run=done, between=(p, p)))
        done += runs
    wraps = np.concatenate([sweep.first_wraps for sweep in sweeps])
    return replace(sweeps[0], first_wraps=wraps)


def threshold(lattice, kind, seconds, seed):
    """Return the estimate, its error, what is known, and how many runs there were."""
    sizes = SIZES[lattice]
    name = "square" if lattice == "cubic" else lattice
    ndim, cell = len(sizes) + 1, CUBES.get(lattice, name)
    known = Percolation.critical_p(kind, ndim, name)
    shares = (1.0,) if ndim == 2 else (0.2, 0.8)
    sweeps = []
    for size, share in zip(sizes, shares, strict=True):
        model = Percolation((size,) * ndim, kind, p=known, lattice=cell, seed=seed + size)
        sweeps.append(runs_for(model, known, share * seconds))
    runs = [sweep.runs for sweep in sweeps]
    if ndim == 2:
        return (*sweeps[0].threshold("balance"), known, runs)
    small, large = (sweep.threshold("any", crossing=WRAPPING) for sweep in sweeps)
    part = 1 / (2**SHIFT - 1)
    value = large.value + part * (large.value - small.value)
    return value, float(np.hypot((1 + part) * large.error, part * small.error)), known, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--lattices", nargs="*", default=list(SIZES))
    parser.add_argument("--json", help="a file for the figures")
    given = parser.parse_args()
    if given.threads is not None:
        conncomp.set_num_threads(given.threads)
    found = {}
    for lattice in given.lattices:
        for kind in ("site", "bond"):
            value, error, known, runs = threshold(lattice, kind, given.seconds, given.seed)
            found[f"{lattice} {kind}"] = value, error, known, runs
            off = (value - known) / error
            print(f"{lattice:10} {kind} {value:.6f} ± {error:.6f}, known {known:.6f}", end=", ")
            print(f"{off:+.1f} errors, {runs} runs", flush=True)
            if given.json:
                with open(given.json, "w") as file:
                    json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
