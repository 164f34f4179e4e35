"""Inputs that no library draws: the same for every version of NumPy."""

import re
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from .names import cc, generate, models

__all__ = ["generate", "models"]  # which expressions name


def draws(count, seed=0):
    """Return numbers of 64 bits by SplitMix64."""
    with np.errstate(over="ignore"):
        x = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed * 1_000_003)
        x *= np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def integers(shape, high, seed=0):
    """Return integers from 0 up to, and without, `high`."""
    count = int(np.prod(shape, dtype=np.int64))
    return (draws(count, seed) % np.uint64(high)).astype(np.int64).reshape(shape)


def uniform(shape, seed=0):
    """Return multiples of 2^-20 between 0 and 1."""
    return integers(shape, 1 << 20, seed) / (1 << 20)


def mask(shape, density=0.5, seed=0):
    return uniform(shape, seed) < density


def image(shape, dtype, seed=0, values=None):
    """Return an array of few values, the first of which is as frequent as the others together."""
    dtype = np.dtype(dtype)
    if values is None:
        values = {"b": [0, 1], "f": [0, 1, 1.5, 2, -2, np.nan, np.inf]}.get(dtype.kind)
    if values is None:
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, info.max, info.min]
    place = integers(shape, 2 * (len(values) - 1), seed) - (len(values) - 2)
    return np.array(values, dtype)[np.maximum(place, 0)]


def ends(vertices, arcs, seed=0):
    """Return sources and targets."""
    return tuple(integers((2, arcs), vertices, seed))


def tables(text, known):
    """Yield the calls of rows; a line ``@wrap a=values, ...`` says what those below it share."""
    for group in re.split(r"^@", text, flags=re.MULTILINE):
        head, body = group.split("\n", 1)
        wrap, _, axes = head.partition(" ")
        wrap, axes = eval(f"{wrap or None}, dict({axes})", globals() | known)
        if body.strip():
            yield from rows(body, known, wrap, **axes)


def rows(text, known=None, wrap=None, **axes):
    """Yield calls from ``key: expression; another key: ...`` for all values of `axes`.

    An expression sees these values, what is `known`, and this module. Keys are formatted by the
    values, or by the words of a dictionary of them.
    """
    for words in product(*axes.values()):
        named = dict(zip(axes, words, strict=True))
        values = {n: axes[n][w] if isinstance(axes[n], dict) else w for n, w in named.items()}
        for row in text.split(";"):
            key, expression = re.split(r":\s", row, maxsplit=1)
            call = partial(_evaluate, " ".join(expression.split()), (known or {}) | values)
            yield " ".join(key.format_map(named).split()), wrap(call) if wrap else call


def _evaluate(expression, known, **more):
    return eval(expression, globals() | known | more)


def cases(text, **known):
    """Read options by word from ``word: a=1, b=2; another word: c=3``."""
    parts = (case.partition(":") for case in text.split(";"))
    return {word.strip(): eval(f"dict({given})", globals() | known) for word, _, given in parts}


def by_word(lead, function, options, *given, **common):
    """Yield a call for each word of `options`, under a key of `lead` and the word."""
    for word, more in options.items():
        yield f"{lead} {word}".strip(), partial(function, *given, **(common | more))


def with_threads(call):
    """Return a call that gives the results of one thread and of two."""
    return each(partial(_by_threads, n, call) for n in (1, 2))


def _by_threads(n, call):
    before = cc.get_num_threads()
    cc.set_num_threads(n)
    try:
        return call()
    finally:
        cc.set_num_threads(before)


def in_folder(call):
    """Return a call of a function of an empty folder."""

    def called():
        with tempfile.TemporaryDirectory(prefix="conncomp-bits-") as folder:
            return call(folder=Path(folder))

    return called


def each(calls):
    """Return a call that gives the results of several, or their errors."""
    made = list(calls)
    return lambda: [_result_or_error(call) for call in made]


def _result_or_error(call):
    try:
        return call()
    except Exception as error:
        return error


def each_way(ndim, find):
    """Return a call that gives the results with no, all, and every other axis periodic."""
    ways = False, True, [k % 2 == 0 for k in range(ndim)]
    return each(partial(find, periodic=periodic) for periodic in ways)
