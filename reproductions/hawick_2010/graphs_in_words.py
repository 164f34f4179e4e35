"""What the text says of Figs. 11 to 16, beside what is measured."""

from collections.abc import Callable, Sequence
from math import inf

from conncomp.bench.units import format_ratio, format_seconds
from reproductions.claims import Claim, share
from reproductions.hawick_2010.laboratory import (
    CPU,
    GRAPH_KERNELS,
    LIMIT,
    PUBLISHED,
    SMALL_WORLDS,
    claim,
    compare,
    crossover,
    times,
    words,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import groups

Say = Callable[[Findings], list[Claim]]

FIRST, SECOND, THIRD = GRAPH_KERNELS.values()

TEXTURE = 2**27  # arcs that one was as wide as


def fastest(rows: Sequence[Row], way: str, x: str, *, copies: bool = False) -> tuple[str, float]:
    """Say of how many graphs a way is the fastest of the paper's, and of which share."""
    of_ways = {name: times(rows, name, x, copies=copies) for name in (CPU, FIRST, SECOND, THIRD)}
    wins = 0
    for place, seconds in of_ways[way].items():
        wins += all(of.get(place, seconds) >= seconds for of in of_ways.values())
    total = len(of_ways[CPU])
    return f"for {wins} of {total} graphs", wins / total


def claims_of_figure(findings: Findings, of_cpu: Say, of_kernels: Say) -> list[Claim]:
    """Return what is said of the CPU, and of the kernels if they labelled all graphs but lines."""
    rows = findings["rows"]
    timed = [(row["way"], row["seconds"]) for row in rows if row["family"] != "Line"]
    measured = {row["way"] for row in rows}
    gave_up = (FIRST, None) in timed or (SECOND, None) in timed
    told = SECOND in measured and not gave_up
    return of_cpu(findings) + (of_kernels(findings) if told else [])


def claims_of_kernel_3(findings: Findings) -> list[Claim]:
    """Return what the captions say of Kernel 3 and every other kind of graph than lines."""
    rows, least = findings["rows"], inf
    given_up = 0
    for row in rows:
        if row["way"] == THIRD:
            best = min(
                other["seconds"]
                for other in rows
                if other["graph"] == row["graph"]
                and other["way"] in (CPU, FIRST, SECOND)
                and other["seconds"] is not None
            )
            given_up += row["seconds"] is None
            least = min(least, (row["seconds"] or LIMIT) / best)
    told = f"; {_given_up(rows)} for {given_up} graphs" if given_up else ""
    said = PUBLISHED["kernel-3"]
    families = groups([row for row in rows if row["way"] == THIRD], "family")
    return [
        claim("figures.kernel-3", f"at least {format_ratio(least)} times the fastest{told}", least),
        *(_seconds_of_kernel_3(family, of, said[family][1]) for family, of in families.items()),
    ]


def _given_up(rows: Sequence[Row]) -> str:
    """Return why there is no time for some rows of Kernel 3."""
    return next(str(r["reason"]) for r in rows if r["way"] == THIRD and r["seconds"] is None)


def _seconds_of_kernel_3(family: str, rows: Sequence[Row], said: float) -> Claim:
    """Return the claim of how long Kernel 3 takes for the slowest graph of a family."""
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
    longest = max(seconds, default=None)
    told = "given up for all" if longest is None else f"up to {format_seconds(longest)}"
    if longest is not None and len(seconds) < len(rows):
        told += f"; {_given_up(rows)} for {len(rows) - len(seconds)} of {len(rows)}"
        longest = None
    return claim("figures.kernel-3-seconds", told, longest, family=family, said=said)


def claims_of_disjoint_1(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    alone, copied = (fastest(rows, SECOND, "vertices", copies=copies) for copies in (False, True))
    of_second = list(times(rows, SECOND, "vertices", copies=True).items())
    jump = 1.0
    if len(of_second) > 2:
        (n1, t1), (n2, t2), (n3, t3) = of_second[-3:]
        jump = (t3 / t2 / (n3 / n2)) / max(t2 / t1 / (n2 / n1), 1e-9)
    return [
        claim("figure-11.kernel-2", f"Kernel 2 is fastest {alone[0]}", alone[1]),
        claim("figure-11.copies", f"Kernel 2 is fastest {copied[0]}", copied[1]),
        claim(
            "figure-11.jump",
            f"seconds a vertex grow by {format_ratio(jump)} times what they did before",
            jump,
        ),
        *claims_of_kernel_3(findings),
    ]


def claims_of_disjoint_2(findings: Findings) -> list[Claim]:
    rows, claims = findings["rows"], []
    degrees = {row["edges"]: row["degree"] for row in rows}
    for copies, key in ((False, "without_copies"), (True, "with_copies")):
        said = PUBLISHED["figure-12"][key]
        first, second = (times(rows, way, "edges", copies=copies) for way in (FIRST, SECOND))
        shared = sorted(first.keys() & second.keys())
        place = crossover(
            [degrees[m] for m in shared], [second[m] for m in shared], [first[m] for m in shared]
        )
        faster = [degrees[m] for m in shared if first[m] < second[m]]
        text = f"from a degree of {place:.0f} on" if place else "nowhere between"
        if not place and len(faster) == len(shared):
            text = "at every degree"
        nowhere = 0.0 if len(faster) == len(shared) else inf
        told = f"Kernel 1 is faster {text}"
        claims.append(claim(f"figure-12.{key}", told, place or nowhere, said=said))
    return [*claims, *claims_of_kernel_3(findings)]


def claims_of_disjoint_3(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    claims, ratios = [], {}
    for way in (CPU, FIRST, SECOND):
        values = list(times(rows, way, "components").values())
        ratios[way] = values[0] / values[-1], max(values) / min(values), values[-2] / values[-1]
    for way in (CPU, FIRST):
        claims.append(
            claim(
                "figure-13.many",
                f"with one component it takes {format_ratio(ratios[way][0])} times as long",
                ratios[way][0],
                because=words.reasons["arcs"] if way == CPU else None,
                way=way,
            )
        )
    of_first, of_second = ratios[FIRST], ratios[SECOND]
    claims.append(
        claim(
            "figure-13.less-affected",
            "slowest over fastest: " + compare({FIRST: of_first[1], SECOND: of_second[1]}),
            of_second[1] / of_first[1],
        )
    )
    claims.append(
        claim(
            "figure-13.gain",
            "gain there: " + compare({FIRST: of_first[2], SECOND: of_second[2]}),
            of_second[2] / of_first[2],
        )
    )
    return [*claims, *claims_of_kernel_3(findings)]


def claims_of_slopes(findings: Findings, family: str, ways: Sequence[str]) -> list[Claim]:
    """Return a claim for the published slope of each way for a family."""
    fitted = findings["fits"]["exponents"]
    claims = []
    for way in ways:
        said = PUBLISHED["slopes"][family][way]
        slope = fitted.get(f"{family}, {way}")
        claims.append(
            claim(
                "figures.slope",
                "too few points" if slope is None else f"{slope:.2f}",
                slope,
                because=words.reasons["first-graphs"] if way == CPU else None,
                way=way,
                said=said,
            )
        )
    return claims


def claims_of_lines_on_the_cpu(findings: Findings) -> list[Claim]:
    slowest = max(times(findings["rows"], CPU, "vertices").values())
    return [
        *claims_of_slopes(findings, "Line", [CPU]),
        claim("figure-14.cpu-seconds", f"at most {format_seconds(slowest)}", slowest),
    ]


def claims_of_lines(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    claims = claims_of_slopes(findings, "Line", [FIRST, SECOND, THIRD])
    of_cpu, of_third = times(rows, CPU, "vertices"), times(rows, THIRD, "vertices")
    factors, wins = [], []
    for way in (FIRST, SECOND, THIRD):
        for n, seconds in times(rows, way, "vertices").items():
            factors.append(seconds / of_cpu[n])
            if way != THIRD and n in of_third:
                wins.append(of_third[n] < seconds)
    claims.append(
        claim(
            "figure-14.cpu",
            f"kernels take {format_ratio(min(factors, default=None))} times the CPU at least",
            min(factors, default=None),
        )
    )
    claims.append(
        claim(
            "figure-14.kernel-3",
            f"faster in {sum(wins)} of {len(wins)} comparisons",
            share(wins),
        )
    )
    return claims


def claims_of_scale_free(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    claims = claims_of_slopes(findings, "Scale-free", [FIRST, SECOND])
    for way in (FIRST, SECOND):
        gains = []
        of_cpu = times(rows, CPU, "vertices", copies=True)
        for n, seconds in times(rows, way, "vertices", copies=True).items():
            gains.append(of_cpu[n] / seconds)
        claims.append(
            claim(
                "figure-15.faster",
                f"at least {format_ratio(min(gains, default=None))} times",
                min(gains, default=None),
                way=way,
            )
        )
    return [*claims, *claims_of_kernel_3(findings)]


def claims_of_small_worlds_on_the_cpu(findings: Findings) -> list[Claim]:
    of_cpu = _at_largest(findings["rows"], CPU)
    low, middle, high = (of_cpu[world] for world in SMALL_WORLDS)
    text = compare({world[5:]: of_cpu[world] for world in SMALL_WORLDS})
    return [claim("figure-16.cpu", f"ms: {text}", share([low < middle, middle < high]))]


def claims_of_small_worlds(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    at = {way: _at_largest(rows, way) for way in (FIRST, SECOND)}
    low, middle, high = SMALL_WORLDS
    texts = {way: compare({p[5:]: of.get(p) for p in SMALL_WORLDS}) for way, of in at.items()}
    of_first, of_second = at[FIRST], at[SECOND]
    alike = of_second[high] / of_second[low]
    wins = {
        world: fastest(of_world, SECOND, "vertices", copies=True)
        for world, of_world in groups(rows, "family").items()
    }
    most = max(2 * row["edges"] for row in rows if row["way"] == SECOND and row["seconds"])
    return [
        claim(
            "figure-16.kernel-1",
            f"ms: {texts[FIRST]}",
            share([of_first[low] > of_first[middle], of_first[middle] > of_first[high]]),
        ),
        claim("figure-16.kernel-2", f"ms: {texts[SECOND]}", of_second[middle] / of_second[low]),
        claim("figure-16.alike", f"{format_ratio(alike)} times", alike),
        claim(
            "figure-16.fastest",
            "; ".join(f"{world[5:]}: {win[0]}" for world, win in wins.items()),
            share(win[1] == 1 for win in wins.values()),
        ),
        claim("figure-16.arcs", f"it labels {most:,} arcs", most if most > TEXTURE else None),
        *claims_of_kernel_3(findings),
    ]


def _at_largest(rows: Sequence[Row], way: str) -> dict[str, float]:
    """Return the milliseconds of a way for the largest graph of each family."""
    milliseconds = {}
    for family, of_family in groups(rows, "family").items():
        values = list(times(of_family, way, "vertices").values())
        if values:
            milliseconds[family] = 1e3 * values[-1]
    return milliseconds
