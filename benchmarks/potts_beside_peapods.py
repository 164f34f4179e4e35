"""Times Swendsen-Wang sweeps of the Ising model beside ``peapods`` (PyPI), on the CPU.

    python benchmarks/potts_beside_peapods.py PYTHON [--rounds 7] [--threads 2]

PYTHON is an interpreter that has ``peapods``. The two take turns, so that whatever else runs on the
machine meets both. ``peapods`` makes a Metropolis sweep before each update of clusters, whose time
is taken off, and its threads take temperatures: of one it uses one thread, so two lattices are
timed as well.
"""

import argparse
import json
import math
import statistics
import subprocess
import time

SIZES = {512: 60, 4096: 2}  # and sweeps in a round

PEAPODS = """
import json, sys, time
import numpy as np
from peapods import Ising

models = {}
for line in sys.stdin:
    size, lattices, sweeps = json.loads(line)
    key = size, lattices
    temperature = 2 / np.log(1 + np.sqrt(2))
    if key not in models:
        models[key] = Ising((size, size), temperatures=np.full(lattices, temperature))
        models[key].sample(20, cluster_update_interval=1, warmup_ratio=0)
    seconds = []
    for options in {}, {"cluster_update_interval": 1}:
        start = time.perf_counter()
        models[key].sample(sweeps, warmup_ratio=0, **options)
        seconds.append(time.perf_counter() - start)
    print(json.dumps((seconds[1] - seconds[0]) / sweeps), flush=True)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    import conncomp
    from conncomp.models import Potts

    conncomp.set_num_threads(arguments.threads)
    peapods = subprocess.Popen(
        [arguments.python, "-c", PEAPODS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"RAYON_NUM_THREADS": str(arguments.threads)},
    )

    def time_peapods(size, lattices):
        print(json.dumps([size, lattices, SIZES[size]]), file=peapods.stdin, flush=True)
        return json.loads(peapods.stdout.readline()) / lattices

    models = {size: Potts((size, size), 2, "critical", seed=1) for size in SIZES}

    def time_ours(size):
        sweeps = 5 * SIZES[size]
        start = time.perf_counter()
        models[size].swendsen_wang(sweeps)
        return (time.perf_counter() - start) / sweeps

    for size in SIZES:
        models[size].swendsen_wang(50)
        contenders = {
            "conncomp": lambda size=size: time_ours(size),
            "peapods, one lattice": lambda size=size: time_peapods(size, 1),
            "peapods, two lattices": lambda size=size: time_peapods(size, 2),
        }
        seconds = {name: [] for name in contenders}
        for _ in range(arguments.rounds):
            for name, contender in contenders.items():
                seconds[name].append(contender())
        for name, values in seconds.items():
            per_site = statistics.median(values) / size**2 * 1e9
            ratio = statistics.median(
                v / ours for v, ours in zip(values, seconds["conncomp"], strict=True)
            )
            spread = math.log(max(values) / min(values))
            print(
                f"{size:5} {name:22} {per_site:8.2f} ns a site, {ratio:6.1f} times, "
                f"spread {spread:.2f}",
                flush=True,
            )
    peapods.stdin.close()
    peapods.wait()


if __name__ == "__main__":
    main()
