"""Measures `stream_labels` on blobs and noise, of 10 % foreground, and the work on the whole."""

import argparse
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=8, help="how often the volume comes")
    times = parser.parse_args().times
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
