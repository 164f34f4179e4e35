"""Every failure of the command as one line on standard error and an exit status."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import click


class OneLineErrors(click.Group):
    """A group of commands that say in one line why they failed, and then exit with status 2."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run, and exit with the status."""
        try:
            status = super().main(*args, **extra | {"standalone_mode": False})
        except (
            click.ClickException,
            ImportError,
            MemoryError,
            OSError,
            TypeError,
            ValueError,
        ) as error:
            click.echo(f"conncomp: {_one_line(error)}", err=True)
            status = 2
        raise SystemExit(status)

    def invoke(self, context: click.Context) -> Any:
        """Run the subcommand; an interrupt, too, is one line."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo("conncomp: interrupted", err=True)
            raise SystemExit(130) from None


def _one_line(error: BaseException) -> str:
    match error:
        case click.UsageError(ctx=click.Context() as context):
            text = f"{error.format_message()} See '{context.command_path} --help'."
        case click.ClickException():
            text = error.format_message()
        case MemoryError():
            text = f"out of memory: {error}".removesuffix(": ")
        case OSError(filename=name, strerror=str(reason)):
            text = reason if name is None else f"{os.fsdecode(name)}: {reason}"
        case _:
            text = str(error) or type(error).__name__
    return " ".join(text.split())
