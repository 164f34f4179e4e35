"""Fig. 17: the geometric means of programs on GPUs and on CPUs."""

from pathlib import Path
from typing import Any

import conncomp
from reproductions.claims import Claim
from reproductions.ecl_cc_2018.laboratory import Laboratory, Measured, on_threads
from reproductions.ecl_cc_2018.published import SOURCE, TABLE_5, claim, listed, mean_ratio
from reproductions.ecl_cc_2018.runtimes import SERIAL_XEON, TITAN, XEON, codes_of
from reproductions.paper import Findings
from reproductions.published import Column

OF_PAPER = ("ecl", "soman")  # what is measured of its programs on a GPU


def measure(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    """Measure the geometric means over all graphs, relative to "ecl" on the fastest device."""
    measured = laboratory.graphs(checkpoint)
    most = conncomp.get_num_threads()
    of_gpu = codes_of(TITAN) if laboratory.on_gpu else []
    devices = {
        "GPU": of_gpu,
        "parallel CPU": [on_threads(name, most) for name in ("ecl", "auto")],
        "serial CPU": [on_threads(name, 1) for name in ("ecl", "auto")],
    }
    if not laboratory.on_gpu:
        devices["parallel CPU"].append("networkit")
        devices["serial CPU"] += ["bfs", "recolouring", "scipy", "igraph", "networkit-serial"]
    base = _seconds(measured, "ecl")
    rows = [
        {
            "device": device,
            "code": code,
            "relative": mean,
            "graphs": sum(value is not None for value in _seconds(measured, code).values()),
        }
        for device, codes in devices.items()
        for code in codes
        if (mean := mean_ratio(_seconds(measured, code), base))
    ]
    titan_x = TABLE_5["ECL-CC"]
    of_paper = {"GPU": TITAN, "parallel CPU": XEON, "serial CPU": SERIAL_XEON}
    return {
        "rows": rows,
        "published": {
            "relative": {
                device: {code: mean_ratio(column, titan_x) for code, column in of.table.items()}
                for device, of in of_paper.items()
            },
            "machines": {device: of.machine for device, of in of_paper.items()},
            "source": SOURCE,
        },
        **measured.described(),
        "base": "ecl on the GPU" if laboratory.on_gpu else on_threads("ecl", most),
    }


def _seconds(measured: Measured, code: str) -> Column:
    return {row["input"]: row["seconds"].get(code) for row in measured.rows}


def draw(findings: Findings, canvas: Any) -> None:
    """Draw Fig. 17: here, and as it follows from the tables of the paper."""
    canvas.set_size_inches(11, 5)
    times_now = [(row["device"], row["code"], row["relative"]) for row in findings["rows"]]
    of_paper = [
        (device, code, mean)
        for device, means in findings["published"]["relative"].items()
        for code, mean in means.items()
    ]
    titles = (f"here, relative to {findings['base']}", "in 2018, relative to ECL-CC on the Titan X")
    colours = {"GPU": "C2", "parallel CPU": "C0", "serial CPU": "C1"}
    for axes, points, title in zip(
        canvas.subplots(1, 2, sharey=True), (times_now, of_paper), titles, strict=True
    ):
        for device in dict.fromkeys(point[0] for point in points):
            places = [k for k, point in enumerate(points) if point[0] == device]
            heights = [points[k][2] for k in places]
            axes.bar(places, heights, color=colours[device], label=device)
            for place, height in zip(places, heights, strict=True):
                axes.text(place, height, f"{height:.3g}", ha="center", va="bottom", fontsize=7)
        axes.axhline(1, color="k", linewidth=1)
        axes.set_yscale("log")
        axes.set_xticks(range(len(points)), [p[1] for p in points], rotation=90, fontsize="small")
        axes.set_title(title, fontsize="small")
        axes.set_ylabel("relative runtime")
        axes.grid(alpha=0.3, axis="y")
        axes.legend(fontsize="x-small", loc="upper left")


def claims(findings: Findings) -> list[Claim]:
    measured = {(row["device"], row["code"]): row["relative"] for row in findings["rows"]}
    of_paper = findings["published"]["relative"]
    on_gpu = ("GPU", "ecl") in measured
    said = [
        ("figure-17.parallel", of_paper["parallel CPU"]["ndHybrid"], "parallel CPU"),
        ("figure-17.serial", of_paper["serial CPU"]["Galois"], "serial CPU"),
    ]
    claims_told = []
    for key, of_table, device in said:
        words = f"not measured; their tables: {of_table:.3g}"
        of_device = {code: mean for (where, code), mean in measured.items() if where == device}
        if on_gpu and of_device:
            fastest = min(of_device, key=lambda code: of_device[code])
            words += f"; {fastest}, the fastest here: {of_device[fastest]:.3g}"
        claims_told.append(claim(key, words))
    parallel, galois = of_paper["parallel CPU"], of_paper["serial CPU"]["Galois"]
    slower = [code for code, mean in parallel.items() if mean > galois]
    claims_told.append(
        claim(
            "figure-17.slowest",
            f"not measured; their tables: {listed(slower)} are slower than Galois on one thread",
        )
    )
    fastest_of = {
        device: min((mean for (where, _), mean in measured.items() if where == device), default=0)
        for device in ("GPU", "parallel CPU", "serial CPU")
    }
    # Of the paper's programs; it has none that sweeps until nothing changes.
    slowest = max((mean for code in OF_PAPER if (mean := measured.get(("GPU", code)))), default=0)
    fastest = min(fastest_of["parallel CPU"], fastest_of["serial CPU"])
    claims_told.append(
        claim(
            "figure-17.gpus",
            f"the slower of {listed(OF_PAPER)}, both reproductions of ours: {slowest:.3g}, the "
            f"fastest CPU code {fastest:.3g}"
            if on_gpu
            else "not measured: without a GPU",
            fastest / slowest if on_gpu else None,
        )
    )
    return claims_told
