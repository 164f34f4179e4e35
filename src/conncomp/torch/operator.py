"""The custom operator ``conncomp::label``, by which PyTorch labels each item (b, c) of a tensor.

The result, int32, is new memory, and nothing is changed, so that `torch.compile`, `torch.export`
and CUDA graphs take the operator as they do those of PyTorch. It has no gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import Any

import torch

from conncomp._arguments import INT32_MAX
from conncomp.grid.labelling import label
from conncomp.kernels.cuda.launcher import import_cupy

BATCH_AXES = 2


def _label(masks: torch.Tensor, connectivity: int) -> torch.Tensor:
    elements = prod(masks.shape[BATCH_AXES:])
    if elements > INT32_MAX:
        raise ValueError(
            f"masks has items of {elements} elements, whose labels int32 may not hold; label them "
            "by conncomp.label(masks != 0, batch_axes=2)"
        )
    tell_logits(masks)
    inside = masks if masks.dtype == torch.bool else masks != 0
    # CUDA graphs of PyTorch's compiler refuse results that lie in memory of CuPy.
    labels = torch.empty(inside.shape, dtype=torch.int32, device=inside.device)
    options: dict[str, Any] = {"connectivity": connectivity, "batch_axes": BATCH_AXES}
    captured = inside.is_cuda and torch.cuda.is_current_stream_capturing()
    with _memory_of_torch(inside.device) if captured else nullcontext():
        label(inside, out=labels, **options)
    return labels


def tell_logits(masks: torch.Tensor) -> None:
    """Warn of masks whose values look like scores, or may do so on a GPU, where nobody looks."""
    if not masks.is_floating_point() or masks.is_meta:
        return
    if not masks.is_cuda and bool(((masks >= 0) & (masks == masks.round())).all()):
        return
    warnings.warn(
        f"masks is of dtype {masks.dtype}, and what is not 0 is foreground, negative scores and "
        "small probabilities, too; pass masks > 0 of logits, or masks != 0 of masks",
        UserWarning,
        stacklevel=2,
    )


def _label_of_fake(masks: torch.Tensor, connectivity: int) -> torch.Tensor:
    """Return a tensor like the labels, without values."""
    return torch.empty(masks.shape, dtype=torch.int32, device=masks.device)


@contextmanager
def _memory_of_torch(device: torch.device) -> Iterator[None]:
    """Let CuPy take memory from PyTorch, which keeps what a capture takes for the CUDA graph."""
    memory = import_cupy().cuda

    def allocate(num_bytes: int) -> Any:
        held = torch.empty(max(num_bytes, 1), dtype=torch.uint8, device=device)
        part = memory.UnownedMemory(held.data_ptr(), num_bytes, held, device.index)
        return memory.MemoryPointer(part, 0)

    with memory.using_allocator(allocate):
        yield


# torch.library.custom_op would do the same in 15 us more a call: it looks for outputs that share
# memory, and for gradients, of which there are none.
_library = torch.library.Library("conncomp", "DEF")
_library.define(
    "label(Tensor masks, int connectivity) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,)
)
for _device in ("CPU", "CUDA"):
    _library.impl("label", _label, _device)
torch.library.register_fake("conncomp::label", _label_of_fake, lib=_library)

label_items: Any = torch.ops.conncomp.label.default
