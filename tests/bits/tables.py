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

from .inputs import by_word, cases, each, ends, in_folder, integers, rows, uniform, with_threads
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


def _of_pairs():
    text = """
        pairs of {kind}: cc.cluster_pairs(kind(LEFT), kind(RIGHT));
        pairs of {kind} with weights: cc.cluster_pairs( kind(LEFT), kind(RIGHT), weights=WEIGHTS,
            threshold=0.5, cluster_ids="first")
    """
    yield from rows(text, globals(), kind=KINDS)
    text = """
        table of {of}: cc.cluster_pairs(of(COLUMNS), "l", "r", weights="w", threshold=[0.25, 0.75]);
        table of {of} without weights: cc.cluster_pairs(of(COLUMNS), "l", "r")
    """
    batches = {"batches": lambda table: iter(pyarrow.table(table).to_batches(max_chunksize=7))}
    yield from rows(text, globals(), of=LIBRARIES | batches)
    ways = """
        nodes: nodes=np.arange(45)[::-1]; nodes of some: nodes=[3, 1];
        threshold: weights=W, threshold=0.6; thresholds: weights=W, threshold=(0.1, 0.5, 0.9);
        largest size: weights=W, max_size=4; first: cluster_ids="first";
        largest size and threshold: weights=W, max_size=3, threshold=0.2;
        first and thresholds: weights=W, threshold=[0.3], cluster_ids="first";
        threshold without weights: threshold=0.5; size without weights: max_size=4;
        weights of text: weights=["a"] * 30
    """
    yield from by_word("pairs", cc.cluster_pairs, cases(ways, W=WEIGHTS), LEFT, RIGHT)
    several = ((side % 5, [str(k % 3) for k in side]) for side in (LEFT, RIGHT))
    yield "pairs of several columns", partial(cc.cluster_pairs, *several)
    holes = {"holes": [None if k % 7 == 0 else k for k in LEFT.tolist()], "right": RIGHT.tolist()}
    text = "nulls {nulls}: cc.cluster_pairs(holes, right, nulls=nulls)"
    yield from rows(text, holes, nulls=("raise", "drop", "keep"))
    text = """many pairs: cc.cluster_pairs(*many);
        many pairs of some size: cc.cluster_pairs(*many, weights=weights, max_size=50)"""
    known = {"many": ends(9000, 20_000, 3), "weights": uniform((20_000,), 5)}
    yield from rows(text, known, with_threads)
    text = """
        lengths: [1, 2], [3]; kinds: [1], ["1"]; mixed: [1, "1"], [2, 3]; bool and int: [True], [1];
        objects: [object()], [object()]; complex: [1j], [2j]; sets: [{1}], [{2}];
        no column: {"l": [1], "r": [2]}, "l", "q"; NaN: [np.nan], [1.0];
        one name: {"l": [1], "r": [2]}, "l"; beyond: [1 << 70], [1];
        negative and large: [-1], [1 << 63]; none: [], []; text alone: "abc", "abd"
    """
    for word, given in rows(text):
        yield f"bad pairs: {word}", partial(cc.cluster_pairs, *given())


def _quality(make, **options):
    pairs = make(COLUMNS)
    clusters = cc.cluster_pairs(pairs, "l", "r")
    return cc.cluster_quality(clusters, pairs, "l", "r", **options)


def _of_quality():
    text = "quality of {of}: _quality(of); quality of {of} weights: _quality(of, weights='w')"
    yield from rows(text, globals(), of=LIBRARIES)
    table = cc.cluster_pairs(LEFT, RIGHT, weights=WEIGHTS, threshold=[0.3, 0.6])
    find = partial(cc.cluster_quality, table, LEFT, RIGHT, weights=WEIGHTS)
    ways = """of a threshold: cluster="cluster_0.6", threshold=0.6; of no node: node="none";
        of no column: cluster="none" """
    yield from by_word("quality", find, cases(ways))


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


def _of_files():
    text = "batches {threshold} of {step}: _add(folder, threshold, step)"
    yield from rows(text, globals(), in_folder, threshold=(None, 0.5, (0.2, 0.6)), step=(4, 30))
    text = """
        batches of kinds: (growing := cc.ClusterPairs()).add([1], [2]) or growing.add(["a"], ["b"]);
        batches without weights: cc.ClusterPairs(threshold=1).add([1], [2]);
        batches none: cc.ClusterPairs().labels()
    """
    yield from rows(text)
    text = """
        batches of no file: cc.ClusterPairs.load(folder / "none");
        edges in no file: cc.label_edge_files(folder / "none.csv");
        duplicates of nothing: cc.cluster_dups(folder, folder)
    """
    yield from rows(text, wrap=in_folder)
    ways = """
        : ; vertices: num_vertices=60; too few vertices: num_vertices=10; no column: src="none";
        names: src="dst", dst="src"; header: header=True; format: format="csv"
    """
    text = "edges in {kind} {way}: _find(folder, kind, **way)"
    kinds = "parquet", "arrow", "csv"
    yield from rows(text, globals(), in_folder, kind=kinds, way=cases(ways))
    text = """duplicates {ids}{sizes}{ignored}: _find_duplicates(folder, save_cluster_id=ids,
        save_cluster_size=sizes, ignore_index_matches=ignored)"""
    axes = {name: {"": False, f"{name} ": True} for name in ("ids", "sizes", "ignored")}
    yield from rows(text, globals(), in_folder, **axes)
