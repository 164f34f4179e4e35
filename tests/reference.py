"""Connected components as plainly as they can be written, to compare with.

Roots are the smallest index of each element's component: the flat C-order index in an array, the
vertex number in a graph; -1 marks background.
"""

from itertools import product

import numpy as np
from scipy.sparse import coo_array, csgraph


def label_by_flood_fill(image, background=None, connectivity=None, periodic=False):
    """Return the roots of an array, by flood filling one component after the other."""
    masked = np.ma.getmaskarray(image).ravel().tolist()
    image = np.asarray(image)
    neighbours = list_neighbours(image.shape, connectivity, periodic)
    values = image.ravel().tolist()
    ground = [is_background(value, image.dtype, background) for value in values]
    ground = [value or hidden for value, hidden in zip(ground, masked, strict=True)]
    roots = [-1] * image.size
    for start in range(image.size):
        if roots[start] != -1 or ground[start]:
            continue
        roots[start] = start  # the smallest of its component: all before it are filled
        stack = [start]
        while stack:
            i = stack.pop()
            for j in neighbours[i]:
                if roots[j] == -1 and not ground[j] and values[i] == values[j]:
                    roots[j] = start
                    stack.append(j)
    return np.array(roots, np.int64).reshape(image.shape)


def list_neighbours(shape, connectivity, periodic):
    """Return the flat C-order indices of the neighbours of every element."""
    offsets = list_offsets(len(shape), connectivity)
    wraps = wrapping_axes(len(shape), periodic)
    neighbours = []
    for position in np.ndindex(*shape):
        found = []
        for offset in offsets:
            at = [
                (x + step) % length if wrap else x + step
                for x, step, length, wrap in zip(position, offset, shape, wraps, strict=True)
            ]
            if all(0 <= x < length for x, length in zip(at, shape, strict=True)):
                flat = 0
                for x, length in zip(at, shape, strict=True):
                    flat = flat * length + x
                found.append(flat)
        neighbours.append(found)
    return neighbours


def list_offsets(ndim, connectivity):
    """Return the steps to all neighbours of an element."""
    reach = ndim if connectivity is None else connectivity
    steps = product((-1, 0, 1), repeat=ndim)
    return [offset for offset in steps if 1 <= ndim - offset.count(0) <= reach]


def wrapping_axes(ndim, periodic):
    """Return for each axis whether it is periodic."""
    return [periodic] * ndim if isinstance(periodic, bool) else list(periodic)


def is_background(value, dtype, background):
    """Tell whether an element of an array of `dtype` is background."""
    if background is None:
        background = 0
    if background != background:
        return value != value
    if dtype.kind != "f":
        return value == background  # of Python numbers, which compare exactly
    if abs(background) != np.inf and abs(background) > float(np.finfo(dtype).max):
        return False
    return value == dtype.newbyteorder("=").type(background)


def label_by_neighbour_pairs(image, background=None, connectivity=None, periodic=False):
    """Return the roots of an array, from SciPy's components of a list of all pairs that connect.

    For arrays too large to flood fill.
    """
    foreground = image != (background or 0)
    flat = np.arange(image.size).reshape(image.shape)
    sources, targets = [], []
    for offset in list_offsets(image.ndim, connectivity):
        if offset < (0,) * image.ndim:
            continue  # the same pairs, the other way round
        shift, axes = [-step for step in offset], tuple(range(image.ndim))
        joined = foreground & (image == np.roll(image, shift, axes))
        for axis, wrap in enumerate(wrapping_axes(image.ndim, periodic)):
            if offset[axis] and not wrap:
                edge = [slice(None)] * image.ndim
                edge[axis] = -1 if offset[axis] == 1 else 0
                joined[tuple(edge)] = False
        sources.append(flat[joined])
        targets.append(np.roll(flat, shift, axes)[joined])
    ends = np.concatenate(sources), np.concatenate(targets)
    ones = np.ones(len(ends[0]), np.int8)
    pairs = coo_array((ones, ends), shape=(image.size, image.size))
    labels = csgraph.connected_components(pairs, directed=False)[1].reshape(image.shape)
    return np.where(foreground, roots_of_labels(labels), -1)


def components_by_search(num_vertices, arcs, strong=False):
    """Return the roots of a graph, by searching from one vertex after the other."""
    forward = [[] for _ in range(num_vertices)]
    backward = [[] for _ in range(num_vertices)]
    for v, w in arcs:
        forward[v].append(w)
        backward[w].append(v)
    either = [a + b for a, b in zip(forward, backward, strict=True)]
    roots = [-1] * num_vertices
    for start in range(num_vertices):
        if roots[start] == -1:
            if strong:
                component = reachable(start, forward) & reachable(start, backward)
            else:
                component = reachable(start, either)
            for v in component:
                roots[v] = start
    return np.array(roots, np.int64)


def reachable(start, adjacent):
    """Return the vertices that can be reached from `start`."""
    seen = {start}
    stack = [start]
    while stack:
        for w in adjacent[stack.pop()]:
            if w not in seen:
                seen.add(w)
                stack.append(w)
    return seen


def consecutive(roots, first):
    """Return labels `first`, `first` + 1, ... in the order of the roots, 0 for background."""
    found = np.unique(roots[roots >= 0])
    return np.where(roots >= 0, np.searchsorted(found, roots) + first, 0)


def roots_of_labels(labels, background=None):
    """Return the roots that labels numbered in any way stand for."""
    _, smallest, number = np.unique(labels, return_index=True, return_inverse=True)
    roots = smallest[number.reshape(labels.shape)]
    return roots if background is None else np.where(labels == background, -1, roots)
