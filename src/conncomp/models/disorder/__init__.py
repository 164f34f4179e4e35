"""Couplings and fields that are drawn, by (seed, sample)."""

from conncomp.models.disorder.drawing import (
    COUPLING,
    KINDS,
    SAMPLE_SHIFT,
    Distribution,
    draw_numbers,
    random_couplings,
    random_fields,
)

__all__ = [
    "COUPLING",
    "KINDS",
    "SAMPLE_SHIFT",
    "Distribution",
    "draw_numbers",
    "random_couplings",
    "random_fields",
]
