"""``conncomp bench``."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click

import conncomp
from conncomp._memory import available_memory
from conncomp._optional import optional
from conncomp._terminal import counting
from conncomp.bench.devices import DEVICES, DeviceName
from conncomp.bench.inputs import SIZES, Input, check_memory, in_bytes
from conncomp.bench.peers import TABLES, Contender, algorithms, peers, variants
from conncomp.bench.runner import measure
from conncomp.bench.suites import SUITES, Problem
from conncomp.bench.suites.graphs import find_published
from conncomp.cli._options import Threads, option, values_of
from conncomp.cli._output import output_file
from conncomp.cli._report import Row, show
from conncomp.cli._rules import command, needs, no_effect
from conncomp.cli.bench import report

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


def _parse_values(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> Any:
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", context, option)
        if value not in values.setdefault(name, []):
            values[name].append(value)
    return values


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the commands that measure.

    --suite NAME  Default: all suites.
    --input NAME  Default: the whole suite.
    --algorithm NAME  An algorithm of conncomp, or another library. Default: all of conncomp's.
    --option NAME=VALUE  A value for the option of algorithms, such as init=1 or block=16x16; may be
        repeated. Each combination is measured on its own.
    --peers  Measure other libraries too.
    --device  Where to measure; with cuda, data are in the memory of the GPU already.
    --size [small|medium|full]  full is the size that was published.
    --transfers  With --device cuda: time the copies of the input to the GPU and of the labels from
        it, too.
    --limit SECONDS  Give up an algorithm that sweeps until nothing changes on an input that takes
        it longer.
    --data DIR  A folder of published graphs, such as amazon0601.txt.gz or europa_osm.mtx, which are
        used, at any size, in place of their stand-ins.
    --output RESULT.json  Write the result: the file grows after each input.
    --list  List suites and inputs, and stop.
    """

    suite: tuple[str, ...]
    input: tuple[str, ...]
    algorithm: tuple[str, ...]
    values: Any = option("--option", type=str, multiple=True, callback=_parse_values)
    peers: bool
    device: DeviceName = "cpu"
    threads: Threads | None
    size: Annotated[str, click.Choice(SIZES)] = "small"
    transfers: bool
    # Where one algorithm takes milliseconds, another one takes minutes.
    limit: float = option(type=click.FloatRange(min=0, min_open=True), default=2)
    data: Path | None = option(type=click.Path(exists=True, file_okay=False, path_type=Path))
    output: Path | None = option(type=output_file(".json"))
    only_list: bool = option("--list")


@command(Options, *RULES)
def graph(options: Options) -> None:
    """Measure the components of graphs.

    Every answer is compared with SciPy's first, and only right ones are timed. Graphs are given as
    compressed sparse rows, and to auto-list as a list: all edges and then their opposites, from
    the arrays to the labels.
    """
    _bench("graph", options)


@command(Options, *RULES)
def strong(options: Options) -> None:
    """Measure the strong components of directed graphs.

    Every answer is compared with SciPy's first, and only right ones are timed. Graphs are given as
    compressed sparse rows, and to auto-list as a list: all arcs in any order, from the arrays to
    the labels.
    """
    _bench("strong", options)


@command(Options, *RULES)
def grid(options: Options) -> None:
    """Measure the labelling of images and volumes.

    Every answer is compared with scikit-image's first, and only right ones are timed.
    """
    _bench("grid", options)


for subcommand in (report.compare, graph, grid, report.paper, report.report, strong):
    bench.add_command(subcommand)


def _bench(kind: Problem, options: Options) -> None:
    data, chosen = options.data, _choose_inputs(kind, options)
    if data is not None and not any(find_published(data, entry.name) for _, entry in chosen):
        raise click.UsageError(f"--data: none of the inputs is in {data}; leave it out.")
    try:
        where = DEVICES[options.device]()
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    gpu_free = where.free_memory()
    if options.only_list:
        free = available_memory()
        memory = in_bytes(free) if free else "unknown"
        facts = [("size", options.size), ("memory available", memory)]
        if gpu_free is not None:
            facts.append(("on the GPU", in_bytes(gpu_free)))
        show({}, facts, _list(chosen, gpu_free is not None), as_json=False, names=5)
        return
    contenders = _choose_contenders(kind, options)
    if kind == "grid":
        optional("skimage.measure", "a check of labels", "bench")
    check_memory((entry for _, entry in chosen), gpu_free)
    result: dict[str, Any] = {"rows": []}
    steps, done = 2 + len(contenders), 0
    try:
        with counting("copy rate") as count:

            def notify(step: str) -> None:
                nonlocal done
                count(done, len(chosen) * steps, description=step)
                done += 1

            how = values_of(options, "size", "transfers", "limit", "output")
            how |= {"threads": conncomp.get_num_threads(), "device": where, "notify": notify}
            for result in measure(kind, chosen, contenders, **how):
                done = len(result["rows"]) * steps
    finally:  # after an interrupt, too
        if result["rows"]:
            tables = _table(result), _transfers_table(result)
            show({}, _summary(result, options.output), *tables, as_json=False, names=2)


def _choose_inputs(kind: Problem, options: Options) -> list[tuple[str, Input]]:
    suites, inputs = options.suite, options.input
    _check_names("--suite", suites, SUITES[kind])
    makes = {name: make for name, make in SUITES[kind].items() if name in suites or not suites}
    made = ((suite, make(options.size, options.data)) for suite, make in makes.items())
    entries = [(suite, entry) for suite, several in made for entry in several]
    _check_names("--input", inputs, dict.fromkeys(entry.name for _, entry in entries))
    return [(suite, entry) for suite, entry in entries if entry.name in inputs or not inputs]


def _choose_contenders(kind: Problem, options: Options) -> list[Contender]:
    device, names = options.device, options.algorithm
    own, libraries = algorithms(kind, device), peers(kind, device)
    _check_names("--algorithm", names, (*own, *libraries))
    chosen = [own[name] for name in own if name in names or not names]
    if options.values:
        chosen = _with_options(kind, device, chosen, options.values)
    missing = []
    for name in [name for name in libraries if options.peers or name in names]:
        try:
            chosen.append(libraries[name](conncomp.get_num_threads()))
        except ImportError:
            missing.append(name)
    if not chosen:
        problem = f"not installed: {', '.join(missing)}"
        raise click.ClickException(problem if missing else f"there is no algorithm for {device}")
    if missing:
        click.echo(f"conncomp: not installed, skipped: {', '.join(missing)}", err=True)
    return chosen


def _with_options(
    kind: Problem,
    device: DeviceName,
    chosen: Sequence[Contender],
    values: Mapping[str, Sequence[str]],
) -> list[Contender]:
    table = TABLES[kind][device]
    known = {each.name: table[each.name].options for each in chosen if each.name in table}
    there_are = dict.fromkeys(name for options in known.values() for name in options)
    for name in values:
        if name not in there_are:
            names = f"there are {', '.join(there_are)}" if there_are else "there are none"
            raise click.UsageError(f"--option: no chosen algorithm has {name!r}; {names}.")
    contenders: list[Contender] = []
    for contender in chosen:
        algorithm, options = contender.name, known.get(contender.name, {})
        picked = {
            name: [_choice(algorithm, name, text, options[name]) for text in values[name]]
            for name in options
            if name in values
        }
        contenders += variants(kind, device, algorithm, picked) if picked else [contender]
    return contenders


def _choice(algorithm: str, name: str, text: str, choices: Sequence[Any]) -> Any:
    """Return the choice for an option's text: None is written none, a shape 32x8."""
    names = ("x".join(map(str, c)) if isinstance(c, tuple) else str(c).lower() for c in choices)
    written = dict(zip(names, choices, strict=True))
    if text.lower() not in written:
        problem = f"{name}={text} is no choice of {algorithm!r}; there are {', '.join(written)}."
        raise click.UsageError(f"--option: {problem}")
    return written[text.lower()]


def _check_names(option: str, names: Iterable[str], there_are: Iterable[str]) -> None:
    known = tuple(there_are)
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option}: there is no {name!r}; there are {', '.join(known)}.")


def _list(entries: Sequence[tuple[str, Input]], on_gpu: bool) -> list[Row]:
    columns = ["memory", "on the GPU"][: 1 + on_gpu]
    rows: list[Row] = [("suite", "input", *columns, "description")]
    for suite, entry in entries:
        sizes = map(in_bytes, (entry.num_bytes, entry.gpu_bytes)[: len(columns)])
        about = entry.description + (" (stand-in)" if entry.stand_in else "")
        rows.append((suite, entry.name, *sizes, about))
    return rows


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
    rows += [("threads", str(threads)), ("copy rate", f"{rate}/s, read and written")]
    rows.append(("versions", ", ".join(map(" ".join, result["versions"].items()))))
    return [*rows, ("result", str(output))] if output else rows


def _table(result: dict[str, Any]) -> list[Row]:
    """Return rows of our algorithms, or else libraries, beside others' times."""
    things = "elements" if result["kind"] == "grid" else "arcs"
    runs = [(row, run) for row in result["rows"] for run in row["runs"]]
    libraries = list(dict.fromkeys(run["name"] for _, run in runs if run["kind"] == "peer"))
    shown = [(row, run) for row, run in runs if run["kind"] == "ours"] or runs
    header = ("input", "algorithm", "ms", "quartiles", f"M{things}/s", "/ floor")
    as_graph = ("graph ms", "/ floor") if any("captured" in run for _, run in runs) else ()
    lines: list[Row] = [(*header, *as_graph, *(f"{name} /" for name in libraries))]
    for row, run in shown:
        name = f"{row['suite']}/{row['input']}" + (" *" if row["stand_in"] else "")
        if run["status"] != "ok":
            lines.append((name, run["name"], run["status"], str(run["reason"])))
            continue
        median, copies = _median(run), result["copy_bytes_per_second"] / row["floor_bytes"]
        cells: Row = name, run["name"], f"{1e3 * median:.3g}", _spread(run["seconds"])
        cells += f"{row[things] / median / 1e6:,.3g}", f"{median * copies:.3g}"
        others = {other["name"]: other for other in row["runs"]}
        ratios = (_ratio(others.get(library), median) for library in libraries)
        lines.append((*cells, *_as_graph(run, copies)[: len(as_graph)], *ratios))
    return lines


def _median(run: dict[str, Any], times: str = "seconds") -> float:
    return float(statistics.median(run[times]))


def _spread(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "measured once"
    low, _, high = statistics.quantiles(seconds, method="inclusive")
    return f"{1e3 * low:.3g} to {1e3 * high:.3g}"


def _as_graph(run: dict[str, Any], copies: float) -> Row:
    if not run.get("captured"):
        return "failed" if "captured" in run else "", ""
    replayed = _median(run, "captured")
    return f"{1e3 * replayed:.3g}", f"{replayed * copies:.3g}"


def _ratio(run: dict[str, Any] | None, median: float) -> str:
    if run is None:
        return ""
    return f"{_median(run) / median:.3g}" if run["status"] == "ok" else str(run["status"])


def _transfers_table(result: dict[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for row in result["rows"]:
        if ways := row.get("transfers"):
            medians = (f"{1e3 * _median(ways, way):.3g}" for way in ("to_device", "to_host"))
            rows.append((f"{row['suite']}/{row['input']}", *medians))
    return [("input", "ms to the GPU", "labels' ms back"), *rows] if rows else []
