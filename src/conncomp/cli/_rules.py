"""Rules of all commands: no option twice, and none without effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from itertools import combinations
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from conncomp._arguments import shown
from conncomp.cli._options import parameters_of

Given = TypeVar("Given")
Values = Mapping[str, Any]  # of a command's parameters, by their names


@dataclass(frozen=True)
class Rule:
    """Options that a combination refuses, with reason and remedy."""

    options: tuple[str, ...]  # as typed; "--device cuda" is the option with this value
    text: str  # follows the option in the message
    is_broken: Callable[[click.Context], bool]

    def check(self, context: click.Context) -> None:
        """Raise a click.UsageError that names the first refused option, if any."""
        for option in self.options:
            if is_given(context, option) and self.is_broken(context):
                raise click.UsageError(f"{option} {self.text}.", context)


def needs(options: str, *others: str) -> list[Rule]:
    remedy = "both" if len(others) == 1 else "one of these, too"
    text = f"is for {' or '.join(others)}; give {remedy}, or leave it out"
    several = tuple(options.split())
    return [Rule(several, text, lambda c: not any(is_given(c, name) for name in others))]


def excludes(*options: str) -> list[Rule]:
    text, pairs = "and {} exclude each other; leave one out", combinations(options, 2)
    return [Rule((a,), text.format(b), partial(is_given, typed=b)) for a, b in pairs]


def no_effect(text: str, when: Callable[[Values], bool], *options: str) -> list[Rule]:
    """Refuse options when the values of parameters say so."""
    return [Rule(options, text, lambda context: when(context.params))]


def option_of(command: click.Command, name: str) -> click.Option:
    options = (param for param in command.params if isinstance(param, click.Option))
    return next(each for each in options if name in (*each.opts, *each.secondary_opts))


def is_given(context: click.Context, typed: str) -> bool:
    """Say whether the user typed an option, or an option and a value."""
    name, _, value = typed.partition(" ")
    option = option_of(context.command, name)
    assert option.name is not None
    if context.get_parameter_source(option.name) is not ParameterSource.COMMANDLINE:
        return False
    current = context.params.get(option.name)
    if option.is_bool_flag:
        return bool(current) == (name in option.opts)
    return not value or str(current) == value


class Command(click.Command):
    """A command that refuses what has no effect: it checks `rules` when all options are parsed.

    A flag and an option of one value may be given once (so no ``-v -v``), an option of several
    values once with each. ``--help`` comes first.
    """

    def __init__(self, *args: Any, rules: Iterable[list[Rule]] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.rules = [rule for several in rules for rule in several]

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parse the words, and refuse options that have no effect."""
        self._refuse_repeated(context, args)
        left = super().parse_args(context, args)
        for rule in self.rules:
            rule.check(context)
        return left

    def _refuse_repeated(self, context: click.Context, args: Sequence[str]) -> None:
        options = [copy(each) for each in self.get_params(context)]
        multiple = {each.name for each in options if getattr(each, "multiple", False)}
        for option in options:
            if isinstance(option, click.Option):
                option.multiple = True  # so that no value but the last is lost
        parser = click.Command(None, params=options, add_help_option=False).make_parser(context)
        values, _, order = parser.parse_args(list(args))
        if any(parameter.is_eager for parameter in order):
            return
        for option in {id(each): each for each in order}.values():
            if isinstance(option, click.Option):
                typed = list(values[option.name])
                if option.name not in multiple:
                    _check_once(context, option, typed)
                for value in dict.fromkeys(typed):
                    _check_once(context, option, [value] * typed.count(value))


def _check_once(context: click.Context, option: click.Option, values: Sequence[Any]) -> None:
    if len(values) < 2:
        return
    name, different = max(option.opts, key=len), len(set(values)) > 1
    times = "twice" if len(values) == 2 else f"{len(values)} times"
    if option.is_flag and different:
        problem = f"{name} and {option.secondary_opts[0]} exclude each other; leave one out"
    elif different:
        several = " and ".join(map(shown, values))
        problem = f"{name} is given {times}, as {several}; give it once"
    else:
        value = "" if option.is_flag else f" {shown(values[0])}"
        problem = f"{name}{value} is given {times}; give it once"
    raise click.UsageError(f"{problem}.", context)


def command(
    options: Callable[..., Given], *rules: list[Rule], name: str | None = None
) -> Callable[[Callable[[Given], None]], Command]:
    """Make a command of a function of a class of options."""

    def make(function: Callable[[Given], None]) -> Command:
        return Command(
            name or function.__name__,
            callback=lambda **given: function(options(**given)),
            params=parameters_of(cast(type, options)),
            help=cleandoc(function.__doc__ or ""),
            rules=rules,
        )

    return make
