"""``conncomp measure``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings

import click
import numpy as np

import conncomp
from conncomp._config import working_threads
from conncomp._core import asked
from conncomp._optional import optional
from conncomp._terminal import printable
from conncomp.chunked.volumes.job import GivenUpError
from conncomp.cli._errors import say
from conncomp.cli._picture import paint_labels
from conncomp.cli._report import Counter, Row, Stages, show, timing_row
from conncomp.cli._rules import command
from conncomp.cli.measure.inputs import OpenFiles, Source, sources_of
from conncomp.cli.measure.measuring import Measured, check_blocks, measure_image, measure_in_blocks
from conncomp.cli.measure.options import RULES, Options, check_intensities
from conncomp.cli.measure.tables import KeptTables, about_table, kept_tables, table_of, write_table

MOST_LISTED = 50  # files that could not be measured

Tables = dict[Source, Any]
Failures = dict[Source, str]


class Work(NamedTuple):
    """Options, kept tables and open files, which all images share."""

    options: Options
    kept: KeptTables
    files: OpenFiles


@command(Options, *RULES)
def measure(options: Options) -> None:
    """Measure the objects in images: from files to one table.

    IN are images or volumes, folders of them, or patterns in quotes, such as 'plate/*.tif'. The
    table has a row for each object: file, series, channel and label, then its columns. In names of
    other files {stem} is that of an image without its ending, {name} with it, {parent} its folder,
    {series} the number of the series. Where --resume goes on, what the command has written of
    another image is none of a folder or pattern.

    Voxel sizes of OME-TIFF, ImageJ, NIfTI, NRRD, MHA, HDF5 and OME-Zarr are used, and lengths are
    in their unit. Files that cannot be measured do not stop the others: they are named at the end,
    and the exit status is 1. What is done is kept in FILE.partial until all is.
    """
    check_intensities(options)
    check_blocks(options)
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.csv", *(["bioio"] * options.bioio)):
        optional(name)
    sources = sources_of(options)
    stage = Stages()
    with kept_tables(options) as kept:
        with stage("measuring", counts=True) as progress, catch_warnings(action="ignore"):
            tables, failures = _measure_all(sources, options, kept, progress)
        tables = _of_one_kind(tables, failures)
        failures = {source: failures[source] for source in sources if source in failures}
        if tables:
            with stage("writing"):
                write_table(options.output, list(tables.values()))
        if not failures:
            kept.remove()
    _show(options, tables, failures, stage)
    _name(failures, sources, options)


def _measure_all(
    sources: list[Source], options: Options, kept: KeptTables, progress: Counter
) -> tuple[Tables, Failures]:
    """Return the tables of images, in order, and why others have none."""
    tables: Tables = {}
    failures: Failures = {}
    sizes = {source: _size(source.path) for source in sources}
    done, total = 0, sum(sizes.values())

    def note(source: Source, result: Any) -> None:
        nonlocal done
        done += sizes[source]
        (failures if isinstance(result, str) else tables)[source] = result
        progress(done, total, f"{len(tables) + len(failures)} of {len(sources)} {_noun(options)}")

    threads = conncomp.get_num_threads()
    workers = 1 if options.memory is not None else min(options.workers or threads, len(sources))
    try:
        with closing(OpenFiles(sources, options.bioio)) as files:
            work = Work(options, kept, files)
            if workers == 1:
                for source in sources:
                    note(source, _measure_file(source, work, lambda: None))
            else:
                with working_threads(max(1, threads // workers)):
                    for source, result in _side_by_side(sources, work, workers):
                        note(source, result)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(tables)} of {len(sources)} {_noun(options)} are done, and kept in "
            f"{kept.folder}: --resume goes on"
        ) from None
    return {source: tables[source] for source in sources if source in tables}, failures


def _side_by_side(sources: list[Source], work: Work, workers: int) -> Iterator[tuple[Source, Any]]:
    ended = threading.Event()

    def check() -> None:
        if ended.is_set():
            raise GivenUpError

    pool = ThreadPoolExecutor(workers)
    try:
        futures: dict[Future[Any], Source] = {}
        for source in sources:
            futures[pool.submit(asked, check, _measure_file, source, work, check)] = source
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        ended.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _measure_file(source: Source, work: Work, check: Callable[[], None]) -> Any:
    """Return a file's table, or why there is none; raise what fails for all files."""
    check()
    try:
        return _table_of_file(source, work, check)
    finally:
        work.files.done(source)


def _table_of_file(source: Source, work: Work, check: Callable[[], None]) -> Any:
    options, kept, files = work
    try:
        str(source.path).encode()  # as tables hold it
    except UnicodeEncodeError:
        return "has a name that is not UTF-8, which tables cannot hold; rename it"
    try:
        place = kept.place(source)
        table = kept.get(place, source) if options.resume else None
        if table is not None:
            return table
        if options.memory is not None:
            measured = measure_in_blocks(source, options)
        else:
            measured = measure_image(source, options, files)
        check()
    except (ArithmeticError, ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        return _why(error, source.path)
    try:
        _write(source, measured)
    except (TypeError, ValueError) as error:  # the format cannot hold it
        return _why(error, source.path)
    table = table_of(source, measured, options)
    check()
    kept.put(place, source, table)
    return table


def _write(source: Source, measured: Measured) -> None:
    for path in filter(None, (source.labels, source.picture)):
        path.parent.mkdir(parents=True, exist_ok=True)
    if source.labels is not None:
        conncomp.write_image(source.labels, measured.labels, axes=measured.axes)
    if source.picture is not None:
        ahead = np.moveaxis(measured.labels, measured.separate, range(len(measured.separate)))
        paint_labels(source.picture, ahead, measured.scale.spacing)


def _why(error: BaseException, path: Path) -> str:
    if isinstance(error, OSError) and error.strerror:
        other = error.filename is not None and str(error.filename) != str(path)
        return f"{error.filename}: {error.strerror}" if other else error.strerror
    return (str(error) or type(error).__name__).removeprefix(f"{path}: ")


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _of_one_kind(tables: Tables, failures: Failures) -> Tables:
    """Return the tables with the axes and the unit of the first; others are failures."""
    ndim = unit = None
    for source, about in _abouts(tables).items():
        axes, length = len(about["spacing"]), about["unit"]
        ndim, unit = (axes, length) if ndim is None else (ndim, unit)
        if axes != ndim:
            failures[source] = (
                f"has objects of {axes} axes, and others of {ndim}; measure them apart, or planes "
                "of stacks with --planes"
            )
        elif length != unit:
            failures[source] = (
                f"is in {length or 'elements'}, and others are in {unit or 'elements'}; give "
                "--unit or --spacing"
            )
    return {source: table for source, table in tables.items() if source not in failures}


def _abouts(tables: Tables) -> dict[Source, dict[str, Any]]:
    return {source: about_table(table) for source, table in tables.items()}


def _show(options: Options, tables: Tables, failures: Failures, stage: Stages) -> None:
    abouts = _abouts(tables)
    objects = sum(about["objects"] for about in abouts.values())
    unit = next((about["unit"] for about in abouts.values()), "")
    reasons = {source: {"reason": reason} for source, reason in failures.items()}
    files, failed = (
        [{"path": source.path, "series": source.series} | facts for source, facts in each.items()]
        for each in (abouts, reasons)
    )
    report = {
        **{"files": files, "failed": failed, "objects": objects, "unit": unit},
        "seconds": stage.seconds,
        "threads": conncomp.get_num_threads(),
        "written": {"table": options.output if tables else None},
    }
    for source, about in abouts.items():
        if about["doubt"]:
            say(f"{source.path}: {about['doubt']}")
    others = f", and {len(failures):,} failed" if failures else ""
    axes = {
        about["axes"] + "".join(f", each {about['axes'][k]} alone" for k in about["separate"])
        for about in abouts.values()
        if about["axes"]
    }
    rows: list[Row] = [
        (_noun(options), f"{len(tables):,}{others}"),
        *([("axes", "; ".join(sorted(axes)))] if axes else []),
        ("objects", f"{objects:,}"),
        ("lengths", f"in {unit or 'elements'}"),
        timing_row(stage.seconds),
    ]
    if tables:
        rows.append(("table", str(options.output)))
    show(report, rows, as_json=options.as_json)


def _noun(options: Options) -> str:
    return "series" if options.series is None else "files"


def _name(failures: Failures, sources: list[Source], options: Options) -> None:
    if not failures:
        return
    kept = f"; the others are kept in {printable(str(options.kept_folder))} for --resume"
    kept = kept if len(failures) < len(sources) else ""
    for source, reason in list(failures.items())[:MOST_LISTED]:
        series = f", series {source.series}" if options.series is None else ""
        click.echo(f"conncomp: {printable(f'{source.path}{series}: {reason}')}", err=True)
    which = f"{len(failures)} of {len(sources)} {_noun(options)}"
    click.echo(f"conncomp: {which} could not be measured{kept}", err=True)
    raise SystemExit(1)
