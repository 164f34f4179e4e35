"""What all models have in common."""

import inspect
import json

import numpy as np
import pytest

from conncomp.models import CahnHilliard, Kawasaki, Model, ModelState, Percolation, Potts, SpinGlass
from conncomp.models.protocol import CONTRACT, ModelUpdate

MODELS = {
    "CahnHilliard": lambda **options: CahnHilliard((6, 8), noise=0.1, seed=5, **options),
    "Kawasaki": lambda **options: Kawasaki((4, 8), lattice="square", seed=5, **options),
    "Percolation": lambda **options: Percolation((6, 8), seed=5, **options),
    "Potts": lambda **options: Potts((6, 8), 3, 0.9, seed=5, **options),
    "SpinGlass": lambda **options: SpinGlass((6, 8), "gaussian", beta=0.9, seed=5, **options),
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


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        (None, TypeError, r"state=None must be a ModelState, which \.state\(\) returns"),
        ((0, ()), TypeError, r"state=\(0, \(\)\) must be a ModelState"),
        (ModelState(0, None), TypeError, "arrays=None must be a tuple"),
        (ModelState(None, ()), TypeError, "updates=None must be an integer"),
        (
            ModelState(1, (1.0,)),
            ValueError,
            "array 0 of the state is a float; it must be|has 1 arrays",
        ),
        (ModelState(1, (1.0, "words")), ValueError, "array 0 of the state is a float|has 2 arrays"),
    ],
)
def test_what_is_no_state_is_refused(new_model, state, error, words):
    model = new_model()
    model.step(2)
    before = model.state()
    with pytest.raises(error, match=words):
        model.restore(state)
    assert same_place(model.state(), before)
