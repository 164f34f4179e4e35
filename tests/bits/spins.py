"""Trajectories of all models, on all lattices, by all updates."""

from functools import partial
from itertools import product

from .canonical import Coarse
from .inputs import by_word, cases, each
from .names import cc, models

SWEEPS = 3
# By name: the length of each axis, and a temperature at which spins move.
LATTICES = cases("""
    chain: shape=(70,), temperature=1.0; square: shape=(6, 70), temperature=2.3;
    cubic: shape=(3, 4, 9), temperature=4.5; hypercubic: shape=(3, 2, 3, 5), temperature=6.7;
    triangular: shape=(6, 9), temperature=3.6; honeycomb: shape=(5, 6), temperature=1.5;
    kagome: shape=(4, 5), temperature=2.1; bcc: shape=(4, 3, 5), temperature=6.4;
    fcc: shape=(3, 4, 3), temperature=9.8; diamond: shape=(3, 2, 4), temperature=2.7
""")
LATTICES = {lattice: place | {"lattice": lattice} for lattice, place in LATTICES.items()}
UPDATES = cases("""
    sweep: update="swendsen_wang"; sweep clusters: update="swendsen_wang", clusters=True;
    sweep wrapping: update="swendsen_wang", wrapping=True;
    sweep structure: update="swendsen_wang", observe="structure", clusters=True;
    wolff: update="wolff"; wolff clusters: update="wolff", clusters=True;
    wolff wrapping: update="wolff", wrapping=True; metropolis: update="metropolis";
    metropolis structure: update="metropolis", observe=["structure"];
    metropolis alone: update="metropolis", measure=False; heat bath: update="heat_bath"
""")
FEW = cases("""
    few clusters: update="few_cluster", tile=2, p_flip=0.6;
    few clusters of tiles: update="few_cluster", tile=(3, 10), p_flip=0.3, clusters=True
""")
VECTORS = {
    **{"XY": models.XY, "Heisenberg": models.Heisenberg},
    **{f"clock {q}": partial(models.Clock, q=q) for q in (5, 6)},
    **{f"O({n})": partial(models.ON, n=n) for n in (4, 5)},
}
PARTS = ("spins", "angles", "states", "field", "energy", "magnetisation", "bonds")


def trajectory(make, *count, update="swendsen_wang", **options):
    """Return what updates of a new model measure, and where they lead."""
    model = make()
    series = getattr(model, update)(*count, **options)
    return [series, model.updates, _state(model)]


def _state(model):
    found = [model.measure(), model.labels(return_num=True), model.labels(numbering="roots")]
    values = [getattr(model, part, None) for part in PARTS]
    return found + [value() if callable(value) else value for value in values]


def _steps(n, make, **options):
    model = make(**options)
    model.step(n)
    return _state(model)


def _each(makers, *count, **options):
    return each(partial(trajectory, make, *count, **options) for make in makers)


def _places(make):
    model = make()
    return model.sites, model.edges, model.coordinates, model.beta, model.temperature, model.signs


POTTS = cases("""
    open: periodic=False; mixed: periodic=(True, False);
    antiperiodic: periodic=(True, "antiperiodic"); antiferromagnet: coupling=-1.0, beta=0.9;
    in a field: field=-0.3; fields: field=uniform((8, 12), 3) - 0.5; cold: start="cold";
    bonds of their own: coupling=uniform((192,), 3) - 0.3, beta=0.9; temperature: temperature=1.1;
    started: start=integers((8, 12), 3, 3); replicas: beta=[0.5, 0.9, 1.3], first_replica=3
""")


def _of_vectors():
    ways = cases("""
        open: periodic=False; antiferromagnet: coupling=-1.0; in a field: field=0.4;
        replicas: beta=[0.5, 1.5]; cold: start="cold"
    """)
    lattices = "chain", "square", "cubic", "triangular", "kagome", "fcc"
    places = [LATTICES[k] | {"temperature": LATTICES[k]["temperature"] / 2} for k in lattices]
    for kind, make in VECTORS.items():
        makers = [partial(make, **place, seed=1) for place in places]
        for word in ("sweep", "sweep clusters", "wolff", "metropolis"):
            yield f"{kind} {word}", _each(makers, 2, **UPDATES[word])
        for word, options in ways.items():
            made = partial(make, (5, 9), **({"beta": 0.8, "seed": 3} | options))
            yield f"{kind} {word}", partial(trajectory, made, 2)
        made = partial(make, (6, 6), beta=0.8, seed=3)
        observed = {
            word: {"observe": word} for word in ("structure", "helicity_modulus", "vortices")
        }
        yield from by_word(f"{kind} observes", trajectory, observed, made, 2, update="metropolis")
        yield f"{kind} wrapping", partial(trajectory, made, 2, clusters=True, wrapping=True)


def _of_graphs_and_bonds():
    places = cases(
        """
        graph: shape=graph; graph with couplings: shape=graph, coupling=uniform((7,), 3) - 0.4;
        cell: shape=9, lattice=ladder; cell in a field: shape=9, lattice=ladder, field=0.2;
        couplings of bonds: shape=(5, 6), lattice="triangular", coupling=uniform((90,), 4) - 0.5;
        random couplings: shape=(6, 6), lattice="square", coupling=drawn
        """,
        graph=cc.Graph.from_edges([0, 1, 2, 3, 0, 4, 5], [1, 2, 3, 0, 2, 5, 6], 8),
        ladder=models.UnitCell([[1.0]], [[0.0], [0.0]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])]),
        drawn=models.random_couplings(72, seed=3),
    )
    makers = {"Ising": models.Ising, "Potts 3": partial(models.Potts, q=3), "XY": models.XY}
    makers |= {"Clock": partial(models.Clock, q=4), "O(4)": partial(models.ON, n=4)}
    for (kind, make), (place, given) in product(makers.items(), places.items()):
        made = partial(make, beta=0.7, seed=4, **given)
        updates = "swendsen_wang", "metropolis"
        calls = (partial(trajectory, made, update=update) for update in updates)
        yield f"{kind} {place}", each(calls)


def _parts(make):
    model = make()
    return model.couplings, model.sample, model.beta


def _overlaps():
    model = models.SpinGlass((4, 4), beta=[0.4, 0.8], copies=2, samples=2, seed=3)
    measured = [model.step(2) or model.overlaps() for _ in range(4)]
    return measured, models.summarise_overlaps(measured, (4, 4)), measured[0].of_sample(1)


def _above(threshold, connectivity):
    model = models.CahnHilliard((9, 10), seed=1)
    model.step(10)
    labels = model.labels(threshold=threshold, connectivity=connectivity)
    return model.measure(threshold=threshold), labels, model.time


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


def _glass(**options):
    return models.SpinGlass(**({"shape": (6, 7), "beta": 0.8, "seed": 3} | options))


def _potts(q, options):
    make = partial(models.Potts, (8, 12), q, **({"seed": 5} | options))
    ways = {}, {"clusters": True}, {"update": "wolff"}
    calls = [partial(trajectory, make, SWEEPS, **way) for way in ways]
    return each([*calls, lambda: make().wrapping()])


def _percolation(lattice, kind, **options):
    place, flat = LATTICES[lattice]["shape"], lattice in ("chain", "cubic", "hypercubic")
    name = "square" if flat else lattice
    return models.Percolation(place, kind, p=0.4, lattice=name, seed=3, **options)


GLASSES = cases("""
    1d: shape=70; 3d: shape=(3, 4, 5); 4d: shape=(2, 3, 2, 3); open: periodic=False;
    positive: positive=0.8; diluted: dilution=0.3; in a field: field=0.3; cold: start="cold";
    later: first_sample=5, first_replica=4; temperature: beta=None, temperature=1.5;
    couplings of its own: couplings=uniform((2, 6, 7), 3) - 0.5
""")
SHAPES = {"square": (8, 12), "sc": (4, 8, 4), "bcc": (4, 4, 8)}
EXCHANGES = cases("""
    : ; few: fraction=0.1; hot: temperature=20.0; beta: beta=0.3; coupling: coupling=2.0;
    replicas: temperature=[2.0, 4.0], fraction=0.3; copies: replicas=2, first_replica=5
""")
FIELDS = cases("""
    : ; noise: noise=0.1; mean: mean=0.3, amplitude=0.2; replicas: replicas=2, first_replica=1;
    rates: mobility=0.5, b=1.5, u=0.8, K=0.7, dx=1.1; time step: dt=0.005
""")
PLACES = {
    f"{'square' if k in ('chain', 'cubic', 'hypercubic') else k} {len(LATTICES[k]['shape'])}d": k
    for k in LATTICES
}
DRAWN = ({}, {"periodic": False}, {"replicas": 2, "first_replica": 3})
KINDS = ((2, "square"), (3, "square"), (4, "cubic"), (3, "triangular"), (200, "chain"))
KINDS = {f"{q} {k}": {"q": q, "lattice": k, "shape": LATTICES[k]["shape"]} for q, k in KINDS}
LAYERS = cases("antiferromagnet: coupling=-1.0; in a field: field=0.3; cold: start='cold'")
STARTED = {word: options for word, options in POTTS.items() if word != "started"}
CALLS = """
@ of=LATTICES, way=UPDATES
Ising {of} {way}: trajectory(partial(models.Ising, **of, seed=1), SWEEPS, **way)
@ of=LATTICES, way=LAYERS
Ising {of} {way}: _each([partial(models.Ising, **of, seed=2, **way)], SWEEPS)()
@ of=LATTICES, make=[partial(models.Ising, seed=2)]
Ising {of} borders: _each([partial(make, **of, periodic=way) for way in (
    False, [k % 2 == 0 for k in range(len(of["shape"]))], "antiperiodic")], SWEEPS)();
Ising {of} replicas: _each([
    partial(make, **of | {"temperature": [of["temperature"], 2 * of["temperature"]]},
    first_replica=3), partial(make, **of, replicas=3, start="cold")], SWEEPS)();
Ising {of} places: _places(partial(make, **of))
@ of=KINDS, way=UPDATES | {"few clusters": FEW["few clusters"]}
Potts {of} {way}: trajectory(partial(models.Potts, **of, beta=0.9, seed=1), SWEEPS, **way)
@ of={kind: KINDS[kind] for kind in ("2 square", "3 square")}, way=[FEW["few clusters of tiles"]]
Potts {of} few clusters of tiles:
    trajectory(partial(models.Potts, **of, beta=0.9, seed=1), SWEEPS, **way)
@ way=UPDATES | FEW
Potts serial {way}:
    trajectory(partial(models.Potts, (6, 70), 2, seed=1, labelling="serial"), 2, **way)
@ way=STARTED
Potts 2 {way}: _potts(2, way)()
@ way=POTTS
Potts 3 {way}: _potts(3, way)()
@ kind=("pm", "gaussian"), update=("metropolis", "heat-bath"), h={"": False, " houdayer": True}
glass {kind} {update}{h}: trajectory(partial(models.SpinGlass, (4, 5), kind, beta=[0.5, 1.0],
    update=update, copies=2, samples=2, seed=7), SWEEPS, update="step", houdayer=h)
@ way=GLASSES
glass {way}: trajectory(partial(_glass, **way), SWEEPS, update="step");
glass {way} parts: _parts(partial(_glass, **way))
@ of={lattice: {"lattice": lattice, "shape": SHAPES[lattice]} for lattice in SHAPES}, way=EXCHANGES
Kawasaki {of} {way}: _steps(SWEEPS, models.Kawasaki, seed=2, **of, **way)
@ of={lattice: {"lattice": lattice, "shape": SHAPES[lattice]} for lattice in SHAPES}
Kawasaki {of} started:
    _steps(SWEEPS, models.Kawasaki, seed=2, start=integers(of["shape"], 2, 3), **of)
@ lattice=("square", "sc", "bcc")
Kawasaki {lattice} critical: models.Kawasaki.critical_temperature(lattice)
@ shape={"2d": (9, 10), "3d": (4, 5, 6)}, dtype=("float32", "float64"), way=FIELDS
fields {shape} {dtype} {way}:
    _steps(5, models.CahnHilliard, shape=shape, dtype=dtype, seed=1, **way)
@ threshold=(0.0, 0.02), k=(1, 2)
fields above {threshold} c{k}: _above(threshold, k)
@ n=(1, 2, 3)
stable time step {n}d: models.CahnHilliard.stable_time_step(n, K=2.0, largest=1.2)
@ place=PLACES, kind=("site", "bond")
percolation {kind} {place}:
    each(partial(_drawn, partial(_percolation, place, kind, **more), kind) for more in DRAWN)();
percolation sweep {kind} {place}: _swept(partial(_percolation, place, kind))
@ place={key: key.split() for key in PLACES}, kind=("site", "bond")
critical p {kind} {place}: models.Percolation.critical_p(kind, int(place[1][0]), place[0])
@with_threads
Ising of many: trajectory(partial(models.Ising, (130, 140), seed=1), 2);
Ising kagome of many: trajectory(
    partial(models.Ising, (40, 50), lattice="kagome", seed=1), 2, update="metropolis");
Potts of many: trajectory(partial(models.Potts, (130, 140), 3, seed=1), 2, update="wolff");
XY of many: trajectory(partial(models.XY, (60, 70), beta=0.9, seed=1), 2);
glass of many: trajectory(
    partial(models.SpinGlass, (30, 40), beta=0.9, replicas=4, seed=1), 2, update="step");
exchanges of many: trajectory(partial(models.Kawasaki, (12, 16, 16), seed=1), 2, update="step");
fields of many: trajectory(partial(models.CahnHilliard, (90, 100), seed=1), 2, update="step");
percolation of many: _drawn(partial(models.Percolation, (90, 100), seed=1, replicas=2), "site")
@ kind=("pm", "gaussian"), dilution=(0.0, 0.4)
couplings {kind} {dilution}:
    models.random_couplings((3, 4), kind, seed=2, sample=3, dilution=dilution);
fields drawn {kind} {dilution}: models.random_fields((3, 4), kind, seed=9)
@ q=(2, 3, 5), ndim=(2, 3)
critical beta {q} {ndim}d: models.Potts.critical_beta(q, ndim)
@ lattice=("triangular", "honeycomb", "kagome")
critical beta {lattice}: models.Potts.critical_beta(3, lattice=lattice);
critical temperature {lattice}: models.Ising.critical_temperature(lattice)
@
overlaps: _overlaps(); couplings positive: models.random_couplings(40, positive=0.9);
a cell: models.UnitCell([[1.0]], [[0.0]], [(0, 0, [1])]);
no cell: models.UnitCell([[1.0]], [[0.0]], [(0, 0, [0])])
"""
