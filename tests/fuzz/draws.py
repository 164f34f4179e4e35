"""Arguments that several targets draw: arrays of any layout, labels, neighbourhoods, models."""

import math

import numpy as np

from .target import assert_refused

LENGTHS = [2, 3, 1, 0, 4, 7, 63, 64, 65, 130, 3000]
INTEGERS = "bBhHiIqQ"


def shape(choices, ndim, most):
    """Return lengths, 0 to 3 and those around a word among them, of `most` elements or so."""
    lengths = []
    for _ in range(ndim):
        longest = most // max(1, math.prod(lengths))
        lengths.append(min(choices.pick(LENGTHS), max(1, longest)))
    return tuple(lengths)


def array(choices):
    """Return a small array of any kind of number, and of any layout, masked now and then."""
    ndim = 1 + choices.below(4)
    lengths = shape(choices, ndim, 9000 // 3**ndim)  # few enough neighbours for the reference
    rng = choices.generator()
    dtype = np.dtype(choices.pick("?bBhHiIqQefdg"))
    values = rng.random(lengths) < choices.pick([0.4, 0.1, 0.6, 0.9, 0.0, 1.0])
    if choices.flag():
        values = values * rng.integers(1, 4, lengths)
    drawn = values.astype(dtype)
    if dtype.kind == "f" and choices.flag():
        drawn[rng.random(lengths) < 0.1] = choices.pick([np.nan, -0.0, np.inf, 0.5])
    if dtype.kind in "iu" and choices.flag():
        limits = np.iinfo(dtype)
        drawn[rng.random(lengths) < 0.1] = choices.pick([limits.min, limits.max])
    return masked(choices, laid_out(choices, any_order(choices, drawn)))


def any_order(choices, drawn):
    """Return an array in one of the two byte orders."""
    swapped = drawn.dtype.itemsize > 1 and choices.flag()
    return drawn.astype(drawn.dtype.newbyteorder()) if swapped else drawn


def laid_out(choices, drawn):
    """Return the same values with other strides, alignment or flags; or one row many times."""
    layout = choices.below(8)
    if layout == 1:
        return np.asfortranarray(drawn)
    if layout == 2:
        return np.flip(np.flip(drawn).copy())
    if layout == 3 and drawn.ndim:
        wide = np.zeros((*drawn.shape[:-1], 2 * drawn.shape[-1]), drawn.dtype)
        wide[..., ::2] = drawn
        return wide[..., ::2]
    if layout == 4:  # not aligned
        memory = np.zeros(drawn.nbytes + 1, np.uint8)[1:]
        moved = memory.view(drawn.dtype).reshape(drawn.shape)
        moved[...] = drawn
        return moved
    if layout == 5:
        drawn.flags.writeable = False
    if layout == 6 and drawn.ndim and drawn.shape[0]:
        return np.broadcast_to(drawn[:1], drawn.shape)
    if layout == 7 and drawn.ndim > 1:
        return drawn.swapaxes(0, -1).copy().swapaxes(0, -1)
    return drawn


def vector(choices, values):
    """Return numbers as an array of one axis, of any layout but that of one row many times."""
    laid = laid_out(choices, values)
    return laid if np.array_equal(laid, values) else values


def masked(choices, drawn):
    """Return an array, of which some elements are masked now and then."""
    if choices.below(4) != 1:
        return drawn
    return np.ma.array(drawn, mask=choices.generator().random(drawn.shape) < 0.2)


def labels(choices, most=400, most_axes=4):
    """Return labels (anything where masked), their background, and the number of batch axes."""
    ndim = 1 + choices.below(most_axes)
    lengths = shape(choices, ndim, most)
    rng = choices.generator()
    background = choices.pick([0, -1, None])
    dtype = np.dtype(choices.pick("iqbBhHIQ"))
    lowest = -1 if background == -1 and dtype.kind == "i" else 0
    values = rng.integers(lowest, choices.pick([2, 3, 6, 30, 1]), lengths)
    if choices.flag():  # less of a noise
        values = np.repeat(values, 3, axis=-1)[..., : lengths[-1]]
    if dtype.itemsize > 2 and choices.below(4) == 1:
        values = np.where(values > 0, 1000 * values, values)
    drawn = laid_out(choices, any_order(choices, values.astype(dtype)))
    if choices.below(3) == 1:
        hidden = rng.random(lengths) < choices.pick([0.2, 0.9, 1.0])
        drawn = drawn.copy()
        limits = np.iinfo(dtype)
        drawn[hidden] = choices.pick([7, limits.max, limits.min, 0])
        drawn = np.ma.array(drawn, mask=hidden)
    return drawn, background, choices.below(ndim) if choices.flag() else 0


def options_of(choices, given, background, axes):
    """Return how a function of labels is told of the background, if it must be, and of a batch."""
    options = {"batch_axes": axes} if axes or choices.flag() else {}
    if background != 0 or given.ndim - axes == 1 or choices.flag():
        options["background"] = background
    return options


def periodic(choices, ndim):
    """Return which axes are periodic, in any of the ways to say it."""
    return choices.pick([False, True, [choices.flag() for _ in range(ndim)]])


def structure(choices, ndim):
    """Return any neighbourhood, as an array."""
    half = choices.generator().random((3,) * ndim) < choices.pick([0.3, 0.1, 0.7])
    return half | np.flip(half)


LABEL_TYPES = [None, np.int32, np.int64, *"bBhHIQ", "smallest"]


def check_labels(call, expected, dtype, has_out, lowest=0):
    """Compare the labels that `call` returns, given `dtype` and `out` as keywords.

    `dtype` is one of `LABEL_TYPES`; `lowest` is -1 if that is the background, or 0.
    """
    smallest = isinstance(dtype, str) and dtype == "smallest"
    largest = int(expected.max(initial=0))
    if smallest:
        tightest = np.min_scalar_type(largest if lowest == 0 else -largest - 1)
        labels = call(dtype=dtype)
        assert labels.dtype == tightest
    else:
        limits = np.iinfo(np.int32 if dtype is None else dtype)
        out = np.full(expected.shape, 7, dtype or np.int32) if has_out else None
        if largest > limits.max or lowest < limits.min:
            assert_refused(ValueError, call, dtype=dtype, out=out)
            return
        labels = call(dtype=dtype, out=out)
        assert out is None or labels is out
        assert labels.dtype == (np.int32 if dtype is None else dtype)
    np.testing.assert_array_equal(labels, expected)


def arcs(choices, counts=(3, 10, 65, 1, 2, 0, 300)):
    """Return a number of vertices, sources and targets: any digraph, also loops, multiple arcs."""
    n = choices.pick(counts)
    rng = choices.generator()
    count = choices.pick([n, 1, n // 2, 0, 3, 4 * n]) if n else 0
    src, dst = rng.integers(0, max(n, 1), (2, count))
    kind = choices.below(8)
    if kind == 1:  # a few hubs
        src = src % 3 % n if n else src
    if kind == 2:  # as undirected edges are
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    if kind == 3:  # without cycles
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    if kind == 4 and n:  # a cycle, with chords
        src, dst = np.r_[np.arange(n), src], np.r_[(np.arange(n) + 1) % n, dst]
    if kind == 5:  # many times the same, and loops
        src, dst = np.tile(src, 3), np.r_[dst, dst, src]
    if kind == 6:  # parts that are apart
        dst = np.minimum(src // 5 * 5 + dst % 5, max(n - 1, 0))
    if kind == 7:  # the last half of the vertices have none
        src, dst = src // 2, dst // 2
    return n, src, dst
