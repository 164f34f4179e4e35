"""What is public, and so has an entry in the reference.

Public are the names in `__all__` of the packages below, the methods and properties that their
classes define or inherit from a base of this package, and the fields that the section "Attributes"
of a class explains.
"""

from __future__ import annotations

import inspect
import sys
from collections import ChainMap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from numpydoc.docscrape import ClassDoc, FunctionDoc, NumpyDocString
from sphinx.ext.autodoc.mock import mock

import conncomp
import conncomp.diagnostics
import conncomp.generate
import conncomp.models
import conncomp.results

# What the docs are built without; its functions are listed all the same.
MISSING = [name for name in ("torch",) if find_spec(name) is None]


def _with_mocks(name: str) -> ModuleType:
    """Import a module of the package on mocks of what is missing, and leave no trace of it."""
    with mock(MISSING):
        module = import_module(name)
    for loaded in [key for key in sys.modules if f"{key}.".startswith(f"{name}.")] * bool(MISSING):
        del sys.modules[loaded]
    return module


PACKAGES = (
    conncomp,
    conncomp.diagnostics,
    conncomp.results,
    conncomp.models,
    conncomp.models.results,
    conncomp.generate,
    conncomp.generate.directed,
    conncomp.generate.patterns,
    conncomp.generate.random,
    _with_mocks("conncomp.torch"),
)

# Kernels take memory by these, from a device that users never hold.
INTERNAL = {"conncomp.Workspace.take", "conncomp.Workspace.take_struct"}

SECTIONS = ("Parameters", "Other Parameters", "Returns", "Yields", "Attributes")


def names() -> Iterator[str]:
    """Yield the full name of each public function and class."""
    for package in PACKAGES:
        for name in package.__all__:
            if not isinstance(getattr(package, name), ModuleType):
                yield f"{package.__name__}.{name}"


def find(full_name: str) -> Any:
    """Return what has a full name, and None if there is none of that name."""
    for package in sorted(PACKAGES, key=lambda package: -len(package.__name__)):
        if full_name.startswith(f"{package.__name__}."):
            value: Any = package
            for name in full_name.removeprefix(f"{package.__name__}.").split("."):
                value = inspect.getattr_static(value, name, None)
            return value
    return None


def members(full_name: str) -> dict[str, list[str]]:
    """Return the names of the methods and the properties that a class or its base defines."""
    bases = (base for base in find(full_name).__mro__ if base.__module__.startswith("conncomp."))
    values = {
        name: value
        for name, value in sorted(ChainMap(*map(vars, bases)).items())
        if not name.startswith("_") and f"{full_name}.{name}" not in INTERNAL
    }
    methods = (classmethod, staticmethod)
    return {
        "methods": [
            name
            for name, value in values.items()
            if inspect.isfunction(value) or isinstance(value, methods)
        ],
        "properties": [name for name, value in values.items() if isinstance(value, property)],
    }


def members_of_classes() -> dict[str, dict[str, list[str]]]:
    """Return the members of each public class, by its full name."""
    return {name: members(name) for name in names() if inspect.isclass(find(name))}


def fields(full_name: str) -> list[str]:
    """Return the names of what a class keeps, other than properties."""
    cls = find(full_name)
    named = getattr(cls, "_fields", None) or getattr(cls, "__dataclass_fields__", ())
    return [name for name in named if not name.startswith("_")]


@cache
def explained(full_name: str) -> frozenset[str]:
    """Return the names of arguments, results and attributes that a docstring explains."""
    value = find(full_name)
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if inspect.isclass(value):
        docs: NumpyDocString = ClassDoc(value, config={"show_class_members": False})
    elif inspect.isfunction(value):
        docs = FunctionDoc(value)
    else:
        return frozenset()
    return frozenset(
        name.strip().lstrip("*")
        for section in SECTIONS
        for entry in docs[section]
        for name in entry.name.split(",")
    )


def known(full_name: str) -> frozenset[str]:
    """Return what a docstring may speak of: what it explains and, of a class, its members."""
    of_class = members(full_name) if inspect.isclass(find(full_name)) else {}
    return explained(full_name).union(*of_class.values())
