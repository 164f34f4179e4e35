"""What exhibits measure with: critical lattices, and the times of labellings and sweeps."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from conncomp import Workspace, label_bonds
from conncomp.bench.devices import Cpu
from conncomp.diagnostics import kernel_times
from conncomp.kernels.cuda.core.sweeps import counted_sweeps
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.papers import tiles
from conncomp.kernels.links import bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.models import ModelState, Potts
from reproductions import laboratory
from reproductions.claims import Words
from reproductions.laboratory import Row
from reproductions.published import read
from reproductions.threads import one_thread_seconds

OF_PAPER = "Weigel 2011"
PUBLISHED = read(__file__)
words = Words(__file__)
claim = words.claim

# A sweep is timed as the median of so many calls, each of so many sweeps, so that the host is ahead
# of the GPU; or of one where that takes so many seconds.
CALLS, SWEEPS, LONG = 3, 10, 0.05
# The serial code is timed so often, or once it took so many seconds no more.
SERIAL_CALLS, SERIAL_SECONDS = 5, 1.5
# Sweeps between two configurations whose bonds are labelled.
APART = 10
# Labels of lattices of up to so many sites are compared with those of the CPU.
CHECKED_SITES = 1 << 24

# The stage of a kernel, by how its name begins; all others give sites their new states.
STAGES = {
    "activation": ("activate", "spread", "start"),
    "local": ("local", "link", "label"),
    "consolidation": ("sew", "prepare", "relax", "join"),
}
LAST_STAGE = "flip"


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    lengths: tuple[int, ...]  # of lattices for sweeps, ascending
    longest_labelled: int  # whose bonds alone are labelled
    longest_serial: int  # for the serial code
    longest_of_table: int  # of Table I on a GPU
    tile_length: int  # of the lattice whose tiles are labelled in all ways
    betas_length: int  # of the lattice at several temperatures
    thermalise: int  # sweeps before a lattice is used
    samples: int  # configurations whose bonds are labelled
    betas: tuple[float, ...]  # inverse temperatures, over the critical one
    flips: int  # updates whose flipped spins are counted
    chains: int  # replicas of which autocorrelation times are measured
    cluster_lengths: tuple[int, ...]  # of lattices for their updates
    local_lengths: tuple[int, ...]  # of those for updates of single spins
    cluster_updates: int  # how long their series are
    local_sweeps: int  # likewise, on the longest lattice


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(1 << k for k in range(first.bit_length() - 1, last.bit_length()))


BETAS = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4)
PAPER = Scale(
    lengths=_powers(32, 8192),
    longest_labelled=8192,
    longest_serial=8192,
    longest_of_table=16384,
    tile_length=4096,
    betas_length=8192,
    thermalise=200,
    samples=3,
    betas=BETAS,
    flips=40,
    chains=256,
    cluster_lengths=(16, 32, 64, 128),
    local_lengths=(8, 16, 32, 64),
    cluster_updates=4000,
    local_sweeps=200_000,
)
SCALES = {
    "small": Scale((16, 32), 32, 32, 32, 32, 32, 4, 1, (0.6, 1.0), 2, 2, (4, 8), (4, 8), 100, 200),
    "paper": PAPER,
    "today": replace(
        PAPER,
        lengths=_powers(32, 32768),
        longest_labelled=16384,
        betas_length=16384,
        chains=1024,
        cluster_lengths=_powers(16, 256),
        local_lengths=_powers(8, 128),
    ),
}


class Way(NamedTuple):
    """How the sweeps of a model label clusters."""

    name: str  # in tables and pictures
    options: dict[str, Any]  # of `Potts`

    def __hash__(self) -> int:
        return hash((self.name, *sorted(self.options.items())))


AUTO = Way("the default", {})


def of_tiles(merge: str, side: int) -> Way:
    """Return self-labelling with Weigel's best kernel, four sites a thread, and a merge."""
    return Way(f"{merge}, B = {side}", {"labelling": "tiles", "merge": merge, "tile": side})


class Laboratory(laboratory.Laboratory):
    """Measures on a device; what was measured already is not measured again."""

    def __init__(
        self, device: Cpu, size: str, notify: Callable[[str], object] = lambda step: None
    ) -> None:
        super().__init__(device, size, notify)
        self.scale = SCALES[size]
        self._states: dict[Any, ModelState] = {}
        self._bonds: dict[int, list[Any]] = {}
        self._workspace = Workspace()

    # ---------------------------------------------------------------------------------- lattices

    def model(
        self, length: int, way: Way = AUTO, *, q: int = 2, ratio: float = 1.0, serial: bool = False
    ) -> Potts:
        """Return a square model in equilibrium, at `ratio` times the critical inverse temperature.

        `serial` is for Weigel's code for a CPU, whatever the device.
        """
        beta = ratio * Potts.critical_beta(q)
        start = "cold" if ratio > 1 else "hot"
        shared: dict[str, Any] = {"q": q, "beta": beta, "seed": 1, "start": start}
        if (key := (length, q, ratio)) not in self._states:
            self.notify(f"L = {length}, q = {q}, {ratio:g} beta_c: thermalising")
            model = Potts((length, length), device=self.device.name, **shared)
            model.swendsen_wang(self.scale.thermalise, measure=False)
            self._states[key] = model.state()
        if serial:
            model = Potts((length, length), device="cpu", labelling="serial", **shared)
        else:
            model = Potts((length, length), device=self.device.name, **way.options, **shared)
        model.restore(self._states[key])
        return model

    def bonds(self, length: int) -> list[Any]:
        """Return bonds of critical configurations: of each site bit k for axis k."""
        if length not in self._bonds:
            model, configurations = self.model(length), []
            for _ in range(self.scale.samples):
                model.swendsen_wang(APART, measure=False)
                bonds = model.bonds()
                configurations.append((bonds[0] | bonds[1] << 1).astype("u1"))
            self._bonds[length] = configurations
        return self._bonds[length]

    # ------------------------------------------------------------------------------ labels of bonds

    def labelling(
        self, length: int, side: int, merge: str, local: str = "self-labelling", sites: Any = None
    ) -> Row:
        """Return the times of labelling critical bonds by tiles: seconds of stages, and in all.

        ``relaxations`` are the sweeps until nothing changed, the mean of all configurations.
        """
        key = length, side, merge, local, sites
        if key not in self._rows:
            self.notify(f"L = {length}: {local}, {merge}, B = {side}")
            self._rows[key] = self._label(*key)
        return dict(self._rows[key])

    def _label(self, length: int, side: int, merge: str, local: str, sites: Any) -> Row:
        gpu, timed, changes = current_gpu(), [], []
        roots = gpu.xp.empty(length * length, np.int32)
        options: Any = {"local": local, "merge": merge, "tile": side, "sites": sites}
        for number, bonds in enumerate(self.bonds(length)):
            image = _lattice(bonds)
            fill = partial(tiles.fill_roots, gpu, image, roots, self._workspace, **options)
            if number == 0:  # compiles kernels
                fill()
                self._check(bonds, roots)
            seconds = self.device.seconds(fill)
            with kernel_times() as times, counted_sweeps() as sweeps:
                fill()
            changes.append(sum(sweeps))
            timed.append({**_stages(times), "seconds": seconds})
        return {
            "length": length,
            "tile": side,
            "local_way": local,
            "sites_of_thread": sites,
            "merge": merge,
            "relaxations": statistics.mean(changes),
            **{name: statistics.median(row[name] for row in timed) for name in timed[0]},
        }

    def _check(self, bonds: Any, roots: Any) -> None:
        if bonds.size > CHECKED_SITES:
            return
        on_host = self.device.fetch(bonds)
        right = label_bonds(on_host, periodic=True, numbering="roots")
        if not np.array_equal(self.device.fetch(roots), right.ravel()):
            raise RuntimeError(f"wrong labels of a lattice of {bonds.shape}")

    # -------------------------------------------------------------------------------------- sweeps

    def sweep(self, length: int, way: Way, *, q: int = 2, ratio: float = 1.0) -> Row:
        """Return what a Swendsen-Wang sweep takes, in all and by stages on a GPU: ns a site."""
        key = length, way, q, ratio
        if key not in self._rows:
            model = self.model(length, way, q=q, ratio=ratio)
            self.notify(f"L = {length}, q = {q}, {ratio:g} beta_c: {way.name}")
            self._rows[key] = self._sweep(model, way, q, ratio)
        return dict(self._rows[key])

    def _sweep(self, model: Potts, way: Way, q: int, ratio: float) -> Row:
        sites = model.lattice.sites
        model.swendsen_wang(measure=False)  # compiles kernels
        once = self.device.seconds(partial(model.swendsen_wang, measure=False))
        sweeps = SWEEPS if once < LONG else 1
        call = partial(model.swendsen_wang, sweeps, measure=False)
        seconds = statistics.median(self.device.seconds(call) for _ in range(CALLS)) / sweeps
        row = {
            "length": model.lattice.shape[0],
            "way": way.name,
            "q": q,
            "beta_over_critical": ratio,
            "ns": 1e9 * seconds / sites,
        }
        if self.on_gpu:
            timed = []
            for _ in range(CALLS):
                with kernel_times() as times:
                    model.swendsen_wang(measure=False)
                timed.append(_stages(times))
            for stage in timed[0]:
                row[f"{stage}_ns"] = 1e9 * statistics.median(t[stage] for t in timed) / sites
        return row

    def relaxed_sweep(self, length: int, *, q: int = 2, ratio: float = 1.0) -> Row:
        """Return `sweep` with label relaxation, of the fastest of the longer tiles."""
        return min(
            (
                self.sweep(length, of_tiles("relaxation", side), q=q, ratio=ratio)
                for side in (16, 32, 64)
            ),
            key=lambda row: float(row["ns"]),
        )

    def serial_sweep(self, length: int, *, q: int = 2, ratio: float = 1.0) -> Row:
        """Return what a sweep of Weigel's code for a CPU takes: ns a site."""
        key = "serial", length, q, ratio
        if key not in self._rows:
            model = self.model(length, q=q, ratio=ratio, serial=True)
            self.notify(f"L = {length}, q = {q}, {ratio:g} beta_c: CPU")
            sweep, seconds = partial(model.swendsen_wang, measure=False), list[float]()
            while len(seconds) < SERIAL_CALLS and sum(seconds) < SERIAL_SECONDS:
                seconds.append(one_thread_seconds(sweep))
            ns = 1e9 * statistics.median(seconds) / model.lattice.sites
            self._rows[key] = {
                "length": length,
                "way": "serial, CPU",
                "q": q,
                "beta_over_critical": ratio,
                "ns": ns,
            }
        return dict(self._rows[key])


def _lattice(bonds: Any) -> Image:
    """Return a periodic lattice as the kernels take it: bit k is the bond along axis k."""
    return Image(bonds, bonds_of_axes(2), Neighbourhood(1, None, (True, True)))


def _stages(times: dict[str, float]) -> dict[str, float]:
    """Return the seconds of each stage, given those of kernels."""
    stages = dict.fromkeys((*STAGES, LAST_STAGE), 0.0)
    for kernel, seconds in times.items():
        stage = next((name for name in STAGES if kernel.startswith(STAGES[name])), LAST_STAGE)
        stages[stage] += seconds
    return stages
