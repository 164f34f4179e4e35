"""Times `component_statistics` of an image's values, and of faces, beside other libraries.

    python benchmarks/intensities_beside_peers.py [--rounds 5] [--threads 1 2] [--input NAME]
        [--dtype u1 f4] [--cpu] [--device cuda] [--json FILE]

Every answer is compared with the peer's before both are timed, in turns, so that whatever else runs
on the machine meets both. A line has the median of our milliseconds, and for each peer its median
and what multiple of ours it is. On a busy machine --cpu, the processor time, says more about one
thread. With --device cuda labels and image lie on the GPU, and the peers are cuCIM's and CuPy's.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from scipy import ndimage
from turns import host, line_of, medians_in_turns, place_on, record_of, write_records

import conncomp
from conncomp import generate

SHAPES = {"512²": (512, 512), "2048²": (2048, 2048), "256³": (256, 256, 256)}
REGIONS = ("intensity_mean", "intensity_min", "intensity_max", "centroid_weighted")
# Peers that are called, or make objects of Python, once for each component are timed up to so many.
MOST_COMPONENTS = 3000
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
    """Return the peers of each task by name, and whether they are for few components only."""
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
        "sum by ndimage": (partial(sum_of_scipy, module), device == "cuda"),
        "ndimage": (partial(of_scipy, module), device == "cuda"),
    }
    if regions:
        of_image[regions[0]] = partial(of_regions, regions[1]), device == "cpu"
    of_faces = {"bincount": (partial(faces_of_numpy, xp), False)}
    return {
        "values": (ours, of_image),
        "faces": (lambda labels, image: ours(labels, None, surfaces=True), of_faces),
    }


def check(measured, answer, what):
    """Compare what a peer measured."""
    for name, column in answer.items():
        parts = [column] if hasattr(column, "get") else column
        column = np.squeeze([host(part) if hasattr(part, "get") else part for part in parts])
        if not np.allclose(host(measured[name]), column, rtol=1e-4, atol=1e-5):
            raise SystemExit(f"{what}: {name} differ")


def main():
    """Print a line for each input, dtype and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dtype", nargs="+", default=["u1", "f4"])
    parser.add_argument("--input", default="", help="part of the name of an input")
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", type=Path, help="where to write what is measured")
    arguments = parser.parse_args()

    place = place_on(arguments.device, processor_time=arguments.cpu)
    threads = arguments.threads if arguments.device == "cpu" else [1]
    tasks = peers_on(arguments.device)
    random, records = np.random.default_rng(0), []
    for name, labels in inputs():
        if arguments.input not in name:
            continue
        count, index = int(labels.max()), place.copied(np.arange(1, labels.max() + 1))
        print(f"{name}: {count:,} components", flush=True)
        for dtype in arguments.dtype:
            image = (1 + 250 * random.random(labels.shape)).astype(dtype)
            given = place.copied(labels), place.copied(image)
            for task, (function, peers) in tasks.items():
                if task == "faces" and dtype != arguments.dtype[0]:
                    continue
                usable = {
                    peer: of_peer
                    for peer, (of_peer, few_only) in peers.items()
                    if not few_only or count <= MOST_COMPONENTS
                }
                measured = function(*given)
                for peer, of_peer in usable.items():
                    check(measured, of_peer(*given, index), f"{task} of {name}: {peer}")
                calls = dict.fromkeys(threads, partial(function, *given))
                calls |= {peer: partial(of_peer, *given, index) for peer, of_peer in usable.items()}
                medians = medians_in_turns(calls, arguments.rounds, place)
                what = f"{task} {dtype}" if task == "values" else task
                records.append(record_of(place, name, labels, what, medians))
                print(line_of(records[-1]), flush=True)
    write_records(arguments.json, records)


if __name__ == "__main__":
    main()
