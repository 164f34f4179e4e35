"""Times all columns of a table of components beside scikit-image's, on the CPU.

    python benchmarks/columns_beside_peers.py [--side 4096] [--share 512] [--rounds 7]
        [--threads 1 2] [--cpu]

Cells are ellipses of 25 to 85 elements, one in each square of 13 x 13; the image is of 16 bits.
scikit-image's `regionprops_table` takes a millisecond a cell, so it measures a corner of `share`
elements a side; the ratio is that of times for a cell, the median of rounds in which both take
turns. Values are compared first. On a busy machine --cpu, the processor time, says more about one
thread.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
from skimage.measure import regionprops_table
from skimage.measure._regionprops import COL_DTYPES

import conncomp

PITCH = 13


def cells(side, seed=0):
    """Return labels of ellipses that do not touch, in the order of squares."""
    random, count = np.random.default_rng(seed), side // PITCH
    shape, labels = (count, count), np.zeros((side, side), np.int32)
    places = np.arange(count * PITCH)
    square = places // PITCH
    at = np.ix_(square, square)
    offsets = [random.uniform(-1.5, 1.5, shape)[at] for _ in range(2)]
    along = (places % PITCH + 0.5 - PITCH / 2).astype(np.float32)
    dy, dx = along[:, None] - offsets[0], along[None] - offsets[1]
    angle = random.uniform(0, np.pi, shape)[at]
    long, short = random.uniform(3, 5.4, shape)[at], random.uniform(2.5, 5, shape)[at]
    across = (dy * np.cos(angle) + dx * np.sin(angle)) / long
    inside = across**2 + ((dx * np.cos(angle) - dy * np.sin(angle)) / short) ** 2 <= 1
    numbers = square[:, None] * count + square + 1
    labels[: len(places), : len(places)] = np.where(inside, numbers, 0)
    return labels, random.integers(0, 1 << 16, labels.shape, np.uint16)


def measure(labels, image):
    """Return all columns that scikit-image has numbers of, as ours."""
    return conncomp.component_statistics(labels, image, properties=NAMES).columns()


NAMES = [name for name, dtype in COL_DTYPES.items() if dtype is not object]


def seconds_of(clock, call, *arguments):
    """Return what a call takes, and its result."""
    begin = clock()
    result = call(*arguments)
    return clock() - begin, result


def compare(ours, theirs):
    """Raise unless values are the same but for rounding, which is most of what is nearly 0."""
    for name, column in theirs.items():
        room = 1e-9 * np.nanmax(np.abs(column)) + 1e-6 * name.startswith("moments")
        if name != "orientation":
            np.testing.assert_allclose(ours[name], column, 1e-6, room, err_msg=name)


def main():
    """Print times, ratios and bytes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--share", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    labels, image = cells(given.side)
    share = slice(given.share), slice(given.share)
    corner = [np.ascontiguousarray(array[share]) for array in (labels, image)]
    warnings.simplefilter("ignore")
    table = regionprops_table(*corner, NAMES)
    compare(measure(*corner), table)
    columns = measure(labels, image)
    few, count = len(table["label"]), len(columns["label"])
    bytes_each = sum(column.nbytes for column in columns.values()) / count / len(columns)
    print(f"{count} cells, {len(columns)} columns of {bytes_each:.1f} bytes a cell")
    times = {threads: [] for threads in given.threads}
    theirs = []
    for _ in range(given.rounds):
        theirs.append(seconds_of(clock, regionprops_table, *corner, NAMES)[0] / few * count)
        for threads, ours in times.items():
            conncomp.set_num_threads(threads)
            ours.append(seconds_of(clock, measure, labels, image)[0])
    print(f"scikit-image: {statistics.median(theirs):.1f} s, from {few} cells")
    for threads, ours in times.items():
        ratio = statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
        print(f"{threads} threads: {statistics.median(ours):.3f} s, ratio {ratio:.0f}")


if __name__ == "__main__":
    main()
