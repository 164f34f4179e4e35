"""Times contacts, holes, numbers and walks over components beside their peers, on the CPU.

    python benchmarks/components_beside_peers.py [--rounds 5] [--only TASK] [--input NAME] [--wall]

Peers are cc3d, fastremap, fill_voids, scikit-image and SciPy; pip installs them. Every answer is
compared with the peer's before both are timed, in turns. A line has the median of our milliseconds
on one thread and on two, and, of each peer, its median and how many times ours that is. Times are
those of the processor, as others may use the machine; --wall takes the time that passes, which is
what says how much a second thread helps.
"""

import argparse
import itertools
import statistics
import time
from functools import partial

import cc3d
import fastremap
import fill_voids
import numpy as np
from scipy import ndimage
from skimage.morphology import remove_small_holes, remove_small_objects
from skimage.segmentation import relabel_sequential

import conncomp
from conncomp import generate

IMAGE, VOLUME = (4096, 4096), (256, 256, 256)
LEAST = 8  # elements of a component that is kept
WALKED = 200  # components that are walked; cc3d makes an image of the whole array for each
NEIGHBOURS = {1: {2: 4, 3: 6}, None: {2: 8, 3: 26}}


def inputs():
    """Yield names and functions that make labels."""
    for name, shape in (("image", IMAGE), ("volume", VOLUME)):
        for cells in (1000, 100_000):
            points = partial(generate.voronoi, shape, cells)
            yield f"{name}, {cells} cells", lambda p=points: conncomp.label(p(), background=-1)
        noise = partial(generate.random_array, shape, 0.5 if name == "image" else 0.25)
        yield f"{name}, noise", lambda n=noise: conncomp.label(n(), connectivity=1)
        blobs = partial(generate.blobs, shape)
        yield f"{name}, blobs", lambda b=blobs: conncomp.label(b())


def contacts_of_cc3d(labels, connectivity):
    """Let cc3d find areas of contacts."""
    return cc3d.contacts(labels.view(np.uint32), connectivity=NEIGHBOURS[connectivity][labels.ndim])


def same_contacts(ours, areas):
    """Whether pairs and areas are those of cc3d."""
    pairs = zip(map(tuple, ours.pairs.tolist()), ours.areas.tolist(), strict=True)
    return dict(pairs) == areas


def masks_of_cc3d(labels):
    """Give an image of the whole array for each component."""
    return (mask for _, mask in cc3d.each(labels.view(np.uint32), binary=True))


def walk(walker):
    """Return the sizes of some components, of which each has a mask."""
    return [int(np.count_nonzero(mask)) for mask in itertools.islice(walker, WALKED)]


def scattered(labels):
    """Give labels numbers that are large and far apart, but the background."""
    return labels.astype(np.int64) * 1_000_003_000_007


# What it is, what it is done to, our function, and peers with what compares the answers.
TASKS = {
    "contacts, faces": (
        None,
        partial(conncomp.contacts, connectivity=1),
        {"cc3d": (partial(contacts_of_cc3d, connectivity=1), same_contacts)},
    ),
    "contacts, all": (
        None,
        conncomp.contacts,
        {"cc3d": (partial(contacts_of_cc3d, connectivity=None), same_contacts)},
    ),
    "holes of a mask": (
        lambda labels: labels % 3 != 1,
        conncomp.fill_holes,
        {
            "fill_voids": (lambda mask: fill_voids.fill(mask, in_place=False), np.array_equal),
            "scipy": (ndimage.binary_fill_holes, np.array_equal),
        },
    ),
    "small holes of a mask": (
        lambda labels: labels % 3 != 1,
        partial(conncomp.fill_holes, max_size=LEAST),
        {"skimage": (partial(remove_small_holes, max_size=LEAST), None)},  # at the border, too
    ),
    "small components of a mask": (
        lambda labels: labels % 3 == 1,
        partial(conncomp.remove_small_components, min_size=LEAST, connectivity=1),
        {
            "skimage": (partial(remove_small_objects, max_size=LEAST - 1), np.array_equal),
            "cc3d": (
                lambda mask: cc3d.dust(
                    mask, LEAST, connectivity=NEIGHBOURS[1][mask.ndim], in_place=False
                ),
                np.array_equal,
            ),
        },
    ),
    "numbers": (
        lambda labels: conncomp.remove_small_components(labels, LEAST),
        conncomp.relabel_consecutive,
        {
            "fastremap": (lambda labels: fastremap.renumber(labels)[0], None),  # in another order
            "skimage": (lambda labels: relabel_sequential(labels)[0], np.array_equal),
        },
    ),
    "numbers of large labels": (
        scattered,
        conncomp.relabel_consecutive,
        {
            "fastremap": (lambda labels: fastremap.renumber(labels)[0], None),
            "numpy": (
                lambda labels: np.unique(labels, return_inverse=True)[1],
                lambda ours, theirs: np.array_equal(ours - ours.min(), theirs.reshape(ours.shape)),
            ),
        },
    ),
    f"walk of {WALKED}": (
        None,
        lambda labels: walk(component.mask for component in conncomp.each(labels)),
        {
            "scipy": (
                lambda labels: walk(
                    labels[box] == 1 + k for k, box in enumerate(ndimage.find_objects(labels))
                ),
                lambda ours, theirs: ours == theirs,
            ),
            "cc3d": (
                lambda labels: walk(masks_of_cc3d(labels)),
                lambda ours, theirs: ours == theirs,
            ),
        },
    ),
}


def timed(function, labels, clock):
    """Return the seconds that a call takes."""
    start = clock()
    function(labels)
    return clock() - start


def measure(labels, task, rounds, clock):
    """Return the medians of our seconds by threads, and of each peer's."""
    prepare, ours, peers = TASKS[task]
    given = labels if prepare is None else prepare(labels)
    answer = ours(given)
    for peer, (function, same) in peers.items():
        if same and not same(answer, function(given)):
            raise SystemExit(f"{task}: {peer} has another answer")
    seconds = {who: [] for who in (1, 2, *peers)}
    for _ in range(rounds):
        for threads in (1, 2):
            conncomp.set_num_threads(threads)
            seconds[threads].append(timed(ours, given, clock))
        for peer, (function, _) in peers.items():
            if sum(seconds[peer]) < rounds:  # slow ones: fewer rounds do
                seconds[peer].append(timed(function, given, clock))
    return {who: statistics.median(times) for who, times in seconds.items()}


def main():
    """Print a line for each input and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the name of a task")
    parser.add_argument("--input", default="", help="part of the name of an input")
    parser.add_argument("--wall", action="store_true", help="the time that passes")
    arguments = parser.parse_args()
    clock = time.perf_counter if arguments.wall else time.process_time
    for name, make in inputs():
        if arguments.input not in name:
            continue
        labels = make()
        print(f"{name}: {labels.max():,} components", flush=True)
        for task in TASKS:
            if arguments.only not in task:
                continue
            medians = measure(labels, task, arguments.rounds, clock)
            line = f"  {task:27} {1e3 * medians[1]:8.1f} ms, {1e3 * medians[2]:8.1f} on 2"
            for peer in itertools.islice(medians, 2, None):
                ratios = ", ".join(f"{medians[peer] / medians[n]:.2f}" for n in (1, 2))
                line += f" | {peer} {1e3 * medians[peer]:.1f}: {ratios}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
