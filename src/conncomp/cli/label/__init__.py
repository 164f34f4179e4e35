"""``conncomp label`` and ``conncomp plan``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._array_storage import move_to_gpu, native_layout, on_host
from conncomp._memory import in_words, peak_memory
from conncomp.cli import _options, _report
from conncomp.cli._input import one_channel, read_quietly, rows_of_input, with_named_axes
from conncomp.cli._options import ANY_PATH, Bytes, Common, Natural, Positive, argument, values_of
from conncomp.cli._output import check_distinct, columns_of, is_within_zarr, write_rows
from conncomp.cli._picture import check_picture, paint_labels
from conncomp.cli._report import Stages
from conncomp.cli._rules import command
from conncomp.cli.label import options as of_label
from conncomp.cli.label import stream
from conncomp.cli.label.options import RULES, Options, check_background, check_is_number, finite
from conncomp.cli.label.stream import Axes
from conncomp.files.access import naming
from conncomp.files.images import Image, check_format
from conncomp.files.scales import Content, batch_axes_of
from conncomp.files.thresholds import foreground, middle_of
from conncomp.grid.wrapping import ComponentWrapping
from conncomp.kernels.cuda import launcher

Closes = NDArray[np.bool_] | None  # along which axes components close, if that was asked


@command(Options, *RULES)
def label(options: Options) -> None:
    """Label the connected components of the image or volume IN.

    Elements are connected if they are neighbours and of equal value. Components that are kept
    keep their labels. Where IN names an axis of time, each time is labelled alone, from 1 on.

    If IN is Zarr, OME-Zarr, HDF5 or a folder of slices, or FILE is named .zarr, it is labelled
    block by block, and may be larger than memory: all of -o, --key, --channel of OME-Zarr,
    --threshold VALUE, --background, --connectivity, --periodic, --join-time, --min-size, --top,
    --memory and --scheduler are for it. FILE may be IMAGE.zarr/labels/NAME, in an image of
    OME-Zarr. What is done is kept in FILE.partial, and the same command goes on after a kill or
    Ctrl-C.
    """
    check_background(options.threshold, options.background)
    check_distinct((options.input, options.output, options.stats, options.picture))
    stage = Stages()
    try:
        if options.has_chunks or options.stats_only:
            check_is_number(options.threshold)
            report = (label_chunks if options.has_chunks else stream.measure_stream)(options, stage)
        else:
            report = _label_whole(options, stage)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(options, stage)) from None
    tables = (_summary(report), _report.distribution_table(report, "elements"))
    _report.show(report, *tables, as_json=options.as_json)


def _kept(options: Options, stage: Stages) -> str:
    if options.has_chunks and options.output is not None:
        from conncomp.chunked.volumes.writing import folder_of  # slow, and not for the help

        folder = folder_of(options.output)
        if folder.is_dir():
            return f"what is done is kept in {folder}: the same command goes on"
    written = {"writing": options.output, "statistics": options.stats, "picture": options.picture}
    complete = [str(path) for name, path in written.items() if path and name in stage.seconds]
    kept = f"{' and '.join(complete)}, complete, and nothing else" if complete else "nothing"
    return f"{kept} is kept: the same command begins anew"


def _label_whole(options: Options, stage: Stages) -> dict[str, Any]:
    with stage("reading"):
        content = read_quietly(options.input, options.key)
        content = one_channel(options.input, content, options.channel, options.grey)
        shape, dtype = content.image.shape, content.image.dtype
        image, axes = _axes_of(options, content)
        del content
    _check_image(options, image, axes.batch)
    of_label.check_floats(options, image)
    threshold = None
    if options.threshold is not None:
        with stage("thresholding"):
            image, threshold = foreground(image, options.threshold, batch_axes=axes.batch)
    labels, count, closes = _label(image, axes, options, stage)
    del image
    with stage("measuring"):
        of_labels: dict[str, Any] = {"background": 0, "batch_axes": axes.batch}
        sizes = kept = conncomp.component_sizes(labels, **of_labels)
        if options.min_size is not None:
            labels = conncomp.remove_small_components(labels, options.min_size, **of_labels)
        if options.top is not None:
            labels = conncomp.largest_components(labels, options.top, **of_labels)
        if options.min_size is not None or options.top is not None:
            kept = conncomp.component_sizes(labels, **of_labels)
    written = _write(options, labels, axes, closes, stage)
    found: dict[str, Any] = {
        "threshold": threshold if threshold is None else finite(threshold),
        "components": count,
        "foreground": sizes.sum(),
        "largest": _report.largest(sizes, options.top or 1),
        "sizes": _report.describe_sizes(sizes[sizes > 0]),
        "kept": {"components": np.count_nonzero(kept), "elements": kept.sum()},
        "written": written,
    }
    return stream.report_of(options, stage, shape, dtype, axes, **found)


def _axes_of(options: Options, content: Content) -> tuple[Image, Axes]:
    with naming(options.input):
        ahead, separate = content.separate(options.join_time)
    closed = _options.closed_axes(options.periodic, content.image.ndim, "image", separate=separate)
    return ahead.image, Axes(content.axes, separate, closed, ahead.scale)


def _check_image(options: Options, image: Image, batch: int) -> None:
    _options.check_spacing(options.spacing, image.ndim - batch)
    output, shape = options.output, image.shape
    if output is not None:
        if output.suffix.lower() == ".png" and len(shape) != 2:
            raise ValueError(f"{output}: PNG holds two axes, not {len(shape)}; write .npy or .tif")
        check_format(output, shape)
    if options.picture is not None:
        check_picture(options.picture, shape)


def _label(image: Image, axes: Axes, options: Options, stage: Stages) -> tuple[Image, int, Closes]:
    """Return labels, their number and, for --stats, where components close."""
    how = values_of(options, "background", "connectivity", "device")
    periodic = [closed for k, closed in enumerate(axes.periodic) if k not in axes.separate]
    how |= {"periodic": periodic, "batch_axes": axes.batch}

    def move(image: Image) -> Any:
        return move_to_gpu(launcher.import_cupy(), native_layout(image))

    def labelled(placed: Any) -> Any:
        return conncomp.label(placed, return_num=True, **how)

    # Long doubles, which no GPU has, are left to `conncomp.label` to convert and move.
    there = move if image.dtype.itemsize <= 8 else None
    placed, labels, count = _report.labelled_on(options.device, stage, image, there, labelled)
    closes = None
    if options.stats is not None and any(axes.periodic):
        with stage("wrapping"):
            wrapping = conncomp.component_wrapping(placed, **how)
            closes = _axes_of_components(wrapping, image.ndim - axes.batch)
    return labels, int(np.sum(count)), closes


def _write(options: Options, labels: Image, axes: Axes, closes: Closes, stage: Stages) -> Any:
    picture = None
    if options.output is not None:
        with stage("writing"):
            as_stored = np.moveaxis(labels, range(axes.batch), axes.separate)
            conncomp.write_image(options.output, as_stored, axes=axes.letters)
    if options.stats is not None:
        with stage("statistics"):
            _write_statistics(options, labels, axes, closes)
    if options.picture is not None:
        with stage("picture"):
            spacing = options.spacing or (None if axes.scale is None else axes.scale.spacing)
            picture = paint_labels(options.picture, labels, spacing)
    return {"labels": options.output, "statistics": options.stats, "picture": picture}


def _axes_of_components(wrapping: ComponentWrapping, ndim: int) -> NDArray[np.bool_]:
    """Return along which axes each component closes, by image and label."""
    counts = np.asarray(on_host(wrapping.counts))
    each = counts.reshape(-1)
    item = np.repeat(np.arange(each.size), each)
    number = np.arange(len(item)) - (np.cumsum(each) - each)[item] + 1
    closes = np.zeros((each.size, int(each.max(initial=0)) + 1, ndim), np.bool_)
    closes[item, number] = on_host(wrapping.axes)
    return closes.reshape(*counts.shape, *closes.shape[1:])


def _write_statistics(options: Options, labels: Image, axes: Axes, closes: Closes) -> None:
    """Write a line for each component; `closes` is of all components, kept or not."""
    assert options.stats is not None
    of_labels: dict[str, Any] = {"background": 0, "batch_axes": axes.batch}
    statistics = conncomp.component_statistics(labels, spacing=options.spacing, **of_labels)
    columns = columns_of(statistics, *stream.properties_of(options), "moment")
    item = tuple(statistics.batch.T)
    tables = {"spans": conncomp.component_spans(labels, **of_labels), "wraps": closes}
    for name, table in tables.items():
        if table is not None:
            by_axis = table[(*item, statistics.labels)].astype(np.int64).T
            columns |= {f"{name}-{k}": column for k, column in enumerate(by_axis)}
    letters = "".join(axes.letters[k] for k in axes.separate)
    columns = with_named_axes(columns_of(statistics, "batch"), axes.batch, letters) | columns
    write_rows(options.stats, list(columns), list(columns.values()))


def _summary(report: dict[str, Any]) -> list[_report.Row]:
    source, connectivity, kept = report["input"], report["connectivity"], report["kept"]
    ndim = len(source["shape"]) - report["batch_axes"]
    foreground, total = report["foreground"], math.prod(source["shape"])
    neighbours = sum(math.comb(ndim, k) * 2**k for k in range(1, connectivity + 1))
    closed = [str(k) for k, is_closed in enumerate(report["periodic"]) if is_closed]
    named = f"{connectivity} ({neighbours} neighbours)"
    rows: list[_report.Row] = [*rows_of_input(report), ("connectivity", named)]
    if report["threshold"] is not None:
        rows.append(("threshold", f"above {report['threshold']}"))
    if closed:
        rows.append(("periodic axes", ", ".join(closed)))
    share = _report.percent(foreground, total)
    rows.append(("components", f"{report['components']:,}"))
    rows.append(("foreground", f"{foreground:,} elements, {share} of all"))
    rows.append(_report.largest_row(report["largest"], foreground, "elements", "the foreground"))
    if kept["components"] < report["components"]:
        rows.append(("kept", f"{kept['components']:,} with {kept['elements']:,} elements"))
    rows += _report.closing_rows(report, report["elements_per_second"], "elements")
    if picture := report["written"]["picture"]:
        parts = [f"index {k} of axis {axis}" for axis, k in enumerate(picture["slice"])]
        if picture["step"] > 1:
            parts.append(f"one in {picture['step']} along each side")
        rows.append(("picture", f"{picture['path']}" + (f" ({', '.join(parts)})" if parts else "")))
    return rows


def label_chunks(options: Options, stage: Stages) -> dict[str, Any]:
    """Label a volume in chunks; return the report."""
    _check_output(options)
    # Slow, and not for the help.
    from conncomp.chunked.volumes.labelling import Arguments, label_volume, opened

    with opened(options.input, options.key, options.channel) as volume:
        shape, dtype, names = volume.shape, volume.dtype, volume.axes
        with naming(options.input):
            batch = batch_axes_of(names, shape, options.join_time)
        if dtype.kind == "f":
            of_label.check_floats(options, volume.read(middle_of(shape, batch)))
    size = math.prod(shape) * dtype.itemsize
    axes = _options.closed_axes(options.periodic, len(shape), "image", separate=range(batch))
    assert options.output is not None
    how = values_of(options, "threshold", "min_size")
    how |= {"batch_axes": batch, "largest": options.top, "listed": options.top or 1}
    asked = values_of(options, "background", "connectivity") | {"periodic": axes[batch:]}
    arguments = Arguments(asked, **how)
    chosen = values_of(options, "key", "channel", "memory", "scheduler")
    with stage("labelling", counts=True) as progress:
        chosen["progress"] = lambda done, total: progress(done * size // total, size)
        counts = label_volume(options.input, options.output, arguments, **chosen)
    assert counts.summary is not None
    found = stream.facts_of(counts.summary, shape[:batch])
    found["kept"] = {"components": counts.kept, "elements": counts.elements}
    found["scheduler"] = options.scheduler
    found["memory"] = {"peak": peak_memory(), "limit": options.memory}
    of_file = Axes(names, list(range(batch)), axes)
    return stream.report_of(options, stage, shape, dtype, of_file, **found)


def _check_output(options: Options) -> None:
    output = options.output
    if output is None:
        raise click.UsageError("-o must say where the labels of a volume in chunks go.")
    if output.suffix.lower() not in (".zarr", ".npy") and not is_within_zarr(output):
        places = ".zarr, .npy or IMAGE.zarr/labels/NAME"
        raise click.UsageError(f"labels of volumes in chunks go to {places}.")


@dataclass(frozen=True, kw_only=True)
class PlanOptions(Common):
    """The options of ``conncomp plan``.

    --key NAME  Which array of a group of Zarr, or dataset of HDF5.
    --channel N  Which channel of OME-Zarr.
    --threshold VALUE  Foreground is what lies above VALUE.
    --memory SIZE  The most memory that the command conncomp label may take, such as 8G.
    """

    input: Path = argument("IN", type=ANY_PATH)
    key: str | None
    channel: Natural | None
    threshold: of_label.Threshold | None
    join_time: bool
    background: of_label.Background
    connectivity: Positive | None
    memory: Bytes | None


@command(PlanOptions)
def plan(options: PlanOptions) -> None:
    """Tell beforehand how much memory, disk and time labels of the volume IN will take.

    IN is Zarr, OME-Zarr, HDF5, TIFF, .npy or a folder of slices, as for `conncomp label` with
    labels in Zarr. A few blocks of it are labelled to a temporary folder, to know.
    """
    # Slow, and not for the help.
    from conncomp.chunked.volumes.labelling import opened
    from conncomp.chunked.volumes.plan import plan_labels

    path, background, threshold = options.input, options.background, options.threshold
    check_is_number(threshold)
    check_background(threshold, background)
    stage = Stages()
    with opened(path, options.key, options.channel) as volume, naming(path):
        axes, batch = volume.axes, batch_axes_of(volume.axes, volume.shape, options.join_time)
    with stage("labelling some blocks"):
        names = "background", "connectivity", "threshold", "key", "channel", "memory"
        found = plan_labels(path, batch_axes=batch, **values_of(options, *names))
    report: dict[str, Any] = {"input": {"path": path, "shape": found.shape, "dtype": found.dtype}}
    report |= {"axes": axes, "separate": list(range(batch))}
    report |= {"background": finite(background), "threshold": threshold}
    report |= {k: value for k, value in asdict(found).items() if k not in ("shape", "dtype")}
    report |= {"limit": options.memory, "planning_seconds": sum(stage.seconds.values())}
    block = " x ".join(map(str, found.block_shape))
    rows: list[_report.Row] = [
        *rows_of_input(report),
        ("blocks", f"{found.blocks:,} of {block}, {found.threads} at once"),
        ("memory", f"{in_words(found.process)}, of which labelling adds {in_words(found.memory)}"),
        ("time", _time_in_words(found.seconds)),
        ("labels", in_words(found.labels)),
        ("meanwhile", f"{in_words(found.kept)} more on the disk"),
        ("known from", f"{found.sampled:,} of {found.blocks:,} blocks"),
    ]
    _report.show(report, rows, as_json=options.as_json)


def _time_in_words(seconds: float) -> str:
    """Return a time in words.

    >>> _time_in_words(0.42), _time_in_words(100), _time_in_words(1e4)
    ('0.42 s', '1.7 min', '2.8 h')
    """
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.2g} s"
