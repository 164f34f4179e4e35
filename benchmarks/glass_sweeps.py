"""Times sweeps of spin glasses, on a GPU, or on the CPU beside ``peapods`` (PyPI).

    python benchmarks/glass_sweeps.py cuda [--length 64] [--samples 8]
    python benchmarks/glass_sweeps.py cpu --peapods PYTHON [--length 32] [--samples 1] [--threads 2]

Lattices are cubes with 32 temperatures and two replicas of each, in each sample. A row is a kind of
couplings, a rule and what is done; numbers are ns a spin and sweep: the median of rounds, the
quickest and the slowest. PYTHON is an interpreter that has ``peapods``, which takes turns with us.
"""

import argparse
import json
import statistics
import subprocess
import time

import numpy as np

TEMPERATURES = np.linspace(0.8, 2.0, 32)
KINDS = {"pm": "bimodal", "gaussian": "gaussian"}

PEAPODS = """
import json, sys, time
import numpy as np
from peapods import Ising

models = {}
for line in sys.stdin:
    length, kind, rule, sweeps = json.loads(line)
    if (length, kind) not in models:
        models[length, kind] = Ising(
            (length,) * 3, kind, np.linspace(0.8, 2.0, 32), n_replicas=2, n_disorder=1
        )
    model = models[length, kind]
    # Without measurements: those of its warmup, less a call that makes one sweep.
    seconds = []
    for number in 1, 1 + sweeps:
        start = time.perf_counter()
        model.sample(number, sweep_mode=rule, warmup_ratio=1 - 1e-9)
        seconds.append(time.perf_counter() - start)
    print(json.dumps((seconds[1] - seconds[0]) / sweeps), flush=True)
"""


def show(name, seconds, spins):
    values = [1e9 * value / spins for value in seconds]
    print(
        f"{name:40} {statistics.median(values):10.5f}  {min(values):.5f} to {max(values):.5f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("device", choices=["cpu", "cuda"])
    parser.add_argument("--length", type=int)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peapods", metavar="PYTHON")
    arguments = parser.parse_args()

    import conncomp
    from conncomp.models import SpinGlass

    on_gpu = arguments.device == "cuda"
    length = arguments.length or (64 if on_gpu else 32)
    samples = arguments.samples or (8 if on_gpu else 1)
    if on_gpu:
        import cupy

        wait = cupy.cuda.Device().synchronize
        print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    else:
        wait = int
        conncomp.set_num_threads(arguments.threads)
    peapods = None
    if arguments.peapods:
        peapods = subprocess.Popen(
            [arguments.peapods, "-c", PEAPODS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"RAYON_NUM_THREADS": str(arguments.threads)},
        )

    def timed(work, times):
        wait()
        start = time.perf_counter()
        for _ in range(times):
            work()
        wait()
        return (time.perf_counter() - start) / times

    for kind, update in (("pm", "metropolis"), ("pm", "heat-bath"), ("gaussian", "metropolis")):
        start = time.perf_counter()
        model = SpinGlass(
            (length,) * 3, kind, temperature=TEMPERATURES, samples=samples, copies=2,
            update=update, seed=1, device=arguments.device,
        )  # fmt: skip
        wait()
        print(f"{kind}, {update}: made in {time.perf_counter() - start:.2f} s")
        spins = model.replicas * length**3
        many = 100 if on_gpu else 5 if kind == "pm" else 1
        model.step(many)
        works = {
            "sweep": (model.step, many),
            "sweep and Houdayer": (lambda model=model: model.step(houdayer=True), 3),
            "energy": (model.energy, 3),
            "overlaps": (model.overlaps, 1),
        }
        seconds = {name: [] for name in (*works, "peapods")}
        for _ in range(arguments.rounds):
            for name, (work, times) in works.items():
                seconds[name].append(timed(work, times))
            if peapods:
                rule = "metropolis" if update == "metropolis" else "gibbs"
                request = length, KINDS[kind], rule, 5
                print(json.dumps(request), file=peapods.stdin, flush=True)
                seconds["peapods"].append(json.loads(peapods.stdout.readline()) * samples)
        for name, values in seconds.items():
            if values:
                show(f"{kind}, {update}, {name}", values, spins)
    if peapods:
        peapods.stdin.close()
        peapods.wait()


if __name__ == "__main__":
    main()
