"""Commands that are imported when they are run, as each needs a room of its own and no other."""

from __future__ import annotations

from importlib import import_module

import click


class Later(click.Command):
    """What stands for a command in the list of a group, until it is asked for."""

    def __init__(self, module: str, name: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module
        self._attribute = name.replace("-", "_")

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(import_module(self._module), self._attribute)
        return command


class GroupOfLater(click.Group):
    """A group that imports a command where its name is the next word, and then keeps it."""

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name and the command that words begin with, and the others."""
        name, command, others = super().resolve_command(context, words)
        if isinstance(command, Later):
            command = command.load()
            self.add_command(command)
        return name, command, others
