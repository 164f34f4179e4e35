"""How much the order of the vertices of europa_osm matters, of which section 5.1 tells."""

from functools import partial
from typing import Any

import numpy as np

from conncomp.bench.inputs import Input
from conncomp.bench.peers import algorithms, sparse_matrix
from conncomp.bench.suites.graphs import ECL, find_published
from conncomp.generate.random import Purpose, permutation
from conncomp.graph import Graph
from reproductions.claims import Claim
from reproductions.ecl_cc_2018.laboratory import Laboratory, graph_input, shares
from reproductions.ecl_cc_2018.published import SOURCE, TABLE_4, claim
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import bars, legend

NAME = "europa_osm"
# Of the vertices published: in breadth-first order paths that are never shortened have as many
# steps as the search has levels, so that Jump3 takes a time of n to the power of 3/2.
PARTS = {"small": 1.0, "paper": 1 / 16, "today": 1 / 4}
SEED = 18


def shuffled(graph: Graph) -> Any:
    """Return new names for the vertices of a graph, drawn at random."""
    return permutation(graph.num_vertices, seed=SEED, purpose=Purpose.SHUFFLE)


def breadth_first(graph: Graph) -> Any:
    """Return new names for the vertices of a connected graph: in the order of a search from 0."""
    from scipy.sparse.csgraph import breadth_first_order

    visited = breadth_first_order(sparse_matrix(graph), 0, return_predecessors=False)
    names = np.empty(graph.num_vertices, np.int64)
    names[visited] = np.arange(graph.num_vertices)
    return names


ORDERS = {"natural": None, "shuffled": shuffled, "breadth-first": breadth_first}


def renamed(graph: Graph, names: Any) -> Graph:
    """Return a graph whose vertex v is called ``names[v]``; rows are sorted."""
    from scipy.sparse import csr_array

    sources = np.repeat(names, np.diff(graph.indptr)).astype(graph.indices.dtype)
    targets = names[graph.indices].astype(graph.indices.dtype)
    shape = (graph.num_vertices, graph.num_vertices)
    rows = csr_array((np.ones(len(targets), np.bool_), (sources, targets)), shape=shape)
    rows.sort_indices()
    csr = rows.indptr.astype(np.int64), rows.indices.astype(graph.indices.dtype)
    return Graph._of_checked(graph.num_vertices, csr=csr, symmetric=True)


def _make(entry: Input, order: str, device: str | None = None) -> Graph:
    """Make a graph on the CPU, where it is renamed, whatever the device."""
    graph = entry.make(device="cpu")
    choose = ORDERS[order]
    if not isinstance(graph, Graph) or choose is None:
        return graph  # type: ignore[return-value]
    return renamed(graph, choose(graph))


def measure(laboratory: Laboratory) -> Findings:
    """Measure the ways to jump, and the default, on the same graph in three orders."""
    row = next(row for row in ECL if row.name == NAME)
    files = laboratory.published_files
    part = min(shares(laboratory.size, laboratory.device.name)[NAME], PARTS[laboratory.size])
    if find_published(files, NAME):
        part = 1
    contenders = [*laboratory.variants("jump"), algorithms("graph", laboratory.device.name)["auto"]]
    rows: list[Row] = []
    for order in ORDERS:
        entry = graph_input(row, part, files)
        ordered = Input(
            f"{NAME}, {order}",
            f"{entry.description}, {order} order",
            entry.num_bytes,
            partial(_make, entry, order),
            entry.stand_in,
            gpu_bytes=entry.gpu_bytes,
        )
        measured = laboratory.measure(ordered, contenders)
        kept = ("input", "description", "stand_in", "vertices", "arcs", "components", "failures")
        milliseconds = {
            contender.name: 1e3 * measured["seconds"][contender.name]
            for contender in contenders
            if contender.name in measured["seconds"]
        }
        rows.append(
            {
                "order": order,
                **{name: measured[name] for name in kept},
                "milliseconds": milliseconds,
                "paths": measured.get("paths"),
            }
        )
    return {
        "rows": rows,
        "published": {
            "average": TABLE_4["average"][NAME],
            "maximum": TABLE_4["maximum"][NAME],
            "source": SOURCE,
        },
        "shares": {NAME: part},
    }


def draw(findings: Findings, canvas: Any) -> None:
    rows = findings["rows"]
    with_paths = all(row["paths"] for row in rows)
    every_axes = canvas.subplots(1, 1 + with_paths, squeeze=False)[0]
    orders = [row["order"] for row in rows]
    names = list(rows[0]["milliseconds"])
    jumps = {name: "Jump4 (ecl)" if name == "ecl" else name for name in names}
    bars(
        every_axes[0],
        orders,
        {jumps[name]: [row["milliseconds"].get(name) for row in rows] for name in names},
    )
    every_axes[0].set(yscale="log", ylabel="ms")
    legend(every_axes[0])
    if with_paths:
        longest = {
            f"Jump{jump}": [row["paths"][jump]["maximum"] for row in rows]
            for jump in rows[0]["paths"]
        }
        bars(every_axes[1], orders, longest)
        every_axes[1].axhline(
            findings["published"]["maximum"], color="k", linestyle=":", label="Jump4 in 2018"
        )
        every_axes[1].set(yscale="log", ylabel="steps of the longest path")
        legend(every_axes[1])
    for axes in every_axes:
        axes.tick_params(axis="x", rotation=0)


def claims(findings: Findings) -> list[Claim]:
    times = {
        row["order"]: row["milliseconds"]["ecl"]
        for row in findings["rows"]
        if "ecl" in row["milliseconds"]
    }
    if not times:
        return []
    words = "ecl: " + ", ".join(f"{order} {ms:.3g} ms" for order, ms in times.items())
    if all(row["paths"] for row in findings["rows"]):
        paths = {row["order"]: row["paths"]["4"] for row in findings["rows"]}
        words += "; longest paths: " + ", ".join(
            f"{order} {of['maximum']}" for order, of in paths.items()
        )
    return [claim("vertex-order.europa", words, max(times.values()) / min(times.values()))]
