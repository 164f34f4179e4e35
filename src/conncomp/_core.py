"""Loads the C++ core: the build for the best instruction set that this machine has.

The environment variable ``CONNCOMP_CPU`` asks for one of them by its name in ``BUILDS``.
"""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# The module for each instruction set, the best first; "generic" is any processor.
BUILDS = {
    "x86-64-avx512": "conncomp._native_x86_64_avx512",
    "x86-64-v3": "conncomp._native_x86_64_v3",
    "generic": "conncomp._native",
}


def is_built(name: str) -> bool:
    """Say whether the compiler knew an instruction set; if not, its module was left out."""
    return find_spec(BUILDS[name]) is not None


def obstacle(
    name: str, supports: Callable[[str], bool], is_built: Callable[[str], bool]
) -> str | None:
    """Return why a build cannot be loaded; None if it can."""
    if name not in BUILDS:
        return "there is no build of that name"
    if not supports(name):
        return "this processor does not have these instructions"
    if not is_built(name):
        return "the compiler of this installation did not know these instructions"
    return None


def choose_build(
    wanted: str | None, supports: Callable[[str], bool], is_built: Callable[[str], bool]
) -> str:
    """Return the name of the build that is wanted, or of the best one that can be loaded."""
    available = [name for name in BUILDS if obstacle(name, supports, is_built) is None]
    if not wanted:
        return available[0]
    if flaw := obstacle(wanted, supports, is_built):
        remedy = f"unset it or use {' or '.join(available)}"
        raise ValueError(f"CONNCOMP_CPU={wanted!r}: {flaw}; {remedy}")
    return wanted


instruction_set = choose_build(
    os.environ.get("CONNCOMP_CPU"), import_module(BUILDS["generic"]).supports, is_built
)
native: Any = import_module(BUILDS[instruction_set])
