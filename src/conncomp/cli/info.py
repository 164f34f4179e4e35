"""``conncomp info``."""

from __future__ import annotations

from dataclasses import dataclass

from conncomp._config import config
from conncomp.cli._options import option
from conncomp.cli._report import show
from conncomp.cli._rules import command


@dataclass(frozen=True)
class Options:
    """What the command is given."""

    as_json: bool = option("Print one JSON object.", None, "--json")


@command(Options)
def info(options: Options) -> None:
    """Print what a bug report needs.

    What was built, the machine and its GPUs, packages, and environment variables that matter.
    """
    facts = config()
    rows = [(key, "not installed" if value is None else str(value)) for key, value in facts.items()]
    show(facts, rows, as_json=options.as_json)
