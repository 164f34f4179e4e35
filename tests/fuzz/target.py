"""What a target is, and what targets of calls share."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import conncomp

from .choices import Choices


@dataclass(frozen=True)
class Target:
    """A function of a case, which raises what is wrong with it, and cases to begin with."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    may_refuse: bool = False  # whether a case may be wrong, so that an error in words is right
    drawn: bool = False  # whether any bytes are as good a case as a mutant of a seed
    unpickles: bool = False  # whether it loads pickles of its own


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
