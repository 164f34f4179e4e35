"""Saving and restoring where a model stands."""

from functools import partial

import numpy as np
import pytest

from conncomp.kernels.lattice import Lattice, check_words, pack
from conncomp.models import (
    ON,
    CahnHilliard,
    Clock,
    Heisenberg,
    Kawasaki,
    ModelState,
    Percolation,
    Potts,
    SpinGlass,
)
from models.paramagnet import Paramagnet

SHAPES = [(7,), (5, 70), (3, 4, 64), (2, 3, 4, 5)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("q", [2, 3, 5, 255])
def test_updates_repeat_after_restore(shape, q):
    model = Potts(shape, q, 1.0, replicas=2, seed=3)
    model.swendsen_wang(2, measure=False)
    state = model.state()
    spins = model.spins
    model.swendsen_wang(3, measure=False)
    later = model.spins
    assert (later != spins).any()
    model.restore(state)
    assert model.updates == 2
    np.testing.assert_array_equal(model.spins, spins)
    other = Potts(shape, q, 1.0, replicas=2, seed=3, start="cold")
    other.restore(state)
    for restored in (model, other):
        restored.swendsen_wang(3, measure=False)
        np.testing.assert_array_equal(restored.spins, later)


def test_restored_model_does_not_share_memory_with_the_state():
    model = Potts((8, 8), 2, 1.0, seed=3)
    state = model.state()
    model.restore(state)
    model.swendsen_wang(2, measure=False)
    for array, before in zip(
        state.arrays, Potts((8, 8), 2, 1.0, seed=3).state().arrays, strict=True
    ):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("q", [2, 3, 4, 5, 6, 7, 100, 254, 255])
def test_every_state_below_q_is_taken_and_q_is_not(q):
    lattice = Lattice((2, 130), (True, True), q)
    states = np.random.default_rng(q).integers(0, q, (1, 2, 130)).astype("u1")
    check_words(lattice, (1, lattice.planes, 2, 3), pack(np, lattice, states))
    if q & (q - 1):  # else every combination of digits is a state
        states[0, 1, 129] = q
        with pytest.raises(ValueError, match=f"states of q = {q} or more"):
            check_words(lattice, (1, lattice.planes, 2, 3), pack(np, lattice, states))


potts, glass = partial(Potts, (4, 6), 3, 1.0), partial(SpinGlass, (4, 4), beta=[1.0, 2.0])
cahn, exchanges = partial(CahnHilliard, (4, 6)), partial(Kawasaki, (4, 4), lattice="square")
percolation, others = partial(Percolation, (8, 8)), partial(Paramagnet, (5, 8), 0.3)
heisenberg = partial(Heisenberg, (4, 4), beta=1.0)
clock, components = partial(Clock, (2, 2), 5, beta=1.0), partial(ON, (2, 2), 5, beta=1.0)


def with_word(words, number, bits):
    """Return a copy of words of the first replica's, in one of which bits are set."""
    words = words.copy()
    words[0, number] |= np.uint64(bits)
    return words


REFUSED = [  # what is made of the arrays of a state, and how it is refused
    (potts, lambda betas, words: (betas, words[:, :, 1:]), "uint64 of shape"),
    (potts, lambda betas, words: (betas, words.astype(np.int64)), "uint64 of shape"),
    (potts, lambda betas, words: (betas, None), "is a NoneType"),
    (potts, lambda betas, words: (betas, words | np.uint64(1 << 63)), "bits beyond the rows"),
    (potts, lambda betas, words: (betas, words | np.uint64(3)), "states of q = 3 or more"),
    (potts, lambda betas, words: (np.array([1.0, 2.0]), words), "beta has shape"),
    (potts, lambda betas, words: (np.array([np.nan]), words), "must be finite"),
    (potts, lambda betas, words: (betas,), "has 1 arrays; one of a Potts model has two"),
    (glass, lambda betas, words: (betas, words | np.uint64(4)), "must be"),
    (glass, lambda betas, words: (-betas, words), "must be"),
    (glass, lambda betas, words: (betas[:1], words), "must be"),
    (cahn, lambda field: (), "the state has 0 arrays; one of a CahnHilliard model has one"),
    (cahn, lambda field: (field[0],), r"a field of shape \(4, 6\) and dtype float32"),
    (cahn, lambda field: (field.astype(float),), "dtype float64; that of this model has"),
    (cahn, lambda field: (field * np.float32(np.nan),), "values that are not finite"),
    (exchanges, lambda words: (), "the state has 0 arrays"),
    (exchanges, lambda words: (words.astype("i8"),), "words is int64"),
    (exchanges, lambda words: (words[:, :3],), "words is uint64 of shape"),
    (exchanges, lambda words: (words.tolist(),), "array 0 of the state is a list"),
    (exchanges, lambda words: (words | np.uint64(1),), "other numbers of spins"),
    (exchanges, lambda words: (with_word(words, 3, 2),), "bits beyond the domains"),
    (percolation, lambda: (1, 2), "2 arrays; one of a Percolation model has none"),
    (others, lambda spins: (), "the state has 0 arrays; one of a Paramagnet model has one"),
    (others, lambda spins: (spins[0, 0] / 2,), r"uint8 of shape \(1, 5, 8\)"),
    (others, lambda spins: (spins + np.uint8(2),), "spins must be 0 or 1"),
    (heisenberg, lambda betas, spins: (betas, 0 * spins), "no unit vectors"),
    (heisenberg, lambda betas, spins: (betas, spins | np.uint64(1 << 63)), "no unit vectors"),
    (heisenberg, lambda betas, spins: (betas, spins.astype("u2")), "they must be uint64"),
    (heisenberg, lambda betas, spins: (betas * np.nan, spins), "must not be negative"),
    (heisenberg, lambda betas, spins: (np.ones(2), spins), "beta has shape"),
    (clock, lambda betas, spins: (betas, np.full_like(spins, 5)), "no unit vectors"),
    (clock, lambda betas, spins: (betas, spins.reshape(1, 2, 2)), "they must be uint16"),
    (components, lambda betas, spins: (betas, 0 * spins), "no unit vectors"),
    (components, lambda betas, spins: (betas, np.full_like(spins, 1 << 30)), "no unit vectors"),
    (
        components,
        lambda betas, spins: (betas, np.eye(8, dtype=np.int32)[None, 4:] << 30),
        "no unit vectors",
    ),
]


@pytest.mark.parametrize(("make", "change", "words"), REFUSED)
def test_bad_state_is_refused(make, change, words):
    model = make(seed=1)
    check_refused(model, model.state()._replace(arrays=change(*model.state().arrays)), words)


@pytest.mark.parametrize("make", [potts, cahn, exchanges, percolation, others])
def test_states_have_made_a_number_of_updates(make):
    model = make(seed=1)
    model.step(2)
    for updates in (-1, 1 << 32):
        words = f"updates={updates} must be from 0"
        check_refused(model, model.state()._replace(updates=updates), words)


def check_refused(model, state, words):
    before = model.state()
    with pytest.raises(ValueError, match=words):
        model.restore(state)
    assert model.updates == before.updates
    for array, kept in zip(model.state().arrays, before.arrays, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_a_state_may_have_been_made_by_hand():
    model = heisenberg(seed=1)
    model.restore(ModelState(1, (np.ones(1), np.full((1, 4, 4), 1 << 19, np.uint64))))
    assert model.energy() == -32.0


@pytest.mark.parametrize("replicas", [None, 3])
def test_wrapping(replicas):
    """Of the clusters that the next update draws; a cold lattice is one cross a replica."""
    model = Potts((12, 10), 2, "critical", replicas=replicas, seed=3)
    model.swendsen_wang(5, measure=False)
    wrapping, (labels, counts) = model.wrapping(), model.labels(return_num=True)
    np.testing.assert_array_equal(wrapping.counts, counts)
    assert len(wrapping.axes) == np.sum(counts)
    assert labels.max() == np.max(counts)
    cold = Potts((12, 10), 2, 50.0, replicas=replicas, start="cold")
    np.testing.assert_array_equal(cold.wrapping().rank, [2] * (replicas or 1))
