"""What several commands take."""

from __future__ import annotations

from pathlib import Path

import click

import conncomp


def _set_threads(context: click.Context, option: click.Parameter, threads: int | None) -> None:
    if threads is not None:
        conncomp.set_num_threads(threads)


input_argument = click.argument(
    "input", metavar="IN", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
threads_option = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(1, 4096),
    callback=_set_threads,
    expose_value=False,
    help="Default: all.",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where to label. With cuda, the ways there and back are timed on their own; the first "
    "labelling compiles kernels, which are kept.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)
