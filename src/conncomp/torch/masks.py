"""Labels and areas of masks; masks, and their scores, without small parts or with holes filled."""

from __future__ import annotations

from math import prod

import torch

from conncomp._arguments import INT32_MAX, as_count, as_integer, check_range, shown
from conncomp.torch.operator import BATCH_AXES, label_items, tell_logits


def label(masks: torch.Tensor, connectivity: int | None = None) -> torch.Tensor:
    """Label the connected components of each mask.

    Parameters
    ----------
    masks : Tensor, shape (B, C, H, W) or (B, C, D, H, W)
        Of any real dtype, with any strides, on the CPU or on a GPU. What is not 0 is foreground:
        pass ``masks > 0`` of logits. Each (b, c) is a mask of its own, of any size.
    connectivity : int, optional
        Along how many axes neighbours may differ: 1 (4 neighbours, or 6 in volumes) to the number
        of axes of a mask (8, or 26; the default).

    Returns
    -------
    Tensor of int32
        Of the shape of `masks`, and where it lies: 0 for background, and in each mask 1, 2, ... in
        the order in which a scan in C order meets the components. It has no gradient. Nothing waits
        for the GPU; ``labels.flatten(2).amax(2)`` is how many components each mask has.

    Raises
    ------
    TypeError
        If `masks` is no tensor, or sparse, nested, or complex, or `connectivity` is not an integer.
    ValueError
        If `masks` has another number of dimensions, or lies on another kind of device, a mask has
        2**31 elements or more, or `connectivity` does not fit.
    ImportError
        If `masks` lies on a GPU, and CuPy is not installed.

    Warns
    -----
    UserWarning
        If `masks` has negative values or fractions, as logits and probabilities have, which are
        foreground, too. On a GPU, where looking at values would wait, if it is of a floating dtype.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> masks = torch.tensor([[[[1, 0, 0],
    ...                         [0, 1, 0]]]])
    >>> conncomp.torch.label(masks)[0, 0]
    tensor([[1, 0, 0],
            [0, 1, 0]], dtype=torch.int32)
    >>> conncomp.torch.label(masks, connectivity=1)[0, 0]
    tensor([[1, 0, 0],
            [0, 2, 0]], dtype=torch.int32)
    """
    labels: torch.Tensor = label_items(as_masks(masks), reach_of(masks, connectivity))
    return labels


def label_and_count(
    masks: torch.Tensor, connectivity: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Label the connected components of each mask, and tell each element the area of its own.

    The arguments and results of SAM 2's ``get_connected_components`` and of ``cc_2d``, by another
    name.

    Parameters
    ----------
    masks, connectivity
        As for `label`.

    Returns
    -------
    labels : Tensor of int32
        As of `label`.
    areas : Tensor of int32
        How many elements the component of each element has; 0 for background.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> labels, areas = conncomp.torch.label_and_count(torch.tensor([[[[1, 1, 0, 1]]]]))
    >>> areas[0, 0]
    tensor([[2, 2, 0, 1]], dtype=torch.int32)
    """
    labels = label(masks, connectivity)
    areas, index = _areas_of(labels, reach_of(masks, connectivity))
    return labels, _looked_up(areas, index, labels)


def largest_components(
    masks: torch.Tensor, k: int = 1, connectivity: int | None = None
) -> torch.Tensor:
    """Keep the `k` largest components of each mask.

    Parameters
    ----------
    masks, connectivity
        As for `label`.
    k : int, optional
        How many to keep, 1 by default; of equally large ones those that a scan in C order meets
        first. Where there are fewer, all are kept.

    Returns
    -------
    Tensor of bool
        Of the shape of `masks`, and where it lies. It has no gradient; ``scores * kept`` has that
        of scores.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> masks = torch.tensor([[[[1, 1, 0, 1, 0, 1, 1, 1]]]])
    >>> conncomp.torch.largest_components(masks).int()
    tensor([[[[0, 0, 0, 0, 0, 1, 1, 1]]]], dtype=torch.int32)
    """
    most = as_count("k", k, "components")
    labels = label(masks, connectivity)
    if most == 0:
        return torch.zeros_like(labels, dtype=torch.bool)
    areas, index = _areas_of(labels, reach_of(masks, connectivity))
    rows = areas.shape[1]
    # No two rows of a mask have the same rank: of equal areas, the first is ahead.
    rank = areas.long() * rows + torch.arange(rows - 1, -1, -1, device=labels.device)
    last = rank.topk(min(most, rows), dim=-1).values[..., -1:]
    return _looked_up(rank >= last, index, labels) & (labels > 0)


def remove_small_components(
    masks: torch.Tensor, min_size: int, connectivity: int | None = None
) -> torch.Tensor:
    """Keep the components of at least `min_size` elements.

    Parameters
    ----------
    masks, connectivity
        As for `label`.
    min_size : int
        The area of the smallest component to keep.

    Returns
    -------
    Tensor of bool
        As of `largest_components`.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> masks = torch.tensor([[[[1, 1, 0, 1, 0, 1, 1, 1]]]])
    >>> conncomp.torch.remove_small_components(masks, 2).int()
    tensor([[[[1, 1, 0, 0, 0, 1, 1, 1]]]], dtype=torch.int32)
    """
    least = as_integer("min_size", min_size)
    _, areas = label_and_count(masks, connectivity)
    return areas >= max(1, min(least, INT32_MAX))  # background has the area 0


def fill_holes(
    masks: torch.Tensor, max_size: int | None = None, connectivity: int | None = None
) -> torch.Tensor:
    """Fill the holes of each mask.

    A hole is a component of the background that does not reach the border of the mask.

    Parameters
    ----------
    masks
        As for `label`.
    max_size : int, optional
        The area of the largest hole to fill; by default all are filled.
    connectivity : int, optional
        That of the objects, as for `label`; holes have the complementary one, as for
        `conncomp.fill_holes`.

    Returns
    -------
    Tensor of bool
        As of `largest_components`.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> masks = torch.tensor([[[[1, 1, 1, 0],
    ...                         [1, 0, 1, 0],
    ...                         [1, 1, 1, 0]]]])
    >>> conncomp.torch.fill_holes(masks)[0, 0].int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 0],
            [1, 1, 1, 0]], dtype=torch.int32)
    """
    largest = None if max_size is None else as_count("max_size", max_size, "elements")
    checked = as_masks(masks)
    if not torch.compiler.is_compiling():  # values are not known meanwhile
        tell_logits(checked)
    inside = checked != 0
    axes = inside.dim() - BATCH_AXES
    reach = axes if reach_of(masks, connectivity) == 1 else 1
    # A frame connects all background that reaches the border. Its first element is the first of
    # all, so that it has the label 1, and holes have the others.
    framed = torch.nn.functional.pad(~inside, (1, 1) * axes, value=True)
    if largest is None:
        holes = label(framed, reach) > 1
    else:
        labels, areas = label_and_count(framed, reach)
        holes = (labels > 1) & (areas <= min(largest, INT32_MAX))
    return inside | holes[(..., *[slice(1, -1)] * axes)]


def as_masks(masks: torch.Tensor, name: str = "masks") -> torch.Tensor:
    """Return masks, detached, once they are checked."""
    if not isinstance(masks, torch.Tensor):
        raise TypeError(
            f"{name} is a {type(masks).__name__}; it must be a tensor, which torch.as_tensor makes"
        )
    if masks.is_nested or masks.layout != torch.strided:
        kind = "nested" if masks.is_nested else f"of layout {masks.layout}"
        remedy = "to_padded_tensor(0)" if masks.is_nested else "to_dense()"
        raise TypeError(f"{name} is {kind}; make it dense by {name}.{remedy}")
    if masks.is_complex():
        raise TypeError(f"{name} is of dtype {masks.dtype}; it must be real, as {name}.abs() is")
    if masks.dim() not in (4, 5):
        raise ValueError(
            f"{name} has shape {tuple(masks.shape)}; it must be (B, C, H, W) or (B, C, D, H, W), "
            f"such as {name}[None, None] of one mask"
        )
    if masks.device.type not in ("cpu", "cuda", "meta"):
        raise ValueError(
            f"{name} lies on {masks.device}; it must lie on the CPU or on a GPU with CUDA, as "
            f"{name}.cpu() does"
        )
    return masks.detach()


def reach_of(masks: torch.Tensor, connectivity: int | None) -> int:
    """Return the connectivity, once it is checked."""
    axes = masks.dim() - BATCH_AXES
    if connectivity is None:
        return int(axes)
    if isinstance(connectivity, bool):
        raise TypeError(f"connectivity={shown(connectivity)} must be an integer")
    return check_range("connectivity", connectivity, 1, axes)


def _areas_of(labels: torch.Tensor, connectivity: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the area of each label of each mask, (masks, rows), and each element's row there."""
    rows, masks = _rows_of(labels, connectivity), prod(labels.shape[:BATCH_AXES])
    # The row of each element's label in one table for all masks.
    dtype = torch.int32 if masks * rows <= INT32_MAX else torch.int64
    first = torch.arange(masks, dtype=dtype, device=labels.device) * rows
    index = (labels.flatten(0, 1).flatten(1) + first.unsqueeze(1)).flatten()
    areas = torch.zeros(masks * rows, dtype=torch.int32, device=index.device)
    one = torch.ones((), dtype=torch.int32, device=index.device)
    by_mask = areas.index_add(0, index, one.expand_as(index)).reshape(masks, rows)
    by_mask[:, 0] = 0  # of the background
    return by_mask, index


def _rows_of(labels: torch.Tensor, connectivity: int) -> int:
    """Return how many rows a table has that is large enough for any components of a mask.

    Where corners connect, a square of 2 x 2 has elements of one only, and otherwise a domino.
    """
    shape = labels.shape[BATCH_AXES:]
    halves = [(length + 1) // 2 for length in shape]
    most: int = prod(halves) if connectivity == len(shape) else (prod(shape) + 1) // 2
    return most + 1


def _looked_up(table: torch.Tensor, index: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return table.flatten().index_select(0, index).reshape(labels.shape)


# As of SAM 2 and SAM 3: just on the other side of 0, where masks begin.
FOREGROUND, BACKGROUND = 0.1, -0.1


def fill_holes_in_mask_scores(
    mask: torch.Tensor, max_area: int, fill_holes: bool = True, remove_sprinkles: bool = True
) -> torch.Tensor:
    """Fill small holes of masks that are given by scores, and remove small islands.

    The arguments and results of SAM 3's function of this name. That of SAM 2 is this one with
    ``remove_sprinkles=False``.

    Parameters
    ----------
    mask : Tensor of a floating dtype, shape (B, C, H, W) or (B, C, D, H, W)
        Scores, on the CPU or on a GPU: above 0 is foreground.
    max_area : int
        The area of the largest hole to fill, and of the largest island to remove; if it is 0 or
        less, nothing is done.
    fill_holes : bool, optional
        Whether connected components of the background of at most `max_area` elements get the score
        0.1. Those at the border count, too, and corners connect.
    remove_sprinkles : bool, optional
        Whether connected components of the foreground, as it is then, of at most `max_area`
        elements get the score -0.1: those that have at most half of the foreground of their mask,
        so that a mask that is small as a whole stays.

    Returns
    -------
    Tensor
        New scores, of the shape and dtype of `mask`, and where it lies; `mask` itself if nothing is
        to be done. The gradient of a score is 1 where it stays, and 0 where it is replaced.

    Raises
    ------
    TypeError
        If `mask` is no tensor, or sparse, nested, or of another dtype, or `max_area` is not an
        integer.
    ValueError, ImportError
        As `label`.

    Examples
    --------
    >>> import conncomp.torch
    >>> import torch
    >>> scores = torch.tensor([[[[5., -4, 5, 5, -3, -3, -3, 2]]]])
    >>> conncomp.torch.fill_holes_in_mask_scores(scores, 1)
    tensor([[[[ 5.0000,  0.1000,  5.0000,  5.0000, -3.0000, -3.0000, -3.0000,
               -0.1000]]]])
    """
    if not as_masks(mask, "mask").is_floating_point():
        raise TypeError(f"mask is of dtype {mask.dtype}; scores are of a floating dtype")
    largest = min(as_integer("max_area", max_area), INT32_MAX)
    scores = mask
    if largest <= 0:
        return scores
    if fill_holes:
        outside = scores <= 0
        _, areas = label_and_count(outside)
        scores = torch.where(outside & (areas <= largest), FOREGROUND, scores)
    if remove_sprinkles:
        inside = scores > 0
        _, areas = label_and_count(inside)
        half = inside.flatten(2).sum(2).reshape(*inside.shape[:2], *(1,) * (inside.dim() - 2)) // 2
        scores = torch.where(inside & (areas <= half.clamp(max=largest)), BACKGROUND, scores)
    return scores
