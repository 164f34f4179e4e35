"""Draws the transition of the two-dimensional Ising model, and how updates slow down there.

Usage: python examples/ising_transition.py OUT.png [SIDE [SWEEPS]]

Above, energy and specific heat of a square lattice on a torus from Swendsen-Wang updates, with what
Kaufman found in 1949 behind the points. Below, how many sweeps it takes at the critical point until
the magnetisation is forgotten: Metropolis updates need more and more on larger lattices, and those
of clusters hardly any more. It takes about a minute on two cores.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from conncomp.models import Potts, simulate, summarise


def log_kaufman(beta: np.ndarray, side: int) -> np.ndarray:
    """Return ln Z of the square Ising lattice on a torus, in Potts's convention of the energy.

    B. Kaufman, Phys. Rev. 76, 1232 (1949). The beta of the Ising convention is half of this one.
    """
    k = np.arange(1, 2 * side)
    cosh_gamma = np.cosh(beta) ** 2 / np.sinh(beta) - np.cos(np.pi * k[:, np.newaxis] / side)
    zeroth = beta + np.log(np.tanh(beta / 2))  # changes its sign at the critical point
    x = side / 2 * np.vstack([zeroth, np.arccosh(cosh_gamma)])
    cosh, sinh = (abs(x) + np.log1p(sign * np.exp(-2 * abs(x))) for sign in (1, -1))
    even_sign = np.sign(zeroth)
    terms = [cosh[1::2].sum(0), sinh[1::2].sum(0), cosh[::2].sum(0), sinh[::2].sum(0)]
    largest = np.max(terms, axis=0)
    one, two, three, four = np.exp(np.array(terms) - largest)
    log_sum = largest + np.log(one + two + three + even_sign * four)
    # Each bond has beta (1 + s s')/2.
    return side**2 * (beta + np.log(2 * np.sinh(beta)) / 2) + log_sum - np.log(2)


def exact(beta: np.ndarray, side: int, step: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """Return energy and specific heat a site."""
    below, at, above = (log_kaufman(beta + k * step, side) for k in (-1, 0, 1))
    energy = -(above - below) / (2 * step)
    variance = (above - 2 * at + below) / step**2
    return energy / side**2, beta**2 * variance / side**2


def transition(figure: Figure, side: int, sweeps: int) -> None:
    """Draw energy and specific heat around the critical temperature."""
    critical = 1 / Potts.critical_beta(2)
    temperatures = np.linspace(0.85, 1.2, 15) * critical
    model = Potts((side, side), beta=1 / temperatures, replicas=len(temperatures), seed=1)
    summaries = simulate(model, sweeps, thermalise=sweeps // 10).summarise()
    fine = np.linspace(temperatures[0], temperatures[-1], 400)
    fine = fine[abs(fine - critical) > 1e-6]
    names = {"energy": "energy a site", "specific_heat": "specific heat a site"}
    for axes, (key, name), curve in zip(
        figure.subplots(1, 2), names.items(), exact(1 / fine, side), strict=True
    ):
        axes.plot(fine, curve, color="0.7", label="Kaufman, exact")
        points = np.array([getattr(summary, key) for summary in summaries])
        axes.errorbar(
            [1 / summary.beta for summary in summaries], *points.T, fmt=".", label="simulated"
        )
        axes.set_xlabel("temperature")
        axes.set_ylabel(name)
        axes.legend()
    figure.suptitle(f"Ising model, {side} x {side}")


def slowing_down(figure: Figure, sides: list[int], sweeps: int) -> None:
    """Draw autocorrelation times of m^2 at the critical point, in sweeps."""
    axes = figure.subplots()
    for update in ("metropolis", "swendsen_wang", "wolff"):
        times = []
        for side in sides:
            model = Potts((side, side), replicas=8, seed=side)
            getattr(model, update)(sweeps // 5, measure=False)
            series = getattr(model, update)(sweeps)
            (summary,) = summarise(series, model.beta[0])
            # A cluster of Wolff's has N <m^2> sites on average.
            share = summary.squared_magnetisation.value if update == "wolff" else 1.0
            times.append(share * np.array(summary.magnetisation_time))
        axes.errorbar(sides, *np.array(times).T, fmt="o-", label=update.replace("_", "-"))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("L")
    axes.set_ylabel("autocorrelation time of m^2 (sweeps)")
    axes.legend()


if __name__ == "__main__":
    side, sweeps = (int(word) for word in (*sys.argv[2:4], 32, 20000)[:2])
    figure = Figure(figsize=(9, 8), layout="constrained")
    above, below = figure.subfigures(2)
    transition(above, side, sweeps)
    slowing_down(below, [side // 4, side // 2, side, 2 * side], sweeps)
    figure.savefig(sys.argv[1], dpi=150)
