"""Checks of arguments, whose errors name the argument, its value and the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set
from functools import wraps
from itertools import islice
from operator import index
from typing import Any, TypeVar, cast

import numpy as np

INT32_MAX = np.iinfo(np.int32).max
INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))  # by whether indices exceed INT32_MAX
LONGEST_SHOWN = 80  # characters of a value in a message
MOST_ENTRIES = 1 << 24  # of a sequence that is no array
MOST_LENGTHS = 64  # of a shape of NumPy

# Types that become an int, or a float, without an error of their own unless too large: whatever
# else is raised is from the handler of a signal, and is left alone.
INTEGERS = frozenset((int, *(np.dtype(code).type for code in "bhilqBHILQ")))
NUMBERS = INTEGERS | frozenset((float, *(np.dtype(code).type for code in "efdg")))


def shown(value: object) -> str:
    """Return `value`, whatever it is, for a message: its representation, in one short line."""
    if isinstance(value, np.ndarray) and value.size > 1:  # NumPy may take long to write it down
        return f"an array of shape {value.shape}"
    try:
        text = " ".join(map(str.strip, repr(value).splitlines()))
    except Exception:  # of a foreign class, or too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def as_integer(name: str, value: Any) -> int:
    """Return `value` as an int; a TypeError names the argument, and refuses bools."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(index(value))
    except Exception:
        if type(value) in INTEGERS:
            raise
        raise TypeError(f"{name}={shown(value)} must be an integer") from None


def as_number(name: str, value: Any) -> float:
    """Return `value` as a float, infinite if it is too large for one; a TypeError names it."""
    try:
        kind = getattr(getattr(value, "dtype", None), "kind", "f")
        if isinstance(value, (str, bytes, bytearray, bool)) or kind not in "iufO":
            raise TypeError
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:
        if type(value) in NUMBERS:
            raise
        raise TypeError(f"{name}={shown(value)} must be a number") from None


def check_range(name: str, value: Any, low: int, high: int) -> int:
    """Return an integer from `low` to `high`; a TypeError or ValueError names the argument."""
    number = as_integer(name, value)
    if not low <= number <= high:
        raise ValueError(f"{name}={shown(value)} must be from {low} to {high}")
    return number


def as_count(name: str, value: Any, things: str) -> int:
    """Return an integer of 0 or more; a TypeError or ValueError names the argument."""
    number = as_integer(name, value)
    if number < 0:
        raise ValueError(f"{name}={number} {things}; use 0 or more")
    return number


def as_batch_axes(value: Any, ndim: int, name: str, *, scalars: bool = True) -> int:
    """Return how many axes of the argument called `name`, which has `ndim`, are batch axes."""
    if ndim == 0 and not scalars:
        check_dimensions(ndim, name)
    axes, most = as_integer("batch_axes", value), max(ndim - 1, 0)
    if not 0 <= axes <= most:
        raise ValueError(
            f"batch_axes={shown(value)} must be from 0 to {most}: {name} has {ndim} axes, and an "
            "item must have one"
        )
    return axes


def check_dimensions(ndim: int, name: str = "labels") -> None:
    """Raise if an array, or an item of it, has no axis."""
    if ndim == 0:
        raise ValueError(f"{name} is a scalar; it must have one dimension or more")


def as_sequence(name: str, value: Any, most: int = MOST_ENTRIES) -> Any:
    """Return values with an order, at most `most` of them; an error names them."""
    try:
        if isinstance(value, (str, bytes, Mapping, Set)):
            raise TypeError
        values = value if hasattr(value, "__len__") else list(islice(value, most + 1))
        length: float = len(values)
    except OverflowError:
        length = math.inf
    except MemoryError:
        raise
    except Exception:  # of a foreign class
        raise TypeError(
            f"{name}={shown(value)} must be a sequence, such as a tuple: what it has must have an "
            "order"
        ) from None
    if length > most:
        raise ValueError(f"{name}={shown(value)} has too many entries; it may have {most}")
    return values


class TooSmallError(ValueError):
    """Labels are larger than those of a type."""


def check_holds(dtype: np.dtype[Any], largest: int, lowest: int = 0, name: str = "dtype") -> None:
    """Raise TooSmallError if a type of integers is too small for labels up to the largest."""
    if largest > np.iinfo(dtype).max:
        smallest = np.min_scalar_type(largest if lowest == 0 else -largest - 1)
        raise TooSmallError(
            f"{name} is {dtype}, too small for labels up to {largest}; use {smallest}"
        )


def as_bool(name: str, value: Any) -> bool:
    """Return `value`, a bool or 0 or 1, as a bool; a TypeError names the argument."""
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or value not in (0, 1):
        raise TypeError(f"{name}={shown(value)} must be True or False")
    return bool(value)


def check_progress(progress: object) -> None:
    """Raise TypeError unless `progress` is a function, or None."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress={shown(progress)} must be a function of two numbers, or None")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise unless `value` is one of `choices`."""
    try:
        known = value in choices
    except Exception:  # arrays do not compare as one
        known = False
    if not known:
        raise ValueError(f"{name}={shown(value)} is not one of {', '.join(map(repr, choices))}")


def check_option(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """Return the one of `choices` that equals `value`; integers must be integers."""
    if value is None and None in choices:
        return None
    if all(choice is None or isinstance(choice, int) for choice in choices):
        value = as_integer(name, value)
    elif isinstance(value, (list, np.ndarray)):
        value = tuple(value)
    check_choice(name, value, choices)
    return choices[choices.index(value)]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def also_named(**names: str) -> Callable[[_Function], _Function]:
    """Let a function's first argument have another keyword, too: ``also_named(new="old")``."""
    ((name, alias),) = names.items()

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if alias in options:
                if arguments or name in options:
                    raise TypeError(
                        f"{function.__name__}() got {alias!r} besides {name!r}, which it stands for"
                    )
                options[name] = options.pop(alias)
            return function(*arguments, **options)

        return cast(_Function, call)

    return decorate


def named_elsewhere(**remedies: str) -> Callable[[_Function], _Function]:
    """Let a function name the remedy for an argument that only other libraries have."""

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            for name in options.keys() & remedies.keys():
                raise TypeError(f"{function.__name__} has no argument {name!r}; {remedies[name]}")
            return function(*arguments, **options)

        return cast(_Function, call)

    return decorate
