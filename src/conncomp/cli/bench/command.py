"""``conncomp bench``."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

import conncomp
from conncomp._memory import available_memory
from conncomp._optional import optional
from conncomp._progress import progress_display
from conncomp.bench.devices import DEVICES, DeviceName
from conncomp.bench.inputs import SIZES, Input, check_memory, in_bytes
from conncomp.bench.peers import TABLES, Contender, algorithms, peers, variants
from conncomp.bench.runner import measure
from conncomp.bench.suites import SUITES, Kind
from conncomp.bench.suites.graphs import find_published
from conncomp.cli._options import threads_option
from conncomp.cli._output import output_file
from conncomp.cli._report import Row, show
from conncomp.cli._rules import Command, needs, no_effect
from conncomp.cli.bench.paper import paper
from conncomp.cli.bench.report import compare, report

# Where one algorithm takes milliseconds, another one takes minutes.
LIMIT = 2.0
RULES = (
    needs("--transfers", "--device cuda"),
    no_effect(
        "has no effect with --list, which measures nothing; leave one out",
        lambda given: given["only_list"],
        *("--algorithm", "--option", "--peers", "--transfers", "--limit", "--threads", "--output"),
    ),
)


@click.group(no_args_is_help=False)
def bench() -> None:
    """Measure how fast components are found.

    In the tables, "/ floor" is the time over that of a copy of the bytes that must move at least
    once, and "NAME /" is the time of another library over that of the algorithm. "graph ms" is the
    time on a GPU as a captured CUDA graph, without the launches; only small inputs have one. What
    takes longer than a second is measured once.
    """


for subcommand in (compare, paper, report):
    bench.add_command(subcommand)


def _parse_values(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> dict[str, list[str]]:
    """Return the values asked for, as they are written, by the names of options."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", context, option)
        if value not in values.setdefault(name, []):
            values[name].append(value)
    return values


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that both kinds share."""
    for option in reversed(
        (
            click.option(
                "--suite", "suites", metavar="NAME", multiple=True, help="Default: all suites."
            ),
            click.option(
                "--input", "inputs", metavar="NAME", multiple=True, help="Default: the whole suite."
            ),
            click.option(
                "--algorithm",
                "algorithms",
                metavar="NAME",
                multiple=True,
                help="An algorithm of conncomp, or another library. Default: all of conncomp's.",
            ),
            click.option(
                "--option",
                "values",
                metavar="NAME=VALUE",
                multiple=True,
                callback=_parse_values,
                help="A value for the option of algorithms, such as init=1 or block=16x16; may be "
                "repeated. Each combination is measured on its own.",
            ),
            click.option("--peers", is_flag=True, help="Measure other libraries too."),
            click.option(
                "--device",
                type=click.Choice(list(DEVICES)),
                default="cpu",
                show_default=True,
                help="Where to measure; with cuda, data are in the memory of the GPU already.",
            ),
            threads_option,
            click.option(
                "--size",
                metavar="[small|medium|full]",
                type=click.Choice(SIZES),
                default="small",
                show_default=True,
                help="full is the size that was published.",
            ),
            click.option(
                "--transfers",
                is_flag=True,
                help="With --device cuda: time the copies of the input to the GPU and of the "
                "labels from it, too.",
            ),
            click.option(
                "--limit",
                metavar="SECONDS",
                type=click.FloatRange(min=0, min_open=True),
                help="Give up an algorithm that sweeps until nothing changes on an input that "
                f"takes it longer.  [default: {LIMIT:g}]",
            ),
            click.option(
                "--data",
                metavar="DIR",
                type=click.Path(exists=True, file_okay=False, path_type=Path),
                help="A folder of published graphs, such as amazon0601.txt.gz or europa_osm.mtx, "
                "which are used, at any size, in place of their stand-ins.",
            ),
            click.option(
                "-o",
                "--output",
                metavar="RESULT.json",
                callback=output_file(".json"),
                help="Write the result: the file grows after each input.",
            ),
            click.option(
                "--list", "only_list", is_flag=True, help="List suites and inputs, and stop."
            ),
        )
    ):
        command = option(command)
    return command


@bench.command(cls=Command, rules=RULES)
@_options
def graph(**options: Any) -> None:
    """Measure the components of graphs.

    Every answer is compared with SciPy's first, and only right ones are timed. Graphs are given as
    compressed sparse rows, and to auto-list as a list: all edges and then their opposites, from
    the arrays to the labels.
    """
    _bench("graph", **options)


@bench.command(cls=Command, rules=RULES)
@_options
def strong(**options: Any) -> None:
    """Measure the strong components of directed graphs.

    Every answer is compared with SciPy's first, and only right ones are timed. Graphs are given as
    compressed sparse rows, and to auto-list as a list: all arcs in any order, from the arrays to
    the labels.
    """
    _bench("strong", **options)


@bench.command(cls=Command, rules=RULES)
@_options
def grid(**options: Any) -> None:
    """Measure the labelling of images and volumes.

    Every answer is compared with scikit-image's first, and only right ones are timed.
    """
    _bench("grid", **options)


def _bench(
    kind: Kind,
    suites: Sequence[str],
    inputs: Sequence[str],
    algorithms: Sequence[str],
    values: Mapping[str, Sequence[str]],
    peers: bool,
    device: DeviceName,
    size: str,
    transfers: bool,
    limit: float | None,
    data: Path | None,
    output: Path | None,
    only_list: bool,
) -> None:
    chosen = _choose_inputs(kind, suites, inputs, size, data)
    if data is not None and not any(find_published(data, entry.name) for _, entry in chosen):
        raise click.UsageError(f"--data: none of the inputs is in {data}; leave it out.")
    try:
        where = DEVICES[device]()
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    gpu_free = where.free_memory()
    if only_list:
        free = available_memory()
        facts = [("size", size), ("memory available", in_bytes(free) if free else "unknown")]
        if gpu_free is not None:
            facts.append(("on the GPU", in_bytes(gpu_free)))
        show({}, facts, _list(chosen, gpu_free is not None), as_json=False, names=5)
        return
    contenders = _choose_contenders(kind, device, algorithms, values, peers)
    if kind == "grid":
        optional("skimage.measure", "a check of labels", "bench")
    check_memory((entry for _, entry in chosen), gpu_free)
    result: dict[str, Any] = {"rows": []}
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    try:
        with progress_display(*columns) as progress:
            task = progress.add_task("copy rate", total=len(chosen) * (2 + len(contenders)))
            done = 0

            def notify(step: str) -> None:
                nonlocal done
                progress.update(task, description=step, completed=done)
                done += 1

            for result in measure(
                kind,
                chosen,
                contenders,
                size=size,
                threads=conncomp.get_num_threads(),
                device=where,
                transfers=transfers,
                limit=LIMIT if limit is None else limit,
                output=output,
                notify=notify,
            ):
                done = len(result["rows"]) * (2 + len(contenders))
    finally:  # after an interrupt, too
        if result["rows"]:
            tables = _table(result), _transfers_table(result)
            show({}, _summary(result, output), *tables, as_json=False, names=2)


def _choose_inputs(
    kind: Kind, suites: Sequence[str], inputs: Sequence[str], size: str, data: Path | None
) -> list[tuple[str, Input]]:
    """Return the inputs asked for, each with the name of its suite."""
    _check_names("--suite", suites, SUITES[kind])
    entries = [
        (suite, entry)
        for suite, make in SUITES[kind].items()
        if suite in suites or not suites
        for entry in make(size, data)
    ]
    _check_names("--input", inputs, dict.fromkeys(entry.name for _, entry in entries))
    return [(suite, entry) for suite, entry in entries if entry.name in inputs or not inputs]


def _choose_contenders(
    kind: Kind,
    device: DeviceName,
    names: Sequence[str],
    values: Mapping[str, Sequence[str]],
    with_peers: bool,
) -> list[Contender]:
    """Return the algorithms and libraries asked for; say which libraries are not installed."""
    own, libraries = algorithms(kind, device), peers(kind, device)
    _check_names("--algorithm", names, (*own, *libraries))
    chosen = [own[name] for name in own if name in names or not names]
    if values:
        chosen = _with_options(kind, device, chosen, values)
    missing = []
    for name, peer in libraries.items():
        if not with_peers and name not in names:
            continue
        try:
            chosen.append(peer(conncomp.get_num_threads()))
        except ImportError:
            missing.append(name)
    if not chosen:
        problem = f"not installed: {', '.join(missing)}"
        raise click.ClickException(problem if missing else f"there is no algorithm for {device}")
    if missing:
        click.echo(f"conncomp: not installed, skipped: {', '.join(missing)}", err=True)
    return chosen


def _with_options(
    kind: Kind,
    device: DeviceName,
    chosen: Sequence[Contender],
    values: Mapping[str, Sequence[str]],
) -> list[Contender]:
    """Return, of each algorithm, all combinations of values of those options that it has."""
    in_table = {
        contender.name: TABLES[kind][device][contender.name]
        for contender in chosen
        if contender.name in TABLES[kind][device]
    }
    there_are = {name: None for algorithm in in_table.values() for name in algorithm.options}
    for name in values:
        if name not in there_are:
            known = f"there are {', '.join(there_are)}" if there_are else "there are none"
            raise click.UsageError(f"--option: no chosen algorithm has {name!r}; {known}.")
    made: list[Contender] = []
    for contender in chosen:
        options = in_table[contender.name].options if contender.name in in_table else {}
        picked = {
            name: [_choice(contender.name, name, text, choices) for text in values[name]]
            for name, choices in options.items()
            if name in values
        }
        made += variants(kind, device, contender.name, picked) if picked else [contender]
    return made


def _choice(algorithm: str, name: str, text: str, choices: Sequence[Any]) -> Any:
    """Return the choice for an option that is written so: None as none, a shape as 32x8."""
    written = {
        "x".join(map(str, choice)) if isinstance(choice, tuple) else str(choice).lower(): choice
        for choice in choices
    }
    if text.lower() not in written:
        known = ", ".join(written)
        raise click.UsageError(
            f"--option: {name}={text} is no choice of {algorithm!r}; there are {known}."
        )
    return written[text.lower()]


def _check_names(option: str, names: Iterable[str], there_are: Iterable[str]) -> None:
    known = tuple(there_are)
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option}: there is no {name!r}; there are {', '.join(known)}.")


def _list(entries: Sequence[tuple[str, Input]], on_gpu: bool) -> list[Row]:
    rows = [
        (
            suite,
            entry.name,
            in_bytes(entry.num_bytes),
            *([in_bytes(entry.gpu_bytes)] if on_gpu else []),
            entry.description + (" (stand-in)" if entry.stand_in else ""),
        )
        for suite, entry in entries
    ]
    return [
        ("suite", "input", "memory", *(["on the GPU"] if on_gpu else []), "description"),
        *rows,
    ]


def _summary(result: dict[str, Any], output: Path | None) -> list[Row]:
    machine, threads = result["machine"], result["threads"]
    rate = in_bytes(result["copy_bytes_per_second"])
    rows: list[Row] = [("machine", f"{machine['cpu']}, {machine['cores']} cores")]
    if gpu := machine.get("gpu"):
        cuda = f"CUDA {gpu['runtime']}, driver for CUDA {gpu['driver']}"
        rows.append(("GPU", f"{gpu['name']}, {in_bytes(gpu['memory_bytes'])}, {cuda}"))
    if result["kind"] != "grid":
        names = {run["name"] for row in result["rows"] for run in row["runs"]}
        listed = "; to auto-list as a list of edges" if "auto-list" in names else ""
        rows.append(("graphs", "as rows" + listed))
    rows += [
        ("threads", str(threads)),
        ("copy rate", f"{rate}/s, read and written"),
        ("versions", ", ".join(" ".join(pair) for pair in result["versions"].items())),
    ]
    return [*rows, ("result", str(output))] if output else rows


def _table(result: dict[str, Any]) -> list[Row]:
    """Return a row for each input and algorithm of ours, or library if there are only those.

    Columns of libraries tell how many times as long they take.
    """
    things = "elements" if result["kind"] == "grid" else "arcs"
    runs = [(row, run) for row in result["rows"] for run in row["runs"]]
    libraries = list(dict.fromkeys(run["name"] for _, run in runs if run["kind"] == "peer"))
    shown = [(row, run) for row, run in runs if run["kind"] == "ours"] or runs
    captured = any("captured" in run for _, run in runs)
    header = ("input", "algorithm", "ms", "quartiles", f"M{things}/s", "/ floor")
    as_graph = ("graph ms", "/ floor") if captured else ()
    return [
        (*header, *as_graph, *(f"{name} /" for name in libraries)),
        *(
            _line(row, run, row[things], libraries, captured, result["copy_bytes_per_second"])
            for row, run in shown
        ),
    ]


def _line(
    row: dict[str, Any],
    run: dict[str, Any],
    count: int,
    libraries: Sequence[str],
    captured: bool,
    copy_rate: float,
) -> Row:
    """Return the cells on a run: its figures, and how those of peers compare."""
    name = f"{row['suite']}/{row['input']}" + (" *" if row["stand_in"] else "")
    if run["status"] != "ok":
        return name, run["name"], run["status"], str(run["reason"])
    median, spread = statistics.median(run["seconds"]), "measured once"
    if len(run["seconds"]) > 1:
        low, _, high = statistics.quantiles(run["seconds"], method="inclusive")
        spread = f"{1e3 * low:.3g} to {1e3 * high:.3g}"
    copies = copy_rate / row["floor_bytes"]
    as_graph: Row = ()
    if captured:
        as_graph = ("failed", "") if "captured" in run else ("", "")
        if run.get("captured"):
            replayed = statistics.median(run["captured"])
            as_graph = (f"{1e3 * replayed:.3g}", f"{replayed * copies:.3g}")
    return (
        name,
        run["name"],
        f"{1e3 * median:.3g}",
        spread,
        f"{count / median / 1e6:,.3g}",
        f"{median * copies:.3g}",
        *as_graph,
        *(_ratio(row, name, median) for name in libraries),
    )


def _ratio(row: dict[str, Any], name: str, median: float) -> str:
    for run in row["runs"]:
        if run["name"] == name:
            if run["status"] != "ok":
                return str(run["status"])
            return f"{statistics.median(run['seconds']) / median:.3g}"
    return ""


def _transfers_table(result: dict[str, Any]) -> list[Row]:
    """Return a row for each input whose ways to the GPU and back were timed."""
    rows = []
    for row in result["rows"]:
        if ways := row.get("transfers"):
            medians = (statistics.median(ways[way]) for way in ("to_device", "to_host"))
            name = f"{row['suite']}/{row['input']}"
            rows.append((name, *(f"{1e3 * median:.3g}" for median in medians)))
    return [("input", "ms to the GPU", "labels' ms back"), *rows] if rows else []
