"""Milliseconds of calls of two builds, in turn on one machine: the ratio after / before for each.

    pip install --no-deps --target before A-CHECKOUT
    pip install --no-deps --target after .
    python benchmarks/before_after.py before after --device cuda --turns 3

Each turn starts a process for either build, which takes the median of many calls after one that is
not counted: on a GPU that compiles kernels. The ratio is that of the medians of all turns, and the
range beside it that of single turns: what lies inside it is noise.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

# Lengths of images and volumes, vertices of graphs, pairs and the length of lattices.
SIZES = {"cuda": (8192, 512, 2 * 10**6, 10**7, 4096), "cpu": (2048, 128, 10**5, 10**5, 512)}


def cases(place, device):
    """Yield the name of each call, and the call."""
    import numpy as np

    import conncomp
    from conncomp import models

    length, depth, vertices, count, side = SIZES[device]
    random = np.random.default_rng(1)
    arrays = {
        f"{100 * density:.0f} % of {shape}": place.copied(random.random(shape) < density)
        for shape in ((length,) * 2, (length // 16,) * 2, (depth,) * 3)
        for density in (0.1, 0.5, 0.9)
    }
    for name, array in arrays.items():
        for numbering in ("roots", "consecutive"):
            label = partial(conncomp.label, array, connectivity=1, numbering=numbering)
            yield f"label, {numbering}: {name}", label
        labels = conncomp.label(array, connectivity=1)
        yield f"component_sizes: {name}", partial(conncomp.component_sizes, labels)
        yield f"component_statistics: {name}", partial(conncomp.component_statistics, labels)
    for arcs in (2, 12):
        ends = place.copied(random.integers(0, vertices, (2, arcs * vertices)))
        graph = conncomp.Graph.from_edges(*ends, vertices)
        for connection in ("weak", "strong"):
            call = partial(conncomp.connected_components, graph, connection=connection)
            yield f"{connection}: {arcs} arcs a vertex", call
        yield f"spanning_forest: {arcs} arcs a vertex", partial(conncomp.spanning_forest, graph)
    pairs = {name: place.copied(random.integers(0, 2**62, count)) for name in "ab"}
    yield "cluster_pairs", partial(conncomp.cluster_pairs, pairs, "a", "b")
    for model in (models.Potts, models.XY):
        for shape in ((side,) * 2, (64,) * 2):
            lattice = model(shape, beta=1.0, seed=1, device=device)
            yield f"swendsen_wang: {model.__name__} {shape}", partial(lattice.swendsen_wang, 5)


def measure(device, seconds):
    """Print the median milliseconds of each call."""
    from turns import place_on

    place, medians = place_on(device), {}
    for name, call in cases(place, device):
        call()
        times = []
        while len(times) < 3 or sum(times) < seconds:
            place.wait()
            begin = place.clock()
            call()
            place.wait()
            times.append(place.clock() - begin)
        medians[name] = 1e3 * statistics.median(times)
    print(json.dumps({"machine": place.machine, "ms": medians}))


def run(package, options):
    """Return what a process measures of a folder's package."""
    environment = os.environ | {"PYTHONPATH": str(Path(package).resolve())}
    command = [sys.executable, __file__, "--measure", *options]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="folders: before, after")
    parser.add_argument("--device", choices=SIZES, default="cuda")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each call, in each turn")
    parser.add_argument("--json", type=Path, help="a file for all medians")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.device, given.seconds)
        return
    options = ["--device", given.device, "--seconds", str(given.seconds)]
    turns = [[run(package, options) for package in given.packages] for _ in range(given.turns)]
    print(turns[0][0]["machine"])
    for name in turns[0][0]["ms"]:
        before, after = ([turn[k]["ms"][name] for turn in turns] for k in (0, 1))
        ratio = statistics.median(after) / statistics.median(before)
        single = [new / old for new, old in zip(after, before, strict=True)]
        line = f"{ratio:.3f} ({min(single):.3f} to {max(single):.3f})"
        print(f"{line}  {statistics.median(before):9.4g} ms  {name}")
    if given.json:
        given.json.write_text(json.dumps(turns, indent=1) + "\n")


if __name__ == "__main__":
    main()
