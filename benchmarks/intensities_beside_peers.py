"""Times `component_statistics` of an image's values, and of faces, beside other libraries.

    python benchmarks/intensities_beside_peers.py [--rounds 5] [--threads 1 2] [--input NAME]
        [--dtype u1 f4] [--cpu] [--device cuda]

Every answer is compared with the peer's before both are timed, in turns, so that whatever else runs
on the machine meets both. A line has the median of our milliseconds, and for each peer its median
and what multiple of ours it is. On a busy machine --cpu, the processor time, says more about one
thread. With --device cuda labels and image lie on the GPU, and the peers are cuCIM's and CuPy's.
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np
from scipy import ndimage

import conncomp
from conncomp import generate

SHAPES = {"512²": (512, 512), "2048²": (2048, 2048), "256³": (256, 256, 256)}
REGIONS = ("intensity_mean", "intensity_min", "intensity_max", "centroid_weighted")
# Peers that make objects of Python of each component are timed up to so many.
MOST_OBJECTS = 3000
COLUMNS = ("sums", "means", "minima", "maxima", "weighted_centroids", "faces")


def inputs():
    """Yield names and labels: few components, more in noise, and many."""
    for name, shape in SHAPES.items():
        yield f"{name}, blobs", conncomp.label(generate.blobs(shape))
        for percent in (50, 10) if len(shape) == 2 else (31, 10):
            noise = generate.random_array(shape, percent / 100)
            yield f"{name}, noise {percent} %", conncomp.label(noise, connectivity=1)


def of_scipy(xp_ndimage, labels, image, index):
    """Measure all that SciPy does, or CuPy by the same functions."""
    low, high, *_ = xp_ndimage.extrema(image, labels, index)
    means = xp_ndimage.mean(image, labels, index)
    centroids = xp_ndimage.center_of_mass(image, labels, index)
    return {"means": means, "minima": low, "maxima": high, "weighted_centroids": centroids}


def sum_of_scipy(xp_ndimage, labels, image, index):
    """Sum only."""
    return {"sums": xp_ndimage.sum_labels(image, labels, index)}


def sum_of_numpy(xp, labels, image, index):
    """Sum only."""
    return {"sums": xp.bincount(labels.ravel(), weights=image.ravel())[1:]}


def of_regions(regionprops_table, labels, image, index):
    """Measure what scikit-image does, or cuCIM."""
    table = regionprops_table(labels, image, properties=REGIONS)
    centroids = [table[f"centroid_weighted-{k}"] for k in range(labels.ndim)]
    return {
        "means": table["intensity_mean"],
        "minima": table["intensity_min"],
        "maxima": table["intensity_max"],
        "weighted_centroids": np.stack([np.asarray(host(along)) for along in centroids], axis=1),
    }


def faces_of_numpy(xp, labels, image, index):
    """Count faces by comparing labels with those one further."""
    columns = []
    for k in range(labels.ndim):
        ahead = xp.pad(labels, [(1, 1) if j == k else (0, 0) for j in range(labels.ndim)])
        first, second = (xp.moveaxis(ahead, k, 0)[cut] for cut in (slice(None, -1), slice(1, None)))
        differ = first != second
        counts = sum(
            xp.bincount(side[differ], minlength=len(index) + 1) for side in (first, second)
        )
        columns.append(counts[1:])
    return {"faces": xp.stack(columns, axis=1)}


def ours(labels, image, **options):
    """Measure, as a dictionary."""
    measured = conncomp.component_statistics(labels, image, moments=False, **options)
    return {name: getattr(measured, name) for name in COLUMNS}


def peers_on(device):
    """Return the peers of each task: what they are called, and whether they make objects."""
    if device == "cpu":
        from skimage.measure import regionprops_table

        xp, module, regions = np, ndimage, ("skimage", regionprops_table)
    else:
        import cupy as xp
        from cupyx.scipy import ndimage as module

        try:
            from cucim.skimage.measure import regionprops_table
        except ImportError:
            regions = None
        else:
            regions = ("cucim", regionprops_table)
    of_image = {
        "sum by bincount": (partial(sum_of_numpy, xp), False),
        "sum by ndimage": (partial(sum_of_scipy, module), False),
        "ndimage": (partial(of_scipy, module), False),
    }
    if regions:
        of_image[regions[0]] = partial(of_regions, regions[1]), device == "cpu"
    of_faces = {"bincount": (partial(faces_of_numpy, xp), False)}
    return {
        "values": (ours, of_image),
        "faces": (lambda labels, image: ours(labels, None, surfaces=True), of_faces),
    }


def host(array):
    """Return an array in main memory."""
    return array.get() if hasattr(array, "get") else array


def check(measured, answer, what):
    """Compare what a peer measured."""
    for name, column in answer.items():
        column = np.asarray(host(column) if hasattr(column, "get") else column)
        if not np.allclose(host(measured[name]), column, rtol=1e-4, atol=1e-5):
            raise SystemExit(f"{what}: {name} differ")


def timed(function, arguments, clock, wait):
    """Return the seconds that a call takes."""
    start = clock()
    function(*arguments)
    wait()
    return clock() - start


def main():
    """Print a line for each input, dtype and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", nargs="+", default=["u1", "f4"])
    parser.add_argument("--input", default="", help="part of the name of an input")
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments = parser.parse_args()

    clock, wait, place = time.perf_counter, (lambda: None), (lambda array: array)
    if arguments.cpu:
        clock = time.process_time
    if arguments.device == "cuda":
        import cupy

        wait, place = cupy.cuda.get_current_stream().synchronize, cupy.asarray
        arguments.threads = [1]
    tasks = peers_on(arguments.device)
    random = np.random.default_rng(0)
    for name, labels in inputs():
        if arguments.input not in name:
            continue
        count, index = int(labels.max()), place(np.arange(1, labels.max() + 1))
        print(f"{name}: {count:,} components", flush=True)
        for dtype in arguments.dtype:
            image = (1 + 250 * random.random(labels.shape)).astype(dtype)
            given = place(labels), place(image)
            for task, (function, peers) in tasks.items():
                if task == "faces" and dtype != arguments.dtype[0]:
                    continue
                usable = {
                    peer: of_peer
                    for peer, (of_peer, of_objects) in peers.items()
                    if not of_objects or count <= MOST_OBJECTS
                }
                measured = function(*given)
                for peer, of_peer in usable.items():
                    check(measured, of_peer(*given, index), f"{task} of {name}: {peer}")
                seconds = {who: [] for who in (*arguments.threads, *usable)}
                for _ in range(arguments.rounds):
                    for number in arguments.threads:
                        conncomp.set_num_threads(number)
                        seconds[number].append(timed(function, given, clock, wait))
                    for peer, of_peer in usable.items():
                        if sum(seconds[peer]) < arguments.rounds:  # slow ones: fewer rounds do
                            task_of_peer = *given, index
                            seconds[peer].append(timed(of_peer, task_of_peer, clock, wait))
                medians = {who: 1e3 * statistics.median(times) for who, times in seconds.items()}
                own = [medians[number] for number in arguments.threads]
                line = f"  {task} {dtype if task == 'values' else '':3}"
                line += "".join(f" {ms:8.2f} ms" for ms in own)
                for peer in usable:
                    ratios = ", ".join(f"{medians[peer] / ms:.1f}" for ms in own)
                    line += f" | {peer} {medians[peer]:.1f} ms: {ratios}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
