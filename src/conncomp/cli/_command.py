"""The `conncomp` command: its subcommands, gathered."""

from __future__ import annotations

import logging

import click

from conncomp.cli._errors import OneLineErrors
from conncomp.cli._later import GroupOfLater, Later


class Command(OneLineErrors, GroupOfLater):
    """The whole command."""


@click.group(
    cls=Command,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="conncomp", message="%(prog)s %(version)s")
def command() -> None:
    """Find connected components of images, graphs and pairs; simulate models by clusters."""
    # What tifffile has to say of a damaged file is in the error's one line.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())


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
    command.add_command(Later(f"conncomp.cli.{name}", name, summary))
