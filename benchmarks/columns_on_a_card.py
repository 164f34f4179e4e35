"""Check columns of components on a GPU against the CPU, and time them beside CuPy and cuCIM.

    python benchmarks/columns_on_a_card.py RESULT.json [--rounds 7] [--small]

Cells are discs, or balls, of random radii, one in each square of 13 x 13 or cube of 8 x 8 x 8 of a
plane of 4096 x 4096 (99,225 cells) and a volume of 256 x 256 x 256 (32,768); the image is of 16
bits. All columns that there are on the GPU are compared with those of the CPU: the same to the
bit, but for sums of floating-point numbers, roots and powers. Then groups of columns take turns
with CuPy's idioms, which are sums by `bincount` (and `minimum` and `maximum` of cupyx's ndimage),
and with cuCIM's `regionprops_table`, where it can be imported; the ratio is the median of rounds.
--small is for a try.
"""

import argparse
import json
import statistics
import time
from itertools import product

import cupy
import numpy as np
from cupyx.scipy import ndimage

import conncomp

PLANE, VOLUME = "plane", "volume"
NEAR = (
    "centroid_weighted",
    "moments_weighted",
    "moments_normalized",
    "moments_hu",
    "intensity_std",
    "equivalent_diameter_area",
    "sphericity",
    "axis_major_length",
    "axis_minor_length",
    "inertia_tensor_eigvals",
)
GROUPS = {
    "sizes, boxes, axes": ["area", "bbox", "centroid", "inertia_tensor_eigvals"],
    "moments": ["moments", "moments_central", "moments_normalized"],
    "intensities": ["intensity_mean", "intensity_min", "intensity_max", "intensity_std"],
    "weighted moments": ["moments_weighted", "moments_weighted_central"],
    "Euler numbers": ["euler_number"],
    "perimeters": ["perimeter", "perimeter_crofton"],
    "surfaces": ["surface_area_crofton"],
    "contacts": ["num_touching", "contact_area"],
    "all": "all",
}
# Made in main memory one object after another, by SciPy: minutes of a volume.
HULLS = "area_convex", "feret_diameter_max", "solidity"
ONLY = {"perimeters": PLANE, "surfaces": VOLUME}


def cells(shape, pitch, seed=0):
    """Return labels of discs or balls that do not touch, and an image."""
    random = np.random.default_rng(seed)
    counts = [length // pitch for length in shape]
    radii = random.uniform(0.25, 0.49, counts) * pitch
    places = [np.arange(length) for length in shape]
    squares = [
        np.minimum(place // pitch, count - 1) for place, count in zip(places, counts, strict=True)
    ]
    at = np.ix_(*squares)
    distances = np.zeros(shape, np.float32)
    for axis, (place, square) in enumerate(zip(places, squares, strict=True)):
        offset = (place - (square + 0.5) * pitch + 0.5) ** 2
        distances += offset.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    numbers = np.arange(1, radii.size + 1, dtype=np.int32).reshape(counts)
    labels = np.where(distances <= radii[at] ** 2, numbers[at], 0).astype(np.int32)
    return labels, random.integers(0, 1 << 16, shape).astype(np.uint16)


def all_columns(ndim):
    """Return all columns of numbers, but for hulls in three dimensions."""
    if ndim == 2:
        return "all"
    few = np.ones((2,) * ndim, np.int32)
    names = conncomp.component_statistics(few, few, properties="all").properties
    return [name for name in names if name not in HULLS]


def check(labels, image, placed):
    """Compare all columns with those of the CPU; return how far sums of real numbers are off."""
    found = conncomp.component_statistics(*placed, properties=all_columns(labels.ndim))
    expected = conncomp.component_statistics(labels, image, properties=list(found.properties))
    columns, farthest = found.columns(), {}
    for name, column in expected.columns().items():
        value = columns[name].get()
        if name.startswith(NEAR):
            scale = max(np.nanmax(np.abs(column), initial=0), least_of(name, expected))
            off = float(np.nanmax(np.abs(value - column), initial=0) / scale)
            assert off < 1e-9, (name, off)
            kind = name.partition("-")[0]
            farthest[kind] = max(farthest.get(kind, 0), off)
        else:
            np.testing.assert_array_equal(value, column, err_msg=name)
    return {"columns": len(columns), "components": len(expected.labels), "off": farthest}


def least_of(name, expected):
    """Return what is next to nothing among moments of an order, some of which are 0."""
    kind, *powers = name.split("-")
    if kind != "moments_weighted_central":
        return 1e-3
    spans = np.diff(expected.bounding_boxes, axis=2).max()
    return float(expected.sums.max()) * float(spans) ** sum(map(int, powers))


def idioms(labels, image):
    """Return, by group, what users of CuPy write for the same numbers."""
    flat, count = labels.reshape(-1), int(labels.max()) + 1
    index = cupy.arange(1, count)

    def sums(weights):
        return cupy.bincount(flat, weights.reshape(-1), minlength=count)

    def powers(values):
        ndim = labels.ndim
        axes = [cupy.arange(length, dtype=cupy.float64) for length in labels.shape]
        axes = [
            axis.reshape([-1 if j == k else 1 for j in range(ndim)]) for k, axis in enumerate(axes)
        ]
        for exponents in product(range(4), repeat=ndim):
            weights = values
            for axis, exponent in zip(axes, exponents, strict=True):
                weights = weights * axis**exponent
            sums(cupy.broadcast_to(weights, labels.shape))

    def intensities():
        values = image.astype(cupy.float64)
        sizes, total, squares = cupy.bincount(flat, minlength=count), sums(values), sums(values**2)
        cupy.sqrt(squares / sizes - (total / sizes) ** 2)
        ndimage.minimum(image, labels, index)
        ndimage.maximum(image, labels, index)

    def intercepts():
        for axis in range(labels.ndim):
            for shift in (1, -1):
                beside = cupy.roll(labels, shift, axis)
                cupy.bincount(labels[beside != labels], minlength=count)

    return {
        "moments": lambda: powers(cupy.ones((1,) * labels.ndim)),
        "intensities": intensities,
        "weighted moments": lambda: powers(image.astype(cupy.float64)),
        "perimeters": intercepts,
        "surfaces": intercepts,
    }


def regions(labels, image, names):
    """Return a call of cuCIM's `regionprops_table`, or why there is none."""
    try:
        from cucim.skimage.measure import regionprops_table
    except ImportError as error:
        return None, str(error)
    call = lambda: regionprops_table(labels, image, properties=["label", *names])  # noqa: E731
    try:
        call()
    except Exception as error:  # whatever it cannot
        return None, f"{type(error).__name__}: {error}"[:200]
    return call, None


def seconds_of(call):
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin


def measure(kind, labels, image, rounds):
    """Return, by group of columns, times and ratios."""
    by_cupy, results = idioms(labels, image), {}
    for group, names in GROUPS.items():
        if ONLY.get(group, kind) != kind:
            continue
        names = all_columns(labels.ndim) if names == "all" else names
        measured = lambda names=names: conncomp.component_statistics(  # noqa: E731
            labels, image, properties=names
        )
        calls = {"conncomp": measured}
        result = {}
        if group in by_cupy:
            calls["CuPy's idioms"] = by_cupy[group]
        if group not in ("all", "surfaces", "contacts"):
            call, why = regions(labels, image, names)
            if call is None:
                result["cuCIM"] = why
            else:
                calls["cuCIM"] = call
        for call in calls.values():
            seconds_of(call)  # compiles
        times = [{name: seconds_of(call) for name, call in calls.items()} for _ in range(rounds)]
        for name in calls:
            seconds = statistics.median(each[name] for each in times)
            ratio = statistics.median(each[name] / each["conncomp"] for each in times)
            result[name] = {"seconds": round(seconds, 6), "times ours": round(ratio, 2)}
        results[group] = result
        print(kind, group, json.dumps(result), flush=True)
    return results


def main():
    """Write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("result")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    inputs = {
        PLANE: cells((300, 410) if options.small else (4096, 4096), 13),
        VOLUME: cells((40, 48, 56) if options.small else (256, 256, 256), 8),
    }
    device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    results = {"device": device, "cupy": cupy.__version__}
    for kind, (labels, image) in inputs.items():
        placed = cupy.asarray(labels), cupy.asarray(image)
        results[kind] = {"shape": labels.shape, "check": check(labels, image, placed)}
        print(kind, json.dumps(results[kind]), flush=True)
        results[kind] |= {"groups": measure(kind, *placed, options.rounds)}
        with open(options.result, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
