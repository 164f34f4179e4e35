"""Fewer cases than all combinations, in which a fault of one part, or of most pairs, comes up."""


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
