"""Tells scikit-build-core the version: of Git's tag by setuptools-scm, or, without it, a fixed one.

A machine without a network builds with the packages that it has, and setuptools-scm may not be one
of them; the version is not worth a build that fails.
"""

import tomllib
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def dynamic_metadata(field, settings=None):
    """Return the version, as pyproject.toml's ``[tool.setuptools_scm]`` describes it."""
    if find_spec("setuptools_scm") is None:
        return tomllib.loads(PROJECT.read_text())["tool"]["setuptools_scm"]["fallback_version"]
    from scikit_build_core.metadata import setuptools_scm

    return setuptools_scm.dynamic_metadata(field, settings)
