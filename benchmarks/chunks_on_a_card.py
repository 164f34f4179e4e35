"""Measures `label` of Dask arrays with CuPy chunks on one card beside `label` in its memory.

Labels are held against each other first. Prints JSON: seconds, medians of rounds in turns, and the
ratio of each chunking over the whole array, on so many threads of Dask's.
"""

import argparse
import json
from itertools import product
from statistics import median

import cupy
import dask
import dask.array as da
from turns import gpu_seconds

import conncomp


def images(length):
    """Yield names and cubes of bool: a tenth of smooth noise, and half of noise."""
    random = cupy.random.RandomState(0)
    noise = random.random_sample((length,) * 3, dtype=cupy.float32)
    yield "noise", noise < 0.5
    field = noise
    for axis in range(3):
        field = sum(cupy.roll(field, k, axis) for k in range(-4, 5))
    yield "blobs", field > cupy.percentile(field.reshape(-1)[::97], 90)


def parts(labels, threads):
    """Compute chunks, and leave them apart."""
    blocks = labels.to_delayed().ravel().tolist()
    return dask.compute(*blocks, scheduler="threads", num_workers=threads)


def compared(image, chunk, numbering, threads, rounds):
    """Return a row of the table."""
    lazy = conncomp.label(da.from_array(image, chunks=chunk, asarray=False), numbering=numbering)
    whole = conncomp.label(image, numbering=numbering)
    computed = lazy.compute(scheduler="threads", num_workers=threads)
    assert isinstance(computed, cupy.ndarray)
    assert bool((computed == whole).all()), "labels differ"
    del computed, whole
    times = {"in_memory": [], "chunks": [], "compute": []}
    for _ in range(rounds):
        times["in_memory"].append(gpu_seconds(lambda: conncomp.label(image, numbering=numbering)))
        times["chunks"].append(gpu_seconds(lambda: parts(lazy, threads)))
        times["compute"].append(
            gpu_seconds(lambda: lazy.compute(scheduler="threads", num_workers=threads))
        )
    row = {name: median(of_rounds) for name, of_rounds in times.items()}
    ratio = {
        f"{name}_over_in_memory": row[name] / row["in_memory"] for name in ("chunks", "compute")
    }
    return row | ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=1024, help="of the cube")
    parser.add_argument("--chunks", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    rows = []
    cases = list(product(given.chunks, given.threads, ("roots", "consecutive")))
    for name, image in images(given.length):
        for chunk, threads, numbering in cases:
            known = {"image": name, "chunk": chunk, "threads": threads, "numbering": numbering}
            rows.append(known | compared(image, chunk, numbering, threads, given.rounds))
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(json.dumps({"card": card, "length": given.length, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
