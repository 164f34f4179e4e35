"""Nulls in columns of Arrow, pandas and Polars: they are treated like masked elements."""

import numpy as np
import pytest

import conncomp

pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))

LINE = [1, None, 0, 1, 1, 2, None, None, 2, 0]


def as_masked(values, dtype):
    """Return what the values are as a masked array; what is hidden is foreground elsewhere."""
    hidden = np.array([value is None for value in np.ravel(values)]).reshape(np.shape(values))
    filled = [1 if value is None else value for value in np.ravel(np.array(values, object))]
    return np.ma.array(np.array(filled, dtype).reshape(hidden.shape), mask=hidden)


COLUMNS = {
    "Arrow": lambda v, t: pa.array(v, type=pa.from_numpy_dtype(t)),
    "chunked Arrow": lambda v, t: pa.chunked_array([v[:3], v[3:3], v[3:]], pa.from_numpy_dtype(t)),
    "sliced Arrow": lambda v, t: pa.array([None, *v, v[0]], type=pa.from_numpy_dtype(t))[1:-1],
    "encoded Arrow": lambda v, t: pa.array(v, pa.from_numpy_dtype(t)).dictionary_encode(),
    "pandas": lambda v, t: pd.Series(v, dtype=NULLABLE[t.kind](t)),
    "array of pandas": lambda v, t: pd.array(v, dtype=NULLABLE[t.kind](t)),
    "index of pandas": lambda v, t: pd.Index(v, dtype=NULLABLE[t.kind](t)),
    "pandas in Arrow": lambda v, t: pd.Series(v, dtype=pd.ArrowDtype(pa.from_numpy_dtype(t))),
    "Polars": lambda v, t: pl.Series(v, dtype=POLARS[t.name]),
    "chunked Polars": lambda v, t: pl.concat(
        [pl.Series(v[:3], dtype=POLARS[t.name]), pl.Series(v[3:], dtype=POLARS[t.name])],
        rechunk=False,
    ),
}
NULLABLE = {
    "b": lambda t: "boolean",
    "i": lambda t: f"Int{8 * t.itemsize}",
    "u": lambda t: f"UInt{8 * t.itemsize}",
    "f": lambda t: f"Float{8 * t.itemsize}",
}
POLARS = {name.lower(): getattr(pl, name) for name in ("Int8", "Int64", "UInt64", "Float32")}
POLARS |= {"float64": pl.Float64, "bool": pl.Boolean, "uint8": pl.UInt8, "int32": pl.Int32}
TYPES = ["int64", "int8", "uint8", "uint64", "float32", "float64", "bool"]
TOOLS = {
    "label": conncomp.label,
    "label with numbers": lambda a: conncomp.label(a, return_num=True, background=7),
    "roots": lambda a: conncomp.label(a, numbering="roots", tolerance=1),
    "wrapping": lambda a: conncomp.component_wrapping(a, periodic=True).axes,
    "percolates": lambda a: conncomp.percolates(a, 0),
    "stream": lambda a: [batch.sizes for batch in conncomp.stream_labels([a, a])],
    "component_sizes": lambda a: conncomp.component_sizes(a, background=0),
    "size_histogram": lambda a: conncomp.size_histogram(a, background=0),
    "component_members": lambda a: conncomp.component_members(a, background=0),
    "component_spans": lambda a: conncomp.component_spans(a, background=0),
    "statistics": lambda a: conncomp.component_statistics(a, background=0).columns().values(),
    "contacts": lambda a: conncomp.contacts(a, background=0).pairs,
    "adjacency": lambda a: conncomp.region_adjacency(a, background=0).indices,
    "each": lambda a: [each.mask for each in conncomp.iterate_components(a, background=0)],
    "match": lambda a: conncomp.match_labels(a, a, background=0).columns().values(),
    "fill_holes": lambda a: conncomp.fill_holes(a, background=0),
    "largest": lambda a: conncomp.largest_components(a, background=0),
    "not small": lambda a: conncomp.remove_small_components(a, 2, background=0),
    "sorted": lambda a: conncomp.sort_by_size(a, background=0),
    "consecutive": lambda a: conncomp.relabel_consecutive(a, background=0),
    "colours": lambda a: conncomp.colour_components(a, background=0),
}
OF_IMAGES = list(TOOLS)[:6]
OF_MASKS = ["fill_holes", "largest", "not small"]


def check_same(found, expected):
    if isinstance(expected, np.ndarray | int | bool | np.generic):
        np.testing.assert_array_equal(found, expected)
        return
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("column", COLUMNS)
def test_nulls_are_background(column, dtype):
    dtype = np.dtype(dtype)
    values = [None if v is None else dtype.type(v).item() for v in LINE]
    given, masked = COLUMNS[column](values, dtype), as_masked(values, dtype)
    for name, tool in TOOLS.items():
        if dtype.kind == "b" and (name == "roots" or name not in (*OF_IMAGES, *OF_MASKS)):
            continue  # no tolerance, and no labels
        if dtype.kind == "f" and name not in OF_IMAGES:
            with pytest.raises(TypeError, match="it must be of integers"):
                tool(given)
            continue
        check_same(tool(given), tool(masked))


@pytest.mark.parametrize("column", COLUMNS)
def test_columns_without_nulls_and_integers_beside_nulls_are_exact(column):
    large = [2**64 - 1, 2**64 - 2, 0, 2**64 - 2]
    expected = conncomp.label(np.array(large, np.uint64))
    np.testing.assert_array_equal(conncomp.label(COLUMNS[column](large, np.dtype("u8"))), expected)
    with_null = COLUMNS[column]([None, *large], np.dtype("u8"))
    np.testing.assert_array_equal(conncomp.label(with_null), [0, *expected])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.0, None, float("nan"), 0.0]),
        pl.Series([1.0, None, float("nan"), 0.0]),
        pa.array([1.0, None, float("nan"), 0.0], pa.float32()),
    ],
)
def test_a_nan_is_a_value_and_a_null_is_none(column):
    assert conncomp.label(column).tolist() == [1, 0, 2, 0]
    assert conncomp.label(column, background=np.nan).tolist() == [1, 0, 0, 2]


ROWS = [[1, None, 3], [1, 0, None]]
TABLES = {
    "pandas": lambda v: pd.DataFrame({n: pd.array(c, "Int64") for n, c in v.items()}),
    "pandas of two types": lambda v: pd.DataFrame(
        {n: pd.array(c, f"Int{64 >> k}") for k, (n, c) in enumerate(v.items())}
    ),
    "pandas in Arrow": lambda v: pd.DataFrame(
        {n: pd.array(c, pd.ArrowDtype(pa.int64())) for n, c in v.items()}
    ),
    "Polars": pl.DataFrame,
    "Arrow": pa.table,
    "batch of Arrow": pa.RecordBatch.from_pydict,
    "array of Polars": lambda v: pl.Series(
        list(map(list, zip(*v.values(), strict=True))), dtype=pl.Array(pl.Int64, len(v))
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_images_of_two_axes(table):
    columns = dict(zip("abc", map(list, zip(*ROWS, strict=True)), strict=True))
    given, masked = TABLES[table](columns), as_masked(ROWS, int)
    for name in TOOLS.keys() - {"percolates"}:
        check_same(TOOLS[name](given), TOOLS[name](masked))
    whole = {name: [0 if v is None else v for v in column] for name, column in columns.items()}
    np.testing.assert_array_equal(
        conncomp.label(TABLES[table](whole)), conncomp.label(masked.filled(0))
    )


def test_all_is_null():
    for column in (pa.array([None, None]), pl.Series([None, None]), pd.array([pd.NA] * 2, "Int8")):
        assert conncomp.label(column).tolist() == [0, 0]
        assert conncomp.component_sizes(column, background=0).tolist() == []


class Held:
    """An array whose `__array__` is masked, as that of a variable of netCDF4."""

    def __array__(self, dtype=None, copy=None):
        return np.ma.masked_equal([[1, 7, 1], [7, 1, 1]], 7)


def test_masks_that_an_array_hands_over():
    assert conncomp.label(Held(), connectivity=1).tolist() == [[1, 0, 2], [0, 2, 2]]
    assert conncomp.component_sizes(Held()).tolist() == [0, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda null: conncomp.label([null, [1, 2]]), "an entry of label_image has nulls"),
        (lambda null: conncomp.label([[1, 2]], structure=null), "structure has nulls"),
        (
            lambda null: conncomp.component_statistics([[1, 2]], [null, [1, 2]]),
            "an entry of image has nulls",
        ),
        (
            lambda null: conncomp.component_statistics([1, 2], null, background=0),
            "image has masked elements or nulls; mask the labels there",
        ),
        (
            lambda null: conncomp.component_statistics([1, 2], classes=null, background=0),
            "classes has masked elements or nulls",
        ),
        (
            lambda null: conncomp.largest_components([1, 2], by=null, background=0),
            "by has masked elements or nulls",
        ),
        (lambda null: conncomp.colour_components([1, 2], null, background=0), "image has nulls"),
        (lambda null: conncomp.label_bonds(null), "bonds has nulls"),
        (lambda null: conncomp.Graph.from_edges(null, [1, 2]), "src has nulls"),
    ],
)
@pytest.mark.parametrize(
    "null", [pa.array([1, None]), pl.Series([1, None]), pd.array([1, None], "Int64")]
)
def test_where_nulls_are_refused(null, call, message):
    with pytest.raises(ValueError, match=message):
        call(null)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None]),
        pa.array([[1, None], [2, 3]]),
        pa.array([{"a": 1}, None]),
        pa.array([1, None], pa.timestamp("s")),
        pa.array([None, 1], pa.decimal128(5)),
        pd.Series([1, None], dtype="category"),
        pd.Series(["a", None], dtype="string"),
        pd.Series(pd.arrays.SparseArray([1.0, np.nan])),
        pd.Series([1, None], dtype=object),
        pd.Series(pd.to_datetime(["2020-01-01", None])),
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": ["x", "y"]}),
        pl.Series(["a", None]),
        pl.Series([[1, None], [2]]),
        pl.Series([[1, 2], None], dtype=pl.Array(pl.Int64, 2)),
        pl.Series([1, None], dtype=pl.Decimal(5, 2)),
        pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
        pl.LazyFrame({"a": [1, None]}),
        [1, None, 0],
        [pd.NA, 1],
    ],
    ids=lambda column: type(column).__name__,
)
def test_what_cannot_be_taken_is_refused_by_name(column):
    for name, tool in {"label_image": conncomp.label, "labels": conncomp.component_sizes}.items():
        with pytest.raises((TypeError, ValueError), match=name):
            tool(column)


def test_a_null_is_no_arc_of_a_dense_matrix():
    rows = pl.DataFrame({"a": [0, None, 1], "b": [None, 0, 0], "c": [1, 0, 0]})
    assert conncomp.connected_components(rows)[1].tolist() == [0, 1, 0]


def test_nulls_beside_labels_in_dask_arrays():
    dask_array = pytest.importorskip("dask.array")
    labels = dask_array.from_array(np.array([1, 1, 2]), 2)
    for image in (pa.array([1, None, 3]), pl.Series([1, None, 3]), pd.array([1, None, 3], "Int64")):
        with pytest.raises(ValueError, match="image has nulls"):
            conncomp.component_statistics(labels, image, background=0)
    whole = conncomp.component_statistics(labels, pa.array([1, 2, 3]), background=0)
    assert whole.sums.compute().tolist() == [3, 3]
