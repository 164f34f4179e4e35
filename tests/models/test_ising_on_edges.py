"""The Ising model on graphs, with couplings and fields: distribution, trajectories, errors."""

import copy

import numpy as np
import pytest
from scipy import sparse

import conncomp
from conncomp import Graph
from conncomp.models import Ising, parallel_tempering, simulate
from models import alarms
from models.edges_reference import ReferenceEdges, check_updates, on_host

pytestmark = pytest.mark.usefixtures("restore_threads")
DEVICES = ["cpu", "cuda"]


def small_world(vertices, shortcuts, seed):
    """Return a ring with bonds to the next two vertices, and shortcuts."""
    ring, rng = np.arange(vertices), np.random.default_rng(seed)
    ends = rng.permutation(vertices)[: 2 * shortcuts].reshape(2, -1)
    u, v = (np.concatenate([ring, ring, ends[k]]) for k in (0, 1))
    v[:vertices], v[vertices : 2 * vertices] = (ring + 1) % vertices, (ring + 2) % vertices
    return Graph.from_edges(u, v, vertices)


def random_regular(vertices, degree, seed):
    """Return a graph of `degree` random rings through all vertices, half of that each."""
    rng = np.random.default_rng(seed)
    rings = [rng.permutation(vertices) for _ in range(degree // 2)]
    return Graph.from_edges(
        np.concatenate(rings), np.concatenate([np.roll(ring, 1) for ring in rings]), vertices
    )


def exact(model):
    """Return the means of energy and magnetisation by enumeration of all states."""
    edges, unit = model._edges, model._edges.scale / 2**29
    couplings = np.full(edges.bonds, 2**29) if edges.couplings is None else edges.couplings
    states = 1 - 2 * (np.arange(1 << edges.sites)[:, None] >> np.arange(edges.sites) & 1)
    energies = -(states[:, edges.ends[0]] * states[:, edges.ends[1]]) @ (unit * couplings)
    if edges.fields is not None:
        energies -= states @ (unit * edges.fields)
    weights = np.exp(-model._betas[0] * (energies - energies.min()))
    weights /= weights.sum()
    return energies @ weights, states.mean(axis=1) @ weights


RNG = np.random.default_rng(3)
RING = small_world(9, 3, 1)
TRIANGLES = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])
SMALL = {
    "small world": (RING, {"beta": 0.3}),
    "random regular": (random_regular(12, 4, 2), {"beta": 0.4}),
    "frustrated": (TRIANGLES, {"beta": 0.8, "coupling": -1.5}),
    "signs": (RING, {"beta": 0.6, "coupling": RNG.choice([-1.0, 1.0], 21)}),
    "gaussian": (RING, {"beta": 0.6, "coupling": RNG.normal(size=21)}),
    "field": (RING, {"beta": 0.3, "field": 0.4}),
    "random field": (RING, {"beta": 0.5, "field": RNG.normal(size=9)}),
    "all of it": (TRIANGLES, {"beta": 0.7, "coupling": [1, -2, 0.5, 1, -1], "field": -0.3}),
    "no bond": (Graph.from_edges([], [], 4), {"beta": 0.7, "field": [0.5, 0, -0.2, 1]}),
    "lattice": ((3, 4), {"lattice": "triangular", "beta": 0.2, "field": 0.2}),
    "potts lattice": ((3, 4), {"beta": 0.4, "field": RNG.normal(size=(3, 4))}),
    "chain": ((1, 3), {"lattice": "kagome", "beta": 0.4, "field": 0.1, "coupling": -1.0}),
    "turned": (5, {"lattice": "chain", "beta": 0.4, "field": 0.1, "periodic": "antiperiodic"}),
    "cell": ((2, 3), {"lattice": "honeycomb", "beta": 0.6, "coupling": RNG.normal(size=18)}),
}
CASES = [
    *(("cpu", 230, 40, update, case) for update in ("swendsen-wang", "wolff") for case in SMALL),
    *(("cuda", 40, 8, "swendsen-wang", case) for case in ("gaussian", "all of it")),
    ("cuda", 40, 30, "wolff", "random field"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("device", "replicas", "sweeps", "update", "case"), CASES)
def test_means_are_those_of_enumeration(device, replicas, sweeps, update, case):
    shape, arguments = SMALL[case]
    model = Ising(shape, **arguments, replicas=replicas, seed=3, device=device)
    run = simulate(model, sweeps // 2, thermalise=sweeps, update=update)
    energy, magnetisation = exact(model)
    series = run.series
    assert alarms.of_mean(series.energy.mean(axis=0), energy) > alarms.FALSE_ALARM
    assert alarms.of_mean(series.magnetisation.mean(axis=0), magnetisation) > alarms.FALSE_ALARM


TRAJECTORIES = [
    *(SMALL[case] for case in ("random regular", "gaussian", "all of it", "no bond", "turned")),
    (random_regular(201, 4, 7), {"beta": 0.35}),
    (small_world(130, 30, 5), {"beta": 0.3, "field": RNG.normal(size=130)}),
    ((9, 8), {"lattice": "kagome", "beta": 0.4, "field": 0.3, "periodic": False}),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", range(len(TRAJECTORIES)))
def test_trajectories_are_those_of_the_reference(device, case):
    shape, arguments = TRAJECTORIES[case]
    model = Ising(shape, **arguments, replicas=2, first_replica=3, seed=7, device=device)
    edges, unit = model._edges, model._edges.scale / 2**29
    couplings = model.signs * (unit * 2**29) if edges.couplings is None else unit * edges.couplings
    fields = np.zeros(model.sites) if edges.fields is None else unit * edges.fields
    start = on_host(model.spins).reshape(2, -1)
    references = [
        ReferenceEdges(model.edges, couplings, fields, model.beta[k], 7, 3 + k, start[k])
        for k in range(2)
    ]
    measured = edges.fields is None and (couplings > 0).all()
    check_updates(model, references, measured)


def test_threads_replicas_and_interruptions_change_nothing(tmp_path):
    graph = random_regular(200_000, 4, 1)

    def make(**options):
        return Ising(graph, temperature=2.8, field=0.01, seed=5, **options)

    conncomp.set_num_threads(1)
    one = make()
    series = one.swendsen_wang(2), one.wolff()
    conncomp.set_num_threads(3)
    many = make(replicas=2)
    for of_many, of_one in zip((many.swendsen_wang(2), many.wolff()), series, strict=True):
        np.testing.assert_array_equal(of_many.records[:, 0], of_one.records)
    np.testing.assert_array_equal(many.spins[0], one.spins)
    assert (many.spins[1] != one.spins).any()
    twin = copy.deepcopy(many)
    twin.step(1), many.step(1)
    np.testing.assert_array_equal(twin.spins, many.spins)

    def small(field=0.1):
        return Ising(RING, beta=[0.2, 0.4], field=field, replicas=2, seed=6)

    whole = simulate(small(), 12, thermalise=3)
    simulate(small(), 4, thermalise=3, checkpoint=tmp_path / "run")
    parts = simulate(small(), 12, thermalise=3, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(parts.series.records, whole.series.records)
    assert len(whole.summarise()) == 2
    with pytest.raises(ValueError, match=r"whose field is 0\.1, not 0\.2"):
        simulate(small(0.2), 12, thermalise=3, checkpoint=tmp_path / "run")
    simulate(small(np.arange(9.0)), 4, checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match="whose bonds is"):
        simulate(small(np.arange(9.0)[::-1]), 4, checkpoint=tmp_path / "other")


@pytest.mark.parametrize("device", ["cuda"])
def test_gpu_goes_as_the_cpu(device):
    graph = random_regular(5000, 4, 1)
    models = [Ising(graph, temperature=2.9, seed=5, device=d) for d in DEVICES]
    for update in ("swendsen_wang", "wolff"):
        records = [getattr(model, update)(2, clusters=True).records for model in models]
        np.testing.assert_array_equal(*records)
        np.testing.assert_array_equal(*(on_host(model.spins) for model in models))


def test_arcs_become_bonds():
    """Arcs there and back are one bond, several of one way add up, and couplings of 0 are none."""
    graph = Graph.from_edges([0, 1, 2, 2, 3], [1, 0, 1, 1, 0], 5)
    model = Ising(graph, beta=1.0, coupling=[2.0, 2.0, 0.5, 1.0, 0.0], start="cold")
    assert model.edges.tolist() == [[0, 1], [1, 2]]
    assert model.energy() == pytest.approx(-3.5)
    assert Ising(graph, beta=1.0, start="cold").energy() == pytest.approx(-4.0)
    assert Ising(graph, beta=1.0, start="cold", coupling=-1.0).signs.tolist() == [-1, -1, -1]
    labels, count = model.labels(return_num=True)
    assert labels.shape == (5,)
    assert count == labels.max()


def test_a_field_changes_the_engine_and_not_the_first_spins():
    plain, tied = Ising((7, 70), seed=2), Ising((7, 70), seed=2, field=0.1)
    np.testing.assert_array_equal(plain.spins, tied.spins)
    assert tied.energy() == pytest.approx(plain.energy() - 0.1 * plain.spins.sum(), rel=1e-7)
    assert tied.beta == plain.beta
    assert Ising((7, 70), seed=2, field=0.0).parameters() == plain.parameters()


def test_tempering_in_a_field():
    model = Ising(RING, beta=np.linspace(0.1, 0.6, 20), replicas=20, field=0.5, seed=1)
    tempering = parallel_tempering(model, 1500)
    assert (tempering.acceptance > 0.2).all()
    expected = exact(Ising(RING, beta=tempering.beta[10], field=0.5))
    energies = tempering.series.energy[100:, 10]
    bins = energies.reshape(100, -1).mean(axis=1)
    assert alarms.of_mean(bins, expected[0]) > alarms.FALSE_ALARM


def test_couplings_that_cancel_are_no_bond():
    arcs = [0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 2]
    graph = Graph.from_edges(*arcs, 3)
    model = Ising(graph, beta=1.0, coupling=[0.1, 0.2, -0.3, -0.3, 0.2, 0.1, 1.0])
    assert model.edges.tolist() == [[1, 2]]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": Graph.from_edges([0, 1], [1, 1])}, "loop at vertex 1"),
        ({"shape": Graph.from_edges([], [], 0)}, "0 vertices; there must be 1"),
        ({"coupling": [1.0, np.nan, 1.0, 1.0, 1.0]}, r"coupling\[1\]=nan must be finite"),
        ({"shape": sparse.csr_array((3, 3))}, r"shape is a sparse matrix; give .*from_scipy"),
        ({"coupling": [1.0, 1.0]}, r"coupling has shape \(2,\); .* each of 5 arcs"),
        ({"coupling": ["1"] * 5}, "coupling"),
        ({"coupling": 0.0}, "coupling=0.0 must not be 0"),
        ({"shape": (3, 3), "coupling": np.ones(17)}, "one for each of 18 bonds"),
        ({"field": [1.0, 2.0]}, r"field has shape \(2,\); .* shape \(5,\)"),
        ({"field": np.inf}, "field=inf must be finite"),
        ({"field": [0.0, 0.0, np.nan, 0.0, 0.0]}, r"field\[2\]=nan must be finite"),
        ({"beta": None}, "no critical temperature of a graph"),
        ({"lattice": "kagome"}, "lattice and periodic are not for a graph"),
        ({"periodic": False}, "lattice and periodic are not for a graph"),
        (
            {"shape": Graph.from_edges([0, 1], [1, 0]), "coupling": [1.0, 2.0]},
            "coupling from vertex 0 to 1 is 1, and back 2; a bond has one",
        ),
        (
            {"shape": Graph.from_edges([0, 0], [1, 1]), "coupling": [1e308, 1e308]},
            "between vertices 0 and 1 add up to no finite number",
        ),
    ],
)
def test_bad_arguments(arguments, words):
    arguments = {"shape": TRIANGLES, "beta": 1.0, **arguments}
    with pytest.raises((ValueError, TypeError), match=words):
        Ising(arguments.pop("shape"), **arguments)


def test_what_needs_no_frustration_and_no_field():
    frustrated = Ising(TRIANGLES, beta=1.0, coupling=[1, 1, -1, 1, 1])
    with pytest.raises(ValueError, match="leave it out for an antiferromagnet or frustrated"):
        frustrated.swendsen_wang(clusters=True)
    with pytest.raises(ValueError, match="leave it out with a field"):
        Ising(TRIANGLES, beta=1.0, field=0.1).swendsen_wang(clusters=True)
    with pytest.raises(ValueError, match='clusters=True is not for update="metropolis"'):
        Ising(TRIANGLES, beta=1.0).updater(update="metropolis", clusters=True)
    for lattice in ("square", "triangular"):
        with pytest.raises(ValueError, match='wrapping=True is not for update="heat-bath"'):
            Ising((4, 4), lattice=lattice).updater(update="heat-bath", wrapping=True)
    with pytest.raises(ValueError, match="satisfied bonds are not counted where couplings differ"):
        Ising(TRIANGLES, beta=1.0, field=0.1).measure().satisfied_bonds  # noqa: B018
    with pytest.raises(ValueError, match="no coordinates"):
        frustrated.coordinates  # noqa: B018
