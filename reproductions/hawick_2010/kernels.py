"""What Kernels 1 to 3 need and how they do: Table 1, blocks, rows of Kernel 2, rounds."""

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from conncomp.bench.units import format_ratio
from conncomp.diagnostics import kernel_times
from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE
from conncomp.kernels.cuda.launcher import COUNT, current_gpu
from conncomp.kernels.cuda.papers.hawick_graphs import (
    BFS,
    BY_EDGES,
    BY_VERTICES,
    ROWS,
    THREADS_OF_BLOCK,
)
from reproductions.claims import Claim, share
from reproductions.hawick_2010.graphs import FAMILIES, graphs_of, measure
from reproductions.hawick_2010.laboratory import (
    GRAPH_KERNELS,
    MACHINE,
    PUBLISHED,
    Kernel,
    Laboratory,
    claim,
    compare,
    times,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings, Show
from reproductions.pictures import bars, groups, legend, table

FIRST, SECOND, THIRD = GRAPH_KERNELS.values()
BLOCKS = {
    "small": (32, 64, 512),
    "paper": (32, 64, 128, 192, 256, 384, 512),
    "today": tuple(sorted(THREADS_OF_BLOCK)),
}
OF_TABLE = PUBLISHED["table-1"]
BLOCKS_OF_PAPER = dict(zip(GRAPH_KERNELS.values(), OF_TABLE["threads of a block"], strict=True))
# The first graph of each, which all kernels label soon.
OF_BLOCKS = ("Disjoint 2", "W-S, p = 0.1")
OF_ROWS = ("Disjoint 2", "Scale-free", "W-S, p = 1")


# ------------------------------------------------------------------------------------------- blocks


def blocks(laboratory: Laboratory) -> Findings:
    rows = []
    for family in OF_BLOCKS:
        entry = graphs_of(family, laboratory.size)[0]
        of_kernels = {
            f"{kernel}, {block}": (kernel, block, algorithm)
            for algorithm, kernel in GRAPH_KERNELS.items()
            for block in BLOCKS[laboratory.size]
        }
        ways = [
            Kernel("graph", algorithm, name, block=block)
            for name, (_, block, algorithm) in of_kernels.items()
        ]
        for row in laboratory.variants(entry, ways):
            kernel, block, _ = of_kernels[row["way"]]
            rows.append({**row, "way": kernel, "block": block})
    return {
        "rows": rows,
        "fits": {"best": best_blocks(rows)},
        "published": {"best": BLOCKS_OF_PAPER, "machine": MACHINE},
    }


def best_blocks(rows: Sequence[Row]) -> dict[str, int]:
    """Return for each kernel the block that is fastest on the mean of graphs, in ratios."""
    best = {}
    for kernel, of_kernel in groups(rows, "way").items():
        timed = [row for row in of_kernel if row["seconds"] is not None]
        by_block = groups(timed, "block")
        whole = max(map(len, by_block.values()), default=0)
        means = {
            int(block): statistics.geometric_mean(row["seconds"] for row in of_block)
            for block, of_block in by_block.items()
            if len(of_block) == whole
        }
        if means:
            best[kernel] = min(means, key=lambda block: means[block])
    return best


def draw_blocks(findings: Findings, canvas: Any) -> None:
    """Draw times against threads of a block, over those of the fastest."""
    axes = canvas.subplots()
    for (kernel, graph), rows in _by(findings["rows"], "way", "graph").items():
        points = times(rows, kernel, "block")
        if points:
            least = min(points.values())
            style = {"color": f"C{list(BLOCKS_OF_PAPER).index(kernel)}"}
            style["linestyle"] = "-" if graph.startswith("disjoint") else "--"
            values = [seconds / least for seconds in points.values()]
            axes.plot(list(points), values, marker="o", label=f"{kernel}, {graph}", **style)
    for k, (kernel, block) in enumerate(BLOCKS_OF_PAPER.items()):
        axes.axvline(block, color=f"C{k}", linestyle=":", label=f"Hawick 2010: {kernel}")
    axes.set(xlabel="threads of a block", ylabel="seconds over the least")
    axes.grid(alpha=0.3)
    legend(axes)


def claims_of_blocks(findings: Findings) -> list[Claim]:
    best, rows = findings["fits"]["best"], findings["rows"]
    claims = []
    for kernel, said in BLOCKS_OF_PAPER.items():
        costs = []
        for of_graph in groups(rows, "graph").values():
            points = times(of_graph, kernel, "block")
            if said in points:
                costs.append(points[said] / min(points.values()))
        fastest = best.get(kernel)
        cost = f"; {said} takes {format_ratio(max(costs))} times the least" if costs else ""
        claims.append(claim("table-1.block", f"{fastest}{cost}", fastest, kernel=kernel, said=said))
    return claims


def _by(rows: Sequence[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    by_names: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        by_names.setdefault(tuple(str(row[name]) for name in names), []).append(row)
    return by_names


# ------------------------------------------------------------------------------------------ Table 1

# What the driver of CuPy says of a compiled kernel, by what the paper calls it.
ATTRIBUTES = {
    "shared bytes a block": "shared_size_bytes",
    "registers a thread": "num_regs",
    "constant bytes": "const_size_bytes",
}


def resources(laboratory: Laboratory) -> Findings:
    """Find what each kernel needs: memory of the arrays that it takes, and what was compiled."""
    gpu, best = current_gpu(), blocks(laboratory)["fits"]["best"]
    entry = graphs_of(OF_BLOCKS[0], laboratory.size)[0]
    graph = laboratory.device.place(laboratory.data(entry))
    pointer, vertex = (array.dtype for array in (graph.indptr, graph.indices))
    index = np.dtype(np.int32)
    # Two frontiers of a byte each.
    of_vertex = pointer.itemsize + index.itemsize + 2
    counters = COUNT.itemsize * (1 + LAST_CHANGE[0])
    needs = {
        FIRST: (index.itemsize, 2 * vertex.itemsize, counters + COUNT.itemsize),
        SECOND: (of_vertex, vertex.itemsize, counters),
        THIRD: (of_vertex, vertex.itemsize, counters + COUNT.itemsize),
    }
    kernels = {
        FIRST: BY_EDGES.load(gpu, vertex, index),
        SECOND: BY_VERTICES.load(gpu, "cached", pointer, vertex, index),
        THIRD: BFS.load(gpu, pointer, vertex, index),
    }
    rows = []
    for kernel, (of_each, of_link, of_all) in needs.items():
        function = kernels[kernel][1].function
        attributes = {name: getattr(function, key, None) for name, key in ATTRIBUTES.items()}
        row: Row = {"way": kernel, "bytes a vertex": of_each, "bytes a link": of_link}
        row |= {"other bytes": of_all, **attributes, "threads of a block": best.get(kernel)}
        rows.append(row)
    return {"rows": rows, "fits": {}, "published": {**OF_TABLE, "machine": MACHINE}}


def draw_resources(findings: Findings, canvas: Any) -> None:
    rows, lines = findings["rows"], []
    header = ["", *(f"{row['way']}{of}" for row in rows for of in ("", ", Table 1"))]
    for need, of_paper in OF_TABLE.items():
        cells = [need]
        for row, said in zip(rows, of_paper, strict=True):
            cells += ["-" if row[need] is None else str(row[need]), str(said)]
        lines.append(cells)
    table(canvas, header, lines)


def claims_of_resources(findings: Findings) -> list[Claim]:
    claims = []
    for need in ("bytes a vertex", "bytes a link"):
        measured = [row[need] for row in findings["rows"]]
        said = OF_TABLE[need]
        claims.append(
            claim(
                "table-1.memory",
                ", ".join(map(str, measured)),
                share([measured == said]),
                said=", ".join(map(str, said)),
                need=need,
            )
        )
    return claims


# -------------------------------------------------------------------------------- rows of Kernel 2


def rows_of_kernel_2(laboratory: Laboratory) -> Findings:
    """Measure rows by cache and by shared memory, and sorted: whole calls, and sweeps alone."""
    rows = []
    for family in OF_ROWS:
        entry = graphs_of(family, laboratory.size)[0]
        ways = [Kernel("graph", "vertex-propagation", way, rows=way) for way in ROWS]
        measured = laboratory.variants(entry, ways)
        graph = laboratory.device.place(laboratory.data(entry))
        for row, way in zip(measured, ways, strict=True):
            prepared = way.prepare(graph, 0)
            way.run(prepared)  # takes memory
            with kernel_times() as seconds:
                way.run(prepared)
            rows.append({**row, "sweeps_seconds": seconds["vertex_propagation"]})
    return {"rows": rows, "fits": {}, "published": {"machine": MACHINE}}


def draw_rows_of_kernel_2(findings: Findings, canvas: Any) -> None:
    for axes, (field, title) in zip(
        canvas.subplots(1, 2, sharey=True),
        (("seconds", "whole calls"), ("sweeps_seconds", "sweeps alone")),
        strict=True,
    ):
        by_graph = groups(findings["rows"], "graph")
        heights = {
            way: [
                next((1e3 * row[field] for row in of if row["way"] == way and row[field]), None)
                for of in by_graph.values()
            ]
            for way in ROWS
        }
        bars(axes, list(by_graph), heights)
        axes.set_title(title, fontsize="small")
        axes.set_ylabel("ms")
        legend(axes)


def claims_of_rows(findings: Findings) -> list[Claim]:
    """Return what section 4.3.2 says of shared memory, textures and sorting."""
    by_graph = groups(findings["rows"], "graph")
    shared, alone, whole = {}, {}, {}
    for graph, rows in by_graph.items():
        cached, in_shared, by_degree = rows
        if None in (cached["seconds"], in_shared["seconds"], by_degree["seconds"]):
            continue
        shared[graph] = cached["seconds"] / in_shared["seconds"]
        alone[graph] = cached["sweeps_seconds"] / by_degree["sweeps_seconds"]
        whole[graph] = by_degree["seconds"] / cached["seconds"]
    free = next((graph for graph in alone if graph.startswith("scale-free")), "")
    return [
        claim(
            "rows-of-kernel-2.shared",
            "without it over with it: " + compare(shared),
            min(shared.values(), default=None),
        ),
        claim(
            "rows-of-kernel-2.sorted",
            f"{format_ratio(alone.get(free))} times as fast",
            alone.get(free),
        ),
        claim(
            "rows-of-kernel-2.sorting",
            "sorted over unsorted: " + compare(whole),
            min(whole.values(), default=None),
        ),
        claim(
            "rows-of-kernel-2.texture",
            "left out: CUDA has no texture references any more. Arcs are read by ld.global.nc, "
            "through the cache that serves textures, too",
        ),
    ]


# ------------------------------------------------------------------------------------------- rounds


def rounds(laboratory: Laboratory) -> Findings:
    """Count the rounds of all kernels for all graphs, with the last one, which changes nothing."""
    rows = [row for row in measure(laboratory, list(FAMILIES)) if row["rounds"] is not None]
    return {"rows": rows, "fits": {}, "published": {"at most": "the diameter, and one more"}}


def draw_rounds(findings: Findings, canvas: Any) -> None:
    canvas.set_size_inches(10, 6)
    axes, by_graph = canvas.subplots(), groups(findings["rows"], "graph")
    for k, kernel in enumerate(GRAPH_KERNELS.values()):
        points = [
            (place, row["rounds"])
            for place, rows in enumerate(by_graph.values())
            for row in rows
            if row["way"] == kernel
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "osv"[k], label=kernel, markersize=5, alpha=0.7)
    axes.set_xticks(range(len(by_graph)), list(by_graph), rotation=90, fontsize="x-small")
    axes.set(yscale="log", ylabel="rounds")
    axes.grid(alpha=0.3)
    legend(axes)


def claims_of_rounds(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    lines = [row for row in rows if row["family"] == "Line"]
    of_third = [row for row in lines if row["way"] == THIRD]
    shares = {
        way: max(
            (row["rounds"] / row["vertices"] for row in lines if row["way"] == way), default=None
        )
        for way in (FIRST, SECOND)
    }
    worlds = {}
    for family in FAMILIES:
        if family.startswith("W-S"):
            of_first = [r for r in rows if r["family"] == family and r["way"] == FIRST]
            worlds[family[5:]] = max((float(row["rounds"]) for row in of_first), default=0.0)
    low, middle, high = worlds.values()
    return [
        claim(
            "rounds-of-graphs.diameter",
            f"as many as vertices for {sum(r['rounds'] == r['vertices'] for r in of_third)} of "
            f"{len(of_third)} lines",
            share(r["rounds"] == r["vertices"] for r in of_third),
        ),
        claim(
            "rounds-of-graphs.line",
            "rounds over vertices: " + compare(shares),
            max((part for part in shares.values() if part is not None), default=None),
        ),
        claim(
            "rounds-of-graphs.long-distance",
            compare({**worlds}),
            share([low >= middle, middle >= high]) if all(worlds.values()) else None,
        ),
    ]


# ---------------------------------------------------------------------------------------- exhibits

BLOCKS_OF_THREADS = Show(blocks, draw_blocks, claims_of_blocks)
TABLE_1 = Show(resources, draw_resources, claims_of_resources)
ROWS_OF_KERNEL_2 = Show(rows_of_kernel_2, draw_rows_of_kernel_2, claims_of_rows)
ROUNDS = Show(rounds, draw_rounds, claims_of_rounds)
