"""What trackers do to the scores of masks: holes become foreground, and islands background."""

from __future__ import annotations

import torch

from conncomp._arguments import INT32_MAX, as_integer
from conncomp.torch.masks import as_masks, label_and_count

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
        small = inside & (areas <= half.clamp(max=largest))
        scores = torch.where(small, BACKGROUND, scores)
    return scores
