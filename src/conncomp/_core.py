"""Loads the C++ core: the portable module, and the one of the best instruction set.

The environment variable ``CONNCOMP_CPU`` asks for one of these by its name in ``BUILDS``.
"""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

_native: Any = import_module("conncomp._native")

# The module for each instruction set, the best first: "native" is that of the machine that built
# the package, "generic" runs on every processor of the architecture.
BUILDS = {
    "native": "conncomp._registers_native",
    "x86-64-avx512": "conncomp._registers_x86_64_avx512",
    "x86-64-v3": "conncomp._registers_x86_64_v3",
    "generic": "conncomp._registers_generic",
}


def is_built(name: str) -> bool:
    """Whether this installation has the module for an instruction set."""
    return find_spec(BUILDS[name]) is not None


def obstacle(
    name: str, supports: Callable[[str], bool], is_built: Callable[[str], bool]
) -> str | None:
    """Return why a build cannot be loaded; None if it can."""
    if name not in BUILDS:
        return "there is no build of that name"
    if not is_built(name):
        return "this installation was built without it"
    return None if supports(name) else "this processor does not have these instructions"


def choose_build(
    wanted: str | None, supports: Callable[[str], bool], is_built: Callable[[str], bool]
) -> str:
    """Return the name of the wanted build, or of the best that can be loaded."""
    available = [name for name in BUILDS if obstacle(name, supports, is_built) is None]
    if not available:
        raise ImportError(
            "conncomp was built for another processor than this one; build it on this machine, "
            "or with CONNCOMP_PORTABLE=1 for all of this architecture"
        )
    if not wanted:
        return available[0]
    if flaw := obstacle(wanted, supports, is_built):
        remedy = f"unset it or use {' or '.join(available)}"
        raise ValueError(f"CONNCOMP_CPU={wanted!r}: {flaw}; {remedy}")
    return wanted


instruction_set = choose_build(os.environ.get("CONNCOMP_CPU"), _native.supports, is_built)
_registers = import_module(BUILDS[instruction_set])
_registers.join(_native.process())

# The functions and classes of both modules.
native: Any = SimpleNamespace(**{**vars(_native), **vars(_registers)})


def asked(question: Callable[[], object], task: Callable[..., Any], *arguments: Any) -> Any:
    """Call a task in which polls ask a question, too, which raises to end it.

    So threads learn that they are given up: Python hears signals in the main one only.
    """
    before = native.ask_meanwhile(question)
    try:
        return task(*arguments)
    finally:
        native.ask_meanwhile(before)
