"""Swendsen–Wang updates of the Ising model on random regular graphs, ns a spin and update.

python benchmarks/ising_on_graphs.py [--device cuda] [--vertices 10000000] [--updates 20]

Each graph is two random rings through all vertices, so that each vertex has four bonds, at its
critical temperature, tanh(1 / T) = 1/3. Without a field, with sizes of clusters, with couplings of
their own, and in a random field; medians of five rounds, after updates from a hot start.
"""

import argparse
from statistics import median
from time import perf_counter

import numpy as np

from conncomp import Graph
from conncomp.models import Ising

CRITICAL = 1 / np.arctanh(1 / 3)


def two_rings(vertices, seed=1):
    """Return a graph of two random rings through all vertices."""
    rng = np.random.default_rng(seed)
    rings = [rng.permutation(vertices).astype(np.int32) for _ in range(2)]
    targets = np.concatenate([np.roll(ring, 1) for ring in rings])
    sources = np.concatenate(rings)
    # From the smaller to the larger one, so that several bonds of two vertices add up.
    ends = np.minimum(sources, targets), np.maximum(sources, targets)
    return Graph.from_edges(*ends, vertices)


def time_of(model, updates, **options):
    """Return nanoseconds a spin and update, the median of five rounds."""
    times = []
    for _ in range(5):
        begin = perf_counter()
        model.swendsen_wang(updates, **options)  # whose records arrive here
        times.append((perf_counter() - begin) / updates / model.sites * 1e9)
    return median(times)


def main():
    """Print a line for each kind of model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vertices", type=int, default=10_000_000)
    parser.add_argument("--updates", type=int, default=20)
    asked = parser.parse_args()
    graph = two_rings(asked.vertices)
    rng = np.random.default_rng(2)
    kinds = {
        "ferromagnet": {},
        "couplings of their own": {"coupling": rng.uniform(0.5, 1.5, graph.num_arcs)},
        "random field": {"field": rng.normal(size=asked.vertices)},
    }
    for name, arguments in kinds.items():
        begin = perf_counter()
        options = {"temperature": CRITICAL, "seed": 1, "device": asked.device}
        model = Ising(graph, **options, **arguments)
        made = perf_counter() - begin
        model.swendsen_wang(asked.updates)
        found = f"{name}: made in {made:.1f} s; {time_of(model, asked.updates):.4f} ns"
        if not arguments:
            sizes = time_of(model, asked.updates, clusters=True)
            energy = model.energy() / model.sites
            found += f", with sizes {sizes:.4f}; energy a spin {energy:.4f} (-2/3 at T_c)"
        print(found, flush=True)


if __name__ == "__main__":
    main()
