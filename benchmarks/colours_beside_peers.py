"""Times `colour_components` beside scikit-image's `label2rgb`, on the CPU.

    python benchmarks/colours_beside_peers.py [--rounds 5] [--threads 1 2] [--only NAME] [--cpu]

Where labels are few, label2rgb is given our colours first, and both pictures are compared. Both are
timed in turns, so that whatever else runs on the machine meets both. A line has the medians of our
milliseconds and of label2rgb's, without an image and over one in grey, and how often ours go into
them. On a busy machine --cpu, the processor time, says more about one thread.
"""

import argparse
import statistics
import time
import warnings
from functools import partial

import numpy as np
from skimage.color import label2rgb

import conncomp
from conncomp import generate

MOST_COMPARED = 2000  # labels whose colours label2rgb is given


def inputs():
    """Yield names and functions that make labels."""
    for shape in ((256, 256), (2048, 2048), (256, 256, 256)):
        size = " x ".join(map(str, shape))
        yield f"{size}, cells", lambda s=shape: conncomp.label(generate.voronoi(s, 500))
        yield f"{size}, blobs", lambda s=shape: conncomp.label(generate.blobs(s), connectivity=1)
        noise = partial(generate.random_array, shape, 0.3)
        yield f"{size}, noise 30 %", lambda n=noise: conncomp.label(n(), connectivity=1)
        if len(shape) == 2:
            own = partial(np.arange, 1, 1 + np.prod(shape), dtype=np.int32)
            yield f"{size}, each its own", lambda o=own, s=shape: o().reshape(s)


def check(labels, image):
    """Compare a mixture with that of label2rgb, which has real numbers where ours are bytes."""
    colours = np.zeros((labels.max() + 1, 3), np.uint8)
    colours[labels] = conncomp.colour_components(labels)
    theirs = label2rgb(labels, image, colours[1:] / 255, alpha=0.4, bg_label=0, bg_color=None) * 255
    ours = conncomp.colour_components(labels, image, alpha=0.4, value_range=(0, 255))
    assert abs(ours - theirs).max() < 1.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--only", default="")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    warnings.simplefilter("ignore")
    for name, make in inputs():
        if options.only not in name:
            continue
        labels = make()
        image = np.random.default_rng(1).integers(0, 256, labels.shape).astype(np.uint8)
        if labels.max() <= MOST_COMPARED:
            check(labels, image)
        for threads in options.threads:
            conncomp.set_num_threads(threads)
            calls = {
                "alone": partial(conncomp.colour_components, labels),
                "label2rgb": partial(label2rgb, labels, bg_label=0),
                "over": partial(conncomp.colour_components, labels, image),
                "label2rgb over": partial(label2rgb, labels, image, bg_label=0, bg_color=None),
            }
            times = {call: [] for call in calls}
            for _ in range(options.rounds):
                for call, function in calls.items():
                    start = clock()
                    function()
                    times[call].append(1e3 * (clock() - start))
            cells = [f"{call} {statistics.median(each):.4g}" for call, each in times.items()]
            ratios = [
                statistics.median(b / a for a, b in zip(times[ours], times[peer], strict=True))
                for ours, peer in (("alone", "label2rgb"), ("over", "label2rgb over"))
            ]
            print(
                f"{name}, {labels.max()} labels, {threads} threads: {', '.join(cells)};",
                f"ratios {ratios[0]:.2f} and {ratios[1]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
