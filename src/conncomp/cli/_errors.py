"""Every failure of the command as one line on standard error and an exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from conncomp._terminal import printable

EXPECTED = click.ClickException, ImportError, MemoryError, OSError, TypeError, ValueError


class OneLineErrors(click.Command):
    """A command that fails with one line and status 2."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **extra: Any) -> NoReturn:
        """Run, and exit with the status."""
        words = sys.argv[1:] if args is None else list(args)
        try:
            if sys.stdout is None:
                raise click.ClickException("standard output is closed; /dev/null is for no output")
            status = super().main(words, *more, **extra | {"standalone_mode": False})
        except EXPECTED as error:
            text = in_options(_reason(error), _chosen(self, words), words)
            click.echo(f"conncomp: {printable(text)}", err=True)
            status = 2
            _forget_output()
        raise SystemExit(status)

    def invoke(self, context: click.Context) -> Any:
        """Do the work; an interrupt, too, is one line, and tells what is kept."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            if error.filename is None:  # click ends quietly, as whoever read has enough
                raise
            raise click.ClickException(_reason(error)) from error
        except KeyboardInterrupt as error:
            text = "; ".join(filter(None, ("interrupted", printable(str(error)))))
            click.echo(f"conncomp: {text}", err=True)
            raise SystemExit(130) from None


@contextmanager
def to_output() -> Iterator[None]:
    """Let failures of standard output name it, but for a pipe that nobody reads."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def _forget_output() -> None:
    """Drop what standard output has no room for, so that Python does not fail by it at the end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _chosen(command: click.Command, words: Sequence[str]) -> click.Command:
    """Return the command of a group that the first words name."""
    for word in words:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        command = command.commands[word]
    return command


def in_options(text: str, command: click.Command, words: Sequence[str]) -> str:
    """Return a message with options in place of arguments; what was typed stays as it is."""
    given = [each for each in command.params if isinstance(each, click.Option)]
    options = {each.name: max(each.opts, key=len) for each in given if each.name}
    if not options:
        return text
    opposites = {p.name: max(p.secondary_opts, key=len) for p in command.params if p.secondary_opts}
    typed = [re.escape(word) for word in words if "=" in word]
    argument = rf"\b(?P<name>{'|'.join(options)})=(?P<end>(?:True|False)\b|(?=[\s,;]|$))?"

    def rename(match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0]
        if match["end"] == "False":
            return opposites.get(match["name"], f"{options[match['name']]} False")
        return options[match["name"]] + ("" if match["end"] is not None else " ")

    return re.sub("|".join([*typed, argument]), rename, text)


def say(note: str) -> None:
    """Print a note of the library, in the words of the command."""
    text = in_options(note, click.get_current_context().command, ())
    click.echo(f"conncomp: {printable(text)}", err=True)


def _reason(error: BaseException) -> str:
    match error:
        case click.UsageError(ctx=click.Context() as context):
            return f"{error.format_message()} See '{context.command_path} --help'."
        case click.ClickException():
            return error.format_message()
        case MemoryError():
            return f"out of memory: {error}".removesuffix(": ")
        case OSError(filename=name, strerror=str(reason)):
            return reason if name is None else f"{os.fsdecode(name)}: {reason}"
        case _:
            return str(error) or type(error).__name__
