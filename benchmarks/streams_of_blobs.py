"""Measures `stream_labels` on blobs and noise, of 10 % foreground, and the work on the whole."""

import argparse
import resource
from time import perf_counter

import numpy as np
from scipy.ndimage import gaussian_filter

import conncomp


def volumes(shape):
    rng = np.random.default_rng(0)
    field = gaussian_filter(rng.standard_normal(shape, np.float32), 4)
    return {"blobs": field > np.quantile(field, 0.9), "noise": rng.random(shape) < 0.1}


def slabs(volume, length, times):
    for _ in range(times):
        for begin in range(0, len(volume), length):
            yield volume[begin : begin + length]


def in_memory(volume):
    labels = conncomp.label(volume)
    return conncomp.component_statistics(labels, moments=False)


def vast(voxels):
    """Stream a cube of so many voxels, of a tile of blobs that fits to itself on all sides."""
    rng, length = np.random.default_rng(0), 64
    field = gaussian_filter(rng.standard_normal((length, 512, 512), np.float32), 4, mode="wrap")
    tile = field > np.quantile(field, 0.9)
    across = max(1, round(voxels ** (1 / 3) / 512))
    slab = np.tile(tile, (1, across, across))
    times = -(-voxels // slab.size)
    start = perf_counter()
    count = elements = 0
    for batch in conncomp.stream_labels(slabs(slab, length, times)):
        count, elements = count + len(batch.labels), elements + int(batch.sizes.sum())
    seconds = perf_counter() - start
    assert elements == times * np.count_nonzero(slab)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    size = times * slab.size
    shape = f"{times * length} x {across * 512} x {across * 512}"
    print(
        f"{shape}: {size:.3g} voxels, {count} components, {seconds:.0f} s, {peak:.0f} MiB at most"
    )
    print(f"{size / seconds / 1e6:.0f} M/s, the slab itself is {slab.nbytes / 2**20:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=8, help="how often the volume comes")
    parser.add_argument("--voxels", type=float, help="of a cube of blobs, in place of all else")
    given = parser.parse_args()
    if given.voxels:
        vast(int(given.voxels))
        return
    times = given.times
    for name, volume in volumes((64, 512, 512)).items():
        for length in (64, 1):
            for surfaces in (False, True):
                start = perf_counter()
                batches = conncomp.stream_labels(slabs(volume, length, times), surfaces=surfaces)
                count = sum(len(batch.labels) for batch in batches)
                speed = times * volume.size / (perf_counter() - start)
                print(f"{name}, slabs of {length}, {surfaces=}: {count} at {speed / 1e6:.0f} M/s")
        start = perf_counter()
        in_memory(volume)
        print(f"{name}, in memory: {volume.size / 1e6 / (perf_counter() - start):.0f} M/s")


if __name__ == "__main__":
    main()
