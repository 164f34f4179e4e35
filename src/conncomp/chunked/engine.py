"""What calls functions of chunks: an engine, which may do it now, later or elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from conncomp.chunked.layout import Index

# ``call(name, index, function, *arguments)`` calls a function now and returns what that does, or
# later and returns what stands for that among arguments of other calls. No two calls have the same
# name and index.
Call = Callable[..., Any]


def call_now(name: str, index: Index, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function: the engine that does all at once."""
    return function(*arguments)


class Part(NamedTuple):
    """What an engine returned for several chunks, and the place of one of them in it."""

    of_all: Any
    place: int
