"""How the figures of this paper look: bars of relative times, graph by graph."""

from collections.abc import Mapping, Sequence
from typing import Any

from reproductions.ecl_cc_2018.published import TABLE_2
from reproductions.pictures import bars, legend
from reproductions.published import Table

GRAPHS = tuple(TABLE_2["vertices"])
MEAN = "geometric mean"


def relative_panels(
    canvas: Any,
    panels: Mapping[str, Table],
    base: str,
    names: Mapping[str, str],
    highest: float | None = None,
) -> None:
    """Draw bars of times relative to `base`, one panel below another.

    `panels` has, by title, the times of each series by graph, with those of `MEAN`; `names` is what
    `starred` calls graphs. Above `highest` bars are cut off, and their heights written, on a linear
    axis; without it the axis is logarithmic.
    """
    canvas.set_size_inches(10, 1.5 + 3.2 * len(panels))
    groups = (*GRAPHS, MEAN)
    every_axes = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (title, table) in zip(every_axes, panels.items(), strict=True):
        heights = {key: [of.get(group) for group in groups] for key, of in table.items()}
        bars(axes, [names.get(group, group) for group in groups], heights)
        axes.axhline(1, color="k", linewidth=1, label=base)
        axes.set_title(title, fontsize="small")
        axes.set_ylabel("relative runtime")
        if highest is None:
            axes.set_yscale("log")
        else:
            axes.set_ylim(0, highest)
            _write_cut_heights(axes, highest)
        legend(axes, beside=True)


def _write_cut_heights(axes: Any, highest: float) -> None:
    for bar in axes.patches:
        if bar.get_height() > highest:
            middle = bar.get_x() + bar.get_width() / 2
            axes.text(middle, highest, f"{bar.get_height():.3g}", ha="center", fontsize="x-small")


def cell(value: float | None, decimals: int = 2) -> str:
    return "-" if value is None else f"{value:,.{decimals}f}"


def part(share: float | None) -> str:
    """Return which share of the published graph's vertices a graph has.

    >>> part(1), part(0.009550), part(4), part(None)
    ('1', '1/105', '4', '')
    """
    if share is None:
        return ""
    return f"{share:g}" if share >= 1 else f"1/{1 / share:.0f}"


def starred(
    rows: Sequence[Mapping[str, Any]], shares: Mapping[str, float] | None = None
) -> dict[str, str]:
    """Return the names of graphs as they are shown: with a star for a stand-in, and its share."""
    names = {}
    for row in rows:
        name = str(row["input"])
        share = (shares or {}).get(name, 1)
        names[name] = name + (" *" if row["stand_in"] else "")
        if share < 1:
            names[name] += f", {part(share)}"
    return names
