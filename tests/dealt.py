"""Which cases the gate has: fewer than all, in which a fault of one part, or of most pairs, shows.

A soak, ``pytest --soak``, has all cases. `conftest` sets `SOAK` before test modules are imported.
Modules that a conftest imports read ``dealt.SOAK`` in functions.
"""

import math
import os
from collections import Counter, defaultdict
from itertools import combinations

SOAK = False
# The share of the random inputs a test asks for, those of Hypothesis included, that the gate tries.
SHARE_OF_EXAMPLES, FEWEST_EXAMPLES = 0.25, 10
# A process for a sanitizer chooses few inputs itself, which each way is to have.
SANITIZED = bool(os.environ.get("CONNCOMP_HOST_CUDA_SANITIZER"))


def examples(asked_for):
    """Return how many random inputs of those that a test asks for it tries, all with `SOAK`."""
    share = max(math.ceil(SHARE_OF_EXAMPLES * asked_for), FEWEST_EXAMPLES)
    return asked_for if SOAK else min(share, asked_for)


def dealt(cases, inputs, share=6, soaked=3, forms=1):
    """Return triples of the name of a way, its options, and an input.

    A way without options has all inputs, but where each comes in several forms, one after the
    other, one form of each. The others, each a variant of one that has them, have one of `share`
    inputs. Each has others than the way before it, so that together they have all. In a soak the
    first have all forms, and there, as for sanitizers, the others one of `soaked` inputs.
    """
    inputs = list(inputs)
    if SOAK or SANITIZED:
        share, forms = soaked, 1 if SOAK else forms
    return [
        (name, options, each)
        for k, (name, options) in enumerate(cases)
        for i, each in enumerate(inputs)
        for one_of in (share if options else forms,)
        if (i + i // one_of + k) % one_of == 0
    ]


def covering(parts, evenly=False):
    """Return the places of few cases, given by sets of their parts, that together have all parts.

    Each is the first of those that have the most parts that none before it has; or `evenly`, of
    those the one whose parts were chosen the fewest times.
    """
    left, chosen, times = set().union(*parts), [], Counter()

    def worth(place):
        new = len(parts[place] & left)
        return (new, -sum(times[part] for part in parts[place])) if evenly else new

    while left:
        best = max(range(len(parts)), key=worth)
        chosen.append(best)
        left -= parts[best]
        if evenly:
            times.update(parts[best])
    return sorted(chosen)


def pairs_of_values(values):
    """Return the pairs of the values of a case, each with its name; of one value that alone.

    Values that cannot be looked up, such as arrays, are known by what they are, not by what is in
    them.
    """
    known = [(name, type(value), _key(value)) for name, value in values.items()]
    return set(combinations(known, min(2, len(known))))


def _key(value):
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def values_given_together(item):
    """Return the values that a case has, those of each decorator as one, each with their names."""
    values = dict(item.callspec.params)
    found = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        given = [(name.strip(), values.pop(name.strip())) for name in names]
        found.add(tuple((name, type(value), _key(value)) for name, value in given))
    return found | {((name, type(value), _key(value)),) for name, value in values.items()}


def deal(items):
    """Return the tests that a run has, and those that it leaves out.

    The gate leaves out tests marked ``soak``. It runs a few cases of a test marked
    ``soak(gate="pairs")``: each pair of parameter values that stands in any case is in one of them.
    For ``soak(gate="values")`` each value is in one of them; the values that one decorator gives
    together count as one. Tests that need a GPU keep all cases. A soak and sanitizers, which choose
    cases by name, have everything.
    """
    if SOAK or SANITIZED:
        return items, []
    cases, left_out = defaultdict(list), set()
    for item in items:
        shares = {mark.kwargs.get("gate") for mark in item.iter_markers("soak")}
        if None in shares:
            left_out.add(item)
        elif shares and not item.get_closest_marker("gpu"):
            (share,) = shares
            cases[item.parent, item.originalname, share].append(item)
    for (_, _, share), of_test in cases.items():
        if share == "values":
            chosen = covering([values_given_together(item) for item in of_test], evenly=True)
        elif share == "pairs":
            chosen = covering([pairs_of_values(item.callspec.params) for item in of_test])
        else:
            raise ValueError(f"gate must be 'pairs' or 'values', got {share!r}")
        left_out |= set(of_test) - {of_test[place] for place in chosen}
    return [item for item in items if item not in left_out], list(left_out)
