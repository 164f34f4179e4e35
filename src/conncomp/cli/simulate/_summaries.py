"""What the commands of `Potts` and `Ising` say of a series: tables, plots and the report."""

from __future__ import annotations

from math import inf

from conncomp.cli._picture import plot_scan
from conncomp.cli._report import Row
from conncomp.cli.simulate._common import Finished, as_plain, plot_observables, shown
from conncomp.models import Estimate, Measurements, Summary

# Of each observable of a `Summary`, what it is called in tables and pictures.
NAMES = {
    "energy": "energy a site",
    "specific_heat": "specific heat",
    "magnetisation": "magnetisation",
    "susceptibility": "susceptibility",
    "squared_magnetisation": "m^2",
    "binder_ratio": "<m^4>/<m^2>^2",
    "energy_time": "tau of energy",
    "magnetisation_time": "tau of m^2",
}
# Of each probability of a `WrappingSummary`, likewise; along each axis apart from these.
WRAPPING_NAMES = {
    "any_axis": "wraps along any axis",
    "all_axes": "wraps along all axes",
    "cross": "wraps in full rank",
}


def show_summaries(finished: Finished[Measurements], model: Row) -> None:
    """Draw the plot, if it is wanted, and print the report, by temperature."""
    with finished.stage("statistics"):
        summaries = finished.run.summarise()[::-1]  # by temperature
    if finished.settings.plot is not None:
        with finished.stage("plot"):
            _draw(finished, summaries, model)
    facts: list[Row] = []
    if finished.run.parameters["update"] in ("swendsen-wang", "metropolis"):
        facts.append(finished.speed_row("spins"))
    if not all(summary.enough for summary in summaries):
        facts.append(("beware", "fewer than 100 autocorrelation times: errors may be too small"))
    plain = [as_plain(summary) for summary in summaries]
    finished.show(model, plain, _table(summaries), facts=facts)


def _draw(finished: Finished[Measurements], summaries: list[Summary], model: Row) -> None:
    run, path = finished.run, finished.settings.plot
    assert path is not None
    if len(summaries) > 1:
        temperatures = [1 / summary.beta if summary.beta else inf for summary in summaries]
        plot_scan(path, temperatures, _observables(summaries), model[1])
        return
    series = {
        NAMES["energy"]: run.series.energy / run.series.lattice.sites,
        NAMES["magnetisation"]: run.series.magnetisation,
    }
    plot_observables(finished, model, series)


def _observables(summaries: list[Summary]) -> dict[str, list[Estimate]]:
    """Return by name what was estimated at each temperature."""
    observables = {name: [getattr(s, key) for s in summaries] for key, name in NAMES.items()}
    wrapping = [summary.wrapping for summary in summaries if summary.wrapping is not None]
    if wrapping:
        for axis in range(len(wrapping[0].along)):
            observables[f"wraps along axis {axis}"] = [part.along[axis] for part in wrapping]
        for key, name in WRAPPING_NAMES.items():
            observables[name] = [getattr(part, key) for part in wrapping]
    return observables


def _table(summaries: list[Summary]) -> list[Row]:
    """Return a line for each temperature or, of one temperature, a line for each observable."""
    columns = {
        "temperature": [f"{1 / s.beta:.6g}" if s.beta else "inf" for s in summaries],
        "beta": [f"{summary.beta:.6g}" for summary in summaries],
        **{name: [shown(one) for one in each] for name, each in _observables(summaries).items()},
    }
    if len(summaries) == 1:
        return [
            ("observable", "value ± error"),
            *((name, cell) for name, [cell] in columns.items()),
        ]
    return [tuple(columns), *zip(*columns.values(), strict=True)]
