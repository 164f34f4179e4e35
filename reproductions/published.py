"""What papers give in numbers, and in words: files of TOML beside the modules of each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Column = dict[str, float | None]
Table = dict[str, Column]


def read(module: str, name: str = "published") -> dict[str, Any]:
    """Return what the TOML file of a name has, in the folder of the module of this ``__file__``."""
    return tomllib.loads(Path(module).with_name(f"{name}.toml").read_text())


def columns(table: Mapping[str, Any]) -> Table:
    """Return the values of each column of a table by row; None stands for a dash.

    >>> columns({"columns": ["ECL-CC", "CRONO"], "rows": {"internet": [37.7, "-"]}})
    {'ECL-CC': {'internet': 37.7}, 'CRONO': {'internet': None}}
    """
    return {
        name: {
            row: None if values[place] == "-" else float(values[place])
            for row, values in table["rows"].items()
        }
        for place, name in enumerate(table["columns"])
    }
