"""How much there is of the project in all: a budget that only falls.

A change that makes a total smaller by more than a hundredth writes the new one here. One that needs
more says in its commit what the growth buys.
"""

from pathlib import Path

import pytest

import conncomp
import conncomp.generate
import conncomp.models
from test_sizes import PACKAGE, code_lines

PROJECT = PACKAGE.parent.parent
SLACK = 0.01

MOST = {
    "lines of Python": 56_450,
    "lines of C++ and CUDA": 46_006,
    "lines of Python's code": 36_358,
    "bytes of Python": 2_423_801,
    "bytes of C++ and CUDA": 2_006_057,
    "files of Python": 341,
    "files of C++ and CUDA": 255,
    "lines of src, reproductions, tests and benchmarks": 189_925,
    "public names": 45,
    "public names of models": 31,
    "public names of generate": 22,
}


def texts(*places: Path, suffixes: tuple[str, ...]) -> list[str]:
    """Return what all files with some suffixes hold."""
    files = [path for place in places for path in sorted(place.rglob("*"))]
    return [path.read_text() for path in files if path.suffix in suffixes]


def lines_of(held: list[str]) -> int:
    return sum(text.count("\n") for text in held)


@pytest.fixture(scope="module")
def totals():
    python = texts(PROJECT / "src", suffixes=(".py",))
    native = texts(PROJECT / "src", suffixes=(".h", ".cpp", ".cuh"))
    beside = [PROJECT / name for name in ("reproductions", "tests")]
    others = texts(*beside, suffixes=(".py", ".h", ".cpp", ".cuh", ".cu"))
    others += [path.read_text() for path in (PROJECT / "benchmarks").glob("*.py")]
    return {
        "lines of Python": lines_of(python),
        "lines of C++ and CUDA": lines_of(native),
        "lines of Python's code": sum(len(code_lines(text)) for text in python),
        "bytes of Python": sum(len(text.encode()) for text in python),
        "bytes of C++ and CUDA": sum(len(text.encode()) for text in native),
        "files of Python": len(python),
        "files of C++ and CUDA": len(native),
        "lines of src, reproductions, tests and benchmarks": lines_of(python + native + others),
        "public names": len(conncomp.__all__),
        "public names of models": len(conncomp.models.__all__),
        "public names of generate": len(conncomp.generate.__all__),
    }


@pytest.mark.parametrize("what", MOST)
def test_totals_only_fall(totals, what):
    assert totals[what] <= MOST[what]
    assert totals[what] >= (1 - SLACK) * MOST[what], f"write {totals[what]} here: there is less now"


if __name__ == "__main__":
    for name, total in totals.__wrapped__().items():
        print(f'    "{name}": {total},')
