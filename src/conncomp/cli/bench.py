"""``conncomp bench``."""

from __future__ import annotations

import click

from conncomp.cli.bench_report import compare, report


@click.group()
def bench() -> None:
    """Compare measurements, and make pages of them."""


for subcommand in (compare, report):
    bench.add_command(subcommand)
