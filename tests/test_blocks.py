"""No block of six lines of code stands twice in the package, where one function would do."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src/conncomp"
BLOCK = 6  # lines
LEAST = 120  # characters in these: fewer say nothing that a function could say
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def signature_and_docstring_lines(text):
    """Return the numbers of the lines of docstrings and of what functions are called with."""
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines |= set(range(node.lineno, node.body[0].lineno))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def code_of(path):
    """Return the lines of code of a file, without what it imports or includes."""
    text = path.read_text()
    left_out = signature_and_docstring_lines(text) if path.suffix == ".py" else set()
    lines = [line.strip() for k, line in enumerate(text.splitlines(), 1) if k not in left_out]
    ignored = ("#", "//", "import ", "from ")
    return [line for line in lines if line.strip("{}()[];,") and not line.startswith(ignored)]


def blocks_that_stand_twice(files):
    """Return the names of files that have a block in common, with the block."""
    places = defaultdict(set)
    twice = []
    for name, lines in files.items():
        for k in range(len(lines) - BLOCK + 1):
            block = tuple(lines[k : k + BLOCK])
            if sum(map(len, block)) >= LEAST:
                if any(place[0] != name or abs(place[1] - k) >= BLOCK for place in places[block]):
                    twice.append(
                        (tuple(sorted({name, *(file for file, _ in places[block])})), block)
                    )
                places[block].add((name, k))
    return twice


def test_no_block_stands_twice():
    paths = [path for suffix in ("py", "h", "cuh", "cpp") for path in PACKAGE.rglob(f"*.{suffix}")]
    files = {str(path.relative_to(PACKAGE)): code_of(path) for path in sorted(paths)}
    assert len(files) > 400
    twice = blocks_that_stand_twice(files)
    assert twice == []


@pytest.mark.parametrize("kept", [BLOCK - 1, BLOCK])
def test_a_block_that_stands_twice_is_seen(kept):
    lines = [f"statement number {k} of a function that does something" for k in range(20)]
    other = [*lines[3 : 3 + kept], *(f"another statement number {k}" for k in range(9))]
    twice = blocks_that_stand_twice({"a.py": lines, "b.py": other})
    assert [names for names, _ in twice] == [("a.py", "b.py")] * (kept == BLOCK)
    assert bool(blocks_that_stand_twice({"a.py": lines[:kept] + lines})) == (kept == BLOCK)
