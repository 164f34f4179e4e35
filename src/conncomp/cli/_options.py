"""The options of commands: fields of a dataclass, by their names, types and defaults.

The docstring of the class has a line for each option, with its value and its help; what follows of
it is indented.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import cleandoc, get_annotations
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

import conncomp
from conncomp._memory import parse_bytes

Parse = Callable[[str], Any]
# A line of a docstring: the name of an option, its value and its help.
OPTION_LINE = re.compile(r"(?ms)^--([\w-]+)(?: (\S+))?(?:\s\s+(.+?))?(?=\n-|\n\n|\Z)")


def option(*names: str, **more: Any) -> Any:
    """Return a field of a command's options with `more` arguments for click.

    Its name is the field's, with hyphens, and so is its type: a flag for bool, choices for a
    Literal, given several times for a tuple. Annotated has a type of click, or more arguments.
    """
    return field(metadata={"names": names, **more} if names else more)


def argument(metavar: str, **more: Any) -> Any:
    return field(metadata={"argument": True, "metavar": metavar, **more})


def parameters_of(options: type) -> list[click.Parameter]:
    """Return the options and arguments that the fields of a class are.

    Those that a class of higher RANK declares first, or of higher `rank`, stand behind others.
    """
    hints, bases = get_type_hints(options, include_extras=True), options.__mro__[-2::-1]
    lines, ranks = dict[str, list[str]](), dict[str, int]()
    for base in bases:
        ranks = dict.fromkeys(get_annotations(base), vars(base).get("RANK", 0)) | ranks
    for base in (Common, *bases):
        lines |= {name: rest for name, *rest in OPTION_LINE.findall(cleandoc(base.__doc__ or ""))}
    declared = sorted(fields(options), key=lambda e: e.metadata.get("rank", ranks[e.name]))
    return [_parameter(each, hints[each.name], lines) for each in declared]


def _parameter(each: Field[Any], hint: Any, lines: Mapping[str, Sequence[str]]) -> click.Parameter:
    kind = get_args(hint)[0] if get_origin(hint) in (Union, UnionType) else hint
    more: dict[str, Any] = {}
    if get_origin(kind) is Annotated:
        kind, shared = get_args(kind)
        more |= shared.metadata if isinstance(shared, Field) else {"type": shared}
    more |= each.metadata
    more.pop("rank", None)
    if more.pop("argument", False):
        return click.Argument([each.name], **more)
    names = more.pop("names", (f"--{each.name.replace('_', '-')}",))
    metavar, help_ = lines.get(names[0].removeprefix("--").partition("/")[0], ("", ""))
    more = {"metavar": metavar or None, "help": " ".join(help_.split()) or None} | more
    if each.name == "output":
        names = "-o", *names
    if each.default is not MISSING:
        more["default"] = each.default
    if get_origin(kind) is tuple and "type" not in more:
        kind, more["multiple"] = get_args(kind)[0], True
    if kind is bool:
        more["is_flag"] = True
    elif "type" not in more:
        more["type"] = click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind
    return click.Option([*names, each.name], **{"show_default": "default" in more, **more})


def typed(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def parsed(parse: Parse, wanted: str = "") -> Parse:
    """Return a type of an option; errors say that a text is not what is wanted, or why."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            reason = f"{typed(text)} is {wanted}" if wanted else str(error)
            raise click.BadParameter(f"{reason}.") from None

    return convert


def numbers(separator: str, kinds: Sequence[Parse], wanted: str) -> Parse:
    """Return a type of an option: numbers of these kinds, or any number of one kind."""

    def parse(text: str) -> list[Any]:
        words = text.split(separator)
        each = kinds if len(kinds) > 1 else list(kinds) * len(words)
        return [kind(word) for kind, word in zip(each, words, strict=True)]

    return parsed(parse, wanted)


def _parse_axes(text: str) -> bool | list[bool] | list[int]:
    """Return one answer for all axes, one for each, or which ones close."""
    words = text.lower().replace(" ", "").split(",")
    if words in (["all"], ["none"]):
        return words == ["all"]
    if all(word in ("true", "false") for word in words):
        return [word == "true" for word in words]
    return [int(word) for word in words]


AXES = "not 'all', 'none', axes such as '0,2', or 'true,false,...'"

# Axes as they are typed; `closed_axes` returns one answer for each.
Axes = Annotated[bool | list[bool] | list[int], parsed(_parse_axes, AXES)]


def closed_axes(
    axes: Axes, ndim: int, what: str, option: str = "--periodic", separate: Sequence[int] = ()
) -> list[bool]:
    """Return whether each axis closes; those of separate images never do."""
    if isinstance(axes, bool):
        return [axes and k not in separate for k in range(ndim)]
    closed = [bool(axis) for axis in axes]
    if not isinstance(axes[0], bool):
        for axis in axes:
            if not -ndim <= axis < ndim:
                known = f"{option}: the {what} has {ndim} axes"
                raise ValueError(f"{known}, so there is no axis {axis}")
        closed = [k in axes or k - ndim in axes for k in range(ndim)]
    elif len(axes) != ndim:
        raise ValueError(f"{option} has {len(axes)} entries; the {what} has {ndim} axes")
    for k in separate:
        if closed[k]:
            raise ValueError(f"{option}: axis {k} is one of time or channels, and does not close")
    return closed


def _parse_spacing(text: str) -> tuple[float, ...]:
    lengths = tuple(float(word) for word in text.split(","))
    if not all(0 < length < math.inf for length in lengths):
        raise ValueError
    return lengths


Spacing = Annotated[
    tuple[float, ...],
    parsed(_parse_spacing, "not a positive, finite number for each axis, such as '2,0.5,0.5'"),
]


def check_spacing(spacing: Sequence[float] | None, ndim: int) -> None:
    if spacing is not None and len(spacing) != ndim:
        raise ValueError(f"--spacing has {len(spacing)} lengths; the image has {ndim} axes")


def set_threads(context: click.Context, option: click.Parameter, threads: int | None) -> Any:
    """Set the number of threads, as the callback of an option."""
    if threads is not None:
        conncomp.set_num_threads(threads)
    return threads


Positive = Annotated[int, click.IntRange(1)]
Natural = Annotated[int, click.IntRange(0)]
Header = Annotated[bool, option("--header/--no-header")]
Json = Annotated[bool, option("--json")]
Bytes = Annotated[int, parsed(parse_bytes, "no number of bytes, such as '8G'")]
Threads = Annotated[int, option(type=click.IntRange(1, 4096), callback=set_threads)]
Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, kw_only=True)
class Common:
    """The options that most commands have at the end, and the words of what several have.

    --threads N  How many threads to use. Default: one for each processor.
    --json  Print one JSON object instead of a table.
    --background V  The value that is background; with --threshold, 0 or 1.
    --connectivity N  Along how many axes neighbours may differ: 1 for faces only. Default: all.
    --device  Where to label. With cuda, the copies to the GPU and back are timed on their own; the
        first labelling compiles kernels, which are kept for later ones.
    --join-time  Elements at neighbouring times are neighbours, and labels go on from frame to
        frame. Without it, where IN names an axis of time, each time is an image of its own.
    --periodic AXES  Axes that close on themselves: all, none, a list such as 0,2, or
        true,false,true.
    """

    RANK = 1

    threads: Threads | None
    as_json: Json


ANY_PATH = click.Path(exists=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def values_of(options: Any, *names: str) -> dict[str, Any]:
    """Return some options of a command, by name."""
    return {name: getattr(options, name) for name in names}
