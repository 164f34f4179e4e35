"""Results of all public functions, bit for bit as they were recorded."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from . import errors, names, running
from .canonical import Coarse, digest, name_of_error
from .inputs import each

MOST_BYTES = 120_000
AGAIN = (
    "Results differ from those that were recorded. If CHANGELOG names this change of behaviour, "
    "record again: python -m tests.bits --record"
)
PROJECT = Path(__file__).parents[2]


def test_results():
    """In a process of their own, as others are judged by the memory that this one has."""
    themes = [theme for theme in running.THEMES if not running.missing(theme)]
    words = [sys.executable, "-m", "tests.bits", *themes]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, f"{AGAIN}\n{done.stdout}\n{done.stderr}"


def test_names_that_are_reached_are_public():
    reached = {name for theme in running.THEMES for name in running.recorded(theme)["reached"]}
    assert reached <= {f"{room} {name}" for room in names.MODULES for name in names.public(room)}


def test_records_are_small():
    files = list(running.FOLDER.iterdir())
    assert {path.stem for path in files} == set(running.THEMES)
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros(3, "i4"), np.zeros(3, "i8")),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.array([1, 2]), np.array([2, 1])),
        (1.0, 1.0 + 1e-8),
        (np.int64(1), 1),
        (1, True),
        (["a", "b"], ["ab"]),
        ((1, 2), [1, 2]),
        (np.array([1.0, 1e-9]), np.array([1.0, 2e-9])),
        (ValueError(), TypeError()),
    ],
)
def test_what_differs(one, other):
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros(3, ">i4"), np.zeros(3, "i4")),
        (np.eye(3), np.asfortranarray(np.eye(3))),
        (0.0, -0.0),
        (1.0, 1.0 + 1e-12),
        (np.array([1.0, 1e-17]), np.array([1.0, 0.0])),
        ({3, 1, 2}, {2, 3, 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (iter([1]), [1]),
        (Coarse(0.123456), Coarse(0.1234561)),
        (ValueError("a"), ValueError("b")),
    ],
)
def test_what_is_the_same(one, other):
    assert digest(one) == digest(other)


def test_errors_of_libraries_are_those_of_python():
    assert name_of_error(np.exceptions.AxisError(3, 2)) == "error ValueError"
    assert name_of_error(json.JSONDecodeError("", "", 0)) == "error ValueError"


def test_an_error_among_results_is_one_of_them():
    assert digest(each([lambda: 1, lambda: [][0]])()) == digest([1, IndexError()])


def test_letters_of_errors_are_explained():
    count = len(errors.WRONG)
    was, now = f"n={count}T m={count}V", f"n=.{count - 1}T k={count}V"
    assert list(errors.explain(was, now)) == [
        "n=None: was TypeError, is a result",
        "m: no longer recorded",
        "k: not yet recorded",
    ]
