"""``conncomp info``."""

from __future__ import annotations

import click

from conncomp._config import config
from conncomp.cli._report import show
from conncomp.cli._rules import command


@command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Print what a bug report needs.

    What was built, the machine and its GPUs, packages, and environment variables that matter.
    """
    facts = config()
    rows = [(key, "not installed" if value is None else str(value)) for key, value in facts.items()]
    show(facts, rows, as_json=as_json)
