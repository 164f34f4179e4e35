"""Functions for masks of segmentation networks: batches of tensors in, tensors out.

The functions take tensors of PyTorch of shape (B, C, H, W) or (B, C, D, H, W), on the CPU or on a
GPU, and return new ones where these lie. They wait for nothing on the host, and `torch.compile`
takes them without a break of the graph: all stand on one custom operator, ``conncomp::label``.
`import conncomp` does not import this module, nor PyTorch.

Examples
--------
>>> import conncomp.torch
>>> import torch
>>> masks = torch.tensor([[[[1, 1, 0, 0, 1]]], [[[0, 1, 0, 1, 1]]]])
>>> conncomp.torch.label(masks).squeeze()
tensor([[1, 1, 0, 0, 2],
        [0, 1, 0, 2, 2]], dtype=torch.int32)
>>> conncomp.torch.largest_components(masks).squeeze().int()
tensor([[1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1]], dtype=torch.int32)
"""

from conncomp._optional import optional

if not hasattr(optional("torch").library, "register_fake"):
    raise ImportError(
        "conncomp.torch needs PyTorch 2.4 or newer, whose torch.library has register_fake: "
        "pip install 'conncomp[torch]'"
    )

from conncomp.torch.masks import (
    fill_holes,
    fill_holes_in_mask_scores,
    label,
    label_and_count,
    largest_components,
    remove_small_components,
)

__all__ = [
    "fill_holes",
    "fill_holes_in_mask_scores",
    "label",
    "label_and_count",
    "largest_components",
    "remove_small_components",
]
