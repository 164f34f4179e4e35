"""``conncomp gpu`` and ``conncomp info``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import click
import numpy as np

from conncomp._config import config
from conncomp.cli._options import Device, Json, option, parsed
from conncomp.cli._report import Stages, show
from conncomp.cli._rules import command, needs, no_effect


class WarmUp(NamedTuple):
    """A call on little data that compiles the kernels of many other calls."""

    summary: str
    call: Callable[[Device, str], None]


def _label(batch_axes: int, *rest: Any) -> None:
    from conncomp import label

    *shapes, device, dtype = rest
    for shape in shapes:
        image = np.zeros(shape, dtype)
        label(image, batch_axes=batch_axes, device=device)
        label(image, numbering="roots", batch_axes=batch_axes, device=device)


def _components(connection: Literal["weak", "strong"], device: Device, dtype: str) -> None:
    from conncomp import Graph, connected_components

    order = np.random.default_rng(0).permutation(1 << 15)
    scattered = np.empty_like(order)
    scattered[order] = np.roll(order, -1)
    # Symmetric, not symmetric, and a cycle in any order, which is contracted.
    for indices in ([1, 0, 3, 2], [1, 2, 3, 0], scattered):
        indptr = np.arange(len(indices) + 1, dtype=np.int32)
        graph = Graph.from_csr(indptr, np.array(indices, np.int32))
        connected_components(graph, connection=connection, device=device)


def _statistics(device: Device, dtype: str) -> None:
    from conncomp import component_statistics
    from conncomp.kernels.cuda.launcher import current_gpu

    labels = np.array([[[1, 1], [0, 2]]], np.int32)
    placed = labels if device == "cpu" else current_gpu().xp.asarray(labels)
    for batch_axes in (0, 1):
        component_statistics(placed, batch_axes=batch_axes)


def _potts(device: Device, dtype: str) -> None:
    from conncomp.models import Potts

    for shape in ((64, 64), (2048, 2048), (32, 32, 32)):
        Potts(shape, device=device).swendsen_wang()


KINDS = {
    "label-2d": WarmUp("label of images", partial(_label, 0, (64, 64), (2048, 2048))),
    "label-3d": WarmUp("label of volumes", partial(_label, 0, (32, 32, 32), (256, 256, 256))),
    "label-batch": WarmUp("label of batches of images", partial(_label, 1, (4, 128, 128))),
    "components": WarmUp("connected_components of rows of int32", partial(_components, "weak")),
    "strong": WarmUp("the same with connection='strong'", partial(_components, "strong")),
    "statistics": WarmUp("component_statistics of labels of int32", _statistics),
    "potts": WarmUp("sweeps of Potts.swendsen_wang, of two and three dimensions", _potts),
}


def _parse_dtype(text: str) -> str:
    try:
        kind = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        raise ValueError(f"{text} is no dtype") from None
    if kind.kind not in "biuf":
        raise ValueError(f"{text} is not bool, integer or float")
    return kind.name


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``conncomp gpu``.

    --compile  Compile what calls of a kind need, and keep it on disk; may be given several times.
    --dtype  Of the images that are labelled, such as bool or float32; may be given several times.
    """

    compile: tuple[str, ...] = option(type=click.Choice([*KINDS, "all"]), multiple=True)
    dtype: tuple[str, ...] = option(type=parsed(_parse_dtype), multiple=True, default=("uint8",))
    as_json: Json


@command(
    Options,
    needs("--dtype", "--compile"),
    no_effect(
        "is for kinds of labels, such as --compile label-2d; leave it out",
        lambda given: not any(name.startswith(("all", "label")) for name in given["compile"]),
        "--dtype",
    ),
)
def gpu(options: Options) -> None:
    """Print which GPUs there are, or compile kernels for the one at hand beforehand.

    The first call of a kind compiles its kernels, which takes seconds. With `--compile` that is
    done now, such as when a container is set up: CuPy keeps what was compiled in the folder of
    CUPY_CACHE_DIR, by default ~/.cupy/kernel_cache, for GPUs of the same architecture.
    """
    kinds, as_json = options.compile, options.as_json
    if not kinds:
        about = ("gpu", "cuda", "cupy", "CUPY", "nvidia")
        facts = {name: str(value) for name, value in config().items() if name.startswith(about)}
        kinds_of = [("kind", "what is compiled"), *((k, v.summary) for k, v in KINDS.items())]
        report = {**facts, "kinds": {name: kind.summary for name, kind in KINDS.items()}}
        show(report, [*facts.items()], kinds_of, as_json=as_json, names=2)
        return
    chosen = [name for name in KINDS if name in kinds or "all" in kinds]
    stages = Stages()
    for name in chosen:
        with stages(name):
            for dtype in options.dtype[: None if name.startswith("label") else 1]:
                KINDS[name].call("cuda", dtype)
    seconds = {name: round(taken, 2) for name, taken in stages.seconds.items()}
    rows = [("kind", "seconds"), *((name, f"{taken:.2f}") for name, taken in seconds.items())]
    show({"seconds": seconds}, [], rows, as_json=as_json, names=1)


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """The option of ``conncomp info``.

    --json  Print one JSON object.
    """

    as_json: bool = option("--json")


@command(InfoOptions)
def info(options: InfoOptions) -> None:
    """Print what a bug report needs.

    What was built, the machine and its GPUs, packages, and environment variables that matter.
    """
    facts = config()
    rows = [(key, "not installed" if value is None else str(value)) for key, value in facts.items()]
    show(facts, rows, as_json=options.as_json)
