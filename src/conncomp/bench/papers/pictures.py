"""How the pictures of the paper's figures look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any

Row = dict[str, Any]

TODAY, OF_PAPER = "this machine", "Weigel 2011"


def log_axes(canvas: Any, x: str, y: str) -> Any:
    """Add axes with logarithmic scales and names."""
    axes = canvas.subplots()
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    return axes


def ticks(axes: Any, values: Iterable[float]) -> None:
    """Mark these values alone along the first axis."""
    marked = sorted(set(values))
    axes.set_xticks(marked, [f"{value:g}" for value in marked])
    axes.set_xticks([], minor=True)


def groups(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return rows by what `key` says of them, in the order of first rows."""
    of_key: dict[str, list[Row]] = {}
    for row in rows:
        of_key.setdefault(key(row), []).append(row)
    return of_key


def curve(axes: Any, rows: Sequence[Row], x: str, y: str, **style: Any) -> None:
    """Draw a field of rows against another one."""
    axes.plot([row[x] for row in rows], [row[y] for row in rows], **{"marker": "o", **style})


def published(axes: Any, points: Sequence[Sequence[Any]], name: str = OF_PAPER) -> None:
    """Draw values of the paper, as (x, y, what it is)."""
    if points:
        xs, ys, names = zip(*points, strict=True)
        axes.plot(xs, ys, "kx", markersize=8, label=name)
        # On both sides in turn, so that the names of values close to each other stay apart.
        sides = cycle([(4, "left"), (-4, "right")])
        for x, y, text, (shift, side) in zip(xs, ys, names, sides, strict=False):
            axes.annotate(
                text, (x, y), (shift, 4), textcoords="offset points", fontsize="x-small", ha=side
            )


def legend(axes: Any) -> None:
    """Explain the curves."""
    axes.legend(fontsize="x-small")
