"""Times all columns of a table of components beside scikit-image's, on the CPU.

    python benchmarks/columns_beside_peers.py [--side 4096] [--share 1024] [--rounds 5]
        [--threads 1 2]

Cells are ellipses of 25 to 85 elements, one in each square of 13 x 13; the image is of 16 bits.
scikit-image's `regionprops_table` takes milliseconds a cell, so it measures a corner of `share`
elements a side; the ratio is that of times for a cell. Values are compared there first.
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


def seconds_of(call, *arguments):
    """Return what a call takes, and its result."""
    begin = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - begin, result


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
    parser.add_argument("--share", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    labels, image = cells(given.side)
    corner = tuple(
        np.ascontiguousarray(array[: given.share, : given.share]) for array in (labels, image)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, table = seconds_of(regionprops_table, *corner, NAMES)
    compare(measure(*corner), table)
    few = len(table["label"])
    per_cell = theirs / few
    print(f"scikit-image: {theirs:.1f} s for {few} cells, {1e3 * per_cell:.2f} ms each")
    for threads in given.threads:
        conncomp.set_num_threads(threads)
        times = [seconds_of(measure, labels, image)[0] for _ in range(given.rounds)]
        columns = measure(labels, image)
        count, ours = len(columns["label"]), statistics.median(times)
        bytes_each = sum(column.nbytes for column in columns.values()) / count / len(columns)
        print(f"{threads} threads: {ours:.3f} s ({min(times):.3f} to {max(times):.3f})")
        print(f"  {count} cells, {len(columns)} columns of {bytes_each:.1f} bytes a cell")
        print(f"  scikit-image over ours: {per_cell * count / ours:.0f}")


if __name__ == "__main__":
    main()
