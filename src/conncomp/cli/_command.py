"""The `conncomp` command: its subcommands, gathered."""

from __future__ import annotations

import importlib.metadata
import logging

import click

from conncomp.cli._errors import OneLineErrorsGroup
from conncomp.cli.bench import bench
from conncomp.cli.cluster import cluster
from conncomp.cli.graph import graph
from conncomp.cli.info import info
from conncomp.cli.label import label
from conncomp.cli.simulate import simulate
from conncomp.cli.view import view


@click.group(
    cls=OneLineErrorsGroup,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(importlib.metadata.version("conncomp"), message="%(prog)s %(version)s")
def command() -> None:
    """Find connected components of images, graphs and pairs; simulate models by clusters."""
    # What tifffile has to say of a damaged file is in the error's one line.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())


for subcommand in (label, view, graph, cluster, simulate, bench, info):
    command.add_command(subcommand)
