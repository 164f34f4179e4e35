"""Every door of a graph: from what a user holds to labels, beside the library that it comes from.

``python -m benchmarks.doors --threads 1 2 -o doors.json`` prints medians in ms, the other library's
first. Conversion, or reading the file, is part of each; the numbers of components are compared.
"""

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path

import igraph
import networkx
import numpy as np
import pandas
import rustworkx
import scipy.io
import scipy.sparse
from scipy.sparse import csgraph

import conncomp
from conncomp import Graph


def components_of_scipy(matrix):
    """Return the number of weak components of a sparse matrix."""
    return csgraph.connected_components(matrix.tocsr(), directed=False)[0]


def components_of_list(src, dst, vertices):
    """Return the same of a list of arcs, as a matrix of SciPy."""
    entries = np.ones(len(src), np.bool_), (src, dst)
    return components_of_scipy(scipy.sparse.coo_array(entries, shape=(vertices, vertices)))


def in_memory(vertices, src, dst):
    """Return, by the name of a door, the other library's call, and a call to ours."""
    matrix = scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(vertices, vertices))
    rows, wide = matrix.tocsr(), (src.astype(np.int64), dst.astype(np.int64))
    edges = np.stack([src, dst], 1).tolist()
    of_networkx = networkx.empty_graph(vertices)
    of_networkx.add_edges_from(edges)
    of_igraph = igraph.Graph(vertices, edges)
    of_rustworkx = rustworkx.PyGraph()
    of_rustworkx.add_nodes_from(range(vertices))
    of_rustworkx.add_edges_from_no_data(list(map(tuple, edges)))

    def by_networkx():
        return sum(1 for _ in networkx.connected_components(of_networkx))

    def by_igraph():
        getattr(of_igraph, "__invalidate_cache")()  # which knows the answer of the call before
        return len(of_igraph.connected_components(mode="weak"))

    def by_rustworkx():
        return len(rustworkx.connected_components(of_rustworkx))

    return {
        "list, int32": (
            partial(components_of_list, src, dst, vertices),
            lambda: Graph.from_edges(src, dst, vertices),
        ),
        "list, int32, no num_vertices": (
            partial(components_of_list, src, dst, vertices),
            lambda: Graph.from_edges(src, dst),
        ),
        "list, int64": (
            partial(components_of_list, *wide, vertices),
            lambda: Graph.from_edges(*wide, vertices),
        ),
        "rows": (
            partial(components_of_scipy, rows),
            lambda: Graph.from_csr(rows.indptr, rows.indices),
        ),
        "SciPy coo": (partial(components_of_scipy, matrix), lambda: matrix),
        "SciPy csr": (partial(components_of_scipy, rows), lambda: rows),
        "NetworkX": (by_networkx, lambda: of_networkx),
        "igraph": (by_igraph, lambda: of_igraph),
        "rustworkx": (by_rustworkx, lambda: of_rustworkx),
    }


def in_files(vertices, src, dst, folder):
    """Return the same of files, which are written to a folder; others read by what they have."""
    matrix = scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(vertices, vertices))
    rows = (matrix + matrix.T).tocsr()
    table = pandas.DataFrame({"source": src, "target": dst})
    table.to_csv(folder / "a.csv", index=False)
    table.to_csv(folder / "a.txt", index=False, header=False, sep=" ")
    scipy.io.mmwrite(folder / "a.mtx", matrix, field="pattern", symmetry="general")
    scipy.sparse.save_npz(folder / "a.npz", rows)
    counts = [vertices, rows.nnz]
    np.concatenate([counts, rows.indptr, rows.indices]).astype("<i4").tofile(folder / "a.egr")

    def by_pandas(name, **options):
        source, target = pandas.read_csv(folder / name, engine="pyarrow", **options).values.T
        return components_of_list(source, target, vertices)

    def by_numpy():
        words = np.fromfile(folder / "a.egr", "<i4")
        begins, ends = words[2 : vertices + 3], words[vertices + 3 :]
        data = np.ones(len(ends), np.bool_), ends, begins
        return components_of_scipy(scipy.sparse.csr_array(data, shape=(vertices, vertices)))

    others = {
        "a.csv": partial(by_pandas, "a.csv"),
        "a.txt": partial(by_pandas, "a.txt", sep=" ", header=None),
        "a.mtx": lambda: components_of_scipy(scipy.io.mmread(folder / "a.mtx")),
        "a.npz": lambda: components_of_scipy(scipy.sparse.load_npz(folder / "a.npz")),
        "a.egr": by_numpy,
    }
    names = {
        "a.csv": "CSV with a header",
        "a.txt": "edge list as text",
        "a.mtx": "Matrix Market",
        "a.npz": "npz of SciPy",
        "a.egr": "ECL",
    }
    return {
        names[name]: (other, partial(Graph.read, folder / name)) for name, other in others.items()
    }


def milliseconds(call, repetitions):
    """Return the median of several calls, and what they return."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        result = call()
        times.append(1e3 * (time.perf_counter() - begin))
    return round(float(np.median(times)), 1), result


def measure(other, hold, threads, repetitions):
    """Return the other library's median, and ours for each number of threads."""
    medians = [milliseconds(other, max(repetitions // 2, 1))]
    for number in threads:
        conncomp.set_num_threads(number)
        medians.append(milliseconds(lambda: conncomp.connected_components(hold())[0], repetitions))
    # Where the number of vertices is not told, the last ones that have no edge are none.
    counts = {result for _, result in medians}
    assert max(counts) - min(counts) < 10, counts
    return [median for median, _ in medians]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=800_000)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    ends = np.random.default_rng(1).integers(0, options.vertices, (2, options.edges), np.int32)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        doors = in_memory(options.vertices, *ends)
        doors |= in_files(options.vertices, *ends, Path(folder))
        print(f"| {options.vertices:,} vertices, {options.edges:,} edges | other | ours | ratio |")
        print("|---|---|---|---|")
        for name, (other, hold) in doors.items():
            theirs, *ours = found[name] = measure(other, hold, options.threads, options.repetitions)
            ratios = ", ".join(f"{theirs / mine:.1f}" for mine in ours)
            print(f"| {name} | {theirs} | {', '.join(map(str, ours))} | {ratios} |", flush=True)
    if options.output:
        result = {"threads": options.threads, "columns": ["other", *options.threads], "ms": found}
        options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
