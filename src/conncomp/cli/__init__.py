"""The `conncomp` command."""

from __future__ import annotations

import io
import logging
import sys
from importlib.util import find_spec

from conncomp._optional import hint


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    for library in ("click", "rich"):
        if find_spec(library) is None:
            print(f"conncomp: {hint(library, 'this command')}", file=sys.stderr)
            raise SystemExit(2)
    try:
        from conncomp.cli._command import command
    except KeyboardInterrupt:  # while the libraries load
        print("conncomp: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal cannot show
    # tifffile tells what it makes of damaged files in lines of its own.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())
    command(prog_name="conncomp")
