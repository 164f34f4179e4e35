"""Simulations with their files, tempering, and what follows from series."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import h5py
import numpy as np

from .canonical import Coarse
from .inputs import cases, integers, rows, uniform
from .names import models

MODELS = dict(
    rows("""
    Ising: models.Ising((6, 9), seed=1); Ising wolff: models.Ising((6, 9), seed=1);
    Ising kagome: models.Ising((3, 4), lattice="kagome", seed=1);
    Ising structure: models.Ising((4, 6), seed=2);
    Potts: models.Potts((6, 9), 3, [0.7, 1.1], seed=1);
    Potts few: models.Potts((6, 8), 2, 0.7, seed=1);
    Potts heat bath: models.Potts((6, 8), 2, 0.7, seed=1);
    XY: models.XY((6, 9), beta=[0.5, 1.0], seed=1);
    Heisenberg: models.Heisenberg((6, 9), beta=0.5, seed=1);
    clock: models.Clock((6, 9), q=5, beta=0.5, seed=1);
    O(4): models.ON((6, 9), n=4, beta=0.5, seed=1);
    glass: models.SpinGlass((4, 5), beta=[0.5, 1.0], copies=2, samples=2, seed=1);
    glass houdayer: models.SpinGlass((4, 5), beta=[0.5, 1.0], copies=2, seed=1);
    Kawasaki: models.Kawasaki((4, 8), lattice="square", seed=1);
    fields: models.CahnHilliard((6, 9), noise=0.1, seed=1);
    percolation: models.Percolation((6, 9), seed=1)
    """)
)
OPTIONS = cases("""
    Ising: clusters=True; Ising wolff: update="wolff"; Ising kagome: update="metropolis";
    Ising structure: observe="structure", clusters=True, wrapping=True; Potts: wrapping=True;
    Potts few: update="few-cluster", tile=2, p_flip=0.5; Potts heat bath: update="heat-bath";
    XY: clusters=True; Heisenberg: update="wolff"; clock:; O(4): update="metropolis";
    glass: overlaps=True; glass houdayer: houdayer=True; fields: threshold=0.01; Kawasaki:;
    percolation:
""")
# Those whose replicas have temperatures that tempering may exchange.
TEMPERED = cases("""
    Ising: make=models.Ising, clusters=False; XY: make=models.XY;
    Ising triangular: make=partial(models.Ising, lattice="triangular"), update="metropolis";
    Potts: make=partial(models.Potts, q=3), update="wolff";
    Heisenberg: make=models.Heisenberg, update="metropolis"; clock: make=partial(models.Clock, q=5);
    glass: make=partial(models.SpinGlass, samples=2);
    glass houdayer: make=partial(models.SpinGlass, copies=2), houdayer=True
""")


def _run(kind, *given, **options):
    return models.simulate(MODELS[kind](), *given, **options, **OPTIONS[kind])


def _simulated(run):
    parameters = {k: v for k, v in run.parameters.items() if "version" not in k}
    assert isinstance(run, models.Simulation)
    return run.series, run.updates, run.arrays, parameters


def _written(path):
    """Return the data and attributes of a file, but for the version that wrote it."""
    with h5py.File(path) as file:
        attributes = {k: v for k, v in sorted(file.attrs.items()) if "version" not in k}
        return {name: file[name][...] for name in sorted(file)}, attributes


def _in_parts(kind, folder):
    run = partial(_run, kind, checkpoint=folder / "run", thermalise=2)
    run(3)
    whole = run(8, output=folder / "run.h5")
    whole.write(folder / "again.h5")
    return _simulated(whole), _written(folder / "run.h5"), _written(folder / "again.h5")


def _states(model, other):
    model.step(3)
    state, parameters = model.state(), model.parameters()
    other.restore(state)
    other.step(2)
    return state, parameters, other.state(), other.updates, other.new_records(2)


def _protocols(model, **options):
    update, kinds = model.updater(**options), (models.Model, models.Summarised, models.Update)
    known = [isinstance(each, kind) for each in (model, update) for kind in kinds]
    return known, dict(update.options)


def _ising(seed=1, **options):
    return models.Ising((4, 4), seed=seed, **options)


def _watched():
    seen = []
    models.simulate(_ising(), 4, watch=lambda model: seen.append(model.measure()))
    return seen


def _continued(folder, place=None, **options):
    """Go on from a checkpoint, a byte of which is damaged, or with another model."""
    simulate = partial(models.simulate, checkpoint=folder / "run")
    simulate(_ising(), 3)
    if place is not None:
        content = bytearray((folder / "run").read_bytes())
        content[place] ^= 1
        (folder / "run").write_bytes(content)
    simulate(_ising(**options), 5)


def _there(folder, **options):
    (folder / "run.h5").write_text("")
    run = models.simulate(_ising(), 2, output=folder / "run.h5", **options)
    return run and _written(folder / "run.h5")


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


def _walked(far):
    run = models.simulate(Walk(), 6, thermalise=1, far=far)
    return _simulated(run), run.summarise()


def _tempered(between, make, **options):
    model, seen = make((4, 5), beta=[0.4, 0.8, 0.6], seed=2), []
    options |= {"sweeps_between": between, "watch": lambda model: seen.append(model.energy())}
    return models.parallel_tempering(model, 6, **options), seen, model.beta, model.spins


def _curve(n):
    """Return points of a function of (x - 0.2) n with noise."""
    places = np.linspace(0.1, 0.3, 9)
    scaled = (places - 0.2) * n
    noise = 0.01 * (uniform((9,), n) - 0.5)
    return np.stack([places, 0.5 + 0.3 * scaled - 0.04 * scaled**2 + noise, places * 0.05], axis=1)


CURVES = {n: _curve(n) for n in (4, 8, 16)}
SERIES = uniform((512,), 1) + np.repeat(uniform((64,), 2), 8)
SEVERAL = uniform((512, 3), 3)
ENERGY = -integers((400,), 40, 4) - 10.0


def _jackknife(length):
    variance = partial(models.jackknife, lambda m, s: s - m * m, SERIES, SERIES**2)
    return Coarse(variance(bin_length=length), 7)


def _reweighted(at):
    found = models.reweight(np.mean, ENERGY**2, energy=ENERGY, beta=0.5, at=at, bins=8)
    return Coarse(found, 7)


def _overlaps():
    glass = models.SpinGlass((4, 4), beta=[0.4, 0.8], copies=2, samples=3, seed=3)
    return [glass.step(2) or glass.overlaps() for _ in range(5)]


def _summary(kind):
    model = MODELS[kind]()
    return Coarse(models.summarise(model.swendsen_wang(90), model.beta), 7)


def _thresholds(swept):
    return [swept.threshold(event) for event in ("axis", "any", "balance")], swept.at(0.59)


def _collapsed(exponent):
    """Return what a search has found, to what it can tell."""
    found = models.collapse(CURVES, critical=0.21, nu=1.1, exponent=exponent, degree=2)
    assert isinstance(found, models.Collapse)
    return Coarse((found.critical, found.nu, found.freedom), 2), found.scale(4, CURVES[4]).shape


CALLS = """
dataset: models.simulate(MODELS["Potts"](), 5).to_xarray(); watched: _watched();
simulate no sweeps: models.simulate(_ising(), sweeps=-1);
simulate no option: models.simulate(_ising(), sweeps=3, none=1);
simulate no update: models.simulate(_ising(), sweeps=3, update="none");
simulate tile: models.simulate(_ising(), sweeps=3, tile=2);
simulate clusters of spins: models.simulate(_ising(), sweeps=3, update="metropolis", clusters=True);
own model 1: _walked(1); own model 4: _walked(4);
own model protocols: (isinstance(Walk(), models.Model), isinstance(Walk(), models.Summarised),
    isinstance(Walk().updater(), models.Update), models.Series in Means.__mro__);
own model option: models.simulate(Walk(), 6, near=1); no model: models.simulate("Ising", 6);
tempering of one: models.parallel_tempering(models.Ising((4, 4), beta=0.5), 3);
tempering of fields: models.parallel_tempering(models.CahnHilliard((4, 4), replicas=2), 3)
@ kind=list(MODELS)
{kind} every 1: _simulated(_run(kind, 7, thermalise=0, measure_every=1));
{kind} every 3: _simulated(_run(kind, 7, thermalise=2, measure_every=3));
{kind} state: _states(MODELS[kind](), MODELS[kind]());
{kind} protocols: _protocols(MODELS[kind](), **OPTIONS[kind])
@in_folder kind=list(MODELS)
{kind} in parts: _in_parts(kind, folder)
@ kind=[kind for kind in MODELS if kind not in ("glass houdayer", "fields", "Kawasaki")]
{kind} summary: Coarse(_run(kind, 90, thermalise=5).summarise(), 7)
@in_folder
damaged checkpoint 0: _continued(folder, 0); damaged checkpoint 40: _continued(folder, 40);
damaged checkpoint -1: _continued(folder, -1);
checkpoint of another seed: _continued(folder, seed=2);
checkpoint of another field: _continued(folder, field=0.5);
output that is there: _refused(partial(_there, folder));
output that is replaced: _there(folder, force=True)
@ kind=TEMPERED, between=(1, 3)
tempering {kind} {between}: _tempered(between, **kind)
@
autocorrelation: Coarse(models.autocorrelation_time(SERIES), 7);
autocorrelation of several: Coarse(models.autocorrelation_time(SEVERAL), 7);
autocorrelation of few: Coarse(models.autocorrelation_time([1.0, 2.0]), 7);
jackknife None: _jackknife(None); jackknife 1: _jackknife(1); jackknife 7: _jackknife(7);
jackknife 600: _jackknife(600);
jackknife of an array: Coarse(models.jackknife(np.mean, SEVERAL), 7);
estimate: models.Estimate(1.5, 0.25); crossing of one: models.crossing({4: CURVES[4]});
crossing 1: Coarse(models.crossing(CURVES, degree=1, seed=3), 4);
crossing 2: Coarse(models.crossing(CURVES, degree=2, seed=3), 4);
crossing 20: Coarse(models.crossing(CURVES, degree=20, seed=3), 4); collapse None: _collapsed(None);
collapse 0.0: _collapsed(0.0); reweighted to 0.5: _reweighted(0.5);
reweighted to [0.48, 0.5, 0.52]: _reweighted([0.48, 0.5, 0.52]);
logarithmic bins: Coarse(models.logarithmic_bins(SEVERAL), 7);
logarithmic bins of few: models.logarithmic_bins([1.0]);
energy and link overlap: Coarse(models.katzgraber_young( SERIES, SEVERAL[:, 0], beta=0.5, bonds=72,
    variance=2.0), 7);
distribution of overlaps 4: Coarse(models.overlap_distribution(_overlaps(), 0.8, bins=4), 7);
distribution of overlaps 11: Coarse(models.overlap_distribution(_overlaps(), 0.8, bins=11), 7);
distribution at no temperature: models.overlap_distribution(_overlaps(), 0.7, bins=4);
summary of overlaps: Coarse(models.summarise_overlaps(_overlaps(), (4, 4)), 7);
summary of a series of Ising: _summary("Ising"); summary of a series of XY: _summary("XY");
summary of a series of Potts: _summary("Potts");
threshold: Coarse(_thresholds(models.Percolation((8, 8), seed=1).sweep(40)), 6);
threshold of configurations: Coarse(models.simulate( models.Percolation((8, 8), p=0.59, seed=1),
    80).series.summarise(), 7)
"""
