"""What is of a wrong kind is refused by a TypeError or ValueError that names the argument."""

import numpy as np
import pytest

from conncomp.models import (
    CahnHilliard,
    Ising,
    Kawasaki,
    Percolation,
    Potts,
    SpinGlass,
    jackknife,
    overlap_distribution,
    parallel_tempering,
    reweight,
    simulate,
    summarise_overlaps,
)

OVERLAPS = [SpinGlass((4, 4), beta=[0.5, 1.0], copies=2).overlaps()]
SERIES = np.random.default_rng(1).normal(size=40)
WRONG = {
    "none": None,
    "number": 3.5,
    "text": "ab",
    "bytes": b"ab",
    "list of text": ["a"],
    "list of none": [None],
    "ragged": [[1], [2, 3]],
    "dictionary": {"a": 1},
    "set": {1},
    "array": np.zeros((2, 2)),
    "structured": np.zeros(2, [("a", "i4")]),
    "0-d": np.array(2),
    "objects": np.array([object(), None]),
    "range": range(2**40),
    "model": Potts((2, 2)),
}


def tempered(**options):
    return parallel_tempering(Potts((4, 4), beta=[0.5, 0.9]), 2, **options)


CALLS = {
    "summarise_overlaps": (lambda given: summarise_overlaps(given, (4, 4)), "measured"),
    "their shape": (lambda given: summarise_overlaps(OVERLAPS, given), "shape"),
    "overlap_distribution": (lambda given: overlap_distribution(given, 0.5), "measured"),
    "jackknife": (lambda given: jackknife(given, SERIES), "function"),
    "reweight": (
        lambda given: reweight(given, SERIES, energy=SERIES, beta=0.5, at=0.6),
        "function",
    ),
    "tempering": (lambda given: tempered(watch=given), "watch"),
    "watch": (lambda given: simulate(Potts((2, 2)), 2, watch=given), "watch"),
    "seconds": (lambda given: simulate(Potts((2, 2)), 2, checkpoint_every=given), "checkpoint"),
    "Ising": (lambda given: Ising.critical_temperature(given), "lattice"),
    "records": (lambda given: Potts((2, 2)).new_records(given), "n="),
    "CahnHilliard": (lambda given: CahnHilliard(given), "shape"),
    "Kawasaki": (lambda given: Kawasaki(given), "shape"),
    "Percolation": (lambda given: Percolation(given), "shape"),
    "Potts": (lambda given: Potts(given, 2, 0.5), "shape"),
    "SpinGlass": (lambda given: SpinGlass(given, beta=1.0), "shape"),
    "borders": (lambda given: Potts((2, 2), periodic=given), "periodic"),
}
# What these take.
TAKEN = {("tempering", "none"), ("watch", "none"), ("seconds", "number"), ("seconds", "0-d")}
TAKEN |= {("Percolation", "0-d"), ("Potts", "0-d"), ("SpinGlass", "0-d"), ("records", "0-d")}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", CALLS)
def test_the_argument_is_named(name, kind):
    call, argument = CALLS[name]
    if (name, kind) in TAKEN:
        call(WRONG[kind])
        return
    with pytest.raises((TypeError, ValueError), match=argument):
        call(WRONG[kind])


class Long:
    """Of a length that no machine holds."""

    def __len__(self):
        return 2**40

    def __getitem__(self, _):
        return True


def test_what_is_too_long_is_not_read():
    with pytest.raises(ValueError, match="periodic"):
        Potts((2, 2), periodic=Long())
    with pytest.raises(ValueError, match="too many entries"):
        SpinGlass(range(2**40), beta=1.0)


def test_overlaps_of_another_shape():
    with pytest.raises(ValueError, match=r"shape=\(4, 4, 4\) must have the axes of the model, 2"):
        summarise_overlaps(OVERLAPS, (4, 4, 4))
