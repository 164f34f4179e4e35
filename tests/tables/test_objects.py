"""Ids that are Python objects: whatever the container, no two that differ are merged."""

import datetime as dt
import enum
import uuid
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import conncomp
from measured_command import allocates_little
from pairs_reference import table_of

STAMP = pd.Timestamp("2020-01-01")
BERLIN = ZoneInfo("Europe/Berlin")
NS, US = np.timedelta64(1, "ns"), dt.timedelta(microseconds=1)


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


# Ids that are all different, and close to each other.
IDS = {
    "bytes": [b"\1", b"\1\0", b"", b"\0", b"\0\0", b"a" * 300],
    "text": ["a", "a\0", "", "\0", "é", "é\0", "a" * 300],
    "numpy bytes": [np.bytes_(b"a"), np.bytes_(b"a\0"), b"a\0\0"],
    "text enum": list(Colour),
    "int": [0, 1, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1],
    "uint64": [2**64 - 1, 2**64 - 2, 2**63, 3, 0],
    "numpy ints": [np.uint64(2**64 - 1), 3, np.int8(4)],
    "float": [0.5, np.nextafter(0.5, 1), 1e300, np.inf, -np.inf],
    "int and float": [1, 1.5, 2**53, 2.5],
    "bool": [True, np.False_],
    "timestamp": [STAMP, STAMP + pd.Timedelta(1, "ns"), STAMP + pd.Timedelta(1, "us")],
    "timestamp of a zone": [(STAMP + pd.Timedelta(k, "ns")).tz_localize("UTC") for k in range(3)],
    "timedelta of pandas": [pd.Timedelta(k, "ns") for k in range(3)],
    "datetime": [dt.datetime(2020, 1, 1) + k * US for k in range(3)],
    "datetime and timestamp": [dt.datetime(2020, 1, 1), STAMP + pd.Timedelta(1, "ns")],
    "datetime of a zone": [dt.datetime(2020, 1, 1, tzinfo=BERLIN) + k * US for k in range(3)],
    "timedelta": [dt.timedelta(1), dt.timedelta(1) + US],
    "date": [dt.date.min, dt.date.max, dt.date(2020, 1, 1)],
    "time": [dt.time(1), dt.time(1, microsecond=1)],
    "datetime64[ps]": [np.datetime64(k, "ps") for k in range(3)],
    "datetime64 of units": [np.datetime64(1, "D"), np.datetime64(1, "ns"), np.datetime64(1, "s")],
    "timedelta64[as]": [np.timedelta64(k, "as") for k in range(3)],
    "decimal": [Decimal("1.5"), Decimal("1.50000000000001"), Decimal(2)],
    "uuid": [uuid.UUID(int=k << 64 | 1) for k in range(3)],
}


def objects(values):
    made = np.empty(len(values), object)
    made[:] = values
    return made


CONTAINERS = {
    "list": list,
    "array of objects": objects,
    "masked array of objects": lambda values: np.ma.MaskedArray(objects(values)),
    "deque": deque,
    "UserList": UserList,
    "series": lambda values: pd.Series(values, dtype=object),
    "index": lambda values: pd.Index(values, dtype=object),
    "categorical": lambda values: pd.Series(pd.Categorical(pd.Index(values, dtype=object))),
}


def plain(value):
    """Return an id as Python compares it with those that went in."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def assert_as_python(table, pairs, nodes=()):
    ids, cluster, size = table_of(pairs, nodes)
    found = [plain(node) for node in table["node"]]
    assert len(found) == len(ids)
    for node, wanted in zip(found, ids, strict=True):
        if isinstance(wanted, uuid.UUID):
            assert isinstance(node, uuid.UUID)
        assert pd.Timestamp(node) == wanted if type(wanted) is dt.datetime else node == wanted
    assert list(table["cluster"]) == cluster
    assert list(table["size"]) == size


def pairs_of(values):
    """Return a pair for each id with itself, and one of the first two."""
    return [(value, value) for value in values] + [(values[0], values[1])]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", IDS)
def test_ids_of_every_type_in_every_container(name, container):
    pairs, make = pairs_of(IDS[name]), CONTAINERS[container]
    left, right = (make([pair[k] for pair in pairs]) for k in (0, 1))
    in_series = container in ("series", "index", "categorical")
    if in_series and name in ("datetime64[ps]", "timedelta64[as]"):
        pytest.skip("pandas does not have the unit")
    if container == "categorical" and left.tolist() != [pair[0] for pair in pairs]:
        assert (name, pd.__version__ < "3.1") == ("text", True)
        pytest.skip("pandas before 3.1 makes one category of texts that are alike up to a NUL")
    assert_as_python(conncomp.cluster_pairs(left, right), pairs)


@pytest.mark.parametrize("name", IDS)
def test_ids_of_every_type_in_every_argument(name, tmp_path):
    values = IDS[name]
    pairs = pairs_of(values)
    left, right = ([pair[k] for pair in pairs] for k in (0, 1))
    assert_as_python(conncomp.cluster_pairs({"l": left, "r": right}, "l", "r"), pairs)
    table = conncomp.cluster_pairs(left, right, nodes=values[::-1])
    assert_as_python(table, pairs, values[::-1])
    clusters = conncomp.ClusterPairs()
    clusters.add(left[:2], right[:2])
    clusters.save(tmp_path / "saved")
    clusters = conncomp.ClusterPairs.load(tmp_path / "saved")
    clusters.add_nodes(values[:2])
    clusters.add(left[2:], right[2:])
    assert_as_python(clusters.labels(), pairs)
    ones = [1] * len(pairs)
    several = conncomp.cluster_pairs((left, ones), (right, ones))
    assert_as_python({**several, "node": several["node_0"]}, pairs)
    quality = conncomp.cluster_quality(table, left, right)
    assert sorted(quality["size"].tolist()) == [*[1] * (len(values) - 2), 2]
    first = conncomp.cluster_pairs(left, right, cluster_ids="first")["cluster"]
    assert plain(first[1]) == plain(first[0])


def test_trailing_nuls_of_fixed_width_arrays_were_lost_before():
    table = conncomp.cluster_pairs(np.array([b"\1\0", b"\1"]), np.array([b"A", b"B"]))
    assert table["node"].tolist() == [b"\1", b"A", b"B"]
    mixed = conncomp.cluster_pairs(np.array([b"a"]), [b"a\0"])
    assert mixed["node"].tolist() == [b"a", b"a\0"]


def test_short_ids_come_back_as_they_did():
    assert conncomp.cluster_pairs(["ann"], ["bo"])["node"].dtype == np.dtype("U3")
    assert conncomp.cluster_pairs([b"ann"], [b"bo"])["node"].dtype == np.dtype("S3")
    assert conncomp.cluster_pairs([1], [2])["node"].dtype == np.int64
    assert conncomp.cluster_pairs([np.int8(1)], [np.int8(2)])["node"].dtype == np.int8
    assert conncomp.cluster_pairs([2**64 - 1, 3], [1, 2])["node"].dtype == np.uint64


@pytest.mark.parametrize("letter", ["a", "é", b"a"])
def test_one_long_id_among_many_short_ones(letter):
    """Memory is that of all ids together, not of the longest one times their number."""
    values = [letter * 200_000, *(letter * k for k in range(100)), *[letter] * 20_000]
    with allocates_little(50e6):
        table = conncomp.cluster_pairs(values, values)
    assert table["node"][0] == letter * 200_000
    assert len(table["node"]) == 101


MIXED = {
    "text and bytes": ["a", b"a"],
    "bool and int": [True, 1],
    "bool and float": [1.0, True],
    "text and int": ["1", 1],
    "date and datetime": [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)],
    "with and without a zone": [STAMP, STAMP.tz_localize("UTC")],
    "UUID and bytes": [uuid.UUID(int=1), uuid.UUID(int=1).bytes],
    "UUID and text": [uuid.UUID(int=1), str(uuid.UUID(int=1))],
    "decimal and float": [Decimal(1), 1.0],
}


@pytest.mark.parametrize("name", MIXED)
def test_ids_of_different_kinds_are_refused_and_not_merged(name):
    first, second = MIXED[name]
    for container, make in CONTAINERS.items():
        if container == "categorical" and first == second:  # one category of pandas
            continue
        column = make([first, second])
        with pytest.raises(TypeError, match=r"left is no column of values of one type: .*row 1"):
            conncomp.cluster_pairs(column, column)
    with pytest.raises(TypeError, match=r"cannot be compared; cast one|there are ids of"):
        conncomp.cluster_pairs([first], [second])
    clusters = conncomp.ClusterPairs()
    clusters.add([first], [first])
    with pytest.raises(TypeError, match="there are ids of"):
        clusters.add([second], [second])


REFUSED = {
    "mixed signs": ([2**63, -1], ValueError, "negative .* 2\\*\\*63 or more"),
    "beyond 64 bits": ([2**64], ValueError, "18446744073709551616.* at row 0"),
    "below 64 bits": ([3, -(2**63) - 1], ValueError, "-9223372036854775809.* at row 1"),
    "an integer that is no float": ([0.5, 2**53 + 1], ValueError, "9007199254740993 at row 1"),
    "long double": ([np.longdouble(1) / 3], TypeError, "longdouble|float128"),
    "complex": ([1j], TypeError, "row 0"),
    "fraction": ([Fraction(1, 3)], TypeError, "Fraction.*row 0"),
    "surrogates": (["\ud800"], ValueError, "surrogates"),
    "a time of a zone": ([dt.time(1, tzinfo=dt.UTC)], TypeError, "time zone"),
    "long ago": ([np.datetime64(2**61, "h")], ValueError, "64 bits of nanoseconds"),
    "long": ([np.timedelta64(2**61, "h")], ValueError, "64 bits of nanoseconds"),
    "a long time": ([dt.timedelta.max], ValueError, "64 bits"),
    "units apart": ([np.datetime64(2**40, "s"), np.datetime64(1, "ns")], ValueError, "units"),
    "years and days": ([np.timedelta64(1, "Y"), np.timedelta64(1, "D")], TypeError, "row|unit"),
    "infinite decimals": ([Decimal("Infinity")], TypeError, "left"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_held_exactly_is_refused(name):
    values, error, message = REFUSED[name]
    for column in (values, objects(values)):
        with pytest.raises(error, match=message) as caught:
            conncomp.cluster_pairs(column, column)
        assert type(caught.value) is error
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["M8[ps]", "M8[as]", "m8[fs]", "M8[10ps]", "m8[M]", "m8"])
def test_units_that_are_no_whole_nanoseconds(dtype):
    values = np.array([1, 2, 3, 2], dtype)
    table = conncomp.cluster_pairs(values[:2], values[2:])
    assert table["node"].dtype == values.dtype
    np.testing.assert_array_equal(table["node"], values[[0, 2, 1]])
    with pytest.raises(TypeError, match=r"cannot be compared; cast one"):
        conncomp.cluster_pairs(values, np.ones(4, f"{dtype[0]}8[ns]"))


def test_long_doubles_are_refused():
    values = np.array([1, 2], np.longdouble)
    if values.dtype.itemsize > 8:
        with pytest.raises(TypeError, match=r"cannot be compared as ids; use .*64 bits"):
            conncomp.cluster_pairs(values, values)


@pytest.mark.parametrize(
    "null", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]
)
@pytest.mark.parametrize("container", CONTAINERS)
def test_nulls(null, container):
    """None, NaN and NaT are no ids."""
    if container == "categorical" and isinstance(null, Decimal):
        pytest.skip("pandas makes a category of it")
    for values in (["a\0", "a"], [2**64 - 1, 1], [uuid.UUID(int=1), uuid.UUID(int=2)], [STAMP] * 2):
        column = CONTAINERS[container]([values[0], null, values[1]])
        with pytest.raises(ValueError, match="left is null at row 1; nulls='drop' leaves out"):
            conncomp.cluster_pairs(column, column)
        table = conncomp.cluster_pairs(column, column, nulls="drop")
        assert_as_python(table, [(value, value) for value in values])


def test_masked_objects_may_hold_anything():
    column = np.ma.MaskedArray(objects(["a\0", 5, "a"]), [False, True, False])
    table = conncomp.cluster_pairs(column, column, nulls="drop")
    assert table["node"].tolist() == ["a\0", "a"]


def test_only_nulls():
    for nothing in ([None, None], objects([None, np.nan]), []):
        assert len(conncomp.cluster_pairs(nothing, nothing, nulls="drop")["node"]) == 0
        assert len(conncomp.cluster_pairs(nothing, ["a"] * len(nothing), nulls="drop")["node"]) == 0


def test_structs_in_lists():
    """Each field is a column."""
    later = STAMP + pd.Timedelta(1, "ns")
    rows = [{"a": STAMP, "b": "x\0"}, {"b": "x\0", "a": later}, None, {"a": STAMP, "b": "x"}]
    table = conncomp.cluster_pairs(rows, rows, nulls="drop")
    assert table["node_0"].tolist() == [STAMP.value, later.value, STAMP.value]
    assert table["node_1"].tolist() == ["x\0", "x\0", "x"]


def test_signs_are_remembered_by_what_was_saved(tmp_path):
    clusters = conncomp.ClusterPairs()
    clusters.add(np.array([-1]), np.array([-1]))
    clusters.add(np.array([2], "u8"), np.array([3], "u8"))
    clusters.save(tmp_path / "saved")
    loaded = conncomp.ClusterPairs.load(tmp_path / "saved")
    assert loaded.labels()["node"].tolist() == [-1, 2, 3]
    with pytest.raises(ValueError, match=r"2\*\*63 or more"):
        loaded.add(np.array([2**64 - 1], "u8"), np.array([3], "u8"))


def test_uuids_of_arrow_meet_those_of_python():
    value = uuid.UUID(int=1)
    column = pa.array([value.bytes], pa.uuid())
    assert conncomp.cluster_pairs(column, [value])["node"].to_pylist() == [value]
    assert conncomp.cluster_pairs([value], column)["node"].tolist() == [value]


def test_large_integers_beside_nulls_keep_all_digits():
    """Ends of bridges, of which clusters of one have none."""
    clusters = {"node": [2**60 + 1, 2**60 + 3, 5], "cluster": [0, 0, 1]}
    pairs = pa.table({"l": [2**60 + 1], "r": [2**60 + 3]})
    quality = conncomp.cluster_quality(clusters, pairs, "l", "r")
    assert quality["bridge_left"].tolist() == [2**60 + 1, None]


class Long:
    """A sequence that says it is longer than any memory."""

    def __init__(self, length=2**40):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, k):
        return 1


@pytest.mark.parametrize(
    "given", [range(2**40), range(2**80), Long(), Long(-1), UserList(range(3))]
)
def test_sequences_that_are_too_long(given):
    if isinstance(given, UserList):
        assert len(conncomp.cluster_pairs(given, given)["node"]) == 3
        return
    calls = (
        lambda: conncomp.cluster_pairs(given, given),
        lambda: conncomp.cluster_pairs((given,), (given,)),
        lambda: conncomp.cluster_pairs([1], [2], nodes=given),
        lambda: conncomp.cluster_pairs({"l": given, "r": given}, "l", "r"),
        lambda: conncomp.cluster_pairs([1], [2], weights=given, threshold=1),
        lambda: conncomp.cluster_pairs([1], [2], weights=[1], threshold=given),
        lambda: conncomp.ClusterPairs().add(given, given),
    )
    for call in calls:
        with pytest.raises((TypeError, ValueError, MemoryError)) as caught:
            call()
        assert str(caught.value).startswith(("left", "nodes", "weights", "threshold"))


TABLE = {"l": [1, 2], "r": [2, 3], "w": [0.5, 1]}
SLIPS = {
    "no name": lambda: conncomp.cluster_pairs(TABLE, (), "r"),
    "no names": lambda: conncomp.cluster_pairs(TABLE, "l", ()),
    "no name in a list": lambda: conncomp.cluster_pairs(TABLE, [], []),
    "an array of names": lambda: conncomp.cluster_pairs(pd.DataFrame(TABLE), np.array(["l"]), "r"),
    "a dict for a name": lambda: conncomp.cluster_pairs(TABLE, {}, "r"),
    "a name twice removed": lambda: conncomp.cluster_pairs(TABLE, ("l", ("r",)), ("l", "r")),
    "no nodes": lambda: conncomp.cluster_pairs(TABLE, "l", "r", nodes=()),
    "no node": lambda: conncomp.cluster_quality(TABLE, TABLE, "l", "r", node=(), cluster="w"),
    "no cluster": lambda: conncomp.cluster_quality(TABLE, TABLE, "l", "r", node="l", cluster=()),
    "no columns": lambda: conncomp.ClusterPairs().add((), ()),
    "no weights": lambda: conncomp.ClusterPairs().add([1], [2], ()),
    "number of a column": lambda: conncomp.cluster_pairs(TABLE, 0, 1),
    "table without names": lambda: conncomp.cluster_pairs(pd.DataFrame(TABLE), [1, 2]),
    "iterator of nothing like a table": lambda: conncomp.cluster_pairs(iter([1]), "l", "r"),
    "no table": lambda: conncomp.cluster_pairs(None, "l", "r"),
    "nothing": lambda: conncomp.cluster_pairs(None, None),
    "a file": lambda: conncomp.ClusterPairs.load(None),
    "a folder": lambda: conncomp.ClusterPairs().save(None),
    "an array for a format": lambda: conncomp.label_edge_files("a.csv", format=np.zeros(2)),
    "a frame for a choice": lambda: conncomp.cluster_pairs(
        TABLE, "l", "r", nulls=pd.DataFrame(TABLE)
    ),
    "a frame for a name": lambda: conncomp.cluster_pairs(TABLE, pd.DataFrame(TABLE), "r"),
    "names of files": lambda: conncomp.label_edge_files(range(2**40)),
    "no folder": lambda: conncomp.cluster_dups(None, None),
    "a number for a folder": lambda: conncomp.cluster_dups(3, 4),
    "a flag that is none": lambda: conncomp.cluster_dups(".", ".", save_cluster_id=np.zeros(2)),
}


@pytest.mark.parametrize("name", SLIPS)
def test_slips_are_told_in_words(name):
    with pytest.raises((TypeError, ValueError, FileNotFoundError)) as caught:
        SLIPS[name]()
    assert "has no attribute" not in str(caught.value)
    assert "ambiguous" not in str(caught.value)
    assert "expected str, bytes" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_max_size_may_be_any_integer():
    table = conncomp.cluster_pairs(TABLE, "l", "r", weights="w", max_size=2**70)
    assert table["size"].tolist() == [3, 3, 3]
