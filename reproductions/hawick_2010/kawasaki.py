"""Figs. 2 and 3: the largest component of the minority of an Ising model with exchange dynamics.

The paper gives the lattice, body-centred cubic of 32 x 32 x 32, the share of the minority in
Fig. 2, 0.2, and that Fig. 3 has the means of 100 runs; neither temperatures, in numbers, nor how
long a run is. Here 32 x 32 x 32 are sites, as the array that is labelled has them, and its axes are
the primitive vectors; each run begins at random spins and makes the same number of sweeps.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from conncomp._array_storage import move_from_gpu
from conncomp._arrays import on_gpu
from conncomp.models import Kawasaki, simulate
from reproductions.claims import Claim
from reproductions.hawick_2010.laboratory import claim
from reproductions.laboratory import Laboratory, Row
from reproductions.paper import Findings
from reproductions.published import read

LATTICE, SEED = "bcc", 2010
PUBLISHED = read(__file__)
# Each site has eight neighbours: along these vectors, and along their sum, both ways.
PRIMITIVE = np.array([[-1, 1, 1], [1, -1, 1], [1, 1, -1]]) / 2
MINORITY = PUBLISHED["figure-2"]["minority"]
QUENCH = 0.6  # the temperature of Fig. 2, over the critical one
LOWEST, HIGHEST = 0.3, 1.5  # temperatures of Fig. 3, over the critical one of fraction 1/2
MOST = 0.5  # the largest share of the minority
# At infinite temperature a share above this percolates: C. D. Lorenz, R. M. Ziff 1998.
SITE_PERCOLATION = 0.2459615
SECONDS = 60.0  # between two checkpoints


class Scale(NamedTuple):
    """How much is simulated."""

    length: int  # of all three axes, in sites
    points: int  # temperatures, and as many shares
    runs: int  # at each point
    sweeps: int  # of a run


SCALES = {
    "small": Scale(8, 3, 4, 20),
    "paper": Scale(32, 20, 100, 4000),
    "today": Scale(64, 20, 100, 16000),
}


def quench(laboratory: Laboratory) -> Findings:
    """Quench a lattice as that of Fig. 2, and find the largest component of its minority."""
    scale = SCALES[laboratory.size]
    temperature = QUENCH * Kawasaki.critical_temperature(LATTICE)
    model = Kawasaki(
        scale.length,
        lattice=LATTICE,
        temperature=temperature,
        fraction=MINORITY,
        seed=SEED,
        device=laboratory.device.name,
    )
    laboratory.notify(f"{scale.sweeps} sweeps of {scale.length}^3 sites")
    model.step(scale.sweeps)
    measured, labels = model.measure(), model.labels()
    labels = (move_from_gpu(labels) if on_gpu(labels) else labels).reshape(-1)
    sizes = np.bincount(labels)
    sizes[0] = 0
    return {
        "rows": [
            {
                "temperature": temperature,
                "fraction": model.fraction,
                "components": int(measured.components),
                "largest_component": int(measured.largest_component),
                "largest_of_system": float(measured.largest_fraction),
                "largest_of_minority": float(measured.largest_fraction) / model.fraction,
                "energy_per_site": float(measured.energy) / model.lattice.sites,
            }
        ],
        "minority": np.flatnonzero(labels).tolist(),
        "largest": np.flatnonzero(labels == sizes.argmax()).tolist(),
        "published": PUBLISHED["figure-2"],
        "simulation": _described(scale),
    }


def draw_quench(findings: Findings, canvas: Any) -> None:
    """Draw the minority and, beside it, its largest component, where their sites lie."""
    length = findings["simulation"]["length"]
    size = 4 * (32 / length) ** 2
    for number, (name, title) in enumerate(
        {"minority": "the minority", "largest": "its largest component"}.items(), 1
    ):
        axes = canvas.add_subplot(1, 2, number, projection="3d")
        x, y, z = places(np.array(np.unravel_index(findings[name], (length,) * 3)))
        axes.scatter(x, y, z, c=z, cmap="Blues_r", vmax=1.5 * length, s=size, depthshade=False)
        axes.set(xlabel="x / a", ylabel="y / a", zlabel="z / a", aspect="equal")
        axes.set_title(f"{title}: {len(findings[name])} sites", fontsize="small")
        axes.tick_params(labelsize="x-small")


def places(indices: Any) -> Any:
    """Return where sites of the body-centred lattice lie, in edges of its cubes.

    `indices` are along the primitive vectors, the first axis of three.

    >>> places(np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])).T.tolist()
    [[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5], [0.5, 0.5, 0.5]]
    """
    return np.tensordot(PRIMITIVE, indices, axes=([0], [0]))


def surface(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    """Measure the largest component over temperatures and shares, as Fig. 3 has it.

    Runs are kept in `checkpoint`, and go on from there.
    """
    scale = SCALES[laboratory.size]
    critical = Kawasaki.critical_temperature(LATTICE)
    temperatures = critical * np.linspace(LOWEST, HIGHEST, scale.points)
    shares = MOST * np.arange(1, scale.points + 1) / scale.points
    grid = np.meshgrid(temperatures, shares, indexing="ij")
    of_runs = [np.repeat(values.reshape(-1), scale.runs) for values in grid]
    model = Kawasaki(
        scale.length,
        lattice=LATTICE,
        temperature=of_runs[0],
        fraction=of_runs[1],
        replicas=len(of_runs[0]),
        seed=SEED,
        device=laboratory.device.name,
    )
    laboratory.notify(f"{model.replicas} lattices of {scale.length}^3 sites")
    # The one update that measures does so before its sweep.
    run = simulate(
        model, 1, thermalise=scale.sweeps, checkpoint=checkpoint, checkpoint_every=SECONDS
    )
    series, shape = run.series, (len(temperatures), len(shares), scale.runs)
    largest = series.largest_fraction[0].reshape(shape)
    components = series.components[0].reshape(shape)
    energy = (series.energy[0] / model.lattice.sites).reshape(shape)
    rows = [
        {
            "temperature": float(temperatures[i]),
            "fraction": float(shares[j]),
            "largest_of_system": float(largest[i, j].mean()),
            "error": _error(largest[i, j]),
            "largest_of_minority": float(largest[i, j].mean() / shares[j]),
            "components": float(components[i, j].mean()),
            "energy_per_site": float(energy[i, j].mean()),
        }
        for i in range(len(temperatures))
        for j in range(len(shares))
    ]
    return {
        "rows": rows,
        "fits": {"crease": _crease(temperatures, shares, largest.mean(axis=2))},
        "published": PUBLISHED["figure-3"],
        "known": {
            "critical_temperature_at_one_half": critical,
            "site_percolation_at_infinite_temperature": SITE_PERCOLATION,
        },
        "simulation": {**_described(scale), "runs": scale.runs, "points": scale.points},
    }


def draw_surface(findings: Findings, canvas: Any) -> None:
    """Draw the surface, and the same seen from above with the crease."""
    rows, points = findings["rows"], findings["simulation"]["points"]
    x, y, z = (
        np.array([row[name] for row in rows]).reshape(points, points)
        for name in ("temperature", "fraction", "largest_of_system")
    )
    axes = canvas.add_subplot(1, 2, 1, projection="3d")
    axes.plot_surface(x, y, z, cmap="viridis", rcount=points, ccount=points)
    axes.set(xlabel="T / J", ylabel="minority", zlabel="largest component, of the system")
    axes.view_init(30, -130)
    above = canvas.add_subplot(1, 2, 2)
    filled = above.contourf(x, y, z / y, levels=np.linspace(0, 1, 11), cmap="viridis")
    canvas.colorbar(filled, ax=above, label="largest component, of the minority")
    crease = findings["fits"]["crease"]
    above.plot([point["temperature"] for point in crease], [point["fraction"] for point in crease],
               "w.", label="steepest fall")  # fmt: skip
    known = findings["known"]
    above.axhline(
        known["site_percolation_at_infinite_temperature"],
        color="w",
        linestyle=":",
        label="site percolation",
    )
    above.axvline(
        known["critical_temperature_at_one_half"], color="w", linestyle="--", label="$T_c$ at 1/2"
    )
    above.set(xlabel="T / J", ylabel="minority")
    above.legend(fontsize="x-small", labelcolor="w", facecolor="0.4")


def claims_of_surface(findings: Findings) -> list[Claim]:
    crease = min(findings["fits"]["crease"], key=lambda point: abs(point["fraction"] - MINORITY))
    rows = [row for row in findings["rows"] if row["fraction"] == crease["fraction"]]
    cold, hot = (row["largest_of_minority"] for row in (rows[0], rows[-1]))
    critical = findings["known"]["critical_temperature_at_one_half"]
    return [
        claim(
            "figure-3.crease",
            f"at a minority of {crease['fraction']:.3g} the largest component falls from "
            f"{cold:.2f} to {hot:.2f} of it, most at T = {crease['temperature']:.2f}; the critical "
            f"temperature is {critical:.2f} for equal shares",
            hot / cold,
        )
    ]


def _described(scale: Scale) -> dict[str, Any]:
    return {
        "lattice": LATTICE,
        "neighbours": 8,
        "length": scale.length,
        "sites": scale.length**3,
        "counted": "sites of the array, along primitive vectors",
        "sweeps": scale.sweeps,
        "attempts_per_site_and_sweep": 3,
        "start": "random spins",
        "seed": SEED,
    }


def _error(runs: Any) -> float | None:
    """Return the standard error of the mean of runs, or None of a single one."""
    return float(runs.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else None


def _crease(temperatures: Any, shares: Any, largest: Any) -> list[Row]:
    """Return, for each share, between which temperatures the largest component falls most."""
    falls = -np.diff(largest, axis=0)
    middles = (temperatures[1:] + temperatures[:-1]) / 2
    steepest = falls.argmax(axis=0)
    return [
        {"fraction": float(share), "temperature": float(middles[k]), "fall": float(falls[k, j])}
        for j, (share, k) in enumerate(zip(shares, steepest, strict=True))
    ]
