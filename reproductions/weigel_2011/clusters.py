"""Fig. 14, and autocorrelation times: updates of single and of few clusters."""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from math import hypot, sqrt
from typing import Any, NamedTuple

import numpy as np

from conncomp.models import Potts, simulate
from reproductions.fits import power_law
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import curve, groups, legend, log_axes, ticks
from reproductions.threads import one_thread_seconds
from reproductions.weigel_2011.laboratory import CALLS, PUBLISHED, Laboratory

# The flipping probability of few-cluster, which may be large, but below 1.
P_FLIP = 0.95
# In how many tiles the lattice is divided along each axis.
DIVISIONS = (1, 2, 4, 8, 16)
# In autocorrelation times: of those, as few as make the update ergodic and different from Wolff's.
DIVISION = 2
# One of so many local sweeps is measured, a small part of their times: those of L**2 / 256.
LOCAL_SITES = 256
FIELDS = {"energy": "energy_time", "m^2": "magnetisation_time"}


# ------------------------------------------------------------------------------------------ Fig. 14


def few_clusters(laboratory: Laboratory) -> Findings:
    """Measure few-cluster updates against Wolff's on a CPU, by the time for each flipped spin."""
    rows = []
    for length in laboratory.scale.lengths:
        if length > laboratory.scale.longest_serial:
            continue
        single = _serial_wolff(laboratory, length)
        for division in DIVISIONS:
            model = laboratory.model(length)
            update = partial(
                model.few_cluster, tile=length // division, p_flip=P_FLIP, measure=False
            )
            rows.append(
                {
                    "length": length,
                    "update": "few-cluster",
                    "tiles": division**2,
                    **_update(laboratory, model, update),
                }
            )
        model = laboratory.model(length)
        wolff = _update(laboratory, model, partial(model.wolff, measure=False))
        rows.append({"length": length, "update": "wolff", "tiles": 1, **wolff})
        for row in rows:
            if row["length"] == length:
                speed_up = single.ns / row["ns"]
                error = hypot(single.error / single.ns, row["ns_error"] / row["ns"])
                row |= {"serial_ns": single.ns, "serial_ns_error": single.error}
                row |= {"speed_up": speed_up, "speed_up_error": speed_up * error}
    fastest = [
        max(
            (row for row in rows if row["length"] == length and row["update"] == "few-cluster"),
            key=lambda row: float(row["speed_up"]),
        )
        for length in sorted({row["length"] for row in rows})
    ]
    return {"rows": rows, "fits": {"fastest": fastest}, "published": PUBLISHED["figure-14"]}


def draw_few_clusters(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "speed-up a flipped spin, over Wolff on the CPU")
    best = findings["fits"]["fastest"]
    axes.errorbar(
        [row["length"] for row in best],
        [row["speed_up"] for row in best],
        [row.get("speed_up_error", 0) for row in best],
        marker="o",
        capsize=2,
        label="few-cluster, best tiles",
    )
    for name, rows in groups(findings["rows"], _update_name).items():
        curve(axes, rows, "length", "speed_up", label=name, linestyle=":", marker=".")
    largest = findings["published"]["largest speed-up"]
    axes.axhline(
        largest, color="black", linestyle="--", label=f"Weigel 2011: up to about {largest}"
    )
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


class Spent(NamedTuple):
    """Nanoseconds for each flipped spin, with their standard error."""

    ns: float
    error: float


def spent(seconds: Sequence[float], flipped: Sequence[float]) -> Spent:
    """Return what updates take for each spin that they flip: all their time over all their flips.

    Few updates flip many spins and many flip few, so that neither a mean of ratios nor a typical
    time over a mean number of flips would tell of it. The error is that of a ratio of two sums.

    >>> spent([1e-9, 2e-9, 9e-9], [1, 2, 9])
    Spent(ns=1.0, error=0.0)
    """
    times, flips = 1e9 * np.asarray(seconds), np.asarray(flipped, float)
    ns = float(times.sum() / max(flips.sum(), 1))
    deviations = times - ns * flips
    count = len(times)
    variance = float(deviations @ deviations) / (count * max(count - 1, 1))
    return Spent(ns, round(sqrt(variance) / max(float(flips.mean()), 1 / count), 12))


def _update(laboratory: Laboratory, model: Potts, update: Callable[[], Any]) -> Row:
    """Return what an update takes: in all, and for each spin that it flips."""
    laboratory.notify(f"L = {model.lattice.shape[0]}: single and few clusters")
    update()  # compiles kernels
    spins, seconds, flipped = model.spins, list[float](), list[int]()
    for _ in range(laboratory.scale.flips):
        seconds.append(laboratory.device.seconds(update))
        before, spins = spins, model.spins
        flipped.append(int((spins != before).sum()))
    ns, error = spent(seconds, flipped)
    return {
        "updates": len(seconds),
        "seconds": sum(seconds),
        "flipped": sum(flipped),
        "ns": ns,
        "ns_error": error,
    }


def flipped_share(model: Potts, update: Callable[[], Any], updates: int) -> float:
    """Return which share of the spins an update changes, the mean of several."""
    changed, spins = 0, model.spins
    for _ in range(updates):
        update()
        before, spins = spins, model.spins
        changed += int((spins != before).sum())
    return changed / (updates * int(spins.size))


def _serial_wolff(laboratory: Laboratory, length: int) -> Spent:
    """Return what Wolff's update takes on one thread of the CPU."""
    model = laboratory.model(length, serial=True)
    laboratory.notify(f"L = {length}: Wolff on the CPU")
    seconds, flipped = list[float](), list[float]()
    for _ in range(laboratory.scale.flips):
        before = model.magnetisation()
        seconds.append(one_thread_seconds(partial(model.wolff, measure=False)))
        # Spins of one state become those of the other one.
        flipped.append(abs(model.magnetisation() - before) / 2 * model.lattice.sites)
    return spent(seconds, flipped)


def _update_name(row: Row) -> str:
    tiles = "1 tile" if row["tiles"] == 1 else f"{row['tiles']} tiles"
    return "Wolff" if row["update"] == "wolff" else f"few-cluster, {tiles}"


# --------------------------------------------------------------------------- autocorrelation times


def autocorrelation(laboratory: Laboratory) -> Findings:
    """Measure autocorrelation times of all four updates, in updates and in sweeps.

    A sweep is as many updates as flip as many spins as the lattice has; of Swendsen-Wang and
    Metropolis one, whatever it flips.
    """
    scale, rows = laboratory.scale, []
    for update in ("swendsen-wang", "wolff", "few-cluster", "metropolis"):
        local = update == "metropolis"
        for length in scale.local_lengths if local else scale.cluster_lengths:
            laboratory.notify(f"L = {length}: autocorrelation times, {update}")
            rows.append(_times(laboratory, update, length))
    fits = {
        update: {
            name: power_law(
                [row["length"] for row in of_update],
                [row[name][0] for row in of_update],
                [row[name][1] for row in of_update],
            )
            for name in FIELDS
        }
        for update, of_update in groups(rows, "update").items()
    }
    return {
        "rows": rows,
        "fits": fits,
        "published": {"z of cluster updates": "well below 2", "z of local updates": 2},
    }


def draw_autocorrelation(findings: Findings, canvas: Any) -> None:
    for axes, name in zip(canvas.subplots(1, 2, sharey=True), FIELDS, strict=True):
        axes.set(xscale="log", yscale="log", xlabel="L", ylabel=f"time of {name}, sweeps")
        axes.grid(alpha=0.3)
        for update, rows in groups(findings["rows"], "update").items():
            law = findings["fits"][update][name]
            text = update + (f": z = {law[1]:.3f}({1000 * law[2]:.0f})" if law else "")
            axes.errorbar(
                [row["length"] for row in rows],
                [row[name][0] for row in rows],
                [row[name][1] for row in rows],
                marker="o",
                label=text,
            )
        ticks(axes, (row["length"] for row in findings["rows"]))
        legend(axes)


def _times(laboratory: Laboratory, update: str, length: int) -> Row:
    scale, local = laboratory.scale, update == "metropolis"
    model = Potts(
        (length, length), replicas=scale.chains, seed=length, device=laboratory.device.name
    )
    model.swendsen_wang(scale.thermalise, measure=False)
    few: Any = {"tile": length // DIVISION, "p_flip": P_FLIP} if update == "few-cluster" else {}
    every = max(1, length**2 // LOCAL_SITES) if local else 1
    # The times of local sweeps grow so; those of cluster updates hardly do.
    local_sweeps = scale.local_sweeps * length**2 // scale.local_lengths[-1] ** 2
    sweeps = local_sweeps if local else scale.cluster_updates
    run = simulate(model, sweeps, update=update, measure_every=every, **few)
    (summary,) = run.summarise()
    share, rounding = 1.0, 0.0
    if update in ("wolff", "few-cluster"):
        change = partial(getattr(model, update.replace("-", "_")), measure=False, **few)
        shares = [flipped_share(model, change, scale.flips) for _ in range(CALLS)]
        share = statistics.mean(shares)
        rounding = statistics.stdev(shares) / sqrt(CALLS) / share
    times: dict[str, Any] = {}
    for name, field in FIELDS.items():
        value, error = np.nan_to_num(getattr(summary, field)).tolist()  # 0 if nothing varies
        times[f"{name}, updates"] = [value, error]
        times[name] = [share * value, share * sqrt(error**2 + (rounding * value) ** 2)]
    return {
        "update": update,
        "length": length,
        "replicas": scale.chains,
        "updates": sweeps,
        "flipped_share": share,
        "enough": summary.enough,
        **times,
    }
