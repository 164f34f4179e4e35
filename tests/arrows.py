"""Who imports or includes whom: the arrows between the files of a package."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Arrow(NamedTuple):
    """From a line of a file to the file that it imports or includes, both below the package."""

    file: str
    line: int
    target: str


def arrows_of(package):
    """Return all arrows of a folder that is a package of Python, and of the C++ in it."""
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    modules = {_module(package.name, file): file for file in sorted(files) if _is_python(file)}
    arrows = []
    for file in sorted(files):
        if _is_python(file):
            arrows += _imports(package, file, modules)
        elif file.endswith((".h", ".cuh", ".cpp")):
            arrows += _includes(package, file, files)
    return arrows


def _is_python(file):
    return file.endswith(".py")


def _module(package, file):
    parts = (package, *Path(file).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(package, file, modules):
    """Yield the arrows of a module: of imports anywhere, in functions and for types, too."""
    for node in ast.walk(ast.parse((package / file).read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports have the name of the package"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == package.name:
                # What is no module is something in one.
                target = modules.get(name) or modules[name.rpartition(".")[0]]
                yield Arrow(file, node.lineno, target)


def _includes(package, file, files):
    """Yield the arrows of a file of C++."""
    text = (package / file).read_text()
    for match in INCLUDE.finditer(text):
        line = 1 + text.count("\n", 0, match.start())
        places = (match[1], f"kernels/{match[1]}")  # the folders that compilers look into
        (target,) = (place for place in places if place in files)
        yield Arrow(file, line, target)
