"""The `conncomp` command: subcommands that are imported when they are run, each with its room."""

from __future__ import annotations

import logging
from importlib import import_module

import click

from conncomp.cli._errors import OneLineErrors


class Later(click.Command):
    """A command of a group, imported when it is run."""

    def __init__(self, module: str, name: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module
        self._attribute = name.replace("-", "_")

    def load(self) -> click.Command:
        """Import the command."""
        loaded: click.Command = getattr(import_module(self._module), self._attribute)
        return loaded


class GroupOfLater(click.Group):
    """A group that imports a command when its name is the next word."""

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name and the command that begin words, and the others."""
        name, command, others = super().resolve_command(context, words)
        if isinstance(command, Later):
            command = command.load()
            self.add_command(command)
        return name, command, others


class Command(OneLineErrors, GroupOfLater):
    """The whole command."""


@click.group(
    cls=Command, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="conncomp", message="%(prog)s %(version)s")
def command() -> None:
    """Find connected components of images, graphs and pairs; simulate models by clusters."""
    # The error's one line says what tifffile logs of a damaged file.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())


MODULES = {"info": "gpu", "plan": "label"}  # of commands that are not in one of their name

for name, summary in {
    "label": "Label the connected components of the image or volume IN.",
    "measure": "Measure the objects in images: from files to one table.",
    "plan": "Tell beforehand how much memory, disk and time labels of the volume IN will take.",
    "view": "Write an HTML page to look at the labels IN with, such as `conncomp label` writes.",
    "graph": "Label the connected components of the graph in the file IN.",
    "cluster": "Find the clusters of ids that the pairs in the files IN connect.",
    "simulate": "Simulate models of statistical physics by the clusters of their links.",
    "bench": "Measure how fast components are found.",
    "gpu": "Print which GPUs there are, or compile kernels for the one at hand beforehand.",
    "info": "Print what a bug report needs.",
}.items():
    command.add_command(Later(f"conncomp.cli.{MODULES.get(name, name)}", name, summary))
