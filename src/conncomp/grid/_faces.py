"""Which labels lie at opposite faces of an array."""

from __future__ import annotations

from typing import Any


def at_both_faces(xp: Any, labels: Any, axis: int, rows: int, background: int) -> Any:
    """Return for each number below `rows` whether it is a label on both faces along an axis."""
    first, last = (_occurring(xp, labels.take(k, axis), rows, background) for k in (0, -1))
    return first & last


def _occurring(xp: Any, face: Any, rows: int, background: int) -> Any:
    """Return for each number below `rows` whether it is a label of a face."""
    occurs = xp.zeros(rows, bool)
    occurs[face[face != background]] = True
    return occurs
