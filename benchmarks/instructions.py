"""Instructions that calls take, of two builds: the ratio after / before for each.

    CONNCOMP_PORTABLE=1 pip install --no-deps --target before A-CHECKOUT
    CONNCOMP_PORTABLE=1 pip install --no-deps --target after .
    python benchmarks/instructions.py before after --only "label"

Callgrind counts them, so other processes on the machine do not matter, and differences of 0.1 %
show. Each build makes every call once in one interpreter, on one thread, after a first call that is
not counted; the interpreter's own instructions are included. Valgrind has no AVX-512, so the builds
run as x86-64-v3. It takes Valgrind with its headers, a C compiler, and some five minutes a build.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

# Requests to Valgrind are instructions that do nothing elsewhere.
REQUESTS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
SHAPES = [(768, 1024), (64, 96, 128), (200, 100, 40)]


def arrays():
    """Yield random, smooth and many-valued images and volumes, each with its name."""
    import numpy as np

    from conncomp import generate

    for shape in SHAPES:
        name = "x".join(map(str, shape))
        random = np.random.default_rng(1)
        smooth = random.random(shape)
        for axis in range(len(shape)):
            smooth = sum(np.roll(smooth, step, axis) for step in range(5)) / 5
        yield f"random {name}", (random.random(shape) < 0.5).astype(np.uint8)
        yield f"smooth {name}", (4 * smooth / smooth.max()).astype(np.uint8)
        yield f"many values {name}", random.integers(0, 200, shape).astype(np.uint8)
        yield f"blobs {name}", np.asarray(generate.blobs(shape, seed=1)).astype(np.uint8)


def cases():
    """Yield the name of each call, and the call."""
    import numpy as np

    import conncomp
    from conncomp import models
    from conncomp.graph.algorithms import ALGORITHMS as OF_GRAPHS
    from conncomp.graph.algorithms import STRONG_ALGORITHMS
    from conncomp.grid.algorithms import ALGORITHMS as OF_ARRAYS

    for name, array in arrays():
        far = array.ndim
        for dtype, near in product(("u1", "f4"), (1, far)):
            kind = f"{dtype}, connectivity {near}"
            yield (
                f"label {kind}: {name}",
                partial(conncomp.label, array.astype(dtype), connectivity=near),
            )
        within = partial(conncomp.label, array.astype("u4"), tolerance=1, connectivity=far)
        yield f"label within 1: {name}", within
        for algorithm in OF_ARRAYS["cpu"]:
            call = partial(conncomp.label, array, connectivity=1, algorithm=algorithm)
            yield f"label by {algorithm}: {name}", call
        labels = conncomp.label(array, connectivity=1)
        for tool in ("component_sizes", "component_statistics", "sort_by_size"):
            yield f"{tool}: {name}", partial(getattr(conncomp, tool), labels)
        if not name.startswith("many"):  # whose contacts take seconds
            yield f"contacts: {name}", partial(conncomp.contacts, labels)
        yield f"component_wrapping: {name}", partial(conncomp.component_wrapping, array)
    for shape in SHAPES:
        bonds = np.random.default_rng(2).random((len(shape), *shape)) < 0.4
        yield f"label_bonds: {shape}", partial(conncomp.label_bonds, bonds)
    random = np.random.default_rng(3)
    ends = random.integers(0, 10**5, (2, 2 * 10**5))
    graph, weights = conncomp.Graph.from_edges(*ends, 10**5), random.random(2 * 10**5)
    yield "Graph.from_edges", lambda: conncomp.Graph.from_edges(*ends, 10**5).indptr
    for connection, table in (("weak", OF_GRAPHS), ("strong", STRONG_ALGORITHMS)):
        for algorithm in table["cpu"]:
            call = partial(conncomp.connected_components, connection=connection)
            yield f"{connection} by {algorithm}", partial(call, graph, algorithm=algorithm)
    yield "spanning_forest", partial(conncomp.spanning_forest, graph)
    yield "minimum_spanning_forest", partial(conncomp.minimum_spanning_forest, graph, weights)
    pairs = {"a": ends[0] * 7919, "b": ends[1] * 7919}
    yield "cluster_pairs", partial(conncomp.cluster_pairs, pairs, "a", "b")
    kinds = {
        "Potts of 2": partial(models.Potts, q=2, beta=0.5),
        "Potts of 3": partial(models.Potts, q=3, beta=0.5),
        "XY": partial(models.XY, beta=1.0),
    }
    for (name, kind), shape in product(kinds.items(), SHAPES[:2]):
        model = kind(shape, seed=1)
        yield f"swendsen_wang: {name}, {shape}", partial(model.swendsen_wang, 2)
        yield f"wolff: {name}, {shape}", partial(model.wolff, 2)


def make_calls(library, only):
    """Make the calls, in a process that Callgrind runs."""
    import ctypes

    import conncomp

    requests = ctypes.CDLL(library)
    conncomp.set_num_threads(1)
    for name, call in cases():
        if re.search(only, name):
            call()
            requests.begin()
            call()
            requests.end(name.encode())


def count(package, only):
    """Return the instructions of each call in a folder's package."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "requests.so")
        command = ["cc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
        subprocess.run(command, input=REQUESTS, text=True, check=True)
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no"]
        valgrind += [f"--callgrind-out-file={folder}/counts", sys.executable, __file__]
        environment = os.environ | {"CONNCOMP_CPU": "x86-64-v3", "OPENBLAS_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = str(Path(package).resolve())
        command = [*valgrind, "--calls", str(library), "--only", only]
        subprocess.run(command, env=environment, check=True)
        texts = [path.read_text(errors="replace") for path in Path(folder).glob("counts.*")]
    name, total = r"^desc: Trigger: Client Request: (.*)$", r"^(?:totals|summary): (\d+)"
    found = [(re.search(name, text, re.M), re.search(total, text, re.M)) for text in texts]
    return {named[1]: int(counted[1]) for named, counted in found if named}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="folders: before, after")
    parser.add_argument("--only", default="", help="calls whose names have this regular expression")
    parser.add_argument("--json", type=Path, help="a file for the counts")
    parser.add_argument("--calls", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.calls:
        make_calls(given.calls, given.only)
        return
    before, after = (count(package, given.only) for package in given.packages)
    ratios = {name: after[name] / before[name] for name in before if name in after}
    for name, ratio in sorted(ratios.items(), key=lambda item: item[1]):
        print(f"{ratio:.3f}  {before[name]:13,}  {name}")
    print(f"{statistics.geometric_mean(ratios.values()):.3f}  the mean of {len(ratios)} calls")
    if given.json:
        given.json.write_text(json.dumps({"before": before, "after": after}, indent=1) + "\n")


if __name__ == "__main__":
    main()
