"""The floors of the house, from the table in CONTRIBUTING: what imports, imports from below."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from arrows import Arrow, arrows_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/conncomp"
MOST_FLOORS = 10

ROW = re.compile(r"^\| *(\d+) *\| *(`[^|]*) *\|", re.MULTILINE)


def floors_of(text):
    """Return the floor and the room of each place that a table has: of files and folders.

    A row is a floor, with rooms between commas. A room may have two places.
    """
    places = {}
    for floor, rooms in ROW.findall(text):
        for room in rooms.split(","):
            names = re.findall("`([^`]+)`", room)
            places |= {name: (int(floor), names[0]) for name in names}
    return places


PLACES = floors_of((ROOT / "CONTRIBUTING.md").read_text())


@pytest.fixture(scope="module")
def arrows():
    return arrows_of(PACKAGE)


def place_of(file, places):
    """Return the floor and the room of a file: those of the innermost place that it lies in."""
    path = Path(file).with_suffix("")
    inside = [str(place) for place in (path, *path.parents) if str(place) in places]
    assert inside, f"{file} is in none of the rooms of CONTRIBUTING's table"
    return places[inside[0]]


def faults(arrows, places):
    """Return the arrows that do not point down, in words, but for those within a room."""
    found = []
    for file, line, target in arrows:
        (floor, room), (below, other) = place_of(file, places), place_of(target, places)
        if room != other and below >= floor:
            found.append(f"{file}:{line}, on floor {floor}, takes {target}, on floor {below}")
    return found


def test_arrows_point_down(arrows):
    assert faults(arrows, PLACES) == []


def test_no_circle(arrows):
    """Nor files of one room, by imports in functions or for types; floors keep rooms from it."""
    graph = {}
    for file, _, target in arrows:
        graph.setdefault(file, set()).add(target)
    TopologicalSorter(graph).prepare()  # which raises, and names a circle


def test_floors_are_few_and_of_rooms_that_exist():
    assert {floor for floor, _ in PLACES.values()} == set(range(1, max(PLACES.values())[0] + 1))
    assert max(PLACES.values())[0] <= MOST_FLOORS
    for place in PLACES:
        assert (PACKAGE / place).is_dir() or (PACKAGE / f"{place}.py").is_file(), place


def test_every_file_has_a_room():
    for path in PACKAGE.rglob("*"):
        if path.suffix in {".py", ".h", ".cuh", ".cpp"}:
            place_of(path.relative_to(PACKAGE), PLACES)


@pytest.fixture
def house(tmp_path):
    """A package of two rooms, where the lower one takes from the upper one in every way."""
    package = tmp_path / "house"
    for file, text in {
        "__init__.py": "",
        "cellar/__init__.py": "",
        "cellar/coal.py": "def burn():\n    from house.attic import dust\n",
        "cellar/wine.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.attic.dust\n"
        ),
        "cellar/mice.h": '#include <vector>\n#include "attic/owl.h"\n',
        "attic/__init__.py": "dust = 1\n",
        "attic/dust.py": "import house.cellar.coal as coal\nfrom house.cellar.wine import red\n",
        "attic/owl.h": "",
    }.items():
        (package / file).parent.mkdir(parents=True, exist_ok=True)
        (package / file).write_text(text)
    return package


def test_what_the_drawing_sees(house):
    assert arrows_of(house) == [
        Arrow("attic/dust.py", 1, "cellar/coal.py"),
        Arrow("attic/dust.py", 2, "cellar/wine.py"),
        Arrow("cellar/coal.py", 2, "attic/dust.py"),
        Arrow("cellar/mice.h", 2, "attic/owl.h"),
        Arrow("cellar/wine.py", 3, "attic/dust.py"),
    ]


def test_what_is_a_fault(house):
    table = "| floor | rooms |\n|---|---|\n| 2 | `attic`, `__init__` |\n| 1 | `cellar` | coal |\n"
    places = floors_of(table)
    assert places == {"attic": (2, "attic"), "__init__": (2, "__init__"), "cellar": (1, "cellar")}
    assert faults(arrows_of(house), places) == [
        "cellar/coal.py:2, on floor 1, takes attic/dust.py, on floor 2",
        "cellar/mice.h:2, on floor 1, takes attic/owl.h, on floor 2",
        "cellar/wine.py:3, on floor 1, takes attic/dust.py, on floor 2",
    ]
    level = floors_of("| 1 | `attic`, `cellar` |")
    assert len(faults(arrows_of(house), level)) == 5
    assert faults(arrows_of(house), floors_of("| 1 | `attic` with `cellar` |")) == []
