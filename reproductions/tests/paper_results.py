"""What ``python -m reproductions`` has written to the folder ``out``."""

import json
from pathlib import Path


def written(name):
    """Return the result of an exhibit."""
    return json.loads(Path("out", f"{name}.json").read_text())


def files(suffix):
    """Return the names of files without their suffix."""
    return {path.stem for path in Path("out").glob(f"*{suffix}")}


def measured(run, *command):
    """Run a command, and return the results by the names of exhibits."""
    run(*command)
    assert files(".png") == files(".json")
    return {name: written(name) for name in files(".json")}
