"""Times statistics of labels beside cc3d, scikit-image, SciPy and NumPy, on the CPU.

    python benchmarks/statistics_beside_peers.py [VOLUME.npz] [--rounds 7] [--threads 1 2]
        [--only TASK] [--input NAME] [--cpu] [--json FILE]

Every answer is compared with the peer's before both are timed, in turns, so that whatever else runs
on the machine meets both. A line has the median of our milliseconds, and of the ratios of each
peer's time to ours. VOLUME.npz has labels under the name ``labels``. On a busy machine --cpu, the
processor time, says more about one thread.
"""

import argparse
import json
import statistics
import time
from functools import partial
from pathlib import Path

import cc3d
import numpy as np
from scipy import ndimage
from skimage.measure import regionprops_table
from skimage.morphology import remove_small_objects

import conncomp
from conncomp import generate

IMAGE, VOLUME, SMALL = (4096, 4096), (256, 256, 256), (256, 256)
LEAST, MOST = 8, 10  # elements of a component that is kept, and components that are kept
# Peers that make objects of Python of each component are timed up to so many.
MOST_OBJECTS = 20_000


def inputs(volume):
    """Yield names and functions that make labels, of which none but the last is in memory."""
    for name, shape, densities in (("image", IMAGE, (10, 50, 60)), ("volume", VOLUME, (10, 31))):
        for percent in densities:
            make = partial(generate.random_array, shape, percent / 100)
            yield f"{name}, noise {percent} %", lambda make=make: conncomp.label(make())
        blobs = partial(generate.blobs, shape)
        yield f"{name}, blobs", lambda blobs=blobs: conncomp.label(blobs())
    points = partial(generate.patterns.checkerboard, IMAGE)
    yield "image, points", lambda: conncomp.label(points(), connectivity=1)
    yield "image, cells", lambda: conncomp.label(generate.voronoi(IMAGE, 1000))
    small = partial(generate.random_array, SMALL, 0.5)
    yield "image of 256², noise 50 %", lambda: conncomp.label(small(), connectivity=1)
    if volume:
        yield "connectomics", lambda: conncomp.label(np.load(volume)["labels"])


def boxes_of_cc3d(measured):
    """Return the bounding boxes that cc3d measured, as ours."""
    ndim = measured["centroids"].shape[1]
    boxes = measured["bounding_boxes"].reshape(-1, ndim, 2).astype(np.int64)
    boxes[..., 1] += 1
    return boxes


def same_as_cc3d(ours, measured):
    """Whether statistics are those of cc3d, whose centroids are sums of float32 or so."""
    rows = ours.labels
    return (
        np.array_equal(ours.sizes, measured["voxel_counts"][rows])
        and np.array_equal(ours.bounding_boxes, boxes_of_cc3d(measured)[rows])
        and np.allclose(ours.centroids, measured["centroids"][rows], rtol=1e-5)
    )


def same_as_regions(ours, table):
    """Whether statistics are those of scikit-image, of which some are derived from ours."""
    ndim = ours.centroids.shape[1]
    boxes = [[table[f"bbox-{side * ndim + k}"] for side in range(2)] for k in range(ndim)]
    centroids = [table[f"centroid-{k}"] for k in range(ndim)]
    # The tensor of inertia has on its diagonal the variances along the other axes.
    variances = ours.moments.diagonal(axis1=1, axis2=2)
    inertia = [table[f"inertia_tensor-{k}-{k}"] for k in range(ndim)]
    return (
        np.array_equal(ours.sizes, table["area"])
        and np.array_equal(ours.bounding_boxes, np.array(boxes).transpose(2, 0, 1))
        and np.allclose(ours.centroids, np.transpose(centroids))
        and np.allclose(variances.sum(1)[:, None] - variances, np.transpose(inertia), atol=1e-9)
    )


def same_boxes(ours, slices):
    """Whether bounding boxes are those of SciPy."""
    return all(ours.slices(row) == slices[label - 1] for row, label in enumerate(ours.labels))


def same_partition(ours, kept):
    """Whether the same elements are kept, whatever their numbers."""
    return np.array_equal(ours != 0, kept != 0)


def largest_of_cc3d(labels, count=MOST):
    """Let cc3d keep some components."""
    return cc3d.largest_k(labels.view(np.uint32), count, precomputed_ccl=True)


def histogram_of_numpy(labels):
    """Count sizes with NumPy."""
    return np.unique(np.bincount(labels.ravel())[1:], return_counts=True)


def members_of_numpy(labels):
    """List members with NumPy."""
    flat = labels.ravel()
    order = np.argsort(flat, kind="stable")
    return np.r_[0, np.cumsum(np.bincount(flat))], order


def sorted_by_numpy(labels):
    """Renumber components with NumPy, the largest first."""
    sizes = np.bincount(labels.ravel())
    order = np.argsort(-sizes[1:], kind="stable")
    table = np.zeros(len(sizes), labels.dtype)
    table[1 + order] = np.arange(1, len(sizes))
    return table[labels]


def same_order(ours, listed):
    """Whether members are those of NumPy, which lists the background first."""
    begins, members = listed
    background = begins[1]
    return np.array_equal(ours[0][1:] + background, begins[1:]) and np.array_equal(
        ours[1], members[background:]
    )


def same_pair(ours, pair):
    """Whether both arrays of two are equal."""
    return all(map(np.array_equal, ours, pair))


def same_sizes(ours, found):
    """Whether sizes are those of cc3d or NumPy, which count the background, too."""
    counts = found["voxel_counts"] if isinstance(found, dict) else found
    return np.array_equal(ours[1:], counts[1:])


REGIONS = ("area", "bbox", "centroid", "inertia_tensor")
regions_of_skimage = partial(regionprops_table, properties=REGIONS)
statistics_of_cc3d = partial(cc3d.statistics, no_slice_conversion=True)
large_of_cc3d = partial(cc3d.dust, threshold=LEAST, precomputed_ccl=True)
large_of_skimage = partial(remove_small_objects, max_size=LEAST - 1)
OURS = {
    "sizes": conncomp.component_sizes,
    "statistics": partial(conncomp.component_statistics, moments=False),
    "statistics and moments": conncomp.component_statistics,
    "remove small": lambda labels: conncomp.remove_small_components(labels, LEAST),
    "largest": lambda labels: conncomp.largest_components(labels, 1),
    "largest 10": lambda labels: conncomp.largest_components(labels, MOST),
    "members": conncomp.component_members,
    "histogram": conncomp.size_histogram,
    "sort": conncomp.sort_by_size,
}
# Beside which task: the name, the function, whether it makes objects of each component, and what
# compares the answers.
PEERS = (
    ("sizes", "cc3d", statistics_of_cc3d, False, same_sizes),
    ("sizes", "numpy", lambda labels: np.bincount(labels.ravel()), False, same_sizes),
    ("statistics", "cc3d", statistics_of_cc3d, False, same_as_cc3d),
    ("statistics", "scipy", ndimage.find_objects, True, same_boxes),
    ("statistics and moments", "cc3d", statistics_of_cc3d, False, same_as_cc3d),
    ("statistics and moments", "skimage", regions_of_skimage, True, same_as_regions),
    ("remove small", "cc3d", large_of_cc3d, False, np.array_equal),
    ("remove small", "skimage", large_of_skimage, False, np.array_equal),
    ("largest", "cc3d", partial(largest_of_cc3d, count=1), False, same_partition),
    ("largest 10", "cc3d", largest_of_cc3d, True, None),  # of equal sizes it keeps others
    ("members", "scipy", ndimage.value_indices, True, None),
    ("members", "numpy", members_of_numpy, False, same_order),
    ("histogram", "numpy", histogram_of_numpy, False, same_pair),
    ("sort", "numpy", sorted_by_numpy, False, np.array_equal),
)


def timed(function, labels, clock):
    """Return the seconds that a call takes."""
    start = clock()
    function(labels)
    return clock() - start


def measure(name, labels, threads, rounds, only, clock):
    """Yield what was measured of an input, function by function."""
    count = int(labels.max())
    for task, ours in OURS.items():
        if only and only not in task:
            continue
        usable = {}
        for beside, peer, function, of_objects, same in PEERS:
            if beside != task or (of_objects and count > MOST_OBJECTS):
                continue
            if same and not same(ours(labels), function(labels)):
                raise SystemExit(f"{task} of {name}: {peer} has another answer")
            usable[peer] = function
        seconds = {who: [] for who in (*threads, *usable)}
        repeats = 20 if labels.size < 1 << 20 else 1
        for _ in range(rounds * repeats):
            for number in threads:
                conncomp.set_num_threads(number)
                seconds[number].append(timed(ours, labels, clock))
            for peer, function in usable.items():
                if seconds[peer] and sum(seconds[peer]) > rounds:  # slow ones: fewer rounds do
                    continue
                seconds[peer].append(timed(function, labels, clock))
        medians = {who: statistics.median(times) for who, times in seconds.items()}
        yield {
            "input": name,
            "shape": labels.shape,
            "components": count,
            "task": task,
            "seconds": {str(number): medians[number] for number in threads},
            "peers": {peer: medians[peer] for peer in usable},
        }


def main():
    """Print a line for each input and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("volume", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="part of the name of a task")
    parser.add_argument("--input", default="", help="part of the name of an input")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    arguments = parser.parse_args()

    clock = time.process_time if arguments.cpu else time.perf_counter
    limits = arguments.threads, arguments.rounds, arguments.only
    records = []
    for name, make in inputs(arguments.volume):
        if arguments.input not in name:
            continue
        labels = make()
        print(f"{name}: {labels.max():,} components, {labels.dtype}", flush=True)
        for record in measure(name, labels, *limits, clock):
            records.append(record)
            ours = record["seconds"]
            line = f"  {record['task']:23}"
            line += "".join(f" {1e3 * t:9.3f} ms on {n}" for n, t in ours.items())
            for peer, theirs in record["peers"].items():
                ratios = ", ".join(f"{theirs / t:.2f}" for t in ours.values())
                line += f" | {peer} {1e3 * theirs:.3f} ms: {ratios}"
            print(line, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
