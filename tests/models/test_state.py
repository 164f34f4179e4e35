"""Saving and restoring where a model stands."""

import numpy as np
import pytest

from conncomp.kernels.lattice import Lattice, check_words, pack
from conncomp.models import Potts

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


BETAS, WORDS = 0, 1  # among the arrays of a state


def changed(state, which, array):
    """Return a state with another array."""
    arrays = list(state.arrays)
    arrays[which] = array
    return state._replace(arrays=tuple(arrays))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: changed(s, WORDS, s.arrays[WORDS][:, :, 1:]), "uint64 of shape"),
        (lambda s: changed(s, WORDS, s.arrays[WORDS].astype(np.int64)), "uint64 of shape"),
        (lambda s: changed(s, WORDS, None), "is a NoneType"),
        (lambda s: changed(s, WORDS, s.arrays[WORDS] | np.uint64(1 << 63)), "bits beyond the rows"),
        (lambda s: changed(s, WORDS, s.arrays[WORDS] | np.uint64(3)), "states of q = 3 or more"),
        (lambda s: s._replace(updates=-1), "updates=-1"),
        (lambda s: s._replace(updates=1 << 32), "updates="),
        (lambda s: changed(s, BETAS, np.array([1.0, 2.0])), "beta has shape"),
        (lambda s: changed(s, BETAS, np.array([np.nan])), "must be finite"),
    ],
)
def test_bad_state_is_refused(change, words):
    model = Potts((4, 6), 3, 1.0, seed=1)
    spins = model.spins
    with pytest.raises(ValueError, match=words):
        model.restore(change(model.state()))
    np.testing.assert_array_equal(model.spins, spins)
    assert model.updates == 0


def test_state_with_other_arrays_is_refused():
    model = Potts((4, 6), 3, 1.0, seed=1)
    with pytest.raises(ValueError, match="has 1 arrays; one of a Potts model has two"):
        model.restore(model.state()._replace(arrays=model.state().arrays[:1]))


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
