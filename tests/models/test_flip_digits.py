"""Numbers that say whether spins of two states flip: all of their digits, and each for one site."""

import numpy as np
import pytest

from conncomp.models import Potts
from models.potts_reference import ReferencePotts

# Words of chunks and pairs, whole and cut off; rings of odd length; open borders; and four axes.
LATTICES = [
    ((70, 130), True),
    ((9, 65), True),
    ((5, 3, 67), (True, False, True)),
    ((3, 2, 5, 7), True),
    ((2500,), False),
]


def numbers_of_sites(reference):
    """Return the number of 64 bits by which each site flips or not in the next update."""
    reference.step += 1
    classes = np.array([reference._class(site) for site in reference.sites])
    numbers = np.zeros(len(classes), np.uint64)
    for number in np.unique(classes).tolist():
        drawn = np.array(reference._offer_numbers(reference.numbers[0], number), np.uint64)
        numbers[classes == number] = drawn[classes == number]
    return numbers


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(("shape", "periodic"), LATTICES)
def test_a_number_is_compared_in_all_of_its_digits(device, shape, periodic):
    """With the same probability for all sites, as large as a number, and larger by 2**-64."""
    arguments = {"shape": shape, "q": 2, "beta": 1.0, "periodic": periodic, "seed": 2}
    model = Potts(**arguments, first_replica=3, device=device)
    numbers = numbers_of_sites(ReferencePotts(**arguments, first_replica=3))
    before = spins_of(model)
    xp, engine = model._engine.xp, model._engine
    for site in np.random.default_rng(1).integers(0, len(numbers), 8):
        for more in 0, 1:
            probability = numbers[site] + np.uint64(more)
            acceptance = xp.full((1, 2 * len(shape) + 1), probability)
            engine.offer(model._state.now, model._state.next, 1, acceptance, "metropolis")
            flipped = spins_of(model, model._state.next) != before
            np.testing.assert_array_equal(flipped, numbers < probability)
            assert flipped[site] == (more == 1)


def spins_of(model, words=None):
    """Return the spins, or those that words are, one after the other on the host."""
    held = model._state.now
    model._state.now = held if words is None else words
    spins = model.spins
    model._state.now = held
    return (spins.get() if hasattr(spins, "get") else spins).ravel()


@pytest.mark.parametrize(("shape", "periodic"), LATTICES)
def test_no_two_sites_have_one_number(shape, periodic):
    numbers = numbers_of_sites(ReferencePotts(shape, 2, 1.0, periodic=periodic))
    assert len(np.unique(numbers)) == len(numbers)
