"""Loads the C++ core: the build for the best instruction set that this machine has.

``CONNCOMP_CPU=generic`` asks for the build that runs on any processor of the architecture.
"""

import os
from importlib import import_module
from typing import Any


def _load() -> tuple[Any, str]:
    """Return the extension module and the name of its instruction set."""
    generic = import_module("conncomp._native")
    if os.environ.get("CONNCOMP_CPU") == "generic" or not generic.supports_x86_64_v3():
        return generic, "generic"
    try:
        return import_module("conncomp._native_x86_64_v3"), "x86-64-v3"
    except ImportError:  # the compiler at build time did not know the instruction set
        return generic, "generic"


native, instruction_set = _load()
