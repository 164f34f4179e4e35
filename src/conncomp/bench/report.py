"""One page, which needs no other file, of the tables and plots of result files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jinja2
import matplotlib as mpl
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogLocator

from conncomp.bench import units
from conncomp.bench.compare import geometric_mean
from conncomp.bench.results import GraphRow, Result, Row

# Told apart by the colour-blind too, and seen on white and on black (Okabe and Ito 2008).
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#999999")
MARKERS = "osD^vPX*"

# Stands for the colour of the page's text, which differs by day and night.
INK = "#010203"

MOST_BARS = 84
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e\d+)?")


@dataclass(frozen=True)
class Curves:
    """Rows whose names differ in one number, with which a size of the input grows."""

    title: str
    axis: str
    sizes: list[int]
    rows: list[Row]


def render(results: Sequence[Result]) -> str:
    """Return the page as HTML without scripts, names escaped."""
    options: dict[str, Any] = dict.fromkeys(("autoescape", "trim_blocks", "lstrip_blocks"), True)
    loader = PackageLoader("conncomp.bench", ".")
    environment = Environment(loader=loader, undefined=jinja2.StrictUndefined, **options)
    for name in ("seconds", "ratio", "rate", "bytes"):
        environment.filters[name] = getattr(units, f"format_{name}")
    environment.filters["count"] = "{:,}".format
    sections = [{"result": result, "suites": list(_suites(result))} for result in results]
    return environment.get_template("report.html").render(sections=sections)


def _suites(result: Result) -> Iterable[dict[str, Any]]:
    for suite in dict.fromkeys(row.suite for row in result.rows):
        rows: list[Row] = [row for row in result.rows if row.suite == suite]
        runs = [run for row in rows for run in row.runs]
        # Ours before peers, each in the order of the file.
        ordered = sorted(runs, key=lambda run: run.kind != "ours")
        columns = list(dict.fromkeys(run.name for run in ordered))
        colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(columns)}
        # Others are compared with ours that is named 'auto', or first.
        ours = [run.name for run in runs if run.kind == "ours"]
        base = "auto" if "auto" in ours else next(iter(ours), None)
        table = [_cells(result, row, base) for row in rows]
        ratios = {name: [cells["ratios"].get(name) for cells in table] for name in columns}
        means = {name: geometric_mean(each) for name, each in ratios.items() if any(each)}
        yield {
            **{"name": suite, "columns": columns, "base": base, "rows": table, "means": means},
            "captured": any(run.captured or (run.seconds and run.reason) for run in runs),
            "curves": _draw_curves(find_curves(rows), columns, colours),
            "bars": _draw_bars(table, columns, colours, base),
        }


def _cells(result: Result, row: Row, base: str | None) -> dict[str, Any]:
    runs = {run.name: run for run in row.runs}
    ours = runs[base].median if base in runs else None
    medians = {name: run.median for name, run in runs.items()}
    ratios = {name: median / ours if ours and median else None for name, median in medians.items()}
    return {"row": row, "runs": runs, "ours": ours, "ratios": ratios, "floor": result.floor(row)}


def find_curves(rows: Iterable[Row]) -> list[Curves]:
    """Return families of such rows, of 3 or more, along which a size at least doubles."""
    families: dict[tuple[str, str], list[tuple[float, Row]]] = {}
    for row in rows:
        for number in NUMBER.finditer(row.input):
            key = row.input[: number.start()], row.input[number.end() :]
            families.setdefault(key, []).append((float(number[0]), row))
    curves = []
    for (before, after), members in families.items():
        ordered = [row for _, row in sorted(members, key=lambda member: member[0])]
        if len(ordered) < 3:
            continue
        for axis, sizes in _sizes(ordered):
            grows = all(0 < a < b for a, b in pairwise(sizes))
            if grows and sizes[-1] >= 2 * sizes[0]:
                curves.append(Curves(f"{before}…{after}", axis, sizes, ordered))
                break
    return curves


def _sizes(rows: list[Row]) -> Iterable[tuple[str, list[int]]]:
    of_graphs = all(isinstance(row, GraphRow) for row in rows)
    for name in ("arcs", "vertices", "components") if of_graphs else ("elements", "components"):
        yield name, [getattr(row, name) for row in rows]


def _draw_curves(
    curves: list[Curves], columns: list[str], colours: dict[str, str]
) -> Markup | None:
    if not curves:
        return None
    across = min(len(curves), 3)
    down = -(-len(curves) // across)
    with _style():
        figure = Figure(figsize=(3.6 * across + 0.4, 3.1 * down + 0.6), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes, family in zip(panels, curves, strict=False):
            _draw_family(axes, family, columns, colours)
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        _add_legend(figure, panels)
        return _svg(figure, "Time against size")


def _draw_family(axes: Axes, family: Curves, columns: list[str], colours: dict[str, str]) -> None:
    for i, name in enumerate(columns):
        rows = zip(family.sizes, family.rows, strict=True)
        runs = ((size, run) for size, row in rows for run in row.runs if run.name == name)
        timed = [(size, run.median) for size, run in runs if run.median]
        if not timed:
            continue
        # A name that begins with an underscore would be left out.
        look: Any = {"color": colours[name], "label": "\u200b" + name, "markersize": 4}
        look |= {"linewidth": 2.2 if i == 0 else 1.2, "marker": MARKERS[i % len(MARKERS)]}
        axes.plot(*zip(*timed, strict=True), zorder=len(columns) - i + 2, **look)
    axes.set(xscale="log", yscale="log")
    axes.set(title=family.title, xlabel=family.axis, ylabel="seconds")


def _draw_bars(
    table: list[dict[str, Any]], columns: Sequence[str], colours: dict[str, str], base: str | None
) -> Markup | None:
    """Draw times relative to ours: bars up are slower, bars down faster."""
    compared = [name for name in columns if name != base]
    shown = [cells for cells in table if any(cells["ratios"].get(name) for name in compared)]
    if not shown:
        return None
    each = max(1, MOST_BARS // len(compared))
    # Parts of equal length, rather than a last one with a single input.
    parts = -(-len(shown) // each)
    each = -(-len(shown) // parts)
    width = 0.84 / len(compared)
    with _style():
        figure = Figure(figsize=(11, 2.9 * parts + 0.5), layout="constrained")
        panels = figure.subplots(parts, 1, squeeze=False, sharey=True).ravel()
        for part, axes in enumerate(panels):
            inputs = shown[part * each : (part + 1) * each]
            for i, name in enumerate(compared):
                places = [k + (i - (len(compared) - 1) / 2) * width for k in range(len(inputs))]
                drawn = list(zip(places, inputs, strict=True))
                ratios = ((at, cells["ratios"].get(name)) for at, cells in drawn)
                timed = [(at, ratio - 1) for at, ratio in ratios if ratio]
                look = {"color": colours[name], "label": "\u200b" + name, "zorder": 2}
                bars = zip(*timed, strict=True) if timed else ([], [])
                axes.bar(*bars, width, bottom=1, **look)
                runs = ((at, cells["runs"].get(name)) for at, cells in drawn)
                missing = [at for at, run in runs if run is not None and not run.seconds]
                axes.plot(missing, [1] * len(missing), "x", color=colours[name], zorder=4)
            axes.axhline(1, color=INK, linewidth=1, zorder=3)
            axes.set(yscale="log", xlim=(-0.6, each - 0.4), ylabel="time, ours = 1")
            rows = [cells["row"] for cells in inputs]
            names = [row.input + (" *" if row.stand_in else "") for row in rows]
            short = [name if len(name) <= 32 else name[:31] + "…" for name in names]
            is_tilted = max(map(len, names)) * each > 130
            tilt = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if is_tilted else {}
            axes.set_xticks(range(len(names)), short, **tilt)
            axes.tick_params(axis="x", length=0)
        _add_legend(figure, panels)
        return _svg(figure, "Time relative to ours")


def _add_legend(figure: Figure, panels: Iterable[Axes]) -> None:
    handles: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    place: dict[str, Any] = {"loc": "outside upper center", "ncols": 6, "frameon": False}
    figure.legend(list(handles.values()), list(handles), **place)


def _style() -> Any:
    texts = "text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"
    style: dict[Any, Any] = dict.fromkeys(texts, INK)
    style |= {"svg.fonttype": "none", "svg.hashsalt": "conncomp"}
    style |= {"font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9.5}
    style |= {"axes.grid": True, "axes.axisbelow": True, "axes.linewidth": 0.7}
    style |= {"grid.alpha": 0.35, "grid.color": "#808080", "grid.linewidth": 0.5}
    return mpl.rc_context(style | {"axes.spines.top": False, "axes.spines.right": False})


def _svg(figure: Figure, title: str) -> Markup:
    """Return a figure as an SVG element in the page's colours and letters."""
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    for axes in figure.axes:
        axes.grid(axis="x", visible=axes.get_xscale() == "log")
        # Powers of ten would be set as mathematics, which was just turned off.
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                low, high = sorted(axis.get_view_interval())
                if high < 50 * low:  # too short for powers of ten alone
                    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axis.set_major_formatter(lambda value, _: units.format_tick(value))
                axis.set_minor_formatter(lambda value, _: "")
    target = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(target, format="svg", transparent=True, metadata=nothing)
    drawing = target.getvalue()
    drawing = drawing[drawing.index("<svg") :].replace(INK, "currentColor")
    # Several drawings on a page: only what is referred to keeps its name, which is a hash.
    drawing = re.sub(r' id="[A-Za-z]+[0-9.]*_[0-9]+"', "", drawing)
    # Letters no larger than those of the page.
    width = f"{figure.get_figwidth() * 110:.0f}px"
    start = f'<svg role="img" aria-label="{title}" style="max-width: {width}"'
    return Markup(drawing.replace("<svg", start, 1))
