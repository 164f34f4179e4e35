"""`cluster_pairs` against a dictionary of parents: types of ids, layouts of columns, arguments."""

import datetime
import decimal
import uuid
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conncomp
from conncomp._arrays import on_gpu
from pairs_reference import divided, table_of

# For each type the ids that small numbers stand for.
TYPES = {
    "int8": (pa.int8(), lambda k: k - 5),
    "uint8": (pa.uint8(), lambda k: k),
    "int64": (pa.int64(), lambda k: (k - 5) * 1_000_000_007_000),
    "uint64": (pa.uint64(), lambda k: 2**64 - 1 - k),
    "bool": (pa.bool_(), lambda k: k % 2 == 1),
    "float": (pa.float64(), lambda k: k / 4),
    "string": (pa.string(), lambda k: "é" * k),
    "large_string": (pa.large_string(), lambda k: f"a long string whose end differs: {k}"),
    "string_view": (pa.string_view(), lambda k: f"{k}" * k),
    "binary": (pa.binary(), lambda k: b"\0" * k),
    "binary_view": (pa.binary_view(), lambda k: b"\0x" * k),
    "fixed": (pa.binary(5), lambda k: b"abc\0" + bytes([k])),
    "fixed 16": (pa.binary(16), lambda k: bytes([k]) * 16),
    "uuid": (pa.uuid(), lambda k: uuid.UUID(int=k << 64 | 1).bytes),
    "date32": (pa.date32(), lambda k: datetime.date(1960 + k, 1, 1)),
    "date64": (pa.date64(), lambda k: datetime.date(1960 + k, 1, 1)),
    "time32": (pa.time32("s"), lambda k: datetime.time(k)),
    "time64": (pa.time64("us"), lambda k: datetime.time(k, 1)),
    "timestamp": (pa.timestamp("ms"), lambda k: datetime.datetime(1960 + k, 1, 1)),
    "duration": (pa.duration("s"), lambda k: datetime.timedelta(k - 5)),
    "decimal": (pa.decimal128(20, 3), lambda k: decimal.Decimal(k - 5) / 8),
    "decimal256": (pa.decimal256(50, 3), lambda k: decimal.Decimal(k - 5) / 8),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), lambda k: f"{k}"),
    "struct": (
        pa.struct({"a": pa.int32(), "b": pa.string()}),
        lambda k: {"a": k % 3, "b": f"{k // 3}"},
    ),
}
NUMBERS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


def chunked(values, kind, cuts):
    """Return a chunked array, each of whose chunks is a slice of a longer one."""
    edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    chunks = []
    for begin, end in pairwise(edges):
        part = values[begin:end]
        padded = [*values[:1], *part, *values[:1]]
        chunks.append(pa.array(padded, kind)[1 : 1 + len(part)] if values else pa.array([], kind))
    return pa.chunked_array(chunks, kind)


def rows_of(table):
    """Return nodes, clusters and sizes as lists."""
    if isinstance(table, pa.Table):
        names = [name for name in table.column_names if name.startswith("node")]
        nodes = [table[name].to_pylist() for name in names]
    else:
        names = [name for name in table if name.startswith("node")]
        nodes = [list(table[name]) for name in names]
    nodes = nodes[0] if len(nodes) == 1 else list(zip(*nodes, strict=True))
    return (
        nodes,
        [int(k) for k in np.asarray(table["cluster"])],
        [int(k) for k in np.asarray(table["size"])],
    )


@pytest.mark.parametrize("name", TYPES)
@given(
    numbers=NUMBERS,
    cuts=st.lists(st.integers(0, 30), max_size=3),
    other=st.lists(st.integers(0, 30), max_size=3),
)
def test_every_type_of_arrow(name, numbers, cuts, other):
    kind, id_of = TYPES[name]
    left, right = [id_of(u) for u, _ in numbers], [id_of(v) for _, v in numbers]
    table = conncomp.cluster_pairs(chunked(left, kind, cuts), chunked(right, kind, other))
    plain = lambda value: tuple(value.values()) if isinstance(value, dict) else value  # noqa: E731
    ids, cluster, size = table_of([(plain(u), plain(v)) for u, v in zip(left, right, strict=True)])
    nodes, found, sizes = rows_of(table)
    if name == "uuid":
        nodes = [node.bytes for node in nodes]
    if name == "duration":
        nodes = [datetime.timedelta(seconds=node.total_seconds()) for node in nodes]
    assert (nodes, found, sizes) == (ids, cluster, size)
    if name not in ("dictionary", "struct"):
        assert table["node"].type == kind


def test_columns_that_refuse_dlpack():
    """As those of pyarrow before 26 do where DLPack lacks their type, or they have nulls."""

    class Refusing:
        def __dlpack_device__(self):
            raise pa.ArrowTypeError("DataType is not compatible with DLPack spec: string")

    assert not on_gpu(Refusing())


DTYPES = "i1 <i8 >i8 u4 >u2 ? f4 U3 >U3 S3 M8[D] M8[h] m8[us] >M8[ms]"


@pytest.mark.parametrize("dtype", DTYPES.split())
@given(numbers=NUMBERS)
def test_every_dtype_of_numpy(dtype, numbers):
    kind = np.dtype(dtype)
    values = np.array(numbers, "i8").reshape(-1, 2)
    columns = (values.astype("U") if kind.kind == "U" else values).astype(kind)
    table = conncomp.cluster_pairs(columns[:, 0], columns[:, 1])
    ids, cluster, size = table_of(
        list(zip(columns[:, 0].tolist(), columns[:, 1].tolist(), strict=True))
    )
    assert table["node"].tolist() == ids
    assert table["cluster"].tolist() == cluster
    assert table["size"].tolist() == size
    if ids and kind.kind not in "US":
        assert table["node"].dtype == kind.newbyteorder("=")


@pytest.mark.parametrize(
    ("left", "right", "out"),
    [
        (np.array([1, 2], "i1"), np.array([2, 3], "u8"), np.uint64),
        (np.array([-1, 2], "i1"), np.array([2, 3], "u4"), np.int64),
        (np.array([-1, 2], "i8"), np.array([2, 3], "u8"), np.int64),
        (np.array([1, 2], ">i4"), np.array([2, 3], "i2"), np.int32),
    ],
)
def test_integers_of_different_widths(left, right, out):
    table = conncomp.cluster_pairs(left, right)
    ids, cluster, _ = table_of(list(zip(left.tolist(), right.tolist(), strict=True)))
    assert table["node"].tolist() == ids
    assert table["node"].dtype == out
    assert table["cluster"].tolist() == cluster


def test_encodings_of_strings_and_units_of_times_meet():
    views = pa.array(["a", "b", "c"], pa.string_view())
    codes = pa.array(["b", "y", "x"]).dictionary_encode()
    assert conncomp.cluster_pairs(views, codes)["cluster"].to_pylist() == [0, 0, 0, 1, 1]
    coded = pa.array([0, 1, 0], pa.uint32())
    codes = pa.DictionaryArray.from_arrays(coded, pa.array(["b", "y"], pa.string_view()))
    assert conncomp.cluster_pairs(views, codes)["node"].to_pylist() == ["a", "b", "y", "c"]
    gaps = pa.array(["a", None], pa.string_view())
    named = conncomp.cluster_pairs(gaps, gaps, nulls="drop", cluster_ids="first")
    assert named.to_pylist() == [{"node": "a", "cluster": "a", "size": 1}]
    days = [datetime.datetime(2000, 1, day) for day in (1, 2)]
    seconds, micros = pa.array(days, pa.timestamp("s")), pa.array(days[::-1], pa.timestamp("us"))
    table = conncomp.cluster_pairs(seconds, micros)
    assert table["node"].to_pylist() == days
    scales = pa.array([decimal.Decimal("1.5")]), pa.array([decimal.Decimal("1.500")])
    assert len(conncomp.cluster_pairs(*scales)) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.array([1]), pa.array(["1"])),
        (pa.array(["a"]), pa.array([b"a"])),
        (np.array([1]), np.array([1.0])),
        (pa.array([1], pa.timestamp("s", "UTC")), pa.array([1], pa.timestamp("s"))),
        (pa.array([True]), pa.array([1])),
    ],
)
def test_types_that_do_not_compare_are_both_named(left, right):
    kinds = [str(getattr(side, "type", None) or side.dtype) for side in (left, right)]
    with pytest.raises(TypeError, match="compared") as error:
        conncomp.cluster_pairs(left, right)
    assert all(kind in str(error.value) for kind in kinds)


def test_signs_that_no_type_has():
    with pytest.raises(ValueError, match="no 64-bit integer type"):
        conncomp.cluster_pairs(np.array([-1]), np.array([2**63], np.uint64))


def test_nulls_are_an_error_or_dropped():
    left, right = pa.chunked_array([[1, 2], [None, 4]]), pa.array([2, 3, 4, None])
    with pytest.raises(ValueError, match="left is null at row 2; nulls='drop'"):
        conncomp.cluster_pairs(left, right)
    assert conncomp.cluster_pairs(left, right, nulls="drop")["node"].to_pylist() == [1, 2, 3]
    with pytest.raises(ValueError, match="weights is null at row 1"):
        conncomp.cluster_pairs([1, 2], [3, 4], weights=np.array([1, np.nan]), threshold=0)
    nothing = conncomp.cluster_pairs(pa.nulls(3), pa.nulls(3), nulls="drop")
    assert len(nothing) == 0
    for dtype in ("U1", "S1"):
        text = np.ma.MaskedArray(np.array(["a", "b"], dtype), True)
        nothing = conncomp.cluster_pairs(text, text, nulls="drop")
        assert [len(column) for column in nothing.values()] == [0, 0, 0]
    masked = np.ma.MaskedArray([1, 2], [False, True])
    with pytest.raises(ValueError, match="right is null at row 1"):
        conncomp.cluster_pairs(np.array([1, 2]), masked)
    with pytest.raises(ValueError, match="right is null at row 1"):
        conncomp.cluster_pairs(["a", "b"], ["b", None])


def test_tables_come_back_as_they_came():
    columns = {"l": [1, 2], "r": [2, 9]}
    assert isinstance(conncomp.cluster_pairs(pa.table(columns), "l", "r"), pa.Table)
    frame = conncomp.cluster_pairs(pd.DataFrame(columns), "l", "r")
    assert isinstance(frame, pd.DataFrame)
    assert frame["node"].tolist() == [1, 2, 9]
    frame = conncomp.cluster_pairs(pd.Series(["a"], dtype="category"), pd.Series(["b"]))
    assert frame["node"].tolist() == ["a", "b"]
    assert isinstance(conncomp.cluster_pairs(columns, "l", "r"), dict)
    structured = np.array([(1, 2), (2, 9)], [("l", "i4"), ("r", "i4")])
    assert conncomp.cluster_pairs(structured, "l", "r")["node"].tolist() == [1, 2, 9]


class OnlyStream:
    """A table of which nothing is known but that it exports a stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


def test_the_c_interfaces_of_arrow():
    table = pa.table({"l": [1, 2], "r": [2, 3]})
    assert conncomp.cluster_pairs(OnlyStream(table), "l", "r")["size"].to_pylist() == [3, 3, 3]
    both = OnlyArray(pa.array([1, 2])), OnlyArray(pa.array([2, 3]))
    assert conncomp.cluster_pairs(*both)["size"].to_pylist() == [3, 3, 3]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 6), max_size=30))
def test_ids_of_three_columns(rows):
    columns = [np.array([row[k] for row in rows], "i4") for k in range(6)]
    columns[1], columns[4] = columns[1].astype("U"), columns[4].astype("U")
    table = conncomp.cluster_pairs(tuple(columns[:3]), tuple(columns[3:]))
    pairs = [((a, str(b), c), (d, str(e), f)) for a, b, c, d, e, f in rows]
    ids, cluster, size = table_of(pairs)
    assert list(zip(*(table[f"node_{k}"].tolist() for k in range(3)), strict=True)) == ids
    assert table["cluster"].tolist() == cluster
    assert table["size"].tolist() == size


WEIGHED = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 15), st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])),
    max_size=40,
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@given(weighed=WEIGHED)
def test_thresholds_are_one_call_each(dtype, weighed):
    left, right = (np.array([pair[k] for pair in weighed], np.int64) for k in (0, 1))
    weights = np.array([pair[2] for pair in weighed], dtype)
    given = [0.7, 0.1, 0.9]
    together = conncomp.cluster_pairs(left, right, weights=weights, threshold=given)
    everything = list(zip(left.tolist(), right.tolist(), strict=True))
    nodes = table_of(everything)[0]
    for threshold in given:
        alone = conncomp.cluster_pairs(left, right, weights=weights, threshold=threshold)
        heavy = [pair[:2] for pair in weighed if pair[2] >= threshold]
        _, cluster, size = table_of(heavy, nodes)
        assert alone["cluster"].tolist() == together[f"cluster_{threshold}"].tolist() == cluster
        assert alone["size"].tolist() == together[f"size_{threshold}"].tolist() == size


@pytest.mark.parametrize(
    "weights",
    [
        *(np.array([0.9, 0.8], dtype) for dtype in ("f2", "<f4", ">f4", "f8")),
        *(pa.array(np.array([0.9, 0.8], dtype)) for dtype in ("f2", "f4", "f8")),
    ],
)
def test_thresholds_are_of_the_type_of_weights(weights):
    """0.9 is no float32; a weight of 0.9 is nevertheless at least that, with `max_size`, too."""
    for options in ({}, {"max_size": 9}):
        table = conncomp.cluster_pairs([1, 3], [2, 4], weights=weights, threshold=0.9, **options)
        assert table["size"].tolist() == [2, 2, 1, 1]


@given(WEIGHED, st.integers(1, 8))
def test_max_size(weighed, most):
    left, right = (np.array([pair[k] for pair in weighed], np.int64) for k in (0, 1))
    weights = np.array([pair[2] for pair in weighed], np.float64)
    table = conncomp.cluster_pairs(left, right, weights=weights, max_size=most, cluster_ids="first")
    wanted = divided(weighed, most)
    assert table["cluster"].tolist() == [root for root, _ in wanted]
    np.testing.assert_array_equal(
        table["divided"], np.array([np.nan if at is None else at for _, at in wanted])
    )
    assert table["size"].max(initial=0) <= most


def test_nodes_come_first():
    table = conncomp.cluster_pairs([1, 5], [2, 6], nodes=[9, 2, 9])
    assert table["node"].tolist() == [9, 2, 1, 5, 6]
    assert table["cluster"].tolist() == [0, 1, 1, 2, 2]
    named = conncomp.cluster_pairs(["b"], ["a"], cluster_ids="first")
    assert named["cluster"].tolist() == ["b", "b"]


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_rows_in_many_blocks(strings, threads):
    rng = np.random.default_rng(1)
    ids = rng.integers(-(2**63), 2**63 - 1, 300_000)
    left, right = rng.choice(ids, 400_000), rng.choice(ids, 400_000)
    if strings:
        columns = (pa.array(side).cast(pa.string()) for side in (left, right))
    else:
        columns = left, right
    conncomp.set_num_threads(threads)
    table = conncomp.cluster_pairs(*columns)
    both = np.stack([left, right], axis=1).reshape(-1)
    values, first, inverse = np.unique(both, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    u, v = rank[inverse].reshape(-1, 2).T
    matrix = coo_array((np.ones(len(u), bool), (u, v)), shape=(len(values),) * 2)
    _, labels = connected_components(matrix, directed=False)
    np.testing.assert_array_equal(np.asarray(table["cluster"]), labels)
    nodes = table["node"].cast(pa.int64()).to_numpy() if strings else table["node"]
    np.testing.assert_array_equal(nodes, values[order])


@given(NUMBERS, st.randoms())
def test_shuffled_rows_give_the_same_clusters(numbers, random):
    shuffled = random.sample(numbers, len(numbers))

    def sets(pairs):
        table = conncomp.cluster_pairs([u for u, _ in pairs], [v for _, v in pairs])
        members = {}
        for node, cluster in zip(
            np.asarray(table["node"]).tolist(), np.asarray(table["cluster"]).tolist(), strict=True
        ):
            members.setdefault(cluster, set()).add(node)
        return {frozenset(one) for one in members.values()}

    assert sets(numbers) == sets(shuffled)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "columns differ in length: left 2, right 1"),
        (({"l": [1]}, "l", "r"), {}, "right='r': pairs has no column of that name; it has 'l'"),
        (([1], [2]), {"threshold": 1}, "threshold needs weights"),
        (([1], [2]), {"weights": [1]}, "weights is for threshold or max_size; give one"),
        (([1], [2]), {"max_size": 2}, "max_size needs weights"),
        (([1], [2]), {"max_size": 0, "weights": [1]}, "max_size=0 must be 1 or more"),
        (([1], [2]), {"threshold": [], "weights": [1]}, "must have a threshold"),
        (([1], [2]), {"threshold": [1, 1], "weights": [1]}, "must be different numbers"),
        (([1], [2]), {"nulls": "keep"}, "nulls='keep' is not one of"),
        (([1], [2]), {"cluster_ids": "last"}, "cluster_ids='last' is not one of"),
        ((np.zeros((2, 2)), [2]), {}, "left has shape"),
        ((([1], [2]), [1]), {}, "as many columns"),
    ],
)
def test_bad_values(arguments, options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        conncomp.cluster_pairs(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("abc", [1]), {}, "left='abc' must be a column"),
        (({"l": [1]}, "l"), {}, "right is missing"),
        (([1], [2]), {"weights": "w", "threshold": 1}, "there is no table"),
        (([1], [2]), {"weights": ["x"], "threshold": 1}, "must be numbers"),
        (([1, "a"], [2, 3]), {}, "no column of values"),
        (([[1]], [[2]]), {}, "shape|compared"),
        ((pa.array([[1]]), pa.array([[1]])), {}, "cannot be compared as ids"),
    ],
)
def test_bad_types(arguments, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        conncomp.cluster_pairs(*arguments, **options)


def test_decimals_and_structs_that_arrow_does_not_bear():
    """A schema from a file may have any scale, with which Arrow's cast reads outside of a table."""
    near, far = (pa.array([], pa.decimal128(9, scale)) for scale in (-20, -21))
    conncomp.cluster_pairs(near, near)
    with pytest.raises(TypeError, match=r"left is of type decimal128\(9, -21\), whose values"):
        conncomp.cluster_pairs(far, far)
    empty = pa.array([{}], pa.struct([]))
    with pytest.raises(TypeError, match="left is a struct without fields"):
        conncomp.cluster_pairs(empty, empty)


def test_tables_that_come_one_after_another():
    table = pa.table({"l": [1, 2, 5, 6], "r": [2, 3, 6, 1], "w": [1.0, 2.0, 3.0, 0.5]})
    options = {"weights": "w", "threshold": [0.5, 1], "nodes": pa.array([9])}
    whole = conncomp.cluster_pairs(table, "l", "r", **options)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))
    assert conncomp.cluster_pairs(reader, "l", "r", **options) == whole
    frames = (frame.to_pandas() for frame in table.to_batches(max_chunksize=3))
    found = conncomp.cluster_pairs(frames, "l", "r", **options | {"nodes": [9]})
    pd.testing.assert_frame_equal(found, whole.to_pandas())
    assert conncomp.cluster_pairs(iter([]), "l", "r").num_rows == 0
    with pytest.raises(TypeError, match="weights must be the name of a column"):
        conncomp.cluster_pairs(iter([table]), "l", "r", weights=[1, 2, 3, 4], threshold=1)
