"""Connected components as plainly as they can be written, to compare with.

Roots are the smallest index of each element's component: the flat C-order index in an array, the
vertex number in a graph; -1 marks background.
"""

from itertools import product
from math import prod

import numpy as np
from scipy.sparse import coo_array, csgraph


def label_by_flood_fill(
    image,
    background=None,
    connectivity=None,
    periodic=False,
    structure=None,
    tolerance=0,
    batch_axes=0,
):
    """Return the roots of an array, by flood filling one component after the other."""
    if batch_axes:
        roots = np.empty(image.shape, np.int64)
        for item in np.ndindex(image.shape[:batch_axes]):
            arguments = background, connectivity, periodic, structure, tolerance
            roots[item] = label_by_flood_fill(image[item], *arguments)
        return roots
    masked = np.ma.getmaskarray(image).ravel().tolist()
    image = np.asarray(image)
    neighbours = list_neighbours(image.shape, connectivity, periodic, structure)
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
                if roots[j] == -1 and not ground[j] and are_linked(values[i], values[j], tolerance):
                    roots[j] = start
                    stack.append(j)
    return np.array(roots, np.int64).reshape(image.shape)


def are_linked(one, other, tolerance):
    """Tell whether two values, as numbers of Python or long doubles, are linked."""
    if one == other:
        return True
    if isinstance(tolerance, np.integer | np.floating):
        tolerance = int(tolerance) if tolerance == np.floor(tolerance) else float(tolerance)
    if not tolerance:
        return False
    if isinstance(one, int):
        return abs(one - other) <= tolerance  # exactly
    one, other = float(one), float(other)  # of long doubles
    return one == other or abs(one - other) <= tolerance  # NaN is not


def list_neighbours(shape, connectivity, periodic, structure=None):
    """Return the flat C-order indices of the neighbours of every element."""
    sites = np.arange(prod(shape)).reshape(shape)
    wraps = wrapping_axes(len(shape), periodic)
    offsets = list_offsets(len(shape), connectivity, structure)
    columns = np.empty((len(offsets), *shape), np.int64)
    for column, offset in zip(columns, offsets, strict=True):
        column[...] = np.roll(sites, [-step for step in offset], range(len(shape)))
        for axis, (step, wrap) in enumerate(zip(offset, wraps, strict=True)):
            if step and not wrap:
                np.moveaxis(column, axis, 0)[slice(-1, None) if step > 0 else slice(1)] = -1
    rows = columns.reshape(len(offsets), sites.size).T.tolist()
    return [[neighbour for neighbour in row if neighbour >= 0] for row in rows]


def list_offsets(ndim, connectivity, structure=None):
    """Return the steps to all neighbours of an element."""
    steps = product((-1, 0, 1), repeat=ndim)
    if structure is not None:
        present = np.asarray(structure)
        return [step for step in steps if any(step) and present[tuple(x + 1 for x in step)]]
    reach = ndim if connectivity is None else connectivity
    return [offset for offset in steps if 1 <= ndim - offset.count(0) <= reach]


def label_by_bonds(bonds, periodic=False, batch_axes=0):
    """Return the roots of a lattice, from SciPy's components of a list of its bonds."""
    roots = np.empty(bonds.shape[1:], np.int64)
    for item in np.ndindex(roots.shape[:batch_axes]):
        joined = bonds[(slice(None), *item)]
        shape = joined.shape[1:]
        site = np.arange(roots[item].size).reshape(shape)
        ends = [np.zeros((2, 0), np.int64)]
        for axis, wrap in enumerate(wrapping_axes(len(shape), periodic)):
            along = np.moveaxis(joined[axis], axis, 0)
            here = np.moveaxis(site, axis, 0)
            following = np.concatenate([here[1:], here[:1]])
            kept = slice(None) if wrap else slice(-1)
            present = along[kept]
            ends.append(np.stack([here[kept][present], following[kept][present]]))
        pairs = np.concatenate(ends, axis=1)
        weights = np.ones(pairs.shape[1], np.int8)
        graph = coo_array((weights, tuple(pairs)), shape=(site.size, site.size))
        if site.size:
            labels = csgraph.connected_components(graph, directed=False)[1]
            roots[item] = roots_of_labels(labels).reshape(shape)
    return roots


def number_items(roots, batch_axes=0):
    """Return consecutive labels that begin again for each item, and how many each item has."""
    labels = np.zeros(roots.shape, np.int64)
    counts = np.zeros(roots.shape[:batch_axes], np.int64)
    for item in np.ndindex(counts.shape):
        labels[item] = consecutive(roots[item], first=1)
        counts[item] = labels[item].max(initial=0)
    return labels, counts


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
    """Return the roots of a large array, from SciPy's components of all pairs that connect."""
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


def strong_components_by_tarjan(num_vertices, arcs):
    """Return the roots of strong components, by Tarjan's search as his paper has it, on a stack."""
    adjacent = [[] for _ in range(num_vertices)]
    for v, w in arcs:
        adjacent[v].append(w)
    number, low_link, roots = ([-1] * num_vertices for _ in range(3))
    points, entered = [], 0
    for start in range(num_vertices):
        # What is on the path, each with the arcs that are left of it.
        path = [(start, iter(adjacent[start]))] if number[start] < 0 else []
        while path:
            v, targets = path[-1]
            if number[v] < 0:
                number[v] = low_link[v] = entered
                entered += 1
                points.append(v)
            w = next(targets, None)
            if w is not None:
                if number[w] < 0:
                    path.append((w, iter(adjacent[w])))
                elif roots[w] < 0:
                    low_link[v] = min(low_link[v], number[w])
                continue
            path.pop()
            if path:
                low_link[path[-1][0]] = min(low_link[path[-1][0]], low_link[v])
            if low_link[v] == number[v]:
                component = [points.pop()]
                while component[-1] != v:
                    component.append(points.pop())
                for member in component:
                    roots[member] = min(component)
    return np.array(roots, np.int64)


def topological(roots, arcs):
    """Return numbers of strong components by the longest path that leads away, and by root."""
    src, dst = roots[np.asarray(arcs, np.int64).reshape(-1, 2).T]
    src, dst = src[src != dst], dst[src != dst]
    heights = np.zeros(len(roots), np.int64)
    while (heights[src] <= heights[dst]).any():
        np.maximum.at(heights, src, heights[dst] + 1)
    sinks_first = sorted(np.unique(roots), key=lambda root: (heights[root], root))
    number = np.empty(len(roots), np.int64)
    number[sinks_first] = np.arange(len(sinks_first))
    return number[roots]


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


def condensed(labels, arcs):
    """Return the distinct arcs between components of these labels, without loops, in order."""
    ends = {(int(labels[v]), int(labels[w])) for v, w in arcs}
    return sorted((v, w) for v, w in ends if v != w)
