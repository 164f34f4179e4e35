"""Fewer cases than all combinations, in which a fault of one part, or of most pairs, comes up."""

import os

# With it all examples of property tests are tried, others on every run, and all cases.
SOAK = bool(os.environ.get("CONNCOMP_SOAK"))


def dealt(cases, inputs, share=3):
    """Return triples of the name of a way, its options, and an input.

    A way without options has all inputs. The others, each a variant of one that has them, have one
    of so many inputs, each others than the way before it, so that together they have all.
    """
    inputs = list(inputs)
    return [
        (name, options, each)
        for k, (name, options) in enumerate(cases)
        for i, each in enumerate(inputs)
        if not options or (i + i // share + k) % share == 0
    ]


def covering(parts):
    """Return the places of few cases, given by sets of their parts, that together have all parts.

    Each is the first of those that have the most parts that none before it has.
    """
    left, chosen = set().union(*parts), []
    while left:
        best = max(range(len(parts)), key=lambda place: len(parts[place] & left))
        chosen.append(best)
        left -= parts[best]
    return sorted(chosen)
