"""The `conncomp` command."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from importlib.util import find_spec

from conncomp._optional import hint


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    run("conncomp.cli._command", "command", "conncomp")


def run(module: str, name: str, program: str) -> None:
    """Run a command of a module, under the name of a program, as `main` does."""
    for library in ("click", "rich"):
        if find_spec(library) is None:
            print(f"conncomp: {hint(library, 'this command')}", file=sys.stderr)
            raise SystemExit(2)
    try:
        command = getattr(import_module(module), name)
    except KeyboardInterrupt:  # while the libraries load
        print("conncomp: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal cannot show
    command(prog_name=program)
