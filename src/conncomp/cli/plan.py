"""``conncomp plan``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conncomp._memory import in_words
from conncomp.cli import _options
from conncomp.cli._input import rows_of_input
from conncomp.cli._options import ANY_PATH, Common, argument, option
from conncomp.cli._report import Row, Stages, show
from conncomp.cli._rules import command
from conncomp.cli.label import options as of_label
from conncomp.files.access import naming
from conncomp.files.scales import batch_axes_of


@dataclass(frozen=True)
class Options(Common):
    """What the command is given."""

    input: Path = argument("IN", type=ANY_PATH)
    key: str | None = option("Which array of a group of Zarr, or dataset of HDF5.", "NAME")
    channel: int | None = option("Which channel of OME-Zarr.", "N", least=0)
    threshold: Any = of_label.threshold_option("Foreground is what lies above VALUE.", "VALUE")
    join_time: bool = _options.join_time_option()
    background: int | float = of_label.background_option()
    connectivity: int | None = of_label.connectivity_option()
    memory: int | None = _options.memory_option(
        "The most memory that the command conncomp label may take, such as 8G."
    )


@command(Options)
def plan(options: Options) -> None:
    """Tell beforehand how much memory, disk and time labels of the volume IN will take.

    IN is Zarr, OME-Zarr, HDF5, TIFF, .npy or a folder of slices, as for `conncomp label` with
    labels in Zarr. A few blocks of it are labelled to a temporary folder, to know.
    """
    # Of which the help has no need.
    from conncomp.chunked.volumes.labelling import opened
    from conncomp.chunked.volumes.plan import plan_labels

    path, background, threshold = options.input, options.background, options.threshold
    of_label.check_is_number(threshold)
    of_label.check_background(threshold, background)
    stage = Stages()
    with opened(path, options.key, options.channel) as volume, naming(path):
        axes, batch = volume.axes, batch_axes_of(volume.axes, volume.shape, options.join_time)
    with stage("labelling some blocks"):
        asked: dict[str, Any] = {
            "key": options.key,
            "channel": options.channel,
            "memory": options.memory,
        }
        labelled = background, options.connectivity
        found = plan_labels(path, *labelled, batch_axes=batch, threshold=threshold, **asked)
    report: dict[str, Any] = {"input": {"path": path, "shape": found.shape, "dtype": found.dtype}}
    report |= {"axes": axes, "separate": list(range(batch))}
    report |= {"background": of_label.finite(background), "threshold": threshold}
    report |= {k: value for k, value in asdict(found).items() if k not in ("shape", "dtype")}
    report |= {"limit": options.memory, "planning_seconds": sum(stage.seconds.values())}
    block = " x ".join(map(str, found.block_shape))
    rows: list[Row] = [
        *rows_of_input(report),
        ("blocks", f"{found.blocks:,} of {block}, {found.threads} at once"),
        ("memory", f"{in_words(found.process)}, of which labelling adds {in_words(found.memory)}"),
        ("time", _time_in_words(found.seconds)),
        ("labels", in_words(found.labels)),
        ("meanwhile", f"{in_words(found.kept)} more on the disk"),
        ("known from", f"{found.sampled:,} of {found.blocks:,} blocks"),
    ]
    show(report, rows, as_json=options.as_json)


def _time_in_words(seconds: float) -> str:
    """Return a time in words.

    >>> _time_in_words(0.42), _time_in_words(100), _time_in_words(1e4)
    ('0.42 s', '1.7 min', '2.8 h')
    """
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.2g} s"
