"""How "ecl" and the default gain from threads of the CPU, which section 5.3 tells of in words."""

from collections import Counter
from pathlib import Path
from typing import Any

from reproductions.claims import Claim
from reproductions.ecl_cc_2018.laboratory import Laboratory, on_threads, thread_counts
from reproductions.ecl_cc_2018.published import PUBLISHED, SOURCE, claim, geometric_mean
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import groups, legend, log_axes, ticks

ALGORITHMS = ("ecl", "auto")


def measure(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    measured, rows = laboratory.graphs(checkpoint), []
    for row in measured.rows:
        for algorithm in ALGORITHMS:
            alone = row["seconds"].get(on_threads(algorithm, 1))
            for threads in thread_counts():
                seconds = row["seconds"].get(on_threads(algorithm, threads))
                if alone and seconds:
                    rows.append(
                        {
                            "input": row["input"],
                            "arcs": row["arcs"],
                            "algorithm": algorithm,
                            "threads": threads,
                            "milliseconds": 1e3 * seconds,
                            "speed_up": alone / seconds,
                        }
                    )
    return {
        "rows": rows,
        "fits": {
            algorithm: {
                str(threads): geometric_mean(
                    row["speed_up"]
                    for row in rows
                    if (row["algorithm"], row["threads"]) == (algorithm, threads)
                )
                for threads in thread_counts()
            }
            for algorithm in ALGORITHMS
        },
        "published": {"threads": PUBLISHED["threads"], "source": SOURCE},
        **measured.described(),
    }


def draw(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "threads", "times as fast as on one thread")
    colours = dict(zip(ALGORITHMS, ("C0", "C1"), strict=True))
    for (algorithm, _), rows in _curves(findings["rows"]).items():
        axes.plot(
            [row["threads"] for row in rows],
            [row["speed_up"] for row in rows],
            color=colours[algorithm],
            linewidth=0.5,
            alpha=0.5,
        )
    for algorithm, means in findings["fits"].items():
        points = [(int(threads), mean) for threads, mean in means.items() if mean]
        axes.plot(*zip(*points, strict=True), "o-", color=colours[algorithm], label=algorithm)
    counts = [row["threads"] for row in findings["rows"]]
    axes.plot([1, max(counts)], [1, max(counts)], "k:", label="as many times as threads")
    ticks(axes, counts)
    legend(axes)


def _curves(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    return {
        (algorithm, graph): of_graph
        for algorithm, chosen in groups(rows, "algorithm").items()
        for graph, of_graph in groups(chosen, "input").items()
    }


def claims(findings: Findings) -> list[Claim]:
    best = {
        graph: min(rows, key=lambda row: float(row["milliseconds"]))
        for (algorithm, graph), rows in _curves(findings["rows"]).items()
        if algorithm == "ecl"
    }
    most = max((row["threads"] for row in findings["rows"]), default=1)
    if not best or most == 1:
        return [claim("thread-scaling.small", "one")]
    by_size = sorted(best.values(), key=lambda row: int(row["arcs"]))
    third = len(by_size) // 3 or 1
    fewest = Counter(row["threads"] for row in by_size[:third])
    largest = Counter(row["threads"] for row in by_size[-third:])
    return [
        claim(
            "thread-scaling.smallest",
            f"of up to {most} threads, best on the smallest third of the graphs: "
            + _counted(fewest),
            sum(number for threads, number in fewest.items() if threads < most) / third,
            most=most,
        ),
        claim(
            "thread-scaling.largest",
            f"of up to {most} threads, best on the largest third: {_counted(largest)}",
            largest[most] / third,
        ),
    ]


def _counted(best: Counter[int]) -> str:
    return ", ".join(f"{threads} on {number}" for threads, number in sorted(best.items()))
