"""Percolation: against all configurations of tiny lattices, against what is exactly known."""

from itertools import product
from math import cos, exp, gcd, pi, prod, sqrt

import numpy as np
import pytest
from scipy import stats

from conncomp import label, set_num_threads
from conncomp.kernels.lattice import pack
from conncomp.models import Percolation, UnitCell, simulate
from conncomp.models.percolation.lattices import WRAPPING_AT_THRESHOLD
from conncomp.models.percolation.sweep import binomial, numbers_between
from conncomp.models.results import PercolationMeasurements
from models.alarms import FALSE_ALARM, drawn, of_classes, of_mean
from models.percolation_reference import Torus, all_configurations, permutation, search

# Sites with three neighbours and with four.
LADDER = UnitCell(
    [[1.0]], [[0.0], [0.0], [0.5]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1]), (2, 1, [0])]
)
TORI = [
    Torus((2, 2)),
    Torus((3, 3)),
    Torus((3, 4), periodic=(True, False)),
    Torus((2, 3, 2)),
    Torus((1, 4)),
    Torus((5,)),
    Torus((2, 1, 2, 3)),
    Torus((3, 3), lattice="triangular"),
    Torus((2, 4), lattice="triangular", periodic=(False, True)),
    Torus((2, 2), "bond"),
    Torus((2, 3), "bond"),
    Torus((2, 1, 2), "bond"),
    Torus((2, 2, 2), "bond", (False, False, False)),
    Torus((2, 3), "bond", (False, True)),
    Torus((4,), "bond"),
    Torus((1, 2, 1, 1), "bond"),
    Torus((2, 2), "bond", lattice="triangular"),
    Torus((2, 3), lattice="honeycomb"),
    Torus((3, 2), lattice="honeycomb", periodic=(False, True)),
    Torus((2, 2), "bond", lattice="honeycomb"),
    Torus((1, 3), "bond", (True, False), "honeycomb"),
    Torus((2, 2), lattice="kagome"),
    Torus((2, 1), "bond", lattice="kagome"),
    Torus((2, 2, 2), lattice="bcc"),
    Torus((1, 2, 1), "bond", (False, True, False), "bcc"),
    Torus((2, 1, 3), lattice="fcc", periodic=(True, True, False)),
    Torus((2, 2, 1), lattice="diamond"),
    Torus((2, 1, 1), "bond", lattice="diamond"),
    Torus((3,), lattice=LADDER),
    Torus((3,), "bond", (False,), LADDER),
]
EVENTS = {
    "any": lambda facts: any(facts.wraps),
    "all": lambda facts: all(facts.wraps),
    "cross": lambda facts: facts.rank == len(facts.wraps),
}
tori = pytest.mark.parametrize("torus", TORI, ids=str)


def number_of(torus, there):
    """Return the number of a configuration, as `all_configurations` has them."""
    if torus.kind == "bond":
        # Of each kind and cell, whether a bond stays on the lattice.
        stays = [
            all(c or 0 <= x < n for x, n, c in zip(to, torus.shape, torus.closed, strict=True))
            for _, _, step in torus.cell[1]
            for to in np.argwhere(np.ones(torus.shape)) + step
        ]
        assert not there.ravel()[~np.array(stays)].any()
        there = there.ravel()[stays]
    return int((1 << np.flatnonzero(there).astype(object)).sum())


# ------------------------------------------------------------------------------ one configuration


@tori
def test_configurations_are_measured_as_by_search(torus):
    model = Percolation(**torus.arguments, replicas=300, p=0.55, seed=3)
    measured, known = model.measure(), all_configurations(torus)
    drawn = model.bonds() if torus.kind == "bond" else model.occupied()
    for replica in range(model.replicas):
        there = drawn[:, replica] if torus.kind == "bond" else drawn[replica]
        facts = known[number_of(torus, there)]
        assert measured.occupied[replica] == facts.occupied
        assert measured.clusters[replica] == facts.clusters
        assert measured.largest_cluster[replica] == facts.largest
        assert measured.squared_sizes[replica] == facts.squared_sizes
        assert tuple(measured.wraps[replica].tolist()) == facts.wraps
        assert measured.rank[replica] == facts.rank


@pytest.mark.parametrize(
    ("shape", "kind", "options"),
    [
        ((70, 130), "site", {}),
        ((70, 130), "bond", {}),
        ((70, 130), "site", {"lattice": "triangular"}),
        ((7, 9, 65), "site", {"periodic": (True, False, True)}),
        ((4, 5, 6, 7), "bond", {}),
        ((1000,), "bond", {"p": 0.97}),
        ((20, 70), "bond", {"lattice": "triangular", "periodic": (False, True)}),
        ((10, 40), "site", {"lattice": "honeycomb"}),
        ((10, 40), "site", {"lattice": "kagome", "periodic": (True, False)}),
        ((10, 40), "bond", {"lattice": "kagome"}),
        ((7, 9, 10), "site", {"lattice": "bcc", "periodic": False}),
        ((7, 9, 10), "bond", {"lattice": "fcc"}),
        ((5, 6, 7), "bond", {"lattice": "diamond", "periodic": (True, True, False)}),
        ((5, 6, 7), "site", {"lattice": "diamond"}),
    ],
)
def test_measurements_are_those_of_labels(shape, kind, options):
    model = Percolation(shape, kind, **options, replicas=3, seed=8)
    measured = model.measure()
    labels, numbers = model.labels(return_num=True)
    np.testing.assert_array_equal(measured.clusters, numbers)
    roots, sites = model.labels(numbering="roots"), model.lattice.sites
    if kind == "site":
        np.testing.assert_array_equal(roots >= 0, model.occupied())
    for replica in range(3):
        sizes = np.bincount(labels[replica].ravel())[1:]
        assert measured.largest_cluster[replica] == sizes.max()
        assert measured.squared_sizes[replica] == (sizes.astype(float) ** 2).sum()
        classes = np.bincount(np.log2(sizes).astype(int), minlength=41)
        np.testing.assert_array_equal(measured.size_counts[replica], classes)
        without = (sizes.astype(float) ** 2).sum() - sizes.max() ** 2
        assert measured.mean_size[replica] == without / sites
        first = np.flatnonzero(roots[replica].ravel() == np.arange(sites))
        np.testing.assert_array_equal(labels[replica].ravel()[first], range(1, len(first) + 1))
        numbers_of_sizes = measured.cluster_numbers[replica] * sites
        assert numbers_of_sizes[0] == pytest.approx((sizes == 1).sum())
        assert numbers_of_sizes[2] == pytest.approx(((sizes >= 4) & (sizes < 8)).sum() / 4)


@pytest.mark.parametrize("kind", ["site", "bond"])
def test_elements_are_there_with_p(kind):
    model = Percolation((300, 500), kind, p=0.3, seed=2, replicas=20)
    elements = 150_000 * (2 if kind == "bond" else 1)
    occupied = model.measure().occupied
    assert of_mean(occupied, 0.3 * elements, 0.21 * elements) > FALSE_ALARM
    assert len(set(occupied.tolist())) > 10
    drawn = model.bonds if kind == "bond" else model.occupied
    few, many = drawn(0.3), drawn(0.7)
    assert not (few & ~many).any()
    assert not drawn(0.0).any()
    assert drawn(1.0).all()
    neighbours = (few[..., 1:] & few[..., :-1]).sum(axis=-1).ravel()
    assert of_mean(neighbours, 499 * 0.09) > FALSE_ALARM


def stripes(rng, shape):
    """Return sites in stripes that close on the torus: rings, helices, or all of it."""
    number = int(rng.integers(2, 8))
    places = np.indices(shape)
    slope = [int(rng.integers(number)) * number // np.gcd(length, number) for length in shape]
    phase = sum(a * place for a, place in zip(slope, places, strict=True)) % number
    image = phase < rng.integers(1, number)
    return image ^ (rng.random(shape) < rng.choice([0.0, 0.02]))


@pytest.mark.parametrize(
    "torus",
    [Torus((12, 18)), Torus((10, 12), lattice="triangular"), Torus((6, 4, 6)), Torus((2, 4, 2, 6))],
    ids=str,
)
def test_stripes_wrap_as_by_search(torus):
    rng, links, kinds = np.random.default_rng(1), torus.links(), set()
    model = Percolation(**torus.arguments)
    for _ in range(150):
        image = stripes(rng, torus.shape)
        record = model.new_records(1)
        words = pack(np, model._cells, image[np.newaxis].astype("u1"))
        model._engine.measure_words(words, record[0])
        measured = PercolationMeasurements(record[0, 0], model.lattice)
        facts = search(torus, links, np.flatnonzero(image).tolist(), int(image.sum()))
        assert measured.clusters == facts.clusters
        assert tuple(measured.wraps.tolist()) == facts.wraps
        assert measured.rank == facts.rank
        kinds.add((facts.wraps, facts.rank))
    assert len(kinds) > 4


def test_open_ends_have_no_bonds():
    bonds = Percolation((4, 5), "bond", p=1.0, periodic=(False, True)).bonds()
    assert not bonds[0, 3].any()
    assert bonds[0, :3].all()
    assert bonds[1].all()


def test_sites_and_complement_of_a_torus():
    """n4(black) - n8(white) - (V - E + F) is 1 where black has a cross."""
    crosses = 0
    for seed in range(200):
        model = Percolation((12, 17), p=0.55 + 0.001 * (seed % 100), seed=seed)
        black = model.occupied()
        right, down = np.roll(black, -1, 1), np.roll(black, -1, 0)
        edges = (black & right).sum() + (black & down).sum()
        faces = (black & right & down & np.roll(right, -1, 0)).sum()
        white = label(~black, connectivity=2, periodic=True, return_num=True)[1]
        measured = model.measure()
        number = measured.clusters - white - (black.sum() - edges + faces)
        assert number in (-1, 0, 1)
        assert (number == 1) == (measured.rank == 2)
        crosses += number == 1
    assert 20 < crosses < 180


# ---------------------------------------------------------------------------------------- sweeps


@tori
def test_runs_are_those_of_the_contract(torus):
    sweep = Percolation(**torus.arguments, p=0.5, seed=11).sweep(6, batches=6, first_run=2)
    known = all_configurations(torus)
    for run in range(6):
        bits, expected = 0, [known[0]]
        for element in permutation(11, run + 2, torus.elements):
            bits |= 1 << element
            expected.append(known[bits])
        rows = [(f.clusters, f.largest, f.largest**2, f.squared_sizes) for f in expected]
        np.testing.assert_array_equal(sweep.series[run], rows)
        events = [[f.wraps[k] for f in expected] for k in range(len(torus.shape))]
        events.append([f.rank == len(torus.shape) for f in expected])
        first = [[*event, True].index(True) for event in events]
        assert sweep.first_wraps[run].tolist() == first


@tori
def test_sweeps_have_the_means_of_all_configurations(torus):
    runs, known = drawn(4000), all_configurations(torus)
    sweep = Percolation(**torus.arguments, p=0.5, seed=12).sweep(runs, batches=runs)
    numbers = np.array([facts.occupied for facts in known])
    of_number = np.bincount(numbers)
    for row, value in [
        (0, lambda f: f.clusters),
        (1, lambda f: f.largest),
        (3, lambda f: f.squared_sizes),
    ]:
        values = np.array([value(facts) for facts in known], float)
        means = np.bincount(numbers, values) / of_number
        variances = np.bincount(numbers, values**2) / of_number - means**2
        off = np.abs(sweep.series[..., row].mean(axis=0) - means)
        errors = np.sqrt(np.maximum(variances, 1e-12) / runs)
        # A normal distribution in the limit only, as sizes have long tails.
        assert (off < 8 * errors).all()
    for event, happens in EVENTS.items():
        there = np.bincount(numbers, [happens(facts) for facts in known]) / of_number
        probabilities = np.diff(there, prepend=0.0, append=1.0)
        probabilities = np.maximum(probabilities, 0.0)
        first = np.bincount(sweep.first(event), minlength=len(probabilities))
        assert not first[probabilities < 1e-12].any()
        if (probabilities * runs > 40).sum() > 1:
            assert of_classes(first, probabilities) > FALSE_ALARM


@pytest.mark.parametrize("torus", [Torus((3, 3)), Torus((2, 3), "bond")], ids=str)
@pytest.mark.parametrize("p", [0.0, 0.3, 0.6, 1.0])
def test_polynomials(torus, p):
    """Means at p are the polynomials that all configurations make."""
    known, runs = all_configurations(torus), drawn(4000)
    weights = np.array([p**f.occupied * (1 - p) ** (torus.elements - f.occupied) for f in known])
    assert weights.sum() == pytest.approx(1)
    sweep = Percolation(**torus.arguments, seed=13).sweep(runs, batches=40)
    at, sites = sweep.at(p), torus.sites

    def agrees(estimate, values):
        off = abs(estimate.value - weights @ np.array(values, float))
        return off <= 9 * estimate.error + 1e-12

    assert agrees(at.clusters, [f.clusters / sites for f in known])
    assert agrees(at.largest_cluster, [f.largest / sites for f in known])
    assert agrees(at.squared_sizes, [f.squared_sizes / sites for f in known])
    assert agrees(at.mean_size, [(f.squared_sizes - f.largest**2) / sites for f in known])
    for event, happens in EVENTS.items():
        assert agrees(sweep.wrapping(p, event), [happens(f) for f in known])
    assert agrees(sweep.wrapping(p, "axis", 1), [f.wraps[1] for f in known])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("shape", "kind", "p", "options"),
    [
        ((24, 24), "site", 0.6, {}),
        ((24, 24), "bond", 0.49, {}),
        ((24, 24), "site", 0.5, {"lattice": "triangular"}),
        ((8, 8, 8), "site", 0.32, {}),
        ((10, 8, 6), "bond", 0.25, {"periodic": (True, False, True)}),
        ((4, 4, 4, 4), "site", 0.22, {}),
        ((40,), "site", 0.97, {}),
        ((14, 14), "site", 0.7, {"lattice": "honeycomb"}),
        ((10, 12), "bond", 0.53, {"lattice": "kagome", "periodic": (True, False)}),
        ((7, 7, 7), "site", 0.2, {"lattice": "fcc"}),
    ],
)
def test_sweeps_are_as_direct_sampling(shape, kind, p, options):
    runs = 3000
    model = Percolation(shape, kind, p=p, **options, replicas=runs, seed=21)
    sweep, direct = model.sweep(runs, batches=50), model.measure()
    sites = model.lattice.sites
    squares = direct.squared_sizes / sites
    at = sweep.at(p)
    for estimate, samples in [
        (at.clusters, direct.clusters / sites),
        (at.largest_cluster, direct.largest_cluster / sites),
        (at.squared_sizes, squares),
        (at.mean_size, direct.mean_size),
        (sweep.wrapping(p, "axis", len(shape) - 1), direct.wraps[:, -1].astype(float)),
        (sweep.wrapping(p, "any"), direct.wraps.any(axis=1).astype(float)),
        (sweep.wrapping(p, "all"), direct.wraps.all(axis=1).astype(float)),
        (sweep.wrapping(p, "cross"), (direct.rank == len(shape)).astype(float)),
    ]:
        error = np.hypot(estimate.error, samples.std() / sqrt(runs))
        assert abs(estimate.value - samples.mean()) <= 8 * error


def test_runs_depend_on_nothing_but_seed_and_number():
    sweeps = []
    for number in (1, 3, 8):
        set_num_threads(number)
        sweeps.append(Percolation((40, 50), "bond", seed=4, p=number / 9).sweep(30, batches=7))
    for sweep in sweeps[1:]:
        np.testing.assert_array_equal(sweep.series, sweeps[0].series)
        np.testing.assert_array_equal(sweep.first_wraps, sweeps[0].first_wraps)
    later = Percolation((40, 50), "bond", seed=4).sweep(10, first_run=20, batches=1)
    np.testing.assert_array_equal(later.first_wraps, sweeps[0].first_wraps[20:])
    other = Percolation((40, 50), "bond", seed=5).sweep(30)
    assert (other.first_wraps != sweeps[0].first_wraps).any()


def test_batches_are_parts_of_the_runs():
    model = Percolation((16, 16), seed=1)
    whole, parts = model.sweep(50, batches=1), model.sweep(50, batches=8)
    np.testing.assert_array_equal(parts.series.sum(axis=0), whole.series[0])
    assert parts.at(0.5).clusters.value == pytest.approx(whole.at(0.5).clusters.value)
    assert np.isnan(whole.at(0.5).clusters.error)
    assert parts.at(0.5).clusters.error > 0
    assert len(model.sweep(100).series) == 32


@pytest.mark.parametrize("between", [(0.3, 0.7), (0.5, 0.5), (0, 0.1), (0.9, 1), (0, 1)])
@pytest.mark.parametrize("kind", ["site", "bond"])
def test_series_between_probabilities(kind, between):
    """What is kept is what all series have, and enough for each p between."""
    model = Percolation((40, 50), kind, seed=3)
    whole, part = model.sweep(6, batches=3), model.sweep(6, batches=3, between=between)
    kept = slice(part.numbers.start, part.numbers.stop)
    assert whole.numbers == range(whole.elements + 1)
    assert part.elements == whole.elements
    np.testing.assert_array_equal(part.series, whole.series[:, kept])
    np.testing.assert_array_equal(part.clusters, whole.clusters[kept])
    np.testing.assert_array_equal(part.first_wraps, whole.first_wraps)
    np.testing.assert_array_equal(part.wrapped("any"), whole.wrapped("any"))
    for p in np.linspace(*between, 50):
        assert part.at(p) == whole.at(p)
    assert (len(part.numbers) == len(whole.numbers)) == (between == (0, 1))
    if between == (0.3, 0.7):
        for p in (0.1, 0.9):
            with pytest.raises(ValueError, match=f"p={p} needs series for n = .* a wider between"):
                part.at(p)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [
        *[(1, 0.0, 0.4), (50, 0.1, 0.9), (2000, 0.02, 0.021), (10**7, 0.59274605, 0.6)],
        # Modes and reaches are rounded: the first has a number less than the second, or the other
        # way around.
        *[(3000, 0.0898952, 0.0898976), (10**4, 0.0277184, 0.0277208), (3000, 0.5310296, 0.531032)],
    ],
)
def test_numbers_between(count, low, high):
    numbers = numbers_between(count, low, high)
    for p in np.linspace(low, high, 30):
        begin, weights = binomial(count, p)
        assert begin in numbers
        assert begin + len(weights) - 1 in numbers


def test_wide_periods():
    """Lattices whose windings do not fit 32 bits, or 64."""
    for shape in [(40, 40, 40), (2, 2, 2, 1 << 16)]:
        model = Percolation(shape, seed=5, p=0.4)
        measured = model.measure()
        labels = model.labels()
        sizes = np.bincount(labels.ravel())[1:]
        assert measured.largest_cluster == sizes.max()
        sweep = model.sweep(2)
        assert (sweep.clusters[[0, 1, -1]] == [0, 1, 1]).all()
        assert (sweep.first_wraps <= sweep.elements).all()


# ------------------------------------------------------------------------------- what is known


def test_clusters_of_bonds_at_one_half():
    """The number a site of Temperley and Lieb, with the finite-size term of a torus.

    R. M. Ziff, S. R. Finch, V. S. Adamchik, Phys. Rev. Lett. 79, 3447 (1997): 0.8835 clusters more.
    """
    model = Percolation((256, 256), "bond", p=0.5, replicas=115, seed=31)
    expected = (3 * sqrt(3) - 5) / 2 * 256**2 + 0.8835
    assert of_mean(model.measure().clusters, expected) > FALSE_ALARM
    sweep = Percolation((64, 64), "bond", seed=32).sweep(2000)
    clusters = sweep.at(0.5).clusters
    expected = (3 * sqrt(3) - 5) / 2 + 0.8835 / 64**2
    assert abs(clusters.value - expected) < 7 * clusters.error
    assert clusters.error < 1e-4


@pytest.mark.soak
@pytest.mark.parametrize("event", ["axis", "any", "all", "cross"])
@pytest.mark.parametrize(("kind", "p_c"), [("site", 0.59274605), ("bond", 0.5)])
def test_threshold_of_configurations(event, kind, p_c):
    """Within five standard errors, at p_c and beside it: a false alarm in 2 million."""
    for offset in (-0.002, 0.0, 0.002):
        model = Percolation((48, 48), kind, p=p_c + offset, replicas=6000, seed=4)
        threshold = model.measure().threshold(event)
        assert threshold.error < 1.5e-3
        # A hundredth beside p_c the line is off by 0.0027 (any, bonds), and as the square of that.
        assert abs(threshold.value - p_c) < 5 * threshold.error + 0.0027 * (offset / 0.01) ** 2


def test_threshold_of_few_configurations():
    few = Percolation((48, 48), replicas=3, seed=4).measure()
    with pytest.raises(ValueError, match="3 configurations do not show"):
        few.threshold()
    with pytest.raises(ValueError, match="crossing=None is known"):
        Percolation((48, 24), replicas=3).measure().threshold()
    with pytest.raises(ValueError, match="crossing=2"):
        few.threshold(crossing=2)


def test_wrapping_probabilities_of_the_torus():
    """By the formula of H. T. Pinson, J. Stat. Phys. 75, 1167 (1994), on a torus of equal lengths.

    Z(m, n) is what a free field adds that winds m and n times. With the cosine of 2/3 pi of their
    common divisor they add up to 1, and with that of pi to a cross or no path that winds at all,
    which are as probable as each other. The difference is of paths along (m, n).
    """
    eta = exp(-pi / 12) * prod(1 - exp(-2 * pi * k) for k in range(1, 20))

    def windings(m, n):
        return sqrt(2 / 3) / eta**2 * exp(-2 / 3 * pi * (m * m + n * n))

    terms = [(m, n, windings(m, n), gcd(m, n)) for m, n in product(range(-12, 13), repeat=2)]
    assert sum(z * cos(2 / 3 * pi * d) for _, _, z, d in terms) == pytest.approx(1, abs=1e-14)
    cross = sum(z * cos(pi * d) for _, _, z, d in terms) / 2
    paths = {(m, n): z * (cos(2 / 3 * pi * d) - cos(pi * d)) for m, n, z, d in terms}
    expected = {
        "any": cross + sum(paths.values()),
        "axis": cross + sum(z for (m, _), z in paths.items() if m),
        "all": cross + sum(z for (m, n), z in paths.items() if m and n),
        "cross": cross,
    }
    assert pytest.approx(expected, abs=1e-12) == WRAPPING_AT_THRESHOLD


@pytest.mark.soak
def test_wrapping_at_the_threshold():
    for model in [Percolation((128, 128), "bond", seed=51), Percolation((128, 128), seed=52)]:
        sweep = model.sweep(drawn(2000))
        for event, probability in WRAPPING_AT_THRESHOLD.items():
            wrapping = sweep.wrapping(model.p, event)
            assert abs(wrapping.value - probability) < 7 * wrapping.error + 1e-3


def test_errors_are_those_of_repetitions():
    sweeps = [Percolation((32, 32), seed=seed).sweep(200, batches=20) for seed in range(60)]
    for read in (
        lambda sweep: sweep.threshold("all"),
        lambda sweep: sweep.wrapping(0.58),
        lambda sweep: sweep.at(0.58).clusters,
        lambda sweep: sweep.at(0.58).mean_size,
    ):
        estimates = [read(sweep) for sweep in sweeps]
        spread = np.std([estimate.value for estimate in estimates], ddof=1)
        error = np.sqrt(np.mean([estimate.error**2 for estimate in estimates]))
        # The ratio of variances is F of 59 and many degrees; a tenth of a false alarm in 10^6.
        assert 0.55 < spread / error < 1.55


# ------------------------------------------------------------------------------- the binomial


@pytest.mark.parametrize(
    ("count", "p"),
    [
        *[(0, 0.3), (1, 0.3), (9, 0.0), (9, 1.0), (9, 0.5), (1000, 1e-9), (10**6, 1 - 1e-7)],
        *[(10**5, 0.59), (1 << 24, 0.59274605), (1 << 31, 1e-9), (1 << 31, 0.5)],
    ],
)
def test_binomial(count, p):
    begin, weights = binomial(count, p)
    numbers = begin + np.arange(len(weights))
    assert begin >= 0
    assert numbers[-1] <= count
    expected = stats.binom.pmf(numbers, count, p)
    np.testing.assert_allclose(weights, expected, rtol=1e-6, atol=1e-18)
    assert weights.sum() == pytest.approx(1, abs=1e-12)


# ------------------------------------------------------------------------------- the protocol


def test_simulate():
    model, alone = (Percolation((32, 32), p=0.58, seed=6, replicas=2) for _ in range(2))
    run = simulate(model, 12, thermalise=1, measure_every=3)
    assert model.updates == 13
    alone.step()
    for row in range(4):
        np.testing.assert_array_equal(run.series.records[row], alone.measure().records)
        alone.step(3)


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shape": (4, 0)}, ValueError, r"shape=\(4, 0\) must have lengths of 1 or more"),
        ({"shape": (2,) * 5}, ValueError, "must have 1 to 4 axes"),
        ({"kind": "vertex"}, ValueError, "kind='vertex' is not one of 'site', 'bond'"),
        ({"lattice": "cubic"}, ValueError, "lattice='cubic' is not one of 'square', 'triang"),
        ({"lattice": "triangular", "shape": (3, 3, 3)}, ValueError, "must have 2 axes for lattice"),
        ({"lattice": "fcc"}, ValueError, r"shape=\(4, 4\) must have 3 axes for lattice='fcc'"),
        ({"lattice": UnitCell([[1.0]], [[0.0]], [])}, ValueError, "has no bonds"),
        ({"lattice": LADDER, "shape": 1 << 39}, ValueError, "and fewer than 2..40 sites"),
        ({"p": 1.5}, ValueError, "p=1.5 must be from 0 to 1"),
        ({"p": "half"}, ValueError, "p='half' is not one of 'critical'"),
        ({"periodic": (True,)}, ValueError, "periodic=.* has 1 entries"),
        ({"periodic": 3}, TypeError, "periodic=3 must be True for all axes"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        Percolation(**{"shape": (4, 4), **arguments})


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.sweep(0), ValueError, "runs=0 must be from 1"),
        (lambda m: m.sweep(2, batches=3), ValueError, "batches=3 must be from 1 to 2"),
        (lambda m: m.sweep(2, between=0.5), ValueError, "between=0.5 must be two numbers of 0"),
        (lambda m: m.sweep(2, between=(0.7, 0.3)), ValueError, r"between=\(0.7, 0.3\) must be two"),
        (lambda m: m.sweep(2, between=(0, np.nan)), ValueError, r"between=\(0, nan\) must be two"),
        (lambda m: m.sweep(2, between="ab"), TypeError, "between='ab' must be two numbers"),
        (lambda m: m.bonds(), ValueError, r"bonds\(\) is of kind='bond'"),
        (lambda m: m.occupied(2), ValueError, "p=2 must be from 0 to 1"),
        (lambda m: m.sweep(2).at(1.1), ValueError, "p=1.1 must be from 0 to 1"),
        (lambda m: m.sweep(2).at([0.1, -1]), ValueError, r"p=\[0.1, -1\] must be from 0 to 1"),
        (lambda m: m.sweep(2).first("twice"), ValueError, "event='twice' is not one of"),
        (lambda m: m.sweep(2).first("axis", 2), ValueError, "axis=2 is not one of 0, 1"),
        (lambda m: m.sweep(2).threshold(), ValueError, "crossing=None is known for two periodic"),
        (lambda m: m.sweep(2).threshold(crossing=1), ValueError, "crossing=1 must be above 0"),
        (lambda m: Percolation(4, "bond").occupied(), ValueError, "is of kind='site'"),
        (lambda m: Percolation((1 << 16,) * 2).measure(), ValueError, "shape=.* sites; clusters"),
        (lambda m: Percolation((1 << 16,) * 2).sweep(1), ValueError, "shape=.* sites; clusters"),
        (lambda m: Percolation((1 << 16, 1 << 14, 2), "bond"), None, None),
        (lambda m: Percolation((1 << 15,) * 2, "bond").critical_p("site", 5), ValueError, "ndim=5"),
        (lambda m: m.critical_p("bond", 2, "bcc"), ValueError, "no threshold is known"),
        (lambda m: Percolation(4, lattice=LADDER), ValueError, "no threshold is known"),
        (
            lambda m: Percolation((8, 8), periodic=False).sweep(2).threshold(crossing=0.5),
            ValueError,
            "crossing=0.5 is not reached, as the lattice never wraps",
        ),
    ],
)
def test_bad_calls(call, error, message):
    model = Percolation((4, 6), seed=1)
    if error is None:
        call(model)
        return
    with pytest.raises(error, match=message):
        call(model)
