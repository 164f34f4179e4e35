"""What labels are, and who numbers them: ``LabelKind`` of ``root_bits.cuh``."""

from __future__ import annotations

LABEL_KIND = "conncomp::LabelKind::"
# An item may have so many words of roots for each block to number them for itself.
MOST_WORDS_IN_BLOCK = 2048


def label_kind(consecutive: bool, in_blocks: bool) -> str:
    """Return which kind labels are; numbers are given in each block or by a launch."""
    if not consecutive:
        return "kRoots"
    return "kNumbersOfBlock" if in_blocks else "kNumbers"
