"""Measure `cluster_pairs` on columns in the memory of a GPU, and where the time goes.

python benchmarks/pairs_on_gpu.py RESULT.json

Each answer is held against that of main memory first, at a hundredth of the size.
"""

import json
import sys
from statistics import median

import cupy
import numpy as np
from turns import gpu_seconds

import conncomp

CASES = {  # pairs, distinct ids, thresholds
    "10^8 pairs of 10^7 ids": (10**8, 10**7, 0),
    "the same, weights and one threshold": (10**8, 10**7, 1),
    "the same, five thresholds": (10**8, 10**7, 5),
    "10^8 pairs of 10^8 ids": (10**8, 10**8, 0),
    "10^8 pairs of 10^4 ids": (10**8, 10**4, 0),
    "3*10^7 pairs of 10^7 ids": (3 * 10**7, 10**7, 0),
    "600,000 pairs of 400,000 ids": (600_000, 400_000, 0),
    "1,000 pairs of 1,000 ids": (1000, 1000, 0),
}


def draw(pairs, ids, thresholds, seed=1):
    """Return both columns, and the options with weights and thresholds."""
    generator = cupy.random.default_rng(seed)
    pool = generator.integers(-(2**63), 2**63 - 1, ids, dtype=cupy.int64)
    left, right = (pool[generator.integers(0, ids, pairs)] for _ in range(2))
    if not thresholds:
        return left, right, {}
    levels = [k / 10 for k in range(9, 9 - thresholds, -1)]
    return left, right, {"weights": generator.random(pairs), "threshold": levels}


def check(pairs, ids, thresholds):
    """Hold the table against that of main memory."""
    left, right, options = draw(pairs, ids, thresholds)
    there = conncomp.cluster_pairs(left, right, **options)
    here = {key: value.get() if key == "weights" else value for key, value in options.items()}
    for column, values in conncomp.cluster_pairs(left.get(), right.get(), **here).items():
        np.testing.assert_array_equal(there[column].get(), values)


def measure(pairs, ids, thresholds):
    left, right, options = draw(pairs, ids, thresholds)
    memory = cupy.get_default_memory_pool()
    memory.free_all_blocks()
    before = memory.total_bytes()
    times = [gpu_seconds(lambda: conncomp.cluster_pairs(left, right, **options)) for _ in range(9)]
    with conncomp.diagnostics.kernel_times() as kernels:
        table = conncomp.cluster_pairs(left, right, **options)
    both = cupy.concatenate([left, right])
    cupy.unique(both[:1000], return_inverse=True)
    return {
        "seconds": median(times[1:]),
        "first": times[0],
        "pairs_a_second": pairs / median(times[1:]),
        "nodes": len(table["node"]),
        "pool_bytes": memory.total_bytes() - before,
        "kernels": dict(kernels),
        "unique_of_both_columns": gpu_seconds(lambda: cupy.unique(both, return_inverse=True)),
    }


def main():
    results = {}
    for name, (pairs, ids, thresholds) in CASES.items():
        check(max(pairs // 100, 10), max(ids // 100, 10), thresholds)
        results[name] = measure(pairs, ids, thresholds)
        print(name, json.dumps(results[name]), flush=True)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    with open(sys.argv[1], "w") as file:
        json.dump({"device": device, "cupy": cupy.__version__, "cases": results}, file, indent=1)


main()
