"""Times clusters of random pairs beside their peers.

    python benchmarks/pairs_beside_peers.py [--pairs 600000] [--ids 400000] [--rounds 5]
        [--only PEER] [--wall]

Ids are random integers of 64 bits. Peers are what people use: `numpy.unique` with SciPy or igraph,
a dictionary, polars-grouper, Splink's clustering on DuckDB, and the clustering step of datatrove,
which reads and writes files, beside ours on these files. pip installs them ("splink>=5" igraph
polars-grouper "datatrove[processing]"); those that are missing are left out. Every answer is
compared with ours before any is timed, in turns. Seconds are those of the processor, of all threads
together, as others may use the machine; --wall takes the time that passes. A line has the median of
seconds, and what multiple of ours on two threads it is.
"""

import argparse
import importlib.util
import logging
import os
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from turns import medians_in_turns, place_on

import conncomp

FILES = 16  # which the documents of datatrove are in


class Pairs:
    """Random pairs, in the forms that ours and peers take."""

    def __init__(self, pairs, ids, seed=0):
        random = np.random.default_rng(seed)
        # A file above a document, as datatrove has ids.
        files, documents = random.integers(0, FILES, ids), random.integers(0, 2**32 - 1, ids)
        known = files << 32 | documents
        wide = random.integers(0, 2**63, ids)
        self.left, self.right = random.choice(wide, (2, pairs))
        self.table = pa.table({"l": self.left, "r": self.right})
        self.nodes = pa.table({"id": np.unique(np.concatenate([self.left, self.right]))})
        self._temporary = tempfile.TemporaryDirectory()  # until there are no pairs any more
        self.folder = Path(self._temporary.name)
        (self.folder / "dups").mkdir()
        ends = random.choice(known, (2, pairs))
        ends = ends[:, ends[0] != ends[1]]  # as a document is no copy of itself
        words = np.stack([ends[0] >> 32, ends[0], ends[1] >> 32, ends[1]], axis=1)
        (words & (2**32 - 1)).astype("<u4").tofile(self.folder / "dups" / "00000_00.dups")


def roots(ids, labels):
    """Return ids, ascending, and for each the smallest id of its cluster."""
    order = np.argsort(ids)
    ids, labels = np.asarray(ids)[order], np.asarray(labels)[order]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return ids, ids[first][inverse]


def ours(pairs):
    return conncomp.cluster_pairs(pairs.left, pairs.right)


def ours_of_arrow(pairs):
    return conncomp.cluster_pairs(pairs.table, "l", "r")


def roots_of_table(table, node="node", cluster="cluster"):
    return roots(np.asarray(table[node]), np.asarray(table[cluster]))


def numbered(pairs):
    """Return the distinct ids, and both ends as numbers."""
    ids, numbers = np.unique(np.concatenate([pairs.left, pairs.right]), return_inverse=True)
    return ids, numbers[: len(pairs.left)], numbers[len(pairs.left) :]


def by_scipy(pairs):
    ids, u, v = numbered(pairs)
    matrix = coo_array((np.ones(len(u), np.bool_), (u, v)), shape=(len(ids),) * 2)
    return ids, connected_components(matrix, directed=False)[1]


def by_igraph(pairs):
    import igraph

    ids, u, v = numbered(pairs)
    graph = igraph.Graph(len(ids), np.stack([u, v], axis=1))
    return ids, graph.connected_components().membership


def by_dictionary(pairs):
    parent = {}

    def root_of(node):
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = node = parent[above]
        return node

    for left, right in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        parent[root_of(right)] = root_of(left)
    return list(parent), [root_of(node) for node in parent]


def by_polars_grouper(pairs):
    import polars as pl
    from polars_grouper import super_merger

    return super_merger(pl.from_arrow(pairs.table), "l", "r")


def roots_of_grouper(frame):
    ids = np.concatenate([frame["l"].to_numpy(), frame["r"].to_numpy()])
    ids, first = np.unique(ids, return_index=True)
    return roots(ids, np.tile(frame["group"].to_numpy(), 2)[first])


def by_splink(pairs):
    from splink import DuckDBAPI
    from splink.clustering import cluster_pairwise_predictions_at_threshold

    clusters = cluster_pairwise_predictions_at_threshold(
        pairs.nodes,
        pairs.table,
        DuckDBAPI(),
        "id",
        edge_id_column_name_left="l",
        edge_id_column_name_right="r",
    )
    return clusters.as_pyarrow_table()


def ours_on_files(pairs):
    out = pairs.folder / "ours"
    conncomp.cluster_dups(pairs.folder / "dups", out, save_cluster_id=True)
    return out


def by_datatrove(pairs):
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupCluster

    out = pairs.folder / "theirs"
    config = MinhashConfig(num_buckets=1)
    folders = str(pairs.folder / "dups"), str(out)
    MinhashDedupCluster(*folders, config, save_cluster_id=True).run()
    return out


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# For each input ours, and the peers: a function, what makes its answer comparable, and a package.
TASKS = {
    "columns in memory": (
        {"cluster_pairs": ours, "cluster_pairs of Arrow": ours_of_arrow},
        roots_of_table,
        {
            "np.unique and SciPy": (by_scipy, lambda found: roots(*found), "scipy"),
            "np.unique and igraph": (by_igraph, lambda found: roots(*found), "igraph"),
            "a dictionary": (by_dictionary, lambda found: roots(*found), "numpy"),
            "polars-grouper": (by_polars_grouper, roots_of_grouper, "polars_grouper"),
            "Splink on DuckDB": (
                by_splink,
                partial(roots_of_table, node="id", cluster="cluster_id"),
                "splink",
            ),
        },
    ),
    "files of datatrove": (
        {"cluster_dups": ours_on_files},
        contents,
        {"MinhashDedupCluster": (by_datatrove, contents, "datatrove")},
    ),
}


def equal(one, other):
    """Whether answers are the same: files, or ids and roots."""
    if isinstance(one, dict):
        return one == other
    return all(map(np.array_equal, one, other))


def with_threads(call, threads, pairs):
    conncomp.set_num_threads(threads)
    return call(pairs)


def quiet():
    """Let no package print about its progress."""
    os.environ["TQDM_DISABLE"] = "1"
    logging.getLogger("splink").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    if importlib.util.find_spec("loguru"):
        from loguru import logger

        logger.disable("datatrove")


def main():
    """Print a line for each of ours and each peer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=600_000)
    parser.add_argument("--ids", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the name of a peer")
    parser.add_argument("--wall", action="store_true", help="the time that passes")
    arguments = parser.parse_args()
    quiet()
    place = place_on("cpu", processor_time=not arguments.wall)
    pairs = Pairs(arguments.pairs, arguments.ids)
    print(f"{place.machine}: {arguments.pairs:,} pairs of {arguments.ids:,} ids")
    for task, (own, comparable, peers) in TASKS.items():
        calls = {}
        for name, call in own.items():
            for threads in (1, 2):
                calls[f"{name}, {threads}"] = partial(with_threads, call, threads, pairs)
        last = list(calls)[1]  # which others are compared with
        answer = comparable(calls[last]())
        for name, (function, as_comparable, package) in peers.items():
            if arguments.only not in name:
                continue
            if importlib.util.find_spec(package) is None:
                print(f"  {name}: not installed")
                continue
            if not equal(as_comparable(function(pairs)), answer):
                raise SystemExit(f"{name} has another answer")
            calls[name] = partial(function, pairs)
        medians = medians_in_turns(calls, arguments.rounds, place)
        print(task)
        for name, milliseconds in medians.items():
            print(f"  {name:28} {milliseconds / 1e3:8.3f} s {milliseconds / medians[last]:8.1f}")


if __name__ == "__main__":
    main()
