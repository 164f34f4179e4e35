"""What all models have in common."""

import copy
import inspect
import json
from functools import partial
from itertools import product

import numpy as np
import pytest

import conncomp
from conncomp.models import (
    ON,
    XY,
    CahnHilliard,
    Clock,
    Heisenberg,
    Ising,
    Kawasaki,
    Model,
    ModelState,
    Percolation,
    Potts,
    SpinGlass,
    simulate,
)
from conncomp.models.lattices import LATTICES
from conncomp.models.protocol import CONTRACT, ModelUpdate
from models.edges_reference import random_regular, small_world
from models.paramagnet import Paramagnet

RING = small_world(9, 3, 1)
MODELS = {
    "CahnHilliard": partial(CahnHilliard, (6, 8), noise=0.1, seed=5),
    "Clock": partial(Clock, RING, 5, beta=0.9, seed=5),
    "Heisenberg": partial(Heisenberg, (4, 5), beta=0.9, seed=5),
    "Ising": partial(Ising, (6, 30), lattice="kagome", seed=5),
    "Ising graph": partial(Ising, RING, beta=0.3, field=0.1, seed=5),
    "Kawasaki": partial(Kawasaki, (4, 8), lattice="square", seed=5),
    "Paramagnet": lambda device="cpu", **options: Paramagnet((5, 8), 0.3, seed=5, **options),
    "Percolation": partial(Percolation, (6, 8), "bond", p=0.4, seed=5),
    "Potts": partial(Potts, (6, 70), 3, 0.9, seed=5),
    "SpinGlass": partial(SpinGlass, (6, 8), "gaussian", beta=0.9, seed=5),
}


@pytest.fixture(params=MODELS)
def new_model(request):
    return MODELS[request.param]


def same_place(first, second):
    return first.updates == second.updates and all(
        np.array_equal(one, another)
        for one, another in zip(first.arrays, second.arrays, strict=True)
    )


def test_models_have_what_the_protocol_says(new_model):
    model = new_model()
    assert isinstance(model, Model)
    assert (model.updates, model.replicas, model.first_replica, model.seed) == (0, 1, 0, 5)
    assert model.device == "cpu"
    parameters = model.parameters()
    assert parameters["model"] == type(model).__name__
    assert {"shape", "seed", "replicas"} <= set(parameters)
    json.dumps({k: v for k, v in parameters.items() if not isinstance(v, np.ndarray)})
    assert isinstance(model.state(), ModelState)
    assert isinstance(model.updater(), ModelUpdate)
    for name in ("step", "measure", "labels", "parameters", "state", "restore"):
        check_signature(getattr(type(model), name), getattr(Model, name))


def check_signature(method, wanted):
    """A method takes all that another one takes, by position and name, and needs nothing else."""
    given, wanted = (dict(inspect.signature(each).parameters) for each in (method, wanted))
    by_name = [name for name, value in wanted.items() if value.kind is value.KEYWORD_ONLY]
    by_position = [name for name in wanted if name not in by_name]
    assert list(given)[: len(by_position)] == by_position
    assert {given[name].kind for name in by_name} <= {inspect.Parameter.KEYWORD_ONLY}
    assert {name: given[name].default for name in wanted} == {
        name: value.default for name, value in wanted.items()
    }
    assert all(
        value.default is not value.empty for name, value in given.items() if name not in wanted
    )


def test_step_makes_the_usual_updates_without_measuring(new_model):
    model, twin = new_model(), new_model()
    assert model.step() is None
    model.step(4)
    update = twin.updater()
    for number in range(1, 6):
        update(number, twin.new_records(1)[0])
    assert model.updates == 5
    assert same_place(model.state(), twin.state())
    with pytest.raises(ValueError, match="n=-1 must be from 0"):
        model.step(-1)
    with pytest.raises(TypeError, match="n='ab'"):
        model.new_records("ab")


def test_what_is_measured_now_is_what_an_update_measures(new_model):
    for replicas in (None, 2):
        model = new_model(replicas=replicas)
        model.step(2)
        now = model.measure().observables()
        update, records = model.updater(), model.new_records(1)
        before = model.state()
        update(3, records[0])
        series = update.read(records).observables()
        assert set(now) <= set(series)
        for name, values in now.items():
            np.testing.assert_array_equal(values, series[name][0])
            assert replicas is None or values.shape[0] == replicas
        model.restore(before)
        assert same_place(model.state(), before)


def test_records_can_be_written(new_model):
    records = new_model(replicas=2).new_records(3)
    assert records.dtype in (np.int64, np.float64)
    assert records.shape[:2] == (3, 2)
    assert not records.any()


def test_random_numbers_are_those_of_the_contract():
    """If this fails, a run that goes on from an older checkpoint differs: raise `CONTRACT`."""
    sums = []
    for q in (2, 3):
        model = Potts((16, 16), q, 0.9, seed=5)
        model.step(3)
        model.wolff(3)
        model.metropolis(3)
        model.few_cluster(3, tile=4, p_flip=0.4)
        sums.append(int(model.spins.ravel() @ np.arange(256)))
    assert (CONTRACT, sums) == (3, [27938, 39485])


NO_STATES = [
    (None, TypeError, r"state=None must be a ModelState, which \.state\(\) returns"),
    ((0, ()), TypeError, r"state=\(0, \(\)\) must be a ModelState"),
    (ModelState(0, None), TypeError, "arrays=None must be a tuple"),
    (ModelState(None, ()), TypeError, "updates=None must be an integer"),
    (ModelState(1, (1.0,)), ValueError, "array 0 of the state is a float; it must be|has 1 arrays"),
    (ModelState(1, (1.0, "words")), ValueError, "array 0 of the state is a float|has 2 arrays"),
]


@pytest.mark.parametrize(("state", "error", "words"), NO_STATES)
def test_what_is_no_state_is_refused(new_model, state, error, words):
    model = new_model()
    model.step(2)
    before = model.state()
    with pytest.raises(error, match=words):
        model.restore(state)
    assert same_place(model.state(), before)


# Of as many sites as several threads share: strips of 65,536, or blocks of a few thousand.
CLUSTERS, SIZES = ({}, {"update": "wolff"}), ({"clusters": True}, {"update": "wolff"})
RULES = {"update": "metropolis"}, {"update": "heat-bath"}
OPPOSED = {"lattice": "triangular", "coupling": -1.0, "beta": 0.9}
LARGE = [
    *(
        (partial(Ising, shape, lattice=lattice, temperature=2.1), (*SIZES, SIZES[0] | SIZES[1]))
        for shape, lattice in (
            *(((300, 800), "triangular"), ((400, 300), "honeycomb"), ((150, 500), "kagome")),
            *(((40, 60, 100), "bcc"), ((130, 10, 100), "diamond")),
        )
    ),
    (lambda **o: Ising(random_regular(200_000, 4, 1), beta=0.36, field=0.01, **o), CLUSTERS),
    (partial(Ising, (90, 300), **OPPOSED), (*CLUSTERS, *RULES)),
    (partial(Potts, (90, 300), 3, **OPPOSED), (*CLUSTERS, *RULES)),
    (partial(Potts, (200, 300), 3, lattice="triangular", field=0.01), CLUSTERS),
    (partial(XY, (300, 800)), SIZES),
    (partial(Heisenberg, (40, 60, 100)), SIZES),
    (partial(XY, (60, 80), lattice="kagome", beta=1.0), (*CLUSTERS, RULES[0])),
    (partial(ON, (60, 80), 5, lattice="kagome", beta=1.0), (*CLUSTERS, RULES[0])),
    (partial(Percolation, (20, 70)), ({},)),
    (partial(Percolation, (20, 70), "bond"), ({},)),
    (partial(Kawasaki, 96, fraction=0.2), ({},)),
    (partial(Kawasaki, 32, fraction=0.2), ({},)),
    *(
        (partial(CahnHilliard, shape, noise=noise), ({}, {}, {}))
        for shape, noise in product([(700, 300), (20000, 6), (40, 60, 50)], [0.0, 0.02])
    ),
]


@pytest.mark.parametrize(("make", "updates"), LARGE)
def test_threads_and_replicas_change_nothing(make, updates):
    def run(threads, **options):
        conncomp.set_num_threads(threads)
        model = make(seed=5, **options)
        records = [simulate(model, 2, **how).series.records for how in updates]
        for name in ("spins", "field"):
            records += [getattr(model, name)[np.newaxis]] if hasattr(model, name) else []
        return [*records, model.measure().records[np.newaxis], model.labels()[np.newaxis]]

    many, again = (run(threads, replicas=2) for threads in (3, 7))
    for k in range(2):
        alone = run(1, first_replica=k)
        for one, of_three, of_seven in zip(alone, many, again, strict=True):
            np.testing.assert_array_equal(of_three[:, k], one)
            np.testing.assert_array_equal(of_seven[:, k], one)
    assert (many[-1][:, 0] != many[-1][:, 1]).any()


TWO = {"replicas": 2, "seed": 6}
IN_FIELD = {"beta": [0.2, 0.4], "field": 0.1, **TWO}
ASCENDING, METROPOLIS = np.arange(1.0, 10.0), {"update": "metropolis"}
COLD = {"temperature": [2.0, 3.0], **TWO}
GLASS = {"temperature": [2.0, 1.0, 1.5], "samples": 3, "copies": 2, "seed": 4}
ROUNDS = {"houdayer": True, "overlaps": True, "tempering": True}
# A model, how it runs, what another model or run has, and how that is refused.
RUNS = [
    *(
        (partial(Ising, 7, lattice=name, **COLD), {}, {"lattice": LATTICES["fcc"]}, "lattice is")
        for name in ("square", "triangular", "kagome")
    ),
    (partial(Ising, RING, **IN_FIELD), {}, {"field": 0.2}, r"field is 0\.1, not 0\.2"),
    (partial(Ising, RING, **IN_FIELD), {}, {"field": ASCENDING}, "bonds is|field is"),
    (
        partial(Ising, RING, **{**IN_FIELD, "field": ASCENDING}),
        {},
        {"field": ASCENDING[::-1]},
        "bonds is",
    ),
    (partial(Potts, RING, 3, **IN_FIELD), {}, {"field": 0.2}, r"field is 0\.1, not 0\.2"),
    *(
        (partial(kind, (90, 30), **OPPOSED, seed=5), {"update": update}, {"seed": 6}, "seed is 5")
        for kind in (Ising, partial(Potts, q=3))
        for update in ("swendsen-wang", "wolff", "metropolis", "heat-bath")
    ),
    *(
        (partial(kind, (5, 7), beta=[0.5, 1.5], **TWO), {}, {"beta": [0.5, 1.0]}, "beta has other")
        for kind in (XY, Heisenberg)
    ),
    *(
        (
            partial(kind, RING, beta=[0.2, 0.4], coupling=np.arange(1.0, 22.0), **TWO),
            METROPOLIS,
            {"coupling": np.arange(2.0, 44.0, 2.0)},
            "bonds is",
        )
        for kind in (XY, partial(ON, n=5))
    ),
    (
        partial(CahnHilliard, (24, 16), noise=0.05, **TWO),
        {"measure_every": 4, "threshold": 0.1},
        {"threshold": 0.2},
        r"threshold is 0\.1, not 0\.2",
    ),
    (
        partial(Kawasaki, 8, temperature=[3.0, 5.0], fraction=[0.2, 0.4], **TWO),
        {"measure_every": 2},
        {"temperature": [3.0, 5.1]},
        "temperature",
    ),
    (partial(Percolation, (32, 32), p=0.58, **TWO), {}, {"p": 0.57}, r"p is 0\.58, not 0\.57"),
    (
        partial(Ising, (4, 6), beta=[0.3, 0.4], **TWO),
        {"observe": ["structure"], "clusters": True},
        {"observe": []},
        "another simulation, whose observe",
    ),
    *(
        (
            partial(kind, (3, 4), lattice="honeycomb", beta=0.7),
            {"wrapping": True},
            {"wrapping": False},
            "another simulation, whose wrapping is True",
        )
        for kind in (Ising, XY, partial(Potts, q=3))
    ),
    *(
        (partial(SpinGlass, (4, 3, 4), kind, **GLASS), ROUNDS, {"overlaps": False}, "overlaps is")
        for kind in ("pm", "gaussian")
    ),
]


@pytest.mark.parametrize(("make", "options", "other", "words"), RUNS)
def test_simulations_go_on_as_if_they_had_not_ended(make, options, other, words, tmp_path):
    path, options = tmp_path / "run", {"thermalise": 3, **options}
    whole = simulate(make(), 12, **options)
    simulate(make(), 4, **options, checkpoint=path)
    model = make()
    parts = simulate(model, 12, **options, checkpoint=path)
    np.testing.assert_array_equal(parts.series.records, whole.series.records)
    twin = copy.deepcopy(model)
    twin.step(2), model.step(2)
    assert same_place(twin.state(), model.state())
    of_run = {name: value for name, value in other.items() if name in options}
    of_model = {name: value for name, value in other.items() if name not in options}
    with pytest.raises(ValueError, match=words):
        simulate(make(**of_model), 12, **(options | of_run), checkpoint=path)
