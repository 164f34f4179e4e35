"""Weak components of lists of arcs in many orders, for each number of threads.

``python -m benchmarks.lists_of_arcs --threads 1 2 4 8 16 -o lists.json`` prints medians in ms: of
the list, of making its rows, and of the rows. Labels of both are compared first.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import conncomp

GENERATOR = np.random.default_rng(1)


def line(vertices):
    """Return the edges of a line, in its order."""
    vertex = np.arange(vertices, dtype=np.int32)
    return vertex[:-1], vertex[1:]


def grid(length, share=1.0):
    """Return the edges of a square grid, axis by axis; a share of them leaves roads."""
    vertex = np.arange(length * length, dtype=np.int32).reshape(length, length)
    src = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    dst = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    kept = GENERATOR.random(len(src)) < share
    return src[kept], dst[kept]


def uniform(vertices, edges):
    """Return edges between any vertices."""
    ends = GENERATOR.integers(0, vertices, (2, edges))
    return tuple(ends.astype(np.int32))


def small_world(vertices, near):
    """Return the edges of a ring of near neighbours, a tenth of which lead anywhere."""
    vertex = np.arange(vertices, dtype=np.int32)
    src = np.tile(vertex, near)
    dst = np.concatenate([(vertex + k) % vertices for k in range(1, near + 1)]).astype(np.int32)
    far = GENERATOR.random(len(dst)) < 0.1
    dst[far] = GENERATOR.integers(0, vertices, far.sum())
    return src, dst


def mirrored(src, dst):
    """Return all edges, and then their opposites."""
    return np.concatenate([src, dst]), np.concatenate([dst, src])


def alternating(src, dst):
    """Return each edge and its opposite, one after the other."""
    return np.stack([src, dst], 1).ravel(), np.stack([dst, src], 1).ravel()


def renamed(src, dst, vertices):
    """Return the edges with other numbers of their vertices."""
    names = GENERATOR.permutation(vertices).astype(np.int32)
    return names[src], names[dst]


def ordered(src, dst, by):
    """Return the arcs in the order of one end, or in any order."""
    order = GENERATOR.permutation(len(src)) if by is None else np.argsort(by, kind="stable")
    return src[order], dst[order]


def lists(scale):
    """Return names, numbers of vertices and lists; `scale` divides the lengths of axes."""
    side, many = 1024 // scale, 2**21 // scale**2
    square, edges = side * side, grid(side)
    both = mirrored(*edges)
    return {
        "grid": (square, edges),
        "grid, mirrored": (square, both),
        "grid, in any order": (square, ordered(*edges, None)),
        "grid, by source": (square, ordered(*both, both[0])),
        "grid, by target": (square, ordered(*both, both[1])),
        "grid, renamed and mirrored": (square, mirrored(*renamed(*edges, square))),
        "roads, mirrored": (square, mirrored(*grid(side, 0.65))),
        "line, mirrored": (many, mirrored(*line(many))),
        "line, alternating": (many, alternating(*line(many))),
        "line, renamed and mirrored": (many, mirrored(*renamed(*line(many), many))),
        "small world, mirrored": (square, mirrored(*small_world(square, 4))),
        "uniform": (square, uniform(square, 4 * square)),
        "uniform, twice as many": (square, uniform(square, 8 * square)),
        "uniform, mirrored": (square, mirrored(*uniform(square, 4 * square))),
        "star": (many, (np.zeros(many - 1, np.int32), line(many)[1])),
    }


def timed(times, call):
    """Append the milliseconds that a call takes; return its result."""
    begin = time.perf_counter()
    result = call()
    times.append(1e3 * (time.perf_counter() - begin))
    return result


def measure(vertices, arcs, threads, repetitions):
    """Return medians for each number of threads: of the list, of making rows, and of rows."""
    measured = []
    for number in threads:
        conncomp.set_num_threads(number)
        of_list, making, of_rows = [], [], []
        for _ in range(repetitions):
            graph = conncomp.Graph.from_edges(*arcs, vertices)
            found = timed(of_list, lambda graph=graph: conncomp.connected_components(graph))
            timed(making, lambda graph=graph: graph.indices)
            again = timed(of_rows, lambda graph=graph: conncomp.connected_components(graph))
            assert found[0] == again[0]
            np.testing.assert_array_equal(found[1], again[1])
        measured.append([round(float(np.median(each)), 2) for each in (of_list, making, of_rows)])
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    found = {}
    for name, (vertices, arcs) in lists(options.scale).items():
        found[name] = measure(vertices, arcs, options.threads, options.repetitions)
        print(f"{name:28} {len(arcs[0]):>9,}", *found[name], flush=True)
    if options.output:
        result = {"threads": options.threads, "columns": ["list", "making rows", "rows"]}
        options.output.write_text(json.dumps(result | {"ms": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
