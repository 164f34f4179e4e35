"""Masks labelled and cleaned as plainly as they can be, and what other libraries' texts say.

Arrays of NumPy of shape (B, C, *item). Each function on one mask takes and returns an array without
batch axes; `each` applies it to all.
"""

import numpy as np

from reference import label_by_flood_fill


def each(function, masks, *arguments):
    """Return what a function of one mask returns, for all masks of a batch."""
    kind = function(np.ones((1,) * (masks.ndim - 2), masks.dtype), *arguments).dtype
    out = np.empty(masks.shape, kind)
    for item in np.ndindex(*masks.shape[:2]):
        out[item] = function(masks[item], *arguments)
    return out


def labels_of(mask, connectivity=None):
    """Number components in the order of their first elements."""
    roots = label_by_flood_fill(mask != 0, connectivity=connectivity)
    numbers = {root: k for k, root in enumerate(sorted(set(roots.flat) - {-1}), 1)}
    return np.array([numbers.get(root, 0) for root in roots.flat], np.int32).reshape(mask.shape)


def areas_of(mask, connectivity=None):
    """Tell each element the area of its component."""
    labels = labels_of(mask, connectivity)
    areas = [np.count_nonzero(labels == label) if label else 0 for label in labels.flat]
    return np.array(areas, np.int32).reshape(mask.shape)


def largest_of(mask, k, connectivity=None):
    """Keep the k largest components, of equal ones the first."""
    labels = labels_of(mask, connectivity)
    sizes = {label: np.count_nonzero(labels == label) for label in set(labels.flat) - {0}}
    kept = sorted(sizes, key=lambda label: (-sizes[label], label))[:k]
    return np.isin(labels, kept)


def without_holes(mask, max_size=None, connectivity=None):
    """Fill components of the background that lie inside, if they are not too large."""
    connectivity = mask.ndim if connectivity is None else connectivity
    holes = labels_of(mask == 0, mask.ndim if connectivity == 1 else 1)
    border = np.ones(mask.shape, bool)
    border[(slice(1, -1),) * mask.ndim] = False
    filled = mask != 0
    for hole in set(holes.flat) - {0} - set(holes[border].flat):
        if max_size is None or np.count_nonzero(holes == hole) <= max_size:
            filled = filled | (holes == hole)
    return filled


def labels_of_cc_torch(image):
    """Label as cc_torch does: 1 more than where the first block of 2, or 2 x 2, x 2 begins.

    Blocks have even coordinates; the first is the one with the smallest index in C order.
    """
    labels = labels_of(image)
    blocks = np.indices(image.shape) // 2 * 2
    places = np.ravel_multi_index(tuple(blocks), image.shape)
    out = np.zeros(image.shape, np.int32)
    for label in set(labels.flat) - {0}:
        out[labels == label] = places[labels == label].min() + 1
    return out


def labels_of_kornia(images):
    """Label images (*, 1, H, W) as kornia does: 1 more than the largest index in the batch."""
    planes = images.reshape(-1, *images.shape[-2:])
    out = np.zeros(planes.shape, np.int64)
    index = np.arange(planes.size).reshape(planes.shape)
    for k, plane in enumerate(planes):
        labels = labels_of(plane == 1)
        for label in set(labels.flat) - {0}:
            out[k][labels == label] = index[k][labels == label].max() + 1
    return out.reshape(images.shape)


def scores_of_sam(scores, max_area, fill_holes=True, remove_sprinkles=True):
    """Change the scores (H, W) of one mask as SAM 3's `fill_holes_in_mask_scores` says it does.

    "We remove small connected components in background by changing them to foreground with a small
    positive mask score", and then small ones in the foreground, "if their areas are under both
    max_area and half of the entire mask's area", to a small negative one. "Under" includes what is
    equal, and half is rounded down.
    """
    out = scores.copy()
    if max_area > 0 and fill_holes:
        areas = areas_of(out <= 0)
        out[(out <= 0) & (areas <= max_area)] = 0.1
    if max_area > 0 and remove_sprinkles:
        inside = out > 0
        most = min(max_area, np.count_nonzero(inside) // 2)
        out[inside & (areas_of(inside) <= most)] = -0.1
    return out


def scores_of_predictor(scores, threshold, max_hole_area, max_sprinkle_area):
    """Change the scores of one mask as SAM 2's image predictor does: both steps look at the scores.

    What is at most the threshold in an area of at most `max_hole_area` becomes 10 more than it, and
    what is above it in one of at most `max_sprinkle_area` 10 less.
    """
    out = scores.copy()
    outside, inside = scores <= threshold, scores > threshold
    if max_hole_area > 0:
        out[outside & (areas_of(outside) <= max_hole_area)] = threshold + 10
    if max_sprinkle_area > 0:
        out[inside & (areas_of(inside) <= max_sprinkle_area)] = threshold - 10
    return out
