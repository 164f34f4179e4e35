"""The page of the command line: each command of ``conncomp`` with its arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from papers_page import list_table

from conncomp.cli._command import Later, command

# What is code in a help text, by backticks, as an option or in quotes; and what would be markup.
MARKED = re.compile(
    r"`+(?P<code>[^`]+)`+"
    r"|(?P<literal>(?<![\w-])--[a-z][\w-]*|(?<!\w)'[^' ]+')"
    r"|(?P<markup>[\\*_|<>])"
)


def commands() -> Iterator[click.Context]:
    """Yield a context for ``conncomp`` and for each command below it, groups before members."""
    settings = command.context_settings
    yield from _with_members(click.Context(command, info_name="conncomp", **settings))


def _with_members(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            member = context.command.get_command(context, name)
            assert member is not None  # as the group lists it
            loaded = member.load() if isinstance(member, Later) else member
            yield from _with_members(click.Context(loaded, parent=context, info_name=name))


def section(context: click.Context) -> Iterator[str]:
    """Yield the lines of a command in reStructuredText."""
    title = context.command_path
    if context.parent is not None:
        depth = title.count(" ")
        yield from ("", title, "-~^"[depth - 1] * len(title))
    usage = " ".join(context.command.collect_usage_pieces(context))
    yield from ("", ".. code-block:: none", "", f"   {title} {usage}", "")
    for paragraph in (context.command.help or "").replace("\f", "").split("\n\n"):
        words = paragraph.replace("\b", "")
        if words != paragraph:  # lines that click prints as they are
            yield from (*(f"| {_plain(line)}" for line in words.strip().splitlines()), "")
        else:
            yield from (_plain(words), "")
    rows = [_row(record) for record in _options(context)]
    if rows:
        header = "option", "what it does"
        yield from list_table([header, *rows], ":widths: 30 70", ":class: options")


def _options(context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield what click prints of each option: its names with their values, and its help."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record and "--help" not in parameter.opts:
            yield record


def _row(record: tuple[str, str]) -> tuple[str, str]:
    names, help_text = record
    return f"``{names}``", _plain(help_text)


def _plain(words: str) -> str:
    """Return a help text in which code is code, and nothing else is markup."""
    return MARKED.sub(_marked, " ".join(words.split()))


def _marked(match: re.Match[str]) -> str:
    if match["markup"]:
        return "\\" + match["markup"]
    return f"``{match['code'] or match['literal']}``"


def _write(app: Any) -> None:
    page = Path(app.srcdir) / "generated" / "command_line.inc"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(line for context in commands() for line in section(context)) + "\n")


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx write the commands before it reads the page."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
