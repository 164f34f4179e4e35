"""Measures `stream_labels` on blobs and noise, of 10 % foreground, and the work on the whole."""

import argparse
import resource
from time import perf_counter, process_time

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


def tile_of_blobs():
    """Return blobs that fit to themselves on all sides."""
    rng = np.random.default_rng(0)
    field = gaussian_filter(rng.standard_normal((64, 512, 512), np.float32), 4, mode="wrap")
    return field > np.quantile(field, 0.9)


def vast(voxels):
    """Stream a cube of so many voxels, of a tile of blobs."""
    tile = tile_of_blobs()
    across = max(1, round(voxels ** (1 / 3) / 512))
    slab = np.tile(tile, (1, across, across))
    times = -(-voxels // slab.size)
    watched(slabs(slab, len(slab), times), times * np.count_nonzero(slab))


def wide(side, planes):
    """Stream so many planes of side x side, made as they are asked for, eight at once."""
    tile, across = tile_of_blobs(), -(-side // 512)
    parts = (
        np.tile(tile[z % 64 : z % 64 + 8], (1, across, across))[:, :side, :side].copy()
        for z in range(0, planes, 8)
    )
    watched(parts, None)


def watched(volume, foreground):
    """Stream slabs; print speed and memory."""
    voxels = count = elements = 0

    def counted():
        nonlocal voxels
        for slab in volume:
            voxels += slab.size
            yield slab

    start, used = perf_counter(), process_time()
    for batch in conncomp.stream_labels(counted()):
        count, elements = count + len(batch.labels), elements + int(batch.sizes.sum())
    seconds, used = perf_counter() - start, process_time() - used
    assert foreground in (None, elements)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{voxels:.3g} voxels, {count} components, {seconds:.0f} s, {peak:.0f} MiB at most")
    print(
        f"{voxels / seconds / 1e6:.0f} M/s, {2 * voxels / used / 1e6:.0f} by processor time of two"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=8, help="how often the volume comes")
    parser.add_argument("--voxels", type=float, help="of a cube of blobs, in place of all else")
    parser.add_argument("--side", type=int, help="of 24 wide planes, in place of all else")
    given = parser.parse_args()
    if given.side:
        wide(given.side, 24)
        return
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
