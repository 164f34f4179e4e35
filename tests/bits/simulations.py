"""Simulations with their files, tempering, and what follows from series."""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import h5py
import numpy as np

from .canonical import Coarse
from .inputs import in_folder, integers, uniform
from .names import models

MODELS = {
    "Ising": (partial(models.Ising, (6, 9), seed=1), {"clusters": True}),
    "Ising wolff": (partial(models.Ising, (6, 9), seed=1), {"update": "wolff"}),
    "Ising kagome": (
        partial(models.Ising, (3, 4), lattice="kagome", seed=1),
        {"update": "metropolis"},
    ),
    "Ising structure": (
        partial(models.Ising, (4, 6), seed=2),
        {"observe": "structure", "clusters": True, "wrapping": True},
    ),
    "Potts": (partial(models.Potts, (6, 9), 3, [0.7, 1.1], seed=1), {"wrapping": True}),
    "Potts few": (
        partial(models.Potts, (6, 8), 2, 0.7, seed=1),
        {"update": "few-cluster", "tile": 2, "p_flip": 0.5},
    ),
    "Potts heat bath": (partial(models.Potts, (6, 8), 2, 0.7, seed=1), {"update": "heat-bath"}),
    "XY": (partial(models.XY, (6, 9), beta=[0.5, 1.0], seed=1), {"clusters": True}),
    "Heisenberg": (partial(models.Heisenberg, (6, 9), beta=0.5, seed=1), {"update": "wolff"}),
    "clock": (partial(models.Clock, (6, 9), q=5, beta=0.5, seed=1), {}),
    "O(4)": (partial(models.ON, (6, 9), n=4, beta=0.5, seed=1), {"update": "metropolis"}),
    "glass": (
        partial(models.SpinGlass, (4, 5), beta=[0.5, 1.0], copies=2, samples=2, seed=1),
        {"overlaps": True},
    ),
    "glass houdayer": (
        partial(models.SpinGlass, (4, 5), beta=[0.5, 1.0], copies=2, seed=1),
        {"houdayer": True},
    ),
    "Kawasaki": (partial(models.Kawasaki, (4, 8), lattice="square", seed=1), {}),
    "fields": (partial(models.CahnHilliard, (6, 9), noise=0.1, seed=1), {"threshold": 0.01}),
    "percolation": (partial(models.Percolation, (6, 9), seed=1), {}),
}
# Those whose replicas have temperatures that tempering may exchange.
TEMPERED = {
    "Ising": (models.Ising, {"clusters": False}),
    "Ising triangular": (partial(models.Ising, lattice="triangular"), {"update": "metropolis"}),
    "Potts": (partial(models.Potts, q=3), {"update": "wolff"}),
    "XY": (models.XY, {}),
    "Heisenberg": (models.Heisenberg, {"update": "metropolis"}),
    "clock": (partial(models.Clock, q=5), {}),
    "glass": (partial(models.SpinGlass, samples=2), {}),
    "glass houdayer": (partial(models.SpinGlass, copies=2), {"houdayer": True, "overlaps": True}),
}


def _simulated(run):
    parameters = {k: v for k, v in run.parameters.items() if "version" not in k}
    assert isinstance(run, models.Simulation)
    return run.series, run.updates, run.arrays, parameters


def _written(path):
    """Return the data and attributes of a file, but for the version that wrote it."""
    with h5py.File(path) as file:
        attributes = {k: v for k, v in sorted(file.attrs.items()) if "version" not in k}
        return {name: file[name][...] for name in sorted(file)}, attributes


def _of_simulations():
    for kind, (make, options) in MODELS.items():
        for every, warm in ((1, 0), (3, 2)):
            yield (
                f"{kind} every {every}",
                lambda make=make, options=options, every=every, warm=warm: _simulated(
                    models.simulate(make(), 7, thermalise=warm, measure_every=every, **options)
                ),
            )

        def in_parts(folder, make=make, options=options):
            run = partial(models.simulate, checkpoint=folder / "run", thermalise=2, **options)
            run(make(), 3)
            whole = run(make(), 8, output=folder / "run.h5")
            whole.write(folder / "again.h5")
            return _simulated(whole), _written(folder / "run.h5"), _written(folder / "again.h5")

        yield f"{kind} in parts", in_folder(in_parts)

        def states(make=make):
            model, other = make(), make()
            model.step(3)
            state, parameters = model.state(), model.parameters()
            other.restore(state)
            other.step(2)
            return state, parameters, other.state(), other.updates, other.new_records(2)

        yield f"{kind} state", states

        def protocols(make=make, options=options):
            model = make()
            update = model.updater(**options)
            kinds = models.Model, models.Summarised, models.Update
            known = [isinstance(each, kind) for each in (model, update) for kind in kinds]
            return known, dict(update.options)

        yield f"{kind} protocols", protocols
        if kind not in ("glass houdayer", "fields", "Kawasaki"):
            yield (
                f"{kind} summary",
                lambda make=make, options=options: Coarse(
                    models.simulate(make(), 90, thermalise=5, **options).summarise(), 7
                ),
            )

    def run(*given, **options):
        return models.simulate(models.Ising((4, 4), seed=1), *given, **options)

    yield "dataset", lambda: models.simulate(MODELS["Potts"][0](), 5).to_xarray()

    def watched():
        seen = []
        run(4, watch=lambda model: seen.append(model.measure()))
        return seen

    yield "watched", watched
    for word, options in {
        "no sweeps": {"sweeps": -1},
        "no option": {"sweeps": 3, "none": 1},
        "no update": {"sweeps": 3, "update": "none"},
        "tile": {"sweeps": 3, "tile": 2},
        "clusters of spins": {"sweeps": 3, "update": "metropolis", "clusters": True},
    }.items():
        yield f"simulate {word}", partial(run, **options)

    def damaged(folder, place):
        simulate = partial(models.simulate, checkpoint=folder / "run")
        simulate(models.Ising((4, 4), seed=1), 3)
        content = bytearray((folder / "run").read_bytes())
        content[place] ^= 1
        (folder / "run").write_bytes(content)
        simulate(models.Ising((4, 4), seed=1), 5)

    for place in (0, 40, -1):
        yield f"damaged checkpoint {place}", in_folder(partial(damaged, place=place))

    def another(folder, **options):
        simulate = partial(models.simulate, checkpoint=folder / "run")
        simulate(models.Ising((4, 4), seed=1), 3)
        simulate(models.Ising((4, 4), **({"seed": 1} | options)), 5)

    yield "checkpoint of another seed", in_folder(partial(another, seed=2))
    yield "checkpoint of another field", in_folder(partial(another, field=0.5))

    def there(folder, **options):
        (folder / "run.h5").write_text("")
        return run(2, output=folder / "run.h5", **options) and _written(folder / "run.h5")

    yield "output that is there", in_folder(lambda folder: _refused(partial(there, folder)))
    yield "output that is replaced", in_folder(partial(there, force=True))


def _refused(call):
    """Return whether a call is refused, as the system names its error."""
    try:
        call()
    except (OSError, ValueError) as error:
        return isinstance(error, OSError)
    return None


@dataclass
class Means(models.Series):
    """What a walk measures."""

    records: Any

    def observables(self):
        return {"mean": self.records[..., 0]}


class Walk:
    """A model of a user's own: numbers that a counter moves."""

    device, replicas, first_replica, seed = "cpu", 2, 0, 5

    def __init__(self):
        self.updates, self._place = 0, np.zeros((2, 3), np.int64)

    def step(self, n=1):
        for _ in range(n):
            self.updater()(self.updates + 1)

    def measure(self):
        return Means(self._place.sum(axis=1, keepdims=True))

    def labels(self, *, numbering="consecutive", return_num=False):
        return self._place

    def parameters(self):
        plain = {"model": "Walk", "shape": [3], "seed": self.seed, "replicas": 2}
        return {**plain, "speed": np.ones(2)}

    def state(self):
        return models.State(self.updates, (self._place.copy(),))

    def restore(self, state):
        self.updates, self._place = state.updates, state.arrays[0].copy()

    def updater(self, *, far=1):
        return Step(self, far)

    def new_records(self, n):
        return np.zeros((n, 2, 1), np.int64)

    @staticmethod
    def summaries(series, parameters):
        return [series.records.sum(), sorted(parameters)]


class Step:
    def __init__(self, model, far):
        self.model, self.options = model, {"far": far}

    def __call__(self, number, record=None):
        if record is not None:
            record[:] = self.model.measure().records
        self.model._place = self.model._place + self.options["far"] * integers((2, 3), 5, number)
        self.model.updates = number

    def read(self, records):
        return Means(records)


def _of_own_models():
    def walk(far):
        run = models.simulate(Walk(), 6, thermalise=1, far=far)
        return _simulated(run), run.summarise()

    for far in (1, 4):
        yield f"own model {far}", partial(walk, far)
    yield (
        "own model protocols",
        lambda: (
            isinstance(Walk(), models.Model),
            isinstance(Walk(), models.Summarised),
            isinstance(Walk().updater(), models.Update),
            models.Series in Means.__mro__,
        ),
    )
    yield "own model option", lambda: models.simulate(Walk(), 6, near=1)
    yield "no model", lambda: models.simulate("Ising", 6)


def _of_tempering():
    for (kind, (make, options)), between in product(TEMPERED.items(), (1, 3)):

        def tempered(make=make, options=options, between=between):
            model, seen = make((4, 5), beta=[0.4, 0.8, 0.6], seed=2), []
            found = models.parallel_tempering(
                model,
                6,
                sweeps_between=between,
                watch=lambda model: seen.append(model.energy()),
                **{k: v for k, v in options.items() if k != "overlaps"},
            )
            return found, seen, model.beta, model.spins

        yield f"tempering {kind} {between}", tempered
    yield (
        "tempering of one",
        lambda: models.parallel_tempering(models.Ising((4, 4), beta=0.5), 3),
    )
    yield (
        "tempering of fields",
        lambda: models.parallel_tempering(models.CahnHilliard((4, 4), replicas=2), 3),
    )


def _curve(n):
    """Return points of a function of (x - 0.2) n with noise."""
    places = np.linspace(0.1, 0.3, 9)
    scaled = (places - 0.2) * n
    noise = 0.01 * (uniform((9,), n) - 0.5)
    return np.stack([places, 0.5 + 0.3 * scaled - 0.04 * scaled**2 + noise, places * 0.05], axis=1)


CURVES = {n: _curve(n) for n in (4, 8, 16)}


def _of_series():
    series = uniform((512,), 1) + np.repeat(uniform((64,), 2), 8)
    several = uniform((512, 3), 3)
    energy = -integers((400,), 40, 4) - 10.0
    yield "autocorrelation", lambda: Coarse(models.autocorrelation_time(series), 7)
    yield "autocorrelation of several", lambda: Coarse(models.autocorrelation_time(several), 7)
    yield "autocorrelation of few", lambda: Coarse(models.autocorrelation_time([1.0, 2.0]), 7)
    for length in (None, 1, 7, 600):
        yield (
            f"jackknife {length}",
            lambda length=length: Coarse(
                models.jackknife(lambda m, s: s - m * m, series, series**2, bin_length=length), 7
            ),
        )
    yield "jackknife of an array", lambda: Coarse(models.jackknife(np.mean, several), 7)
    yield "estimate", lambda: models.Estimate(1.5, 0.25)
    for degree in (1, 2, 20):
        yield (
            f"crossing {degree}",
            lambda degree=degree: Coarse(models.crossing(CURVES, degree=degree, seed=3), 4),
        )
    for exponent in (None, 0.0):
        yield (
            f"collapse {exponent}",
            lambda exponent=exponent: _collapsed(
                models.collapse(CURVES, critical=0.21, nu=1.1, exponent=exponent, degree=2)
            ),
        )
    yield "crossing of one", lambda: models.crossing({4: CURVES[4]})
    for at in (0.5, [0.48, 0.5, 0.52]):
        yield (
            f"reweighted to {at}",
            lambda at=at: Coarse(
                models.reweight(np.mean, energy**2, energy=energy, beta=0.5, at=at, bins=8), 7
            ),
        )
    yield "logarithmic bins", lambda: Coarse(models.logarithmic_bins(several), 7)
    yield "logarithmic bins of few", lambda: models.logarithmic_bins([1.0])
    yield (
        "energy and link overlap",
        lambda: Coarse(
            models.katzgraber_young(series, several[:, 0], beta=0.5, bonds=72, variance=2.0), 7
        ),
    )

    def measured():
        glass = models.SpinGlass((4, 4), beta=[0.4, 0.8], copies=2, samples=3, seed=3)
        return [glass.step(2) or glass.overlaps() for _ in range(5)]

    for bins in (4, 11):
        yield (
            f"distribution of overlaps {bins}",
            lambda bins=bins: Coarse(models.overlap_distribution(measured(), 0.8, bins=bins), 7),
        )
    yield (
        "distribution at no temperature",
        lambda: models.overlap_distribution(measured(), 0.7, bins=4),
    )
    yield "summary of overlaps", lambda: Coarse(models.summarise_overlaps(measured(), (4, 4)), 7)
    for kind in ("Ising", "Potts", "XY"):
        make, _ = MODELS[kind]
        yield (
            f"summary of a series of {kind}",
            lambda make=make: Coarse(
                models.summarise((model := make()).swendsen_wang(90), model.beta), 7
            ),
        )
    yield (
        "threshold",
        lambda: Coarse(_thresholds(models.Percolation((8, 8), seed=1).sweep(40)), 6),
    )
    yield (
        "threshold of configurations",
        lambda: Coarse(
            models.simulate(models.Percolation((8, 8), p=0.59, seed=1), 80).series.summarise(), 7
        ),
    )


def _thresholds(swept):
    return [swept.threshold(event) for event in ("axis", "any", "balance")], swept.at(0.59)


def _collapsed(found):
    """Return what a search has found, to what it can tell."""
    assert isinstance(found, models.Collapse)
    return Coarse((found.critical, found.nu, found.freedom), 2), found.scale(4, CURVES[4]).shape
