"""Checks that models share, of arguments and of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import inf, isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import MOST_LENGTHS, as_integer, as_number, as_sequence, check_range, shown
from conncomp._array_storage import on_host
from conncomp._arrays import as_cupy, as_numpy, check_kind, on_gpu
from conncomp._memory import total_memory
from conncomp.kernels.lattice import MOST_AXES
from conncomp.kernels.updates import Drawn
from conncomp.models.protocol import MOST_UPDATES, Floats, ModelState

MOST_SITES = 1 << 40  # and replicas 1 << 24: what a counter of random numbers has room for
MOST_REPLICAS = 1 << 24
MOST_SEED = (1 << 64) - 1


def flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the core that gets arrays flat."""

    def call(*given: Any) -> Any:
        arrays = list(given)
        for k, each in enumerate(given):
            if isinstance(each, np.ndarray):
                arrays[k] = each.reshape(-1)
        return function(*arrays)

    return call


def check_drawn(replicas: int | None, first_replica: int, seed: int) -> Drawn:
    """Return what draws a model's random numbers; None is one replica."""
    count = 1 if replicas is None else check_range("replicas", replicas, 1, MOST_REPLICAS)
    first = check_range("first_replica", first_replica, 0, MOST_REPLICAS - count)
    return Drawn(check_range("seed", seed, 0, MOST_SEED), first, count)


def real_numbers(name: str, given: Any, kinds: str = "iuf") -> NDArray[Any]:
    """Return an array of real numbers of NumPy."""
    array = as_numpy(given, name)
    check_kind(array, kinds, given, name, "of real numbers")
    return array


def as_reals(name: str, given: Any, kinds: str = "iuf") -> NDArray[Any]:
    """Return an array of real numbers, which may have been given on a GPU."""
    return real_numbers(name, on_host(given) if on_gpu(given) else given, kinds)


def finite(name: str, array: NDArray[Any]) -> Floats:
    """Return numbers as float64; the ValueError names the place of one that is not finite."""
    numbers = array.astype(np.float64)
    for place in np.argwhere(~np.isfinite(numbers)).tolist():
        raise ValueError(f"{name}{place}={numbers[tuple(place)]} must be finite")
    return numbers


def as_many_as(replicas: Any, *values: Any) -> Any:
    """Return `replicas` or, if it is None, the length of the first list of two values or more."""
    if replicas is not None:
        return replicas
    rows = (v for v in values if isinstance(v, (list, tuple)) or getattr(v, "ndim", 0) == 1)
    return next((len(row) for row in rows if len(row) > 1), None)


def one_each(name: str, value: Any, replicas: int) -> Floats:
    """Return a number for each replica, given one or so many."""
    numbers = as_numbers(name, value)
    if numbers.shape not in ((1,), (replicas,)):
        raise ValueError(
            f"{name} has shape {numbers.shape}; there must be one, or one for each of "
            f"{replicas} replicas"
        )
    return np.broadcast_to(numbers, replicas).copy()


def check_start(
    start: ArrayLike, kinds: str, wanted: str, replicas: int, shape: tuple[int, ...]
) -> Any:
    """Return the first state, of one lattice or all, with a dtype of `kinds`, `wanted` in words."""
    given = as_cupy(start) if on_gpu(start) else as_numpy(start, "start")
    check_kind(given, kinds, start, "start", wanted)
    shapes = (replicas, *shape), shape
    if given.shape not in shapes:
        raise ValueError(
            f"start has shape {given.shape}; it must have {' or '.join(map(str, shapes))}"
        )
    return given


def check_states(given: Any, what: str, count: int, wanted: str, dtype: str = "u1") -> Any:
    """Return a copy of first spins, 0 to `count` - 1, `wanted` in words."""
    states = given.copy()  # a state that is checked is not changed afterwards
    least, most = int(states.min()), int(states.max())
    if least < 0 or most >= count:
        raise ValueError(f"start has {what} from {least} to {most}; they must be {wanted}")
    return states.astype(dtype)


def check_state(state: Any, model: str, arrays: int) -> tuple[int, tuple[NDArray[Any], ...]]:
    """Return the number of updates and the arrays of a state of so many."""
    if not isinstance(state, ModelState):
        raise TypeError(f"state={shown(state)} must be a ModelState, which .state() returns")
    updates, held = check_range("updates", state.updates, 0, MOST_UPDATES), state.arrays
    if not isinstance(held, tuple):
        raise TypeError(f"the state's arrays={shown(held)} must be a tuple")
    if len(held) != arrays:
        wanted = ("none", "one", "two")[arrays]
        raise ValueError(f"the state has {len(held)} arrays; one of {model} has {wanted}")
    for k, array in enumerate(held):
        if not isinstance(array, np.ndarray):
            raise ValueError(
                f"array {k} of the state is a {type(array).__name__}; it must be one of NumPy"
            )
    return updates, held


def check_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return the lengths of a lattice."""
    lengths = tuple(as_integer("shape", length) for length in as_tuple(shape))
    if not 1 <= len(lengths) <= MOST_AXES:
        raise ValueError(f"shape={shown(shape)} must have 1 to {MOST_AXES} axes")
    if min(lengths) < 1 or prod(lengths) >= MOST_SITES:
        raise ValueError(
            f"shape={shown(shape)} must have lengths of 1 or more, and fewer than 2**40 sites"
        )
    return lengths


def as_tuple(lengths: Any, ndim: int = 1, name: str = "shape") -> tuple[Any, ...]:
    """Return lengths, or what was given instead, as a tuple; a single one for each axis."""
    several = isinstance(lengths, Sequence) and not isinstance(lengths, (str, bytes))
    if several or (isinstance(lengths, np.ndarray) and lengths.ndim > 0):
        return tuple(as_sequence(name, lengths, MOST_LENGTHS))
    return (lengths,) * ndim


def as_numbers(name: str, value: Any) -> Floats:
    """Return one number or several as an array of one axis or more."""
    numbers = value if np.isscalar(value) else as_numpy(value, name)
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iuf":
        return np.atleast_1d(numbers.astype(np.float64))
    if isinstance(numbers, np.ndarray) and numbers.ndim > 0:
        flat = [as_number(name, number) for number in numbers.reshape(-1).tolist()]
        return np.array(flat, np.float64).reshape(numbers.shape)
    return np.array([as_number(name, value)])


def check_callable(name: str, given: object, wanted: str) -> None:
    """Raise TypeError unless it can be called; `wanted` says with what."""
    if not callable(given):
        raise TypeError(f"{name}={shown(given)} must be a function {wanted}")


def distinct(values: Floats) -> Floats:
    """Return each number once, in the order in which they come first."""
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]


def check_finite(name: str, value: Any) -> float:
    """Return a number that is finite."""
    number = as_number(name, value)
    if not isfinite(number):
        raise ValueError(f"{name}={shown(value)} must be finite")
    return number


def check_not_negative(name: str, value: Any) -> float:
    """Return a finite number that is 0 or more."""
    number = check_finite(name, value)
    if number < 0:
        raise ValueError(f"{name}={shown(value)} must not be negative")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return a number that is above 0, and finite."""
    number = as_number(name, value)
    if not 0 < number < inf:
        raise ValueError(f"{name}={shown(value)} must be above 0, and finite")
    return number


@contextmanager
def room_for(what: str, num_bytes: int) -> Iterator[None]:
    """Say in the error how much memory something takes."""
    try:
        yield
    except (MemoryError, ValueError):  # the latter if the size is beyond any address
        raise _too_much(what, num_bytes) from None


def room_on_host(what: str, num_bytes: int) -> AbstractContextManager[None]:
    """Do so for main memory; refuse more than there is, as systems kill who writes it."""
    if num_bytes > (total_memory() or num_bytes):
        raise _too_much(what, num_bytes)
    return room_for(what, num_bytes)


def _too_much(what: str, num_bytes: int) -> MemoryError:
    return MemoryError(f"{what}, take {num_bytes} bytes, more than are free; choose fewer")
