"""Times the backend of NetworkX beside NetworkX, on graphs of a million edges.

    python benchmarks/networkx_backend.py [--edges 1000000] [--rounds 3] [--graph NAME]
        [--function NAME ...] [--cpu] [--json FILE]

Answers are compared before both are timed, in turns. A line has the medians of NetworkX's
milliseconds, and how many times as long it takes as ours in the first call, which converts the
graph, and in a further one. On a busy machine --cpu, the processor time, says more.
"""

import argparse
import inspect
import json
import math
import statistics
import time
from pathlib import Path

import networkx as nx

REPEATS = 20  # of further calls, which take microseconds
SLOW = 2000.0  # milliseconds of NetworkX, after which one round is enough


def weighted(graph):
    """Give each edge a weight from 0 to 999, many of them equal."""
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = i * 7919 % 1000
    return graph


def named(graph):
    """Return a graph as it is read from a file: of strings, which are not the same in all edges."""
    return nx.parse_edgelist((f"node{u} node{v}" for u, v in graph.edges), create_using=type(graph))


GRAPHS = {
    "random, degree 4": lambda m: nx.gnm_random_graph(m // 2, m, seed=1),
    "random, degree 20": lambda m: nx.gnm_random_graph(m // 10, m, seed=1),
    "random, of strings": lambda m: named(nx.gnm_random_graph(m // 5, m, seed=1)),
    "grid, of pairs": lambda m: nx.grid_2d_graph(*2 * [math.isqrt(m // 2)]),
    "Barabasi-Albert": lambda m: nx.barabasi_albert_graph(m // 5, 5, seed=1),
    "random arcs, degree 2": lambda m: nx.gnm_random_graph(m // 2, m, seed=1, directed=True),
    "random arcs, degree 10": lambda m: nx.gnm_random_graph(m // 10, m, seed=1, directed=True),
}
UNDIRECTED = [
    "connected_components",
    "number_connected_components",
    "is_connected",
    "node_connected_component",
    "is_forest",
    "minimum_spanning_edges",
    "minimum_spanning_tree",
    "maximum_spanning_tree",
]
DIRECTED = [
    "weakly_connected_components",
    "number_weakly_connected_components",
    "is_weakly_connected",
    "strongly_connected_components",
    "kosaraju_strongly_connected_components",
    "number_strongly_connected_components",
    "is_strongly_connected",
    "condensation",
]


def caller(name, graph):
    """Return a function of the backend's name that calls NetworkX's, to the end of a generator."""
    function = getattr(nx, name)
    further = [max(nx.connected_components(graph), key=len).pop()] if "node" in name else []

    def call(backend):
        result = function(graph, *further, backend=backend)
        return list(result) if inspect.isgenerator(result) else result

    return call


def comparable(result, name):
    """Return what is equal in equal results: of strong components the order is left open."""
    if isinstance(result, nx.DiGraph):
        return {frozenset(members) for _, members in result.nodes(data="members")}
    if isinstance(result, nx.Graph):
        return result.adj
    if "strong" in name and isinstance(result, list):
        return set(map(frozenset, result))
    return result


def milliseconds(call, backend, clock, repeats=1):
    """Time calls; what they return is freed afterwards."""
    start = clock()
    for _ in range(repeats):
        result = call(backend)
    seconds = clock() - start
    del result
    return 1e3 * seconds / repeats


def measure(name, graph, rounds, clock):
    """Return the medians for a function: NetworkX, a first call of ours, and a further one."""
    call = caller(name, graph)
    assert comparable(call("conncomp"), name) == comparable(call("networkx"), name), name
    times = {"networkx": [], "first": [], "further": []}
    for _ in range(rounds):
        if sum(times["networkx"]) > SLOW:
            break
        times["networkx"].append(milliseconds(call, "networkx", clock))
        graph.__networkx_cache__.clear()
        times["first"].append(milliseconds(call, "conncomp", clock))
        repeats = REPEATS if times["first"][-1] < 50 * REPEATS else 1
        times["further"].append(milliseconds(call, "conncomp", clock, repeats))
    graph.__networkx_cache__.clear()
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graph", choices=GRAPHS)
    parser.add_argument("--function", nargs="+", choices=[*UNDIRECTED, *DIRECTED])
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    nx.config.warnings_to_ignore.add("cache")
    results = []
    print("| graph | function | NetworkX, ms | first call | further call |\n|---|---|--:|--:|--:|")
    for title in [options.graph] if options.graph else GRAPHS:
        graph = weighted(GRAPHS[title](options.edges))
        for name in DIRECTED if graph.is_directed() else UNDIRECTED:
            if options.function and name not in options.function:
                continue
            times = measure(name, graph, options.rounds, clock)
            results.append({"graph": title, "function": name, **times})
            first, further = (times["networkx"] / times[part] for part in ("first", "further"))
            whole = f"{times['networkx']:.0f}"
            print(f"| {title} | `{name}` | {whole} | {first:.1f} | {further:.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
