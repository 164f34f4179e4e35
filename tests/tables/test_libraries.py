"""Tables and columns of pandas, Polars and DuckDB: what comes in, and what comes out."""

import datetime
import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import conncomp

# Ids on the left and on the right: 1-2, 2-2, 3-4, as numbers and as what they stand for.
SIDES = (1, 2, 3), (2, 2, 4)
CLUSTERS = [0, 0, 1, 1]
OF_ROWS = [0, 0, 1]


def sides(value=lambda number: number):
    return ([value(number) for number in side] for side in SIDES)


def letter(number):
    return "_abcd"[number]


def day(number):
    return datetime.date(2020, 1, number)


PANDAS = {
    "int64": (int, "int64"),
    "UInt16": (int, "uint16"),
    "Int64": (int, "int64"),
    "int64[pyarrow]": (int, "int64"),
    "Float64": (float, "float64"),
    "str": (letter, "str"),
    "object": (letter, "str"),
    "string": (letter, "str"),
    "string[python]": (letter, "str"),
    "category": (letter, "str"),
    "datetime64[us]": (day, "datetime64[us]"),
    "datetime64[us, UTC]": (day, "datetime64[us, UTC]"),
    "date32[pyarrow]": (day, "object"),
    "period[D]": (day, "period[D]"),
}


@pytest.mark.parametrize("dtype", PANDAS)
def test_pandas(dtype):
    """A frame comes back whose nodes a merge matches with the ids, whatever their dtype was."""
    value, wanted = PANDAS[dtype]
    left, right = (pd.Series(side, dtype=dtype) for side in sides(value))
    frame = pd.DataFrame({"l": left, "r": right}).set_index(np.array([7, 7, 9]))
    table = conncomp.cluster_pairs(frame, "l", "r")
    assert isinstance(table, pd.DataFrame)
    assert table["node"].dtype == wanted
    assert table["cluster"].tolist() == CLUSTERS
    merged = frame.merge(table, left_on="l", right_on="node", how="left")
    assert merged["cluster"].tolist() == OF_ROWS
    quality = conncomp.cluster_quality(table, frame, "l", "r")
    assert isinstance(quality, pd.DataFrame)
    assert quality["bridges"].tolist() == [1, 1]


def test_nulls_of_pandas():
    frame = pd.DataFrame({"l": pd.array([1, None], "Int64"), "r": pd.array([2, 3], "Int64")})
    with pytest.raises(ValueError, match="left is null at row 1"):
        conncomp.cluster_pairs(frame, "l", "r")
    assert len(conncomp.cluster_pairs(frame, "l", "r", nulls="drop")) == 2


POLARS = {
    pl.Int64: (int, pl.Int64),
    pl.UInt8: (int, pl.UInt8),
    pl.String: (letter, pl.String),
    pl.Categorical: (letter, pl.String),
    pl.Enum(list("abcd")): (letter, pl.String),
    pl.Date: (day, pl.Date),
    pl.Decimal(20, 2): (decimal.Decimal, pl.Decimal(20, 2)),
    pl.Binary: (lambda number: letter(number).encode(), pl.Binary),
}


@pytest.mark.parametrize("dtype", POLARS, ids=str)
def test_polars(dtype):
    value, wanted = POLARS[dtype]
    left, right = (pl.Series(side, dtype=dtype) for side in sides(value))
    rows = [pl.DataFrame({"l": left[k : k + 1], "r": right[k : k + 1]}) for k in range(3)]
    frame = pl.concat(rows, rechunk=False)
    table = conncomp.cluster_pairs(frame, "l", "r")
    assert isinstance(table, pl.DataFrame)
    assert table.schema["node"] == wanted
    assert table["cluster"].to_list() == CLUSTERS
    merged = frame.join(table, left_on="l", right_on=pl.col("node").cast(dtype), how="left")
    assert merged["cluster"].to_list() == OF_ROWS
    assert conncomp.cluster_pairs(left, right).equals(table)
    quality = conncomp.cluster_quality(table, frame, "l", "r")
    assert isinstance(quality, pl.DataFrame)
    assert quality["cut_off"].to_list() == [1, 1]


def test_lazy_frames_are_to_be_collected():
    with pytest.raises(TypeError, match=r"LazyFrame of polars.*\.collect\(\)"):
        conncomp.cluster_pairs(pl.LazyFrame({"l": [1], "r": [2]}), "l", "r")


def test_types_that_arrow_does_not_have():
    frame = pl.DataFrame({"l": [1], "r": [2]}).cast(pl.Int128)
    with pytest.raises(TypeError, match="a DataFrame of polars, has a column of a type that Arrow"):
        conncomp.cluster_pairs(frame, "l", "r")


DUCKDB = {
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "HUGEINT": pa.decimal128(38, 0),
    "VARCHAR": pa.string(),
    "UUID": pa.string(),
    "DECIMAL(9, 2)": pa.decimal128(9, 2),
    "ENUM('1', '2', '3', '4')": pa.string(),
}


@pytest.mark.parametrize("kind", DUCKDB)
def test_duckdb(kind):
    """Relations come in, and tables of Arrow out, which DuckDB reads as they are."""
    text = "'0000000' || {} || '-0000-0000-0000-000000000000'" if kind == "UUID" else "{}"
    left, right = (f"({text.format(name)})::VARCHAR::{kind}" for name in "lr")
    pairs = duckdb.sql(f"SELECT {left} l, {right} r FROM (VALUES (1, 2), (2, 2), (3, 4)) t(l, r)")
    clusters = conncomp.cluster_pairs(pairs, "l", "r")
    assert isinstance(clusters, pa.Table)
    assert clusters.schema.field("node").type == DUCKDB[kind]
    assert clusters["cluster"].to_pylist() == CLUSTERS
    joined = duckdb.sql("SELECT cluster FROM pairs JOIN clusters ON l::VARCHAR = node::VARCHAR")
    assert sorted(joined.fetchall()) == [(number,) for number in OF_ROWS]


def test_tables_of_one_library_with_weights_of_another():
    frame = pl.DataFrame({"l": [1, 2], "r": [2, 3]})
    table = conncomp.cluster_pairs(frame, "l", "r", weights=np.array([1, 0]), threshold=0.5)
    assert table["size"].to_list() == [2, 2, 1]
