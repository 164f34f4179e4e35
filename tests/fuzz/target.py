"""What a target is, and what targets of calls share."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import conncomp

from .choices import Choices


@dataclass(frozen=True)
class Target:
    """A function of a case, cases to begin with, and what else there is to say of them.

    Attributes
    ----------
    run : callable
        Takes a case, which is bytes, and raises what is wrong with what comes of it.
    seeds : callable
        Returns cases to begin with.
    may_refuse : bool
        Whether a case may be wrong, so that an error in words is right.
    drawn : bool
        Whether any bytes are as good a case as a mutant of a seed.
    unpickles : bool
        Whether it loads pickles of its own.
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    may_refuse: bool = False
    drawn: bool = False
    unpickles: bool = False


def of_calls(run, **options):
    """Return the target of a function that reads its case by `Choices`, after some threads."""

    def run_on_threads(data):
        choices = Choices(data)
        conncomp.set_num_threads(1 + choices.below(4))
        run(choices)

    return Target(run_on_threads, random_seeds, drawn=True, **options)


def random_seeds():
    """Return cases for `Choices`."""
    source = random.Random(0)
    return [random_case(source) for _ in range(24)]


def random_case(source):
    """Return a case for `Choices`: where it ends, all that is left is the first of its kind."""
    return source.randbytes(source.choice([8, 16, 32, 64, 128, 256]))


def assert_same(found, expected):
    """Compare tuples of arrays or numbers."""
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def assert_refused(error, function, *arguments, **options):
    """Call a function, which is to raise an error of a type, or of one of several."""
    try:
        result = function(*arguments, **options)
    except error:
        return
    raise AssertionError(f"{function.__name__} gave {str(result)[:80]} instead of an error")
