"""How the pictures of exhibits look."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

Row = dict[str, Any]


def log_axes(canvas: Any, x: str, y: str) -> Any:
    axes = canvas.subplots()
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    return axes


def ticks(axes: Any, values: Iterable[float]) -> None:
    """Mark these values alone along the first axis."""
    marked = sorted(set(values))
    axes.set_xticks(marked, [f"{value:g}" for value in marked])
    axes.set_xticks([], minor=True)


def groups(rows: Iterable[Row], key: str | Callable[[Row], str]) -> dict[str, list[Row]]:
    """Return rows by a field, or by what `key` says of them, in the order of first rows."""
    of_key: dict[str, list[Row]] = {}
    for row in rows:
        of_key.setdefault(str(row[key]) if isinstance(key, str) else key(row), []).append(row)
    return of_key


def curve(axes: Any, rows: Sequence[Row], x: str, y: str, **style: Any) -> None:
    axes.plot([row[x] for row in rows], [row[y] for row in rows], **{"marker": "o", **style})


def published(axes: Any, points: Sequence[Sequence[Any]], name: str) -> None:
    """Draw values of the paper called `name`, as (x, y, what it is)."""
    if points:
        xs, ys, names = zip(*points, strict=True)
        axes.plot(xs, ys, "kx", markersize=8, label=name)
        # On both sides in turn, so that the names of values close to each other stay apart.
        sides = cycle([(4, "left"), (-4, "right")])
        for x, y, text, (shift, side) in zip(xs, ys, names, sides, strict=False):
            axes.annotate(
                text, (x, y), (shift, 4), textcoords="offset points", fontsize="x-small", ha=side
            )


def legend(axes: Any, *, beside: bool = False) -> None:
    where: Row = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if beside else {}
    axes.legend(fontsize="x-small", **where)


def bars(axes: Any, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]]) -> None:
    """Draw a bar for each series, by its name, in each group; None is not there."""
    width = 0.8 / max(len(heights), 1)
    for number, (name, of_series) in enumerate(heights.items()):
        shift = (number - (len(heights) - 1) / 2) * width
        there = [(place + shift, high) for place, high in enumerate(of_series) if high is not None]
        axes.bar([x for x, _ in there], [high for _, high in there], width, label=name)
    axes.set_xticks(range(len(groups)), groups, rotation=90, fontsize="x-small")
    axes.grid(alpha=0.3, axis="y")


def table(canvas: Any, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Draw a table of texts, whose first column begins at the left; the header may have lines."""
    folds = max(name.count("\n") for name in header)
    canvas.set_size_inches(max(8, 1.1 * len(header)), 0.8 + 0.21 * (len(lines) + folds + 1))
    axes = canvas.subplots()
    axes.axis("off")
    drawn = axes.table(
        [list(line) for line in lines], colLabels=list(header), loc="upper center", cellLoc="right"
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    drawn.auto_set_column_width(list(range(len(header))))
    for (line, column), cell in drawn.get_celld().items():
        cell.set_edgecolor("0.8")
        if line == 0:
            cell.set_text_props(weight="bold")
            cell.set_height((1 + 0.8 * folds) * cell.get_height())
        if column == 0:
            cell.set_text_props(ha="left")
