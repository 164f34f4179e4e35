"""Calls on tables of pairs: clusters, their quality, batches, files of edges and of duplicates."""

import datetime
import decimal
import uuid
from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet

from .inputs import each, ends, in_folder, integers, uniform, with_threads
from .names import cc

LEFT, RIGHT = ends(40, 30, 1)
WEIGHTS = integers((30,), 8, 2) / 8


def _moment(day):
    return datetime.datetime(2020, 1, 1 + day % 28, tzinfo=datetime.UTC)


KINDS = {
    **{dtype: partial(np.asarray, dtype=dtype) for dtype in ("i1", "u2", "i8", "u8", "f4", "f8")},
    "list": list,
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
    "arrow": pyarrow.array,
    "arrow text": lambda ids: pyarrow.array([str(k) for k in ids]),
    "polars": polars.Series,
    "pandas": pandas.Series,
    "categories": lambda ids: pandas.Series([f"id {k}" for k in ids]).astype("category"),
    "large": lambda ids: ids.astype("u8") + np.uint64(1 << 63),
    "far": lambda ids: ids * (1 << 40),
    "negative": lambda ids: ids - 20,
}


def _of_pairs():
    for kind, make in KINDS.items():
        both = make(LEFT), make(RIGHT)
        yield f"pairs of {kind}", partial(cc.cluster_pairs, *both)
        yield (
            f"pairs of {kind} with weights",
            partial(cc.cluster_pairs, *both, weights=WEIGHTS, threshold=0.5, cluster_ids="first"),
        )
    columns = {"l": LEFT, "r": RIGHT, "w": WEIGHTS}
    for library, make in {
        "dict": dict,
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "arrow": pyarrow.table,
        "batches": lambda table: iter(pyarrow.table(table).to_batches(max_chunksize=7)),
    }.items():
        yield (
            f"table of {library}",
            lambda make=make: cc.cluster_pairs(
                make(columns), "l", "r", weights="w", threshold=[0.25, 0.75]
            ),
        )
        yield (
            f"table of {library} without weights",
            lambda make=make: cc.cluster_pairs(make(columns), "l", "r"),
        )


def _of_options():
    find = partial(cc.cluster_pairs, LEFT, RIGHT)
    for word, options in {
        "nodes": {"nodes": np.arange(45)[::-1]},
        "nodes of some": {"nodes": [3, 1]},
        "threshold": {"weights": WEIGHTS, "threshold": 0.6},
        "thresholds": {"weights": WEIGHTS, "threshold": (0.1, 0.5, 0.9)},
        "largest size": {"weights": WEIGHTS, "max_size": 4},
        "largest size and threshold": {"weights": WEIGHTS, "max_size": 3, "threshold": 0.2},
        "first": {"cluster_ids": "first"},
        "first and thresholds": {"weights": WEIGHTS, "threshold": [0.3], "cluster_ids": "first"},
        "threshold without weights": {"threshold": 0.5},
        "size without weights": {"max_size": 4},
        "weights of text": {"weights": ["a"] * 30},
    }.items():
        yield f"pairs {word}", partial(find, **options)
    several = (LEFT % 5, [str(k % 3) for k in LEFT]), (RIGHT % 5, [str(k % 3) for k in RIGHT])
    yield "pairs of several columns", partial(cc.cluster_pairs, *several)
    holes = [None if k % 7 == 0 else k for k in LEFT.tolist()]
    for nulls in ("raise", "drop", "keep"):
        yield f"nulls {nulls}", partial(cc.cluster_pairs, holes, RIGHT.tolist(), nulls=nulls)
    many = ends(9000, 20_000, 3)
    yield "many pairs", with_threads(partial(cc.cluster_pairs, *many))
    yield (
        "many pairs of some size",
        with_threads(partial(cc.cluster_pairs, *many, weights=uniform((20_000,), 5), max_size=50)),
    )


def _of_errors():
    for word, given in {
        "lengths": ([1, 2], [3]),
        "kinds": ([1], ["1"]),
        "mixed": ([1, "1"], [2, 3]),
        "bool and int": ([True], [1]),
        "objects": ([object()], [object()]),
        "complex": ([1j], [2j]),
        "sets": ([{1}], [{2}]),
        "no column": ({"l": [1], "r": [2]}, "l", "q"),
        "one name": ({"l": [1], "r": [2]}, "l"),
        "NaN": ([np.nan], [1.0]),
        "beyond": ([1 << 70], [1]),
        "negative and large": ([-1], [1 << 63]),
        "none": ([], []),
        "text alone": ("abc", "abd"),
    }.items():
        yield f"bad pairs: {word}", partial(cc.cluster_pairs, *given)


def _of_quality():
    columns = {"l": LEFT, "r": RIGHT, "w": WEIGHTS}
    for library, make in {
        "dict": dict,
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "arrow": pyarrow.table,
    }.items():
        for word, options in {"": {}, " weights": {"weights": "w"}}.items():

            def find(make=make, options=options):
                pairs = make(columns)
                clusters = cc.cluster_pairs(pairs, "l", "r")
                return cc.cluster_quality(clusters, pairs, "l", "r", **options)

            yield f"quality of {library}{word}", find
    table = cc.cluster_pairs(LEFT, RIGHT, weights=WEIGHTS, threshold=[0.3, 0.6])
    find = partial(cc.cluster_quality, table, LEFT, RIGHT, weights=WEIGHTS)
    for word, options in {
        "of a threshold": {"cluster": "cluster_0.6", "threshold": 0.6},
        "of no column": {"cluster": "none"},
        "of no node": {"node": "none"},
    }.items():
        yield f"quality {word}", partial(find, **options)


def _of_batches():
    def add(folder, threshold, step):
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

    for threshold, step in product((None, 0.5, (0.2, 0.6)), (4, 30)):
        yield (
            f"batches {threshold} of {step}",
            in_folder(partial(add, threshold=threshold, step=step)),
        )
    yield (
        "batches of kinds",
        lambda: (growing := cc.ClusterPairs()).add([1], [2]) or growing.add(["a"], ["b"]),
    )
    yield "batches without weights", lambda: cc.ClusterPairs(threshold=1).add([1], [2])
    yield "batches none", lambda: cc.ClusterPairs().labels()
    yield "batches of no file", in_folder(lambda folder: cc.ClusterPairs.load(folder / "none"))


def _of_edge_files():
    def find(folder, kind, **options):
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

    for kind in ("parquet", "arrow", "csv"):
        for word, options in {
            "": {},
            " vertices": {"num_vertices": 60},
            " too few vertices": {"num_vertices": 10},
            " names": {"src": "dst", "dst": "src"},
            " no column": {"src": "none"},
            " header": {"header": True},
            " format": {"format": "csv"},
        }.items():
            yield f"edges in {kind}{word}", in_folder(partial(find, kind=kind, **options))
    yield "edges in no file", in_folder(lambda folder: cc.label_edge_files(folder / "none.csv"))


def _of_duplicates():
    def find(folder, **options):
        words = np.concatenate([integers((20, 4), 5, 3)[:, :4]]).astype("<u4")
        (folder / "0_00.dups").write_bytes(words[:9].tobytes())
        (folder / "1_00.dups").write_bytes(words[9:].tobytes())
        counts = cc.cluster_dups(folder, folder / "out", **options)
        written = sorted((folder / "out").iterdir())
        return counts, {path.name: path.read_bytes() for path in written}

    for ids, sizes, ignore in product((False, True), repeat=3):
        options = {"save_cluster_id": ids, "save_cluster_size": sizes}
        words = "ids " * ids, "sizes " * sizes, "ignored" * ignore
        yield (
            f"duplicates {''.join(words)}".strip(),
            in_folder(partial(find, ignore_index_matches=ignore, **options)),
        )
    yield "duplicates of nothing", in_folder(lambda folder: cc.cluster_dups(folder, folder))
