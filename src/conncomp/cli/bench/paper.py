"""``conncomp bench paper``, which a package beside this one has."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

import click

# The group of entry points under which that package names its command, and the name there.
GROUP, NAME = "conncomp.bench", "paper"


@click.command(
    NAME,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def paper(context: click.Context, words: Sequence[str]) -> None:
    """Measure the figures and tables of a paper again, beside its values."""
    for entry in entry_points(group=GROUP, name=NAME):
        entry.load().main(list(words), prog_name=context.command_path)
    raise click.ClickException(
        "the figures of papers are a package of their own: in a clone of conncomp's repository, "
        "pip install ./reproductions, or run python -m reproductions"
    )
