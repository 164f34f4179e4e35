"""Targets for models: what holds whatever is drawn, and measurements against NumPy and searches.

Updates are random, and their distributions are for ``tests/models``. What a target holds here is
what each of them must do: which sites may change, what is conserved, what was measured; and that
they are functions of parameters and seed alone, however they are divided, copied or restored.
"""

import copy
import math
import pickle
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import stats

import conncomp
from conncomp import models
from conncomp.models.places import HYPERCUBIC
from models.cahn_hilliard_reference import ReferenceCahnHilliard, error
from models.kawasaki_reference import STEPS
from models.potts_reference import ReferencePotts, check_state, check_update

from ..reference import label_by_bonds, label_by_flood_fill, number_items
from ..winding_search import bond_windings
from . import draws
from . import models_reference as reference
from .grids import image_windings
from .target import assert_same

SEEDS = [0, 1, 2**64 - 1, 2**32, 12345]


def _drawn(choices):
    """Return what models draw random numbers by."""
    replicas = choices.pick([None, 1, 2, 3])
    first = choices.pick([0, 1, 2**24 - 8])
    return {"replicas": replicas, "first_replica": first, "seed": choices.pick(SEEDS)}


def _each(choices, values, replicas):
    """Return a value, or one for each replica."""
    if replicas is None or choices.flag():
        return choices.pick(values)
    return [choices.pick(values) for _ in range(replicas)]


def _lattice(choices, most=160, most_axes=3):
    ndim = choices.pick([2, 1, 3, 2]) if most_axes < 4 else choices.pick([2, 1, 3, 4])
    lengths = []
    for _ in range(ndim):
        longest = max(1, most // math.prod(lengths))
        lengths.append(min(choices.pick([3, 1, 2, 4, 5, 8, 12, 64, 65, 130]), longest))
    return tuple(lengths)


def _items(array, replicas, axis=0):
    """Return the arrays of replicas."""
    return [array] if replicas is None else list(np.moveaxis(array, axis, 0))


def check_trajectory(choices, make, options, read):
    """Divide updates, restore states, copy, and take a replica alone: all is the same in the end.

    `read` returns arrays that tell where a model stands, replicas first if there are some.
    """
    first, second = choices.below(3), 1 + choices.below(3)
    model = make(**options)
    model.step(first)
    state, here = model.state(), read(model)
    model.step(second)
    there = read(model)
    assert model.updates == first + second
    conncomp.set_num_threads(1 + choices.below(4))
    assert_same(read(_stepped(make(**options), first + second)), there)
    model.restore(state)
    assert model.updates == first
    assert_same(read(model), here)
    copied = choices.pick(COPIES)(model)
    assert_same(read(_stepped(copied, second)), there)
    assert_same(read(model), here)
    assert_same(read(_stepped(model, second)), there)
    assert_same(read(copied), there)
    other = make(**options)
    other.restore(state)
    assert_same(read(_stepped(other, second)), there)
    if options["replicas"] is None:
        return
    k = choices.below(options["replicas"])
    alone = dict(options)
    for name in ("beta", "temperature", "fraction", "start"):
        if name not in options or isinstance(options[name], str):
            continue
        one_axis_more = len(options["shape"]) if name == "start" else 0
        if np.ndim(options[name]) > one_axis_more:
            alone[name] = options[name][k]
    alone |= {"replicas": None, "first_replica": options["first_replica"] + k}
    found = read(_stepped(make(**alone), first + second))
    assert_same(found, [part[k] for part in there])


def check_short_axis(choices, make, options, rules):
    """An axis of length 1 in front is a constant of the energy: no update of a site sees it.

    Of hypercubic lattices, whose sites it leaves where they are.
    """
    if len(options["shape"]) == 4 or not rules:
        return
    ndim, closed = len(options["shape"]), choices.flag()
    periodic = options.get("periodic", True)
    borders = [periodic] * ndim if isinstance(periodic, (bool, str)) else list(periodic)
    beside = {**options, "shape": (1, *options["shape"]), "periodic": [closed, *borders]}
    start = options.get("start", "hot")
    if not isinstance(start, str):
        behind = np.ndim(start) - (1 if make in (models.XY, models.Heisenberg) else 0)
        beside["start"] = np.expand_dims(start, behind - ndim)
    if "lattice" in options:
        beside["lattice"] = HYPERCUBIC[ndim]
    plain, longer = make(**options), make(**beside)
    constant = -options["coupling"] * plain.sites if closed else 0
    for _ in range(2):
        rule = choices.pick(rules)
        found, right = (getattr(model, rule)().energy for model in (longer, plain))
        room = 1e-4 + 1e-5 * plain.sites  # vectors are not quite unit ones
        np.testing.assert_allclose(found, right + constant, rtol=1e-9, atol=room)
        assert_same(longer.spins.reshape(plain.spins.shape), plain.spins)


COPIES = [copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))]


def _stepped(model, updates):
    model.step(updates)
    return model


# ------------------------------------------------------------------------------------------- Potts


UPDATES = ["swendsen_wang", "wolff", "metropolis", "few_cluster"]


def _potts_options(choices, **changes):
    lengths = _lattice(choices, most_axes=4)
    q = choices.pick([2, 3, 4, 5, 16, 17, 255])
    drawn = _drawn(choices) | changes
    start = choices.pick(["hot", "cold", "given"])
    if start == "given":
        of_each = drawn["replicas"] is not None and choices.flag()
        whole = (drawn["replicas"], *lengths) if of_each else lengths
        values = choices.generator().integers(0, q, whole).astype(choices.pick("iBqH"))
        start = draws.laid_out(choices, draws.any_order(choices, values))
    return {
        "shape": lengths,
        "q": q,
        "beta": _each(choices, [0.9, 0.0, 0.3, 1.5, 400.0], drawn["replicas"]),
        "coupling": choices.pick([1.0, 0.5, 2.0]),
        "periodic": draws.periodic(choices, len(lengths)),
        "start": start,
        **drawn,
    }


def potts(choices):
    options = _potts_options(choices)
    replicas, shape = options["replicas"], options["shape"]
    model = models.Potts(**options, labelling=choices.pick(["auto", "serial"]))
    expected = ReferencePotts(**options | {"replicas": replicas or 1})
    assert (model.parameters()["replicas"], model.parameters()["seed"]) == (
        replicas or 1,
        options["seed"],
    )
    assert_same([model.beta], [np.broadcast_to(options["beta"], np.shape(model.beta))])
    for _ in range(1 + choices.below(3)):
        check_state(model, expected)
        present, wrapping = model.measure().observables(), model.wrapping()
        active = _items(model.bonds(), replicas, axis=1)
        bases = [b for bonds in active for b in bond_windings(bonds, options["periodic"])]
        every = np.array(bases, np.int64).reshape(-1, len(shape), len(shape))
        assert_same((wrapping.vectors, wrapping.axes), (every, every.any(1)))
        measured = check_update(model, expected, _potts_update(choices, shape)).observables()
        for name, values in present.items():
            assert_same([measured[name][0]], [values])
    check_state(model, expected)
    check_short_axis(choices, models.Potts, options, ["metropolis", "heat_bath"])

    def read(model):
        return [model.spins, np.asarray(model.energy()), np.asarray(model.magnetisation())]

    check_trajectory(choices, models.Potts, options, read)


def _potts_update(choices, lengths):
    kind, arguments = choices.pick(UPDATES), {}
    if kind == "few_cluster":
        tile = [choices.pick([d for d in range(1, n + 1) if n % d == 0]) for n in lengths]
        arguments = {"tile": tile, "p_flip": choices.pick([0.5, 0.9, 0.1])}
    if kind != "metropolis":
        arguments |= {"clusters": choices.flag(), "wrapping": choices.flag()}
    return kind, 1, arguments


def tempering(choices):
    """Temperatures change places, and nothing else does; two calls are as one."""
    options = _potts_options(choices, replicas=choices.pick([2, 3, 5]))
    options["beta"] = [choices.pick([0.9, 0.5, 1.1, 0.9]) for _ in range(options["replicas"])]
    if not isinstance(options["start"], str):
        options["start"] = "hot"
    kind = choices.pick(["swendsen-wang", "wolff", "metropolis"])
    arguments = {"update": kind, "sweeps_between": 1 + choices.below(2)}
    rounds, more = 1 + choices.below(3), 1 + choices.below(3)
    make = partial(models.Potts, **options)
    model, divided = make(), make()
    result = models.parallel_tempering(model, rounds + more, **arguments)
    parts = [models.parallel_tempering(divided, count, **arguments) for count in (rounds, more)]
    assert_same((divided.spins, divided.beta), (model.spins, model.beta))
    np.testing.assert_array_equal(
        np.concatenate([part.series.records for part in parts]), result.series.records
    )
    given = np.array(options["beta"])
    assert_same((result.beta, np.sort(model.beta)), (given, np.sort(given)))
    assert model.updates == (rounds + more) * arguments["sweeps_between"]
    shape = rounds + more, options["replicas"]
    assert result.replicas.shape == result.series.energy.shape == shape
    np.testing.assert_array_equal(
        np.sort(result.replicas), np.tile(np.arange(shape[1]), (shape[0], 1))
    )
    np.testing.assert_array_equal(result.series.energy[-1], model.energy()[result.replicas[-1]])
    # Of neighbours by temperature, in the order of the columns that have them.
    columns = np.argsort(given, kind="stable").tolist()
    pairs = [(sorted(pair), k) for k, pair in enumerate(pairwise(columns))]
    for share, ((one, other), k) in zip(result.acceptance, sorted(pairs), strict=True):
        count = sum((r + k) % 2 == 0 for r in range(shape[0]))
        assert math.isnan(share) if count == 0 else 0 <= share <= 1
        assert given[one] != given[other] or not share < 1  # which is certain


# ------------------------------------------------------------------------------------- percolation


def percolation(choices):
    """Compare configurations, drawn at several probabilities, with searches through them."""
    options = _percolation_options(choices) | _drawn(choices)
    replicas = options["replicas"]
    model = models.Percolation(**options)
    model.step(choices.pick([0, 1, 7, 2**32 - 1]))
    present = model.occupied if options["kind"] == "site" else model.bonds
    axis = 0 if options["kind"] == "site" else 1
    low, high = sorted((options["p"], choices.pick([0.55, 0.0, 1.0, 0.2])))
    assert not (present(low) & ~present(high)).any()
    assert not present(0.0).any()
    p = choices.pick([None, low, high, 1.0])
    there = _items(present(p), replicas, axis)
    rows = {
        name: _items(values, replicas) for name, values in model.measure(p).observables().items()
    }
    labels, counts = model.labels(p, return_num=True)
    labels = _items(labels, replicas)
    counts, roots_of_model = np.reshape(counts, -1), model.labels(p, numbering="roots")
    for k, drawn in enumerate(there):
        roots, wraps, rank = _search(drawn, options)
        sizes = reference.cluster_sizes(roots)
        expected = {
            "occupied": drawn.sum(),
            "clusters": len(sizes),
            "largest_cluster": max(sizes, default=0),
            "squared_sizes": sum(size**2 for size in sizes),
            "size_counts": reference.size_classes(sizes, 41),
            "wraps": wraps,
            "rank": rank,
        }
        assert set(rows) == set(expected)
        for name, values in rows.items():
            np.testing.assert_array_equal(values[k], expected[name])
        assert_same((labels[k], counts[k]), (number_items(roots)[0], len(sizes)))
        np.testing.assert_array_equal(_items(roots_of_model, replicas)[k], roots)
    _check_percolation_summary(model, p)

    def read(model):
        return [model.labels(numbering="roots")]

    check_trajectory(choices, models.Percolation, options, read)


def _percolation_options(choices):
    lengths = _lattice(choices, most_axes=4)
    kind, lattice = choices.pick(["site", "bond"]), "square"
    if len(lengths) == 2 and kind == "site":
        lattice = choices.pick(["square", "triangular"])
    return {
        "shape": lengths,
        "kind": kind,
        "p": choices.pick([0.6, 0.3, 0.5, 0.0, 1.0, 1e-18, 1 - 1e-16]),
        "lattice": lattice,
        "periodic": draws.periodic(choices, len(lengths)),
    }


def _search(there, options):
    """Return roots of sites or bonds that are there, along which axes one wraps, and what rank."""
    periodic = options["periodic"]
    if options["kind"] == "bond":
        ndim = len(there)
        missing = reference.satisfied_bonds(np.zeros(there.shape[1:]), periodic)
        assert not (there & ~missing).any()  # bonds that the lattice does not have
        return label_by_bonds(there, periodic), *reference.windings(
            bond_windings(there, periodic), ndim
        )
    structure = TRIANGULAR if options["lattice"] == "triangular" else None
    neighbours = {"structure": structure, "connectivity": None if structure is not None else 1}
    roots = label_by_flood_fill(there, periodic=periodic, **neighbours)
    bases = image_windings(there, None, periodic=periodic, tolerance=0, **neighbours)
    return roots, *reference.windings(bases, there.ndim)


TRIANGULAR = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)


def _check_percolation_summary(model, p):
    """Means and errors are those of independent configurations."""
    measured = model.measure(p)
    summary = measured.summarise()
    sites, elements = model.lattice.sites, max(measured.elements, 1)
    series = {
        "occupied": measured.occupied / elements,
        "clusters": measured.clusters / sites,
        "largest_cluster": measured.largest_cluster / sites,
        "mean_size": (measured.squared_sizes - measured.largest_cluster.astype(float) ** 2) / sites,
        "wraps_any": measured.wraps.any(axis=-1),
        "wraps_all": measured.wraps.all(axis=-1),
        "cross": measured.rank == model.lattice.ndim,
    }
    assert summary._fields == tuple(series)
    for name, values in series.items():
        values = np.reshape(values, -1).astype(float)
        error = stats.sem(values) if len(values) > 1 else math.nan
        np.testing.assert_allclose(getattr(summary, name), (values.mean(), error), atol=1e-12)


def percolation_sweeps(choices):
    """Compare the series of runs: each begins and ends where it must, and rises one by one."""
    options = _percolation_options(choices)
    model = models.Percolation(**options, seed=choices.pick(SEEDS))
    lattice, ndim, of_bonds = model.lattice, len(options["shape"]), options["kind"] == "bond"
    elements = lattice.bonds if of_bonds else lattice.sites
    run = choices.pick([0, 5, 2**31])
    one = model.sweep(1, first_run=run)
    assert (one.numbers, one.elements, one.runs) == (range(elements + 1), elements, 1)
    clusters, largest, squares = (
        np.rint(series).astype(int)
        for series in (one.clusters, one.largest_cluster, one.squared_sizes)
    )
    everything = np.ones((ndim, *lattice.shape) if of_bonds else lattice.shape, bool)
    if of_bonds:
        everything &= reference.satisfied_bonds(np.zeros(lattice.shape), options["periodic"])
    roots, wraps, rank = _search(everything, options)
    sizes = reference.cluster_sizes(roots)
    begin = (lattice.sites, 1, lattice.sites) if of_bonds else (0, 0, 0)
    assert (clusters[0], largest[0], squares[0]) == begin
    end = len(sizes), max(sizes), sum(size**2 for size in sizes)
    assert (clusters[-1], largest[-1], squares[-1]) == end
    assert (np.diff([largest, squares]) >= 0).all()
    assert (np.diff(clusters) <= (0 if of_bonds else 1)).all()
    assert not of_bonds or (np.diff(clusters) >= -1).all()
    assert (squares >= largest**2).all()
    first = one.first_wraps[0]
    assert_same((first[:ndim] <= elements, first[ndim] <= elements), (wraps, rank == ndim))
    assert (first[ndim] >= first[:ndim]).all()
    _check_sums_of_runs(choices, model, run, elements)


def _check_sums_of_runs(choices, model, run, elements):
    runs, ndim = 2 + choices.below(4), model.lattice.ndim
    sweep = model.sweep(runs, first_run=run, batches=1 + choices.below(runs))
    alone = [model.sweep(1, first_run=run + k) for k in range(runs)]
    series = sum(each.series.sum(axis=0) for each in alone)
    np.testing.assert_allclose(sweep.series.sum(axis=0), series, rtol=1e-12)
    wraps = np.concatenate([each.first_wraps for each in alone])
    np.testing.assert_array_equal(sweep.first_wraps, wraps)
    events = {
        "axis": wraps[:, 0],
        "any": wraps[:, :ndim].min(axis=1),
        "all": wraps[:, :ndim].max(axis=1),
        "cross": wraps[:, ndim],
    }
    p = choices.pick([0.5, 0.0, 1.0, 0.01, 0.87])
    numbers = np.arange(elements + 1)
    weights = stats.binom.pmf(numbers, elements, p)
    for event, first in events.items():
        np.testing.assert_array_equal(sweep.first(event), first)
        share = (first[:, None] <= numbers).mean(axis=0)
        np.testing.assert_allclose(sweep.wrapped(event), share, atol=1e-12)
        each = (first[:, None] <= numbers) @ weights
        estimate = each.mean(), each.std(ddof=1) / math.sqrt(runs)
        np.testing.assert_allclose(sweep.wrapping(p, event), estimate, atol=1e-9)
    means = weights @ series / runs / model.lattice.sites
    found = sweep.at(p)
    names = "clusters", "largest_cluster", "squared_sizes"
    values = [getattr(found, name).value for name in names]
    np.testing.assert_allclose(values, means[[0, 1, 3]], rtol=1e-9, atol=1e-9)
    mean_size = means[3] - means[2]
    np.testing.assert_allclose(found.mean_size.value, mean_size, rtol=1e-9, atol=1e-9)
    some = model.sweep(runs, first_run=run, between=(p, p)).at(p)
    np.testing.assert_allclose(some.clusters.value, found.clusters.value, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------------------------------- Kawasaki


def kawasaki(choices):
    lattice = choices.pick(["square", "sc", "bcc"])
    ndim = 2 if lattice == "square" else 3
    lengths = tuple(choices.pick([4, 8, 4, 12] if ndim == 2 else [4, 4, 8]) for _ in range(ndim))
    drawn = _drawn(choices)
    options = {
        "shape": lengths,
        "lattice": lattice,
        "temperature": _each(choices, [2.0, 0.01, 1.0, 1e6], drawn["replicas"]),
        "coupling": choices.pick([1.0, 0.5, 2.0]),
        **drawn,
    }
    sites = math.prod(lengths)
    if choices.flag():
        spins = choices.generator().integers(0, 2, lengths).astype(choices.pick("iB?q"))
        spins.flat[:2] = 0, 1
        options["start"] = draws.vector(choices, draws.any_order(choices, spins))
    else:
        options["fraction"] = _each(choices, [0.5, 1 / sites, 0.2, 0.9], drawn["replicas"])
    model = models.Kawasaki(**options)
    structure = reference.exchange_structure(lattice)
    replicas = drawn["replicas"]
    first = _items(model.spins, replicas)
    if "start" in options:
        assert all(np.array_equal(spins, options["start"]) for spins in first)
    else:
        shares = np.broadcast_to(options["fraction"], len(first))
        assert [int(x.sum()) for x in first] == [math.floor(s * sites + 0.5) for s in shares]
    energies = None
    for _ in range(2):
        rows = {name: _items(v, replicas) for name, v in model.measure().observables().items()}
        spins = _items(model.spins, replicas)
        for k, replica in enumerate(spins):
            assert replica.sum() == first[k].sum()
            sizes = reference.cluster_sizes(
                label_by_flood_fill(replica, structure=structure, periodic=True)
            )
            energy = reference.exchange_energy(replica, lattice, options["coupling"])
            assert rows["energy"][k] == energy
            bonds = sites * len(STEPS[lattice])
            assert rows["satisfied_bonds"][k] == (bonds - energy / options["coupling"]) / 2
            assert (rows["components"][k], rows["largest_component"][k]) == (len(sizes), max(sizes))
            temperature = np.broadcast_to(options["temperature"], len(spins))[k]
            if energies is not None and temperature / options["coupling"] < 0.02:
                assert energy <= energies[k]
        energies = rows["energy"]
        model.step(1 + choices.below(2))
    labels, counts = model.labels(return_num=True)
    for k, replica in enumerate(_items(model.spins, replicas)):
        roots = label_by_flood_fill(replica, structure=structure, periodic=True)
        expected, count = number_items(roots)
        assert_same((_items(labels, replicas)[k], np.reshape(counts, -1)[k]), (expected, count))
    check_trajectory(choices, models.Kawasaki, options, lambda model: [model.spins])


# ----------------------------------------------------------------------------------- Cahn, Hilliard


def cahn_hilliard(choices):
    ndim = choices.pick([2, 3])
    lengths = tuple(choices.pick([4, 2, 3, 5, 8] if ndim == 2 else [3, 2, 4]) for _ in range(ndim))
    if ndim == 2 and choices.flag():
        lengths = lengths[0], choices.pick([17, 64, 65])
    b = choices.pick([1.0, -1.0, 0.0, 2.0])
    physics = {"b": b, "u": choices.pick([1.0, 0.5, 0.0 if b <= 0 else 2.0])}
    physics |= {"K": choices.pick([1.0, 0.2, 3.0]), "dx": choices.pick([1.0, 0.5, 2.0])}
    mobility, drawn = choices.pick([1.0, 0.3]), _drawn(choices)
    options = {
        "shape": lengths,
        "mobility": mobility,
        **physics,
        "mean": choices.pick([0.0, 0.3, -0.5]),
        "amplitude": choices.pick([0.1, 0.0, 0.8]),
        "noise": choices.pick([0.0, 0.1]),
        "dtype": choices.pick(["float32", "float64"]),
        **drawn,
    }
    if choices.flag():
        start = choices.generator().uniform(-1, 1, lengths)
        options["start"] = draws.vector(choices, start.astype(choices.pick("fd")))
    largest = np.abs(options["start"]).max() if "start" in options else 0.0
    largest = max(float(largest), abs(options["mean"]) + options["amplitude"])
    longest = models.CahnHilliard.stable_time_step(
        ndim, mobility=mobility, **physics, largest=largest
    )
    share = choices.pick([None, 0.5, 0.1])
    if share is not None:
        options["dt"] = share * longest
    model = models.CahnHilliard(**options)
    replicas, first = drawn["replicas"], drawn["first_replica"]
    names = {"dtype", "replicas", "first_replica", "dt"}
    given = {name: value for name, value in options.items() if name not in names}
    references = [
        ReferenceCahnHilliard(**given, dt=model.dt, replica=first + k) for k in range(replicas or 1)
    ]
    threshold = choices.pick([0.0, 0.25, -0.5])
    for _ in range(2):
        for field, exact in zip(_items(model.field, replicas), references, strict=True):
            assert field.dtype == options["dtype"]
            most = max(abs(exact.field).max(), abs(field).max())
            assert abs(field - exact.field).max() <= 2 * error(options["dtype"], model, most)
            exact.field = field.astype(float)
        _check_domains(model, references, replicas, threshold)
        model.step()
        for exact in references:
            exact.step()
    assert model.time == model.updates * model.dt
    check_trajectory(choices, models.CahnHilliard, options, lambda model: [model.field])


def _check_domains(model, references, replicas, threshold):
    measured = model.measure(threshold=threshold)
    rows = {name: _items(values, replicas) for name, values in measured.observables().items()}
    labels = _items(model.labels(threshold=threshold), replicas)
    cells, threshold = model.lattice.cells, float(model.dtype.type(threshold))
    cut = cells * 2.0**-model.lattice.part_bits
    for k, exact in enumerate(references):
        for name, values in exact.domains(threshold).items():
            np.testing.assert_array_equal(rows[name][k], values)
        energy, mean = exact.energy(), exact.field.mean()
        np.testing.assert_allclose(rows["energy"][k], energy, rtol=1e-6, atol=cut + 1e-6 * cells)
        np.testing.assert_allclose(rows["mean"][k], mean, rtol=1e-9, atol=2 * cut + 1e-12)
        roots = label_by_flood_fill(exact.field > threshold, connectivity=1, periodic=True)
        np.testing.assert_array_equal(labels[k], number_items(roots)[0])
        interface = rows["interface"][k]
        size = model.lattice.ndim * exact.dx / interface if interface else math.inf
        assert rows["domain_size"][k] == size


# -------------------------------------------------------------------------------------- simulations


def simulations(choices):
    """A simulation is its updates one by one; from a checkpoint it goes on as if never ended."""
    drawn = _drawn(choices)
    of_updates = {}
    kind = choices.below(4)
    if kind == 0:
        make = partial(models.Potts, (3, choices.pick([4, 65])), choices.pick([2, 3]), 0.9, **drawn)
        of_updates = choices.pick([{}, {"update": "wolff"}, {"update": "metropolis"}])
    elif kind == 1:
        make = partial(models.Percolation, (5, 6), choices.pick(["site", "bond"]), **drawn)
    elif kind == 2:
        make = partial(models.Kawasaki, (4, 8), lattice="square", temperature=2.0, **drawn)
    else:
        make = partial(models.CahnHilliard, (4, 5), **drawn)
        of_updates = choices.pick([{}, {"threshold": 0.02}])
    schedule = {"thermalise": choices.below(4), "measure_every": 1 + choices.below(3)}
    sweeps, more, seen = 1 + choices.below(5), 1 + choices.below(3), []
    model = make()
    run = models.simulate(
        model, sweeps, watch=lambda model: seen.append(model.updates), **schedule, **of_updates
    )
    begin, end, every = (
        schedule["thermalise"],
        schedule["thermalise"] + sweeps,
        schedule["measure_every"],
    )
    rows = list(range(begin, end, every))
    assert run.updates.tolist() == seen == rows
    assert model.updates == end
    twin, expected = make(), []
    updater = twin.updater(**of_updates)
    for number in range(end):
        if number in rows:
            threshold = {name: of_updates[name] for name in of_updates if name == "threshold"}
            expected.append(twin.measure(**threshold).observables())
        updater(number + 1)
    series = run.series.observables()
    for name, of_name in _columns(expected).items():
        np.testing.assert_array_equal(series[name], of_name)
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        path = Path(folder, "checkpoint")
        models.simulate(make(), sweeps, checkpoint=path, **schedule, **of_updates)
        later = models.simulate(make(), sweeps + more, checkpoint=path, **schedule, **of_updates)
    whole = models.simulate(make(), sweeps + more, **schedule, **of_updates)
    np.testing.assert_array_equal(later.updates, whole.updates)
    for name, values in whole.series.observables().items():
        np.testing.assert_array_equal(later.series.observables()[name], values)


def _columns(rows):
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


# ------------------------------------------------------------------------------------------- series


def _series(choices, count=1):
    """Return series of so many rows and replicas, independent or not."""
    rows, replicas = choices.pick([8, 1, 2, 3, 40, 200]), choices.pick([None, 1, 2, 3])
    shape = (count, rows) if replicas is None else (count, rows, replicas)
    values = choices.generator().standard_normal(shape) * choices.pick([1, 1e-6, 1e6])
    how = choices.below(4)
    if how == 1:
        values = np.cumsum(values, axis=1)
    if how == 2:
        values = np.rint(values)
    if how == 3:
        values[...] = 0.5
    return values


def series(choices):
    """Compare autocorrelation times, errors and summaries with their formulas."""
    (values,) = _series(choices)
    chains = values.reshape(len(values), -1)
    assert reference.is_autocorrelation_time(models.autocorrelation_time(values), chains)
    first, second = _series(choices, 2)
    both = np.stack([first, second]).reshape(2, len(first), -1)
    functions = [lambda x, y: x - y, lambda x, y: x * y, lambda x, y: y - x**2]
    function = choices.pick(functions)
    rows, replicas = both.shape[1:]
    whole = [d for d in range(1, rows + 1) if rows % d == 0 and rows // d * replicas >= 8]
    if whole:
        length = choices.pick(whole)
        expected = reference.jackknife(function, both, rows // length)
        found = models.jackknife(function, first, second, bin_length=length)
        _assert_estimate(found, expected)
    found = models.jackknife(function, first, second)
    times = [models.autocorrelation_time(each).value for each in both]
    _assert_estimate(found, reference.jackknife(function, both, _bins(times, rows, replicas)))
    _check_summary(choices)


def _bins(times, rows, replicas):
    length = max([1, *(math.ceil(20 * time) for time in times if time > 0)])
    return reference.bins_of(rows, replicas, length)


def _assert_estimate(found, expected, scale=0.0):
    np.testing.assert_allclose(found.value, expected[0], rtol=1e-9, atol=1e-9 + scale)
    np.testing.assert_allclose(found.error, expected[1], rtol=1e-6, atol=1e-9 + scale)


def _check_summary(choices):
    options = {
        "shape": (4, choices.pick([4, 5])),
        "q": choices.pick([2, 3]),
        "seed": choices.pick(SEEDS),
    }
    replicas = choices.pick([None, 1, 3])
    beta = _each(choices, [0.7, 1.2], replicas)
    model = models.Potts(**options, beta=beta, replicas=replicas)
    measures = {"clusters": choices.flag(), "wrapping": choices.flag()}
    rows, every = choices.pick([20, 1, 3, 100]), 1 + choices.below(3)
    measured = model.swendsen_wang(rows, **measures)
    summaries = models.summarise(measured, beta, measure_every=every)
    betas = np.broadcast_to(beta, replicas or 1)
    assert [summary.beta for summary in summaries] == list(dict.fromkeys(betas.tolist()))
    sites = math.prod(options["shape"])
    for summary in summaries:

        def column(name, of=betas == summary.beta):
            values = np.asarray(getattr(measured, name), float)
            return values.reshape(rows, len(betas), *values.shape[1 if replicas is None else 2 :])[
                :, of
            ]

        energy, squares = column("energy") / sites, column("squared_magnetisation")
        fourths, size = column("fourth_magnetisation"), column("magnetisation")
        assert summary.measurements == energy.size
        found = summary.energy_time, summary.magnetisation_time
        for time, values in zip(found, (energy, squares), strict=True):
            assert reference.is_autocorrelation_time(time, values, every)
        times = [time.value / every for time in found]
        bins = _bins(times, rows, energy.shape[1])
        enough = [time if time > 0.5 else 0.5 for time in times]
        assert summary.enough == (not any(100 * time > rows for time in enough))
        if measures["clusters"]:
            squares = column("improved_squared_magnetisation")
            fourths = column("improved_fourth_magnetisation")
        _check_means(summary, bins, energy, abs(size), squares, fourths, summary.beta, sites)
        assert (summary.wrapping is not None) == measures["wrapping"]
        if measures["wrapping"]:
            wraps, rank = column("wraps"), column("rank")
            found = [*summary.wrapping.along, *summary.wrapping[1:]]
            shares = [*wraps.mean(axis=(0, 1)), wraps.any(axis=-1).mean()]
            shares += [wraps.all(axis=-1).mean(), (rank == 2).mean()]
            np.testing.assert_allclose([share.value for share in found], shares)


def _check_means(summary, bins, energy, size, squares, fourths, beta, sites):
    """Compare means, variances and the ratio of moments, and the errors of all."""

    def variance(factor, values):
        centred = values - values.mean()
        return reference.jackknife(
            lambda mean, square: factor * (square - mean**2), np.stack([centred, centred**2]), bins
        )

    def mean(values):
        return reference.jackknife(lambda mean: mean, values[None], bins)

    _assert_estimate(summary.energy, mean(energy))
    _assert_estimate(summary.magnetisation, mean(size))
    _assert_estimate(summary.squared_magnetisation, mean(squares))
    _assert_estimate(summary.specific_heat, variance(beta**2 * sites, energy))
    _assert_estimate(summary.susceptibility, variance(beta * sites, size))
    if squares.min() > 0:
        ratio = reference.jackknife(
            lambda square, fourth: fourth / square**2, np.stack([squares, fourths]), bins
        )
        _assert_estimate(summary.binder_ratio, ratio)
