"""Trajectories of all models, on all lattices, by all updates."""

from functools import partial
from itertools import product

from .canonical import Coarse
from .inputs import each, integers, uniform, with_threads
from .names import cc, models

SWEEPS = 3
# By name: the length of each axis, and a temperature at which spins move.
LATTICES = {
    "chain": ((70,), 1.0),
    "square": ((6, 70), 2.3),
    "cubic": ((3, 4, 9), 4.5),
    "hypercubic": ((3, 2, 3, 5), 6.7),
    "triangular": ((6, 9), 3.6),
    "honeycomb": ((5, 6), 1.5),
    "kagome": ((4, 5), 2.1),
    "bcc": ((4, 3, 5), 6.4),
    "fcc": ((3, 4, 3), 9.8),
    "diamond": ((3, 2, 4), 2.7),
}
UPDATES = {
    "sweep": ("swendsen_wang", {}),
    "sweep clusters": ("swendsen_wang", {"clusters": True}),
    "sweep wrapping": ("swendsen_wang", {"wrapping": True}),
    "sweep structure": ("swendsen_wang", {"observe": "structure", "clusters": True}),
    "wolff": ("wolff", {}),
    "wolff clusters": ("wolff", {"clusters": True}),
    "wolff wrapping": ("wolff", {"wrapping": True}),
    "metropolis": ("metropolis", {}),
    "metropolis structure": ("metropolis", {"observe": ["structure"]}),
    "metropolis alone": ("metropolis", {"measure": False}),
    "heat bath": ("heat_bath", {}),
}
FEW = {
    "few clusters": ("few_cluster", {"tile": 2, "p_flip": 0.6}),
    "few clusters of tiles": ("few_cluster", {"tile": (3, 10), "p_flip": 0.3, "clusters": True}),
}
VECTORS = {
    "XY": partial(models.XY),
    "Heisenberg": partial(models.Heisenberg),
    "clock 5": partial(models.Clock, q=5),
    "clock 6": partial(models.Clock, q=6),
    "O(4)": partial(models.ON, n=4),
    "O(5)": partial(models.ON, n=5),
}


def trajectory(make, update, *given, **options):
    """Return what updates of a new model measure, and where they lead."""
    model = make()
    series = getattr(model, update)(*given, **options)
    return [series, model.updates, _state(model)]


def _state(model):
    found = [model.measure(), model.labels(return_num=True), model.labels(numbering="roots")]
    parts = ("spins", "angles", "states", "field", "energy", "magnetisation", "bonds")
    for part in parts:
        value = getattr(model, part, None)
        found.append(value() if callable(value) else value)
    return found


def _steps(make, n=SWEEPS):
    model = make()
    model.step(n)
    return _state(model)


def _of_ising():
    for (lattice, (shape, heat)), (word, (update, options)) in product(
        LATTICES.items(), UPDATES.items()
    ):
        make = partial(models.Ising, shape, lattice=lattice, temperature=heat, seed=1)
        yield f"Ising {lattice} {word}", partial(trajectory, make, update, SWEEPS, **options)
    for lattice, (shape, heat) in LATTICES.items():
        made = {"lattice": lattice, "temperature": heat, "seed": 2}
        closed = [k % 2 == 0 for k in range(len(shape))]
        for word, options in {
            "borders": [{"periodic": way} for way in (False, closed, "antiperiodic")],
            "antiferromagnet": [{"coupling": -1.0}],
            "in a field": [{"field": 0.3}],
            "cold": [{"start": "cold"}],
            "replicas": [
                {"temperature": [heat, 2 * heat], "first_replica": 3},
                {"replicas": 3, "start": "cold"},
            ],
        }.items():
            makers = [partial(models.Ising, shape, **(made | way)) for way in options]
            yield (
                f"Ising {lattice} {word}",
                each(partial(trajectory, make, "swendsen_wang", SWEEPS) for make in makers),
            )
        make = partial(models.Ising, shape, **made)
        yield f"Ising {lattice} places", partial(_places, make)


def _places(make):
    model = make()
    return model.sites, model.edges, model.coordinates, model.beta, model.temperature, model.signs


def _of_potts():
    for (q, lattice), (word, (update, options)) in product(
        ((2, "square"), (3, "square"), (4, "cubic"), (3, "triangular"), (200, "chain")),
        (UPDATES | FEW).items(),
    ):
        shape, _ = LATTICES[lattice]
        if lattice != "square" and word == "few clusters of tiles":
            continue
        make = partial(models.Potts, shape, q, 0.9, lattice=lattice, seed=1)
        yield f"Potts {q} {lattice} {word}", partial(trajectory, make, update, SWEEPS, **options)
    serial = partial(models.Potts, (6, 70), 2, seed=1, labelling="serial")
    for word, (update, options) in (UPDATES | FEW).items():
        yield f"Potts serial {word}", partial(trajectory, serial, update, 2, **options)
    for word, options in {
        "open": {"periodic": False},
        "mixed": {"periodic": (True, False)},
        "antiperiodic": {"periodic": (True, "antiperiodic")},
        "antiferromagnet": {"coupling": -1.0, "beta": 0.9},
        "in a field": {"field": -0.3},
        "fields": {"field": uniform((8, 12), 3) - 0.5},
        "bonds of their own": {"coupling": uniform((192,), 3) - 0.3, "beta": 0.9},
        "cold": {"start": "cold"},
        "started": {"start": integers((8, 12), 3, 3)},
        "replicas": {"beta": [0.5, 0.9, 1.3], "first_replica": 3},
        "temperature": {"temperature": 1.1},
    }.items():
        for q in (2, 3):
            if q == 2 and word == "started":
                continue
            make = partial(models.Potts, (8, 12), q, **({"seed": 5} | options))
            yield (
                f"Potts {q} {word}",
                each(
                    [
                        partial(trajectory, make, "swendsen_wang", SWEEPS),
                        partial(trajectory, make, "swendsen_wang", SWEEPS, clusters=True),
                        partial(trajectory, make, "wolff", SWEEPS),
                        lambda make=make: make().wrapping(),
                    ]
                ),
            )
    for q, ndim in product((2, 3, 5), (2, 3)):
        yield f"critical beta {q} {ndim}d", partial(models.Potts.critical_beta, q, ndim)
    for lattice in ("triangular", "honeycomb", "kagome"):
        yield f"critical beta {lattice}", partial(models.Potts.critical_beta, 3, lattice=lattice)
        yield f"critical temperature {lattice}", partial(models.Ising.critical_temperature, lattice)


def _of_vectors():
    few = {key: UPDATES[key] for key in ("sweep", "sweep clusters", "wolff", "metropolis")}
    lattices = "chain", "square", "cubic", "triangular", "kagome", "fcc"
    for (kind, make), (word, (update, options)) in product(VECTORS.items(), few.items()):
        makers = [
            partial(make, LATTICES[k][0], lattice=k, temperature=LATTICES[k][1] / 2, seed=1)
            for k in lattices
        ]
        yield (
            f"{kind} {word}",
            each(partial(trajectory, made, update, 2, **options) for made in makers),
        )
    for kind, make in VECTORS.items():
        for word, options in {
            "open": {"periodic": False},
            "antiferromagnet": {"coupling": -1.0},
            "in a field": {"field": 0.4},
            "replicas": {"beta": [0.5, 1.5]},
            "cold": {"start": "cold"},
        }.items():
            made = partial(make, (5, 9), **({"beta": 0.8, "seed": 3} | options))
            yield f"{kind} {word}", partial(trajectory, made, "swendsen_wang", 2)
        made = partial(make, (6, 6), beta=0.8, seed=3)
        for observed in ("structure", "helicity_modulus", "vortices"):
            yield (
                f"{kind} observes {observed}",
                partial(trajectory, made, "metropolis", 2, observe=observed),
            )
        yield (
            f"{kind} wrapping",
            partial(trajectory, made, "swendsen_wang", 2, clusters=True, wrapping=True),
        )


def _of_graphs_and_bonds():
    graph = cc.Graph.from_edges([0, 1, 2, 3, 0, 4, 5], [1, 2, 3, 0, 2, 5, 6], 8)
    ladder = models.UnitCell([[1.0]], [[0.0], [0.0]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])])
    makers = {
        "Ising": partial(models.Ising),
        "Potts 3": partial(models.Potts, q=3),
        "XY": models.XY,
        "Clock": partial(models.Clock, q=4),
        "O(4)": partial(models.ON, n=4),
    }
    for kind, make in makers.items():
        rest = {"beta": 0.7, "seed": 4}
        for place, given in {
            "graph": {"shape": graph},
            "graph with couplings": {"shape": graph, "coupling": uniform((7,), 3) - 0.4},
            "cell": {"shape": 9, "lattice": ladder},
            "cell in a field": {"shape": 9, "lattice": ladder, "field": 0.2},
            "couplings of bonds": {
                "shape": (5, 6),
                "lattice": "triangular",
                "coupling": uniform((90,), 4) - 0.5,
            },
            "random couplings": {
                "shape": (6, 6),
                "lattice": "square",
                "coupling": models.random_couplings(72, seed=3),
            },
        }.items():
            made = partial(make, **rest, **given)
            yield (
                f"{kind} {place}",
                each(
                    partial(trajectory, made, update) for update in ("swendsen_wang", "metropolis")
                ),
            )


def _of_glasses():
    for couplings, update, houdayer in product(
        ("pm", "gaussian"), ("metropolis", "heat-bath"), (False, True)
    ):
        make = partial(
            models.SpinGlass,
            (4, 5),
            couplings,
            beta=[0.5, 1.0],
            update=update,
            copies=2,
            samples=2,
            seed=7,
        )
        yield (
            f"glass {couplings} {update}{' houdayer' if houdayer else ''}",
            partial(trajectory, make, "step", SWEEPS, houdayer=houdayer),
        )
    for word, options in {
        "1d": {"shape": 70},
        "3d": {"shape": (3, 4, 5)},
        "4d": {"shape": (2, 3, 2, 3)},
        "open": {"periodic": False},
        "positive": {"positive": 0.8},
        "diluted": {"dilution": 0.3},
        "in a field": {"field": 0.3},
        "later": {"first_sample": 5, "first_replica": 4},
        "cold": {"start": "cold"},
        "temperature": {"beta": None, "temperature": 1.5},
        "couplings of its own": {"couplings": uniform((2, 6, 7), 3) - 0.5},
    }.items():
        make = partial(models.SpinGlass, **({"shape": (6, 7), "beta": 0.8, "seed": 3} | options))
        yield f"glass {word}", partial(trajectory, make, "step", SWEEPS)
        yield (
            f"glass {word} parts",
            lambda make=make: ((model := make()).couplings, model.sample, model.beta),
        )


def _overlaps(**options):
    model = models.SpinGlass((4, 4), beta=[0.4, 0.8], copies=2, samples=2, seed=3, **options)
    measured = []
    for _ in range(4):
        model.step(2)
        measured.append(model.overlaps())
    return measured


def _of_exchanges():
    for lattice, shape in (("square", (8, 12)), ("sc", (4, 8, 4)), ("bcc", (4, 4, 8))):
        for word, options in {
            "": {},
            " few": {"fraction": 0.1},
            " hot": {"temperature": 20.0},
            " beta": {"beta": 0.3},
            " replicas": {"temperature": [2.0, 4.0], "fraction": 0.3},
            " copies": {"replicas": 2, "first_replica": 5},
            " coupling": {"coupling": 2.0},
            " started": {"start": integers(shape, 2, 3)},
        }.items():
            make = partial(models.Kawasaki, shape, lattice=lattice, seed=2, **options)
            yield f"Kawasaki {lattice}{word}", partial(_steps, make)
        yield (
            f"Kawasaki {lattice} critical",
            partial(models.Kawasaki.critical_temperature, lattice),
        )


def _of_fields():
    for shape, dtype in product(((9, 10), (4, 5, 6)), ("float32", "float64")):
        for word, options in {
            "": {},
            " noise": {"noise": 0.1},
            " mean": {"mean": 0.3, "amplitude": 0.2},
            " rates": {"mobility": 0.5, "b": 1.5, "u": 0.8, "K": 0.7, "dx": 1.1},
            " replicas": {"replicas": 2, "first_replica": 1},
            " time step": {"dt": 0.005},
        }.items():
            make = partial(models.CahnHilliard, shape, dtype=dtype, seed=1, **options)
            yield f"fields {len(shape)}d {dtype}{word}", partial(_steps, make, 5)
    for threshold, connectivity in product((0.0, 0.02), (1, 2)):

        def measured(threshold=threshold, connectivity=connectivity):
            model = models.CahnHilliard((9, 10), seed=1)
            model.step(10)
            labels = model.labels(threshold=threshold, connectivity=connectivity)
            return model.measure(threshold=threshold), labels, model.time

        yield f"fields above {threshold} c{connectivity}", measured
    for ndim in (1, 2, 3):
        yield (
            f"stable time step {ndim}d",
            partial(models.CahnHilliard.stable_time_step, ndim, K=2.0, largest=1.2),
        )


def _of_percolation():
    for (lattice, (shape, _)), kind in product(LATTICES.items(), ("site", "bond")):
        lattice = "square" if lattice in ("chain", "cubic", "hypercubic") else lattice
        made = partial(models.Percolation, shape, kind, p=0.4, lattice=lattice, seed=3)
        ways = {}, {"periodic": False}, {"replicas": 2, "first_replica": 3}
        key = f"{kind} {lattice} {len(shape)}d"
        yield (
            f"percolation {key}",
            each(partial(_drawn, partial(made, **options), kind) for options in ways),
        )
        yield f"percolation sweep {key}", partial(_swept, made)
        yield f"critical p {key}", partial(models.Percolation.critical_p, kind, len(shape), lattice)


def _drawn(make, kind):
    model, found = make(), []
    for _ in range(2):
        model.step()
        series = model.measure()
        found += [series, series.size_counts, model.labels(return_num=True), model.measure(0.7)]
        found.append(model.bonds() if kind == "bond" else model.occupied())
    return found


def _swept(make):
    swept = make().sweep(6, first_run=1, batches=2)
    assert isinstance(swept, models.PercolationSweep)
    found = [swept.runs, swept.elements, swept.clusters, swept.largest_cluster]
    found += [swept.squared_sizes, Coarse([swept.at(0.5), swept.wrapping(0.5, "any")])]
    found += [swept.first(event) for event in ("any", "all", "cross")]
    return [*found, swept.wrapped("any"), make().sweep(3, between=(0.3, 0.6)).clusters]


def _of_threads():
    makers = {
        "Ising": (partial(models.Ising, (130, 140), seed=1), "swendsen_wang"),
        "Ising kagome": (partial(models.Ising, (40, 50), lattice="kagome", seed=1), "metropolis"),
        "Potts": (partial(models.Potts, (130, 140), 3, seed=1), "wolff"),
        "XY": (partial(models.XY, (60, 70), beta=0.9, seed=1), "swendsen_wang"),
        "glass": (partial(models.SpinGlass, (30, 40), beta=0.9, replicas=4, seed=1), "step"),
        "exchanges": (partial(models.Kawasaki, (12, 16, 16), seed=1), "step"),
        "fields": (partial(models.CahnHilliard, (90, 100), seed=1), "step"),
    }
    for word, (make, update) in makers.items():
        yield f"{word} of many", with_threads(partial(trajectory, make, update, 2))
    drawn = partial(models.Percolation, (90, 100), seed=1, replicas=2)
    yield "percolation of many", with_threads(partial(_drawn, drawn, "site"))
    yield (
        "overlaps",
        lambda: (
            measured := _overlaps(),
            models.summarise_overlaps(measured, (4, 4)),
            measured[0].of_sample(1),
        ),
    )
    for kind, dilution in product(("pm", "gaussian"), (0.0, 0.4)):
        yield (
            f"couplings {kind} {dilution}",
            partial(models.random_couplings, (3, 4), kind, seed=2, sample=3, dilution=dilution),
        )
        yield f"fields drawn {kind} {dilution}", partial(models.random_fields, (3, 4), kind, seed=9)
    yield "couplings positive", partial(models.random_couplings, 40, positive=0.9)
    yield "a cell", partial(models.UnitCell, [[1.0]], [[0.0]], [(0, 0, [1])])
    yield "no cell", partial(models.UnitCell, [[1.0]], [[0.0]], [(0, 0, [0])])
