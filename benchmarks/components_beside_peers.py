"""Times contacts, holes, numbers and walks over components beside their peers.

    python benchmarks/components_beside_peers.py [--rounds 5] [--only TASK] [--input NAME] [--wall]
        [--device cuda] [--json FILE]

Peers are cc3d, fastremap, fill_voids, scikit-image and SciPy; pip installs them. Every answer is
compared with the peer's before both are timed, in turns. A line has the median of our milliseconds
on one thread and on two, and, of each peer, its median and what multiple of ours it is. Times are
those of the processor, as others may use the machine; --wall takes the time that passes, which is
what says how much a second thread helps. With --device cuda labels lie on the GPU, the time that
passes until it is done is taken, and peers are CuPy, what its users write, and cuCIM if that is
installed.
"""

import argparse
import itertools
from functools import partial
from pathlib import Path

import numpy as np
from turns import host, line_of, medians_in_turns, place_on, record_of, write_records

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


def masked(labels):
    """Return a mask of two thirds of the labels, with holes."""
    return labels % 3 != 1


def scattered(labels):
    """Give labels numbers that are large and far apart, but the background."""
    return labels.astype(np.int64) * 1_000_003_000_007


def walk(walker):
    """Return the sizes of some components, of which each has a mask."""
    return [int(np.count_nonzero(mask)) for mask in itertools.islice(walker, WALKED)]


WALK = f"walk of {WALKED}"
# What it is, what is done to labels before, and our function.
TASKS = {
    "contacts, faces": (None, partial(conncomp.contacts, connectivity=1)),
    "contacts, all": (None, conncomp.contacts),
    "holes of a mask": (masked, conncomp.fill_holes),
    "small holes of a mask": (masked, partial(conncomp.fill_holes, max_size=LEAST)),
    "small components of a mask": (
        lambda labels: ~masked(labels),
        partial(conncomp.remove_small_components, min_size=LEAST, connectivity=1),
    ),
    "numbers": (
        lambda labels: conncomp.remove_small_components(labels, LEAST),
        conncomp.relabel_consecutive,
    ),
    "numbers of large labels": (scattered, conncomp.relabel_consecutive),
    WALK: (
        None,
        lambda labels: walk(component.mask for component in conncomp.iterate_components(labels)),
    ),
}


def equal(ours, theirs):
    """Whether arrays or lists are equal, wherever they lie."""
    return np.array_equal(host(ours), host(theirs))


def same_order(ours, theirs):
    """Whether numbers are those of a peer, which also counts the background."""
    return equal(ours - ours.min(), theirs)


def same_areas(ours, areas):
    """Whether pairs and areas are those of cc3d."""
    pairs = zip(map(tuple, ours.pairs.tolist()), ours.areas.tolist(), strict=True)
    return dict(pairs) == areas


def same_counts(ours, touching):
    """Whether pairs are the same, and how often they touch."""
    return equal(ours.pairs, touching[0]) and equal(ours.counts, touching[1])


def places_of_unique(xp, labels):
    """Return the place of each label among those that there are."""
    return xp.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def peers_on_cpu():
    """Return the peers of each task, with what compares the answers."""
    import cc3d
    import fastremap
    import fill_voids
    from scipy import ndimage
    from skimage.morphology import remove_small_holes, remove_small_objects
    from skimage.segmentation import relabel_sequential

    def contacts_of_cc3d(connectivity, labels):
        neighbours = NEIGHBOURS[connectivity][labels.ndim]
        return cc3d.contacts(labels.view(np.uint32), connectivity=neighbours)

    def dust_of_cc3d(mask):
        neighbours = NEIGHBOURS[1][mask.ndim]
        return cc3d.dust(mask, LEAST, connectivity=neighbours, in_place=False)

    def walk_of_scipy(labels):
        boxes = enumerate(ndimage.find_objects(labels))
        return walk(labels[box] == 1 + k for k, box in boxes)

    def walk_of_cc3d(labels):
        images = cc3d.each(labels.view(np.uint32), binary=True)
        return walk(image for _, image in images)

    # fastremap numbers labels in the order of their first elements, which is not compared.
    renumber = {"fastremap": (lambda labels: fastremap.renumber(labels)[0], None)}
    sequential = {"skimage": (lambda labels: relabel_sequential(labels)[0], equal)}
    unique = {"numpy": (partial(places_of_unique, np), same_order)}
    return {
        "contacts, faces": {"cc3d": (partial(contacts_of_cc3d, 1), same_areas)},
        "contacts, all": {"cc3d": (partial(contacts_of_cc3d, None), same_areas)},
        "holes of a mask": {
            "fill_voids": (lambda mask: fill_voids.fill(mask, in_place=False), equal),
            "scipy": (ndimage.binary_fill_holes, equal),
        },
        # Fills what is small at the border, too.
        "small holes of a mask": {"skimage": (partial(remove_small_holes, max_size=LEAST), None)},
        "small components of a mask": {
            "skimage": (partial(remove_small_objects, max_size=LEAST - 1), equal),
            "cc3d": (dust_of_cc3d, equal),
        },
        "numbers": renumber | sequential,
        "numbers of large labels": renumber | unique,
        WALK: {"scipy": (walk_of_scipy, equal), "cc3d": (walk_of_cc3d, equal)},
    }


def contacts_of_slices(xp, axes, labels):
    """Return pairs that touch, and how often, from each element and those one step further."""
    rows, keys = int(labels.max()) + 1, []
    for step in itertools.product((-1, 0, 1), repeat=labels.ndim):
        if not any(step) or step < (0,) * labels.ndim or sum(map(abs, step)) > axes:
            continue
        moves = list(zip(step, labels.shape, strict=True))
        here = labels[tuple(slice(max(0, -move), n - max(0, move)) for move, n in moves)]
        ahead = labels[tuple(slice(max(0, move), n - max(0, -move)) for move, n in moves)]
        touching = (here != ahead) & (here > 0) & (ahead > 0)
        first, second = here[touching].astype(np.int64), ahead[touching].astype(np.int64)
        keys.append(xp.minimum(first, second) * rows + xp.maximum(first, second))
    pairs, counts = xp.unique(xp.concatenate(keys), return_counts=True)
    return xp.stack([pairs // rows, pairs % rows], axis=1), counts


def small_components_of_label(xp, ndimage, mask):
    """Remove small components by labels and a table of sizes."""
    labels, _ = ndimage.label(mask)
    large = xp.bincount(labels.ravel()) >= LEAST
    large[0] = False
    return large[labels]


def small_holes_of_label(xp, ndimage, mask):
    """Fill small components of the background by labels and a table, but those at the border."""
    labels, _ = ndimage.label(~mask)
    filled = xp.bincount(labels.ravel()) <= LEAST
    for axis in range(mask.ndim):
        for end in (0, -1):
            filled[xp.moveaxis(labels, axis, 0)[end].ravel()] = False
    filled[0] = True
    return filled[labels]


def whole_masks(labels):
    """Return images of the whole array, one for each label."""
    return (labels == 1 + k for k in range(int(labels.max())))


def peers_of_library(xp, ndimage):
    """Return the peers that CuPy has or its users write; NumPy and SciPy have them, too."""
    unique = {"unique": (partial(places_of_unique, xp), same_order)}
    return {
        "contacts, faces": {
            "slices": (partial(contacts_of_slices, xp, 1), same_counts),
        },
        "contacts, all": {
            "slices": (lambda labels: contacts_of_slices(xp, labels.ndim, labels), same_counts),
        },
        "holes of a mask": {"ndimage": (ndimage.binary_fill_holes, equal)},
        "small holes of a mask": {
            "label": (partial(small_holes_of_label, xp, ndimage), equal),
        },
        "small components of a mask": {
            "label": (partial(small_components_of_label, xp, ndimage), equal),
        },
        "numbers": unique,
        "numbers of large labels": unique,
        WALK: {"whole masks": (lambda labels: walk(whole_masks(labels)), equal)},
    }


def peers_of_cucim():
    """Return the peers of cuCIM, none if that is not installed."""
    try:
        from cucim.skimage.morphology import remove_small_holes, remove_small_objects
        from cucim.skimage.segmentation import relabel_sequential
    except ImportError:
        return {}
    sequential = {"cucim": (lambda labels: relabel_sequential(labels)[0], equal)}
    return {
        # Fills what is small at the border, too.
        "small holes of a mask": {
            "cucim": (partial(remove_small_holes, area_threshold=LEAST + 1), None)
        },
        "small components of a mask": {
            "cucim": (partial(remove_small_objects, min_size=LEAST), equal)
        },
        "numbers": sequential,
    }


def peers_on_gpu():
    """Return the peers of each task, with what compares the answers."""
    import cupy
    from cupyx.scipy import ndimage

    of_cucim = peers_of_cucim()
    return {
        task: peers | of_cucim.get(task, {})
        for task, peers in peers_of_library(cupy, ndimage).items()
    }


def measure(labels, task, peers, threads, rounds, place):
    """Return the medians of our milliseconds by threads, and of each peer's."""
    prepare, ours = TASKS[task]
    given = labels if prepare is None else prepare(labels)
    answer = ours(given)
    for peer, (function, same) in peers.items():
        theirs = function(given)
        if same and not same(answer, theirs):
            raise SystemExit(f"{task}: {peer} has another answer")
    calls = dict.fromkeys(threads, partial(ours, given))
    calls |= {peer: partial(function, given) for peer, (function, _) in peers.items()}
    return medians_in_turns(calls, rounds, place)


def main():
    """Print a line for each input and task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the name of a task")
    parser.add_argument("--input", default="", help="part of the name of an input")
    parser.add_argument("--wall", action="store_true", help="the time that passes")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", type=Path, help="where to write what is measured")
    arguments = parser.parse_args()
    place = place_on(arguments.device, processor_time=not arguments.wall)
    on_cpu = arguments.device == "cpu"
    threads, peers = ((1, 2), peers_on_cpu()) if on_cpu else ((1,), peers_on_gpu())
    records = []
    for name, make in inputs():
        if arguments.input not in name:
            continue
        labels = place.copied(make())
        print(f"{name}: {int(labels.max()):,} components", flush=True)
        for task in TASKS:
            if arguments.only not in task:
                continue
            medians = measure(labels, task, peers[task], threads, arguments.rounds, place)
            records.append(record_of(place, name, labels, task, medians))
            print(line_of(records[-1]), flush=True)
    write_records(arguments.json, records)


if __name__ == "__main__":
    main()
