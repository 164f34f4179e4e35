"""Copies, deep copies and pickles of models, and of the other objects that users hold."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest

import conncomp
from conncomp.models import CahnHilliard, Kawasaki, Potts, SpinGlass, simulate
from models.test_protocol import MODELS as OF_ALL

MODELS = {
    **OF_ALL,
    "CahnHilliard-start": lambda **options: CahnHilliard(
        (6, 8), start=np.full((6, 8), 1e-3), amplitude=5.0, b=-1.0, **options
    ),
    "Kawasaki-start": lambda **options: Kawasaki(
        (4, 8), lattice="square", temperature=2.0, start=np.eye(4, 8, dtype=int), **options
    ),
    "Potts-open": lambda **options: Potts((9,), 5, 0.3, periodic=False, start="cold", **options),
    "SpinGlass-pm": lambda **options: SpinGlass((6, 5), beta=0.7, **options),
    "SpinGlass-field": lambda **options: SpinGlass(
        (6, 5), "gaussian", beta=0.7, field=0.3, **options
    ),
}
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda held: pickle.loads(pickle.dumps(held)),
    "oldest pickle": lambda held: pickle.loads(pickle.dumps(held, 2)),
}


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


def same(one, other):
    first, second = one.state(), other.state()
    assert first.updates == second.updates
    for a, b in zip(first.arrays, second.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    for name, value in one.measure().observables().items():
        np.testing.assert_array_equal(value, other.measure().observables()[name])
    np.testing.assert_array_equal(one.labels(), other.labels())


GPU_MODELS = "CahnHilliard", "Ising", "Kawasaki", "Potts", "SpinGlass"
ON_GPU = [("cuda", 2, "copy", name) for name in GPU_MODELS]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize(
    ("device", "replicas", "way", "name"), [*product(["cpu"], [None, 2], COPIES, MODELS), *ON_GPU]
)
def test_copies_go_on_apart(device, replicas, way, name):
    copied = COPIES[way]
    model, twin = (MODELS[name](replicas=replicas, device=device) for _ in range(2))
    for each in (model, twin):
        each.step(3)
    made = copied(model)
    assert type(made) is type(model)
    assert made.device == device
    assert str(made.parameters()) == str(model.parameters())
    same(made, twin)
    made.step(2)  # the original does not move
    same(model, twin)
    before = made.state()
    model.step(4)  # nor does the copy
    twin.step(4)
    same(model, twin)
    for a, b in zip(made.state().arrays, before.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    made.step(2)
    same(made, twin)


def test_copy_has_the_temperatures_of_now():
    model = Potts((8, 8), beta=[0.4, 0.8], replicas=2, seed=1)
    conncomp.models.parallel_tempering(model, 5)
    np.testing.assert_array_equal(copy.copy(model).beta, model.beta)


def test_what_users_add_is_kept(copied):
    model = Potts((4, 4))
    model.name = "mine"
    assert copied(model).name == "mine"


def test_simulations_are_copied(copied):
    run = simulate(Potts((8, 8), seed=1), 20)
    made = copied(run)
    np.testing.assert_array_equal(made.series.energy, run.series.energy)
    assert made.parameters == run.parameters


@pytest.mark.parametrize("made_of", ["edges", "rows"])
def test_graphs_are_copied(copied, made_of):
    src, dst = np.array([0, 1, 3]), np.array([1, 2, 4])
    graph = conncomp.Graph.from_edges(src, dst)
    if made_of == "rows":
        graph = conncomp.Graph.from_csr(graph.indptr, graph.indices)
    made = copied(graph)
    assert repr(made) == repr(graph)
    for of_copy, wanted in zip(
        conncomp.connected_components(made)[1:],
        conncomp.connected_components(graph)[1:],
        strict=True,
    ):
        np.testing.assert_array_equal(of_copy, wanted)
    np.testing.assert_array_equal(made.indptr, graph.indptr)
    np.testing.assert_array_equal(made.indices, graph.indices)


def test_growing_components_are_copied(copied):
    components = conncomp.IncrementalComponents(5)
    components.add_edges([0], [1])
    made = copied(components)
    made.add_edges([1], [2])
    components.add_edges([3], [4])
    np.testing.assert_array_equal(made.labels(), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(components.labels(), [0, 0, 1, 2, 2])


def test_workspaces_are_not_copied(copied):
    with pytest.raises(TypeError, match=r"a Workspace cannot be copied or pickled; make another"):
        copied(conncomp.Workspace())
