"""Calls on tables of pairs: clusters, their quality, batches, files of edges and of duplicates."""

import datetime
import decimal
import uuid
from functools import partial

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet

from .inputs import cases, each, ends, integers
from .names import cc

LEFT, RIGHT = ends(40, 30, 1)
WEIGHTS = integers((30,), 8, 2) / 8


def _moment(day):
    return datetime.datetime(2020, 1, 1 + day % 28, tzinfo=datetime.UTC)


KINDS = {
    **{dtype: partial(np.asarray, dtype=dtype) for dtype in ("i1", "u2", "i8", "u8", "f4", "f8")},
    **{"list": list, "arrow": pyarrow.array, "polars": polars.Series, "pandas": pandas.Series},
    "text": lambda ids: [f"id {k}" for k in ids],
    "U": lambda ids: np.array([f"id {k}" for k in ids]),
    "S": lambda ids: np.array([f"id {k}" for k in ids], "S"),
    "bytes": lambda ids: [bytes([k, 0]) for k in ids],
    "bool": lambda ids: ids % 2 == 0,
    "days": lambda ids: np.asarray(ids, "M8[D]"),
    "durations": lambda ids: np.asarray(ids, "m8[s]"),
    "dates": lambda ids: [_moment(k).date() for k in ids.tolist()],
    "moments": lambda ids: [_moment(k) for k in ids.tolist()],
    "UUIDs": lambda ids: [uuid.UUID(int=k) for k in ids.tolist()],
    "decimals": lambda ids: [decimal.Decimal(k) / 4 for k in ids.tolist()],
    "arrow text": lambda ids: pyarrow.array([str(k) for k in ids]),
    "categories": lambda ids: pandas.Series([f"id {k}" for k in ids]).astype("category"),
    "large": lambda ids: ids.astype("u8") + np.uint64(1 << 63),
    "far": lambda ids: ids * (1 << 40),
    "negative": lambda ids: ids - 20,
}


COLUMNS = {"l": LEFT, "r": RIGHT, "w": WEIGHTS}
LIBRARIES = {"dict": dict, "pandas": pandas.DataFrame, "polars": polars.DataFrame}
LIBRARIES["arrow"] = pyarrow.table


def _quality(make, **options):
    pairs = make(COLUMNS)
    clusters = cc.cluster_pairs(pairs, "l", "r")
    return cc.cluster_quality(clusters, pairs, "l", "r", **options)


def _add(folder, threshold, step):
    clusters, found = cc.ClusterPairs(threshold=threshold), []
    clusters.add_nodes([50, 3])
    for begin in range(0, 30, step):
        part = slice(begin, begin + step)
        weights = None if threshold is None else WEIGHTS[part]
        clusters.add(LEFT[part], RIGHT[part], weights)
        found.append(clusters.labels())
    clusters.save(folder / "saved")
    loaded = cc.ClusterPairs.load(folder / "saved")
    loaded.add([1], [2], None if threshold is None else [1.0])
    return [*found, loaded.labels()]


def _find(folder, kind, **options):
    paths = []
    for part in range(3):
        rows = slice(10 * part, 10 * part + 10)
        table = pyarrow.table({"src": LEFT[rows], "dst": RIGHT[rows], "weight": WEIGHTS[rows]})
        paths.append(folder / f"{part}.{kind}")
        if kind == "parquet":
            pyarrow.parquet.write_table(table, paths[-1])
        elif kind == "arrow":
            with pyarrow.ipc.new_file(str(paths[-1]), table.schema) as writer:
                writer.write_table(table)
        else:
            lines = zip(*(column.to_pylist() for column in table.columns), strict=True)
            text = "\n".join(",".join(map(str, line)) for line in lines)
            paths[-1].write_text(f"src,dst,weight\n{text}\n")
    functions = cc.label_edge_files, cc.forest_of_edge_files, cc.minimum_forest_of_edge_files
    return each(partial(function, paths, **options) for function in functions)()


def _find_duplicates(folder, **options):
    words = np.concatenate([integers((20, 4), 5, 3)[:, :4]]).astype("<u4")
    (folder / "0_00.dups").write_bytes(words[:9].tobytes())
    (folder / "1_00.dups").write_bytes(words[9:].tobytes())
    counts = cc.cluster_dups(folder, folder / "out", **options)
    written = sorted((folder / "out").iterdir())
    return counts, {path.name: path.read_bytes() for path in written}


WAYS = """
    nodes: nodes=np.arange(45)[::-1]; nodes of some: nodes=[3, 1]; first: cluster_ids="first";
    threshold: weights=W, threshold=0.6; thresholds: weights=W, threshold=(0.1, 0.5, 0.9);
    largest size: weights=W, max_size=4; weights of text: weights=["a"] * 30;
    largest size and threshold: weights=W, max_size=3, threshold=0.2;
    first and thresholds: weights=W, threshold=[0.3], cluster_ids="first";
    threshold without weights: threshold=0.5; size without weights: max_size=4
"""
WAYS = cases(WAYS, W=WEIGHTS)
BAD = """
    lengths: [1, 2], [3]; kinds: [1], ["1"]; mixed: [1, "1"], [2, 3]; bool and int: [True], [1];
    objects: [object()], [object()]; complex: [1j], [2j]; sets: [{1}], [{2}];
    no column: {"l": [1], "r": [2]}, "l", "q"; one name: {"l": [1], "r": [2]}, "l";
    NaN: [np.nan], [1.0]; beyond: [1 << 70], [1]; negative and large: [-1], [1 << 63];
    none: [], []; text alone: "abc", "abd"
"""
BATCHES = {"batches": lambda table: iter(pyarrow.table(table).to_batches(max_chunksize=7))}
HOLES = [None if k % 7 == 0 else k for k in LEFT.tolist()]
SEVERAL = [(side % 5, [str(k % 3) for k in side]) for side in (LEFT, RIGHT)]
MANY = ends(9000, 20_000, 3)
WAYS_OF_FILES = cases("""
    : ; vertices: num_vertices=60; too few vertices: num_vertices=10; no column: src="none";
    names: src="dst", dst="src"; header: header=True; format: format="csv"
""")
WORDS = {name: {"": False, f"{name} ": True} for name in ("ids", "sizes", "ignored")}


def _quality_of(**options):
    table = cc.cluster_pairs(LEFT, RIGHT, weights=WEIGHTS, threshold=[0.3, 0.6])
    return cc.cluster_quality(table, LEFT, RIGHT, weights=WEIGHTS, **options)


CALLS = """
@ kind=KINDS
pairs of {kind}: cc.cluster_pairs(kind(LEFT), kind(RIGHT));
pairs of {kind} with weights: cc.cluster_pairs(
    kind(LEFT), kind(RIGHT), weights=WEIGHTS, threshold=0.5, cluster_ids="first")
@ of=LIBRARIES | BATCHES
table of {of}: cc.cluster_pairs(of(COLUMNS), "l", "r", weights="w", threshold=[0.25, 0.75]);
table of {of} without weights: cc.cluster_pairs(of(COLUMNS), "l", "r")
@ of=LIBRARIES
quality of {of}: _quality(of); quality of {of} weights: _quality(of, weights="w")
@ way=WAYS
pairs {way}: cc.cluster_pairs(LEFT, RIGHT, **way)
@ nulls=("raise", "drop", "keep")
nulls {nulls}: cc.cluster_pairs(HOLES, RIGHT.tolist(), nulls=nulls)
@with_threads
many pairs: cc.cluster_pairs(*MANY);
many pairs of some size: cc.cluster_pairs(*MANY, weights=uniform((20_000,), 5), max_size=50)
@ pairs={f"pairs: {word}": given for word, given in rows(BAD)}
bad {pairs}: cc.cluster_pairs(*pairs())
@in_folder threshold=(None, 0.5, (0.2, 0.6)), step=(4, 30)
batches {threshold} of {step}: _add(folder, threshold, step)
@
pairs of several columns: cc.cluster_pairs(*SEVERAL);
quality of a threshold: _quality_of(cluster="cluster_0.6", threshold=0.6);
quality of no column: _quality_of(cluster="none"); quality of no node: _quality_of(node="none");
batches of kinds: (growing := cc.ClusterPairs()).add([1], [2]) or growing.add(["a"], ["b"]);
batches without weights: cc.ClusterPairs(threshold=1).add([1], [2]);
batches none: cc.ClusterPairs().labels()
@in_folder
batches of no file: cc.ClusterPairs.load(folder / "none");
edges in no file: cc.label_edge_files(folder / "none.csv");
duplicates of nothing: cc.cluster_dups(folder, folder)
@in_folder kind=("parquet", "arrow", "csv"), way=WAYS_OF_FILES
edges in {kind} {way}: _find(folder, kind, **way)
@in_folder **WORDS
duplicates {ids}{sizes}{ignored}: _find_duplicates(
    folder, save_cluster_id=ids, save_cluster_size=sizes, ignore_index_matches=ignored)
"""
