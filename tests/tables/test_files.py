"""Files of pairs, read by batches."""

import gzip
import lzma
import os
import random
import struct
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conncomp._memory import parse_bytes, peak_memory
from conncomp.tables.clustering import Clustering
from conncomp.tables.files import csv_pairs, pair_file
from conncomp.tables.files import reading as files
from conncomp.tables.files.reading import Wanted, batches, check_types, format_of, open_file
from measured_command import in_python
from pair_files import NAMES, write, write_dups
from pairs_reference import table_of

PAIRS = Wanted(("l",), ("r",))
WEIGHED = Wanted(("l",), ("r",), "w")
ROWS = st.lists(st.tuples(st.integers(-9, 20), st.integers(0, 20), st.integers(0, 9)), max_size=40)
IDS = {
    "int64": lambda k: k,
    "int16": lambda k: k,
    "string": lambda k: f"a{k}é",
    "large_string": str,
    "binary": lambda k: str(k).encode(),
}


def table(rows, kind="int64"):
    of_type = IDS[kind]
    sides = [pa.array([of_type(row[k]) for row in rows], getattr(pa, kind)()) for k in (0, 1)]
    others = pa.array(["not wanted"] * len(rows), pa.string())
    weights = pa.array([float(row[2]) for row in rows], pa.float64())
    return pa.table({"x": others, "r": sides[1], "w": weights, "l": sides[0]})


def clustered(opened, readers=2, nulls="raise", threshold=None):
    """Return ids and clusters of files."""
    weighed = opened[0].wanted.weights is not None
    clustering = Clustering(threshold=threshold, max_size=None, nulls=nulls, weighed=weighed)
    for batch in batches(opened, nulls, readers):
        sides = [side if len(side) > 1 else side[0] for side in (batch.left, batch.right)]
        clustering.add(*sides, batch.weights)
    found = clustering.table("number", "pyarrow")
    return [found.column(name).to_pylist() for name in found.column_names]


def refusal(path, wanted=PAIRS):
    """Return what is wrong with a file, or None."""
    try:
        clustered([open_file(path, wanted)])
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(
    rows=ROWS,
    kind=st.sampled_from(["int64", "string"]),
    group=st.integers(1, 9),
    cut=st.integers(0, 40),
    readers=st.integers(1, 3),
)
def test_every_format(name, tmp_path_factory, rows, kind, group, cut, readers):
    folder = tmp_path_factory.mktemp("files")
    parts = [rows[:cut], rows[cut:]]
    integers = kind == "int64"
    opened = [
        open_file(
            write(folder / f"{k}{name}", table(part, kind), group), WEIGHED, integers=integers
        )
        for k, part in enumerate(parts)
    ]
    check_types(opened)
    for file, part in zip(opened, parts, strict=True):
        assert file.rows in (None, len(part))
        assert set(file.types) == {"l", "r", "w"}
    of_type = IDS[kind]
    expected = table_of([(of_type(u), of_type(v)) for u, v, _ in rows])
    assert clustered(opened, readers) == [*map(list, expected)]
    kept = [(of_type(u), of_type(v)) for u, v, weight in rows if weight >= 5]
    nodes = [of_type(node) for row in rows for node in row[:2]]
    expected = table_of(kept, nodes)
    assert clustered(opened, readers, threshold=5) == [*map(list, expected)]


@given(rows=ROWS, kind=st.sampled_from(sorted(IDS)), cut=st.integers(0, 40))
def test_dictionaries_that_differ_by_row_group(tmp_path_factory, rows, kind, cut):
    folder = tmp_path_factory.mktemp("files")
    plain = table(rows, kind)
    parts = []
    for part in (plain.slice(0, cut), plain.slice(cut)):
        sides = [part.column(side).combine_chunks().dictionary_encode() for side in ("l", "r")]
        parts.append(pa.table(sides, ["l", "r"]).combine_chunks())
    path, groups = folder / "stream.arrows", folder / "groups.parquet"
    with pa.ipc.new_stream(str(path), parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    with pa.parquet.ParquetWriter(groups, parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    expected = [*map(list, table_of([tuple(map(IDS[kind], row[:2])) for row in rows]))]
    for name in (path, groups):
        assert clustered([open_file(name, PAIRS)]) == expected


RECORDS = st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=30)


@given(
    records=RECORDS, indexed=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3)
)
def test_dups(tmp_path_factory, records, indexed):
    of_index = [(2**32 - 1, 2**32 - 1, *document) for document in indexed]
    path = write_dups(tmp_path_factory.mktemp("files") / "a.dups", of_index + records)
    first, last, cluster, size = clustered([open_file(path, Wanted(()))])
    expected = table_of([(record[:2], record[2:]) for record in of_index + records])
    assert ([*zip(first, last, strict=True)], cluster, size) == tuple(expected)


def test_ids_of_several_columns_and_of_structs(tmp_path):
    rows = [(1, "a", 2, "b"), (2, "b", 3, "c"), (1, "b", 1, "c")]
    columns = [*zip(*rows, strict=True)]
    plain = pa.table(dict(zip("abcd", map(list, columns), strict=True)))
    opened = open_file(write(tmp_path / "p.parquet", plain, 2), Wanted(("a", "b"), ("c", "d")))
    expected = [*map(list, table_of([(row[:2], row[2:]) for row in rows])[1:])]
    assert clustered([opened])[2:] == expected
    structs = {
        "l": [{"f": r[0], "d": r[1]} for r in rows],
        "r": [{"f": r[2], "d": r[3]} for r in rows],
    }
    for name in ("p.parquet", "p.arrow"):
        opened = open_file(write(tmp_path / name, pa.table(structs), 2), PAIRS)
        assert clustered([opened])[2:] == expected


@pytest.mark.parametrize("large", [0, 1 << 26])
def test_a_batch_is_small_however_large_a_row_group(tmp_path, monkeypatch, large):
    monkeypatch.setattr(pair_file, "ROWS", 100)
    monkeypatch.setattr(pair_file, "LARGE_GROUP", large)
    rows = [(k, k + 1, 0) for k in range(1000)]
    for name in ("p.parquet", "p.arrow", "p.arrows"):
        opened = open_file(write(tmp_path / name, table(rows)), PAIRS)
        assert [batch.rows for batch in batches([opened], "raise", 2)] == [0] + [100] * 10
    write_dups(tmp_path / "p.dups", [(0, 1, 0, 2)] * 1000)
    opened = open_file(tmp_path / "p.dups", Wanted(()))
    found = [*batches([opened], "raise", 2)]
    assert [batch.rows for batch in found] == [0] + [100] * 10
    assert sum(batch.bytes for batch in found) == opened.size


@pytest.mark.parametrize("name", NAMES)
def test_nulls_are_counted_from_the_beginning_of_the_file(tmp_path, name, monkeypatch):
    monkeypatch.setattr(pair_file, "PIECE_ROWS", 7)
    ids = pa.array([f"a{k}" for k in range(50)])
    weights = pa.array([None if k == 31 else float(k) for k in range(50)])
    opened = open_file(
        write(tmp_path / name, pa.table({"l": ids, "r": ids, "w": weights}), 5), WEIGHED
    )
    with pytest.raises(ValueError, match=f"{name}: column 'w' is null at row 31; nulls='drop'"):
        list(batches([opened], "raise", 2))
    found = [*batches([opened], "drop", 2)]
    assert sum(batch.rows for batch in found) == 50
    assert sum(len(batch.weights) for batch in found) == 49
    assert len(clustered([opened], nulls="drop")[0]) == 49


def test_text_is_read_as_it_stands(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes('\ufeffl,r,"w"\r\n007,7,1\r\nNA,"",2\r\n"x,\ny",null,nan\r\n'.encode())
    ids = clustered([open_file(path, PAIRS)])[0]
    assert ids == ["007", "7", "NA", "", "x,\ny", "null"]
    with pytest.raises(ValueError, match=r"p\.csv: column 'w' is null at row 2"):
        clustered([open_file(path, WEIGHED)])
    with pytest.raises(
        ValueError, match=r"p\.csv:2: column 'l': expected an integer .* found '007'"
    ):
        clustered([open_file(path, PAIRS, integers=True)])
    path.write_text("l,r\na,\nb,c\n")
    with pytest.raises(ValueError, match=r"p\.csv: column 'r' is null at row 0"):
        clustered([open_file(path, PAIRS)])
    assert clustered([open_file(path, PAIRS)], nulls="drop")[0] == ["b", "c"]


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz"])
def test_integers_in_text(tmp_path, name):
    def put(content):
        text = content.replace(",", "\t") if name == "p.tsv" else content
        packed = gzip.compress if name.endswith(".gz") else bytes
        (tmp_path / name).write_bytes(packed(text.encode()))
        return open_file(tmp_path / name, PAIRS, integers=True)

    low, high = -(2**63), 2**63 - 1
    assert clustered([put(f'l,r\n{low},"7"\n0,{high}\n\n7,-1\n')])[0] == [low, 7, 0, high, -1]
    opened = put("l,r\n1,\n3,4\n")
    assert clustered([opened], nulls="drop")[0] == [3, 4]
    with pytest.raises(ValueError, match="column 'r' is null at row 0"):
        clustered([opened])
    odd_ones = (
        "007",
        "+7",
        "-0",
        "--7",
        "-",
        " 7",
        "7 ",
        "7.0",
        "0x7",
        str(2**63),
        '""',
        "x",
        "\u0667",
    )
    message = f"{name}:4: column 'r': .*without integers=True ids a"
    for odd in odd_ones:
        with pytest.raises(ValueError, match=message):
            clustered([put(f"l,r\n1,2\n,\n5,{odd}\n")], nulls="drop")


def test_a_line_far_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_pairs, "CSV_BLOCK", 1 << 12)
    rows = [f'{k},"{k + 1}"\n' + "\n" * (k % 3) for k in range(5000)]
    (tmp_path / "p.csv").write_text("l,r\n" + "".join(rows) + "07,8\n")
    line = 2 + sum(row.count("\n") for row in rows)
    with pytest.raises(ValueError, match=f"p.csv:{line}: column 'l': .* found '07'"):
        clustered([open_file(tmp_path / "p.csv", PAIRS, integers=True)])


def test_a_column_of_ids_has_no_weights(tmp_path):
    (tmp_path / "p.csv").write_text("l,r\n1,2\n")
    with pytest.raises(ValueError, match="weights='r' is a column of ids, too"):
        open_file(tmp_path / "p.csv", Wanted(("l",), ("r",), "r"))


def test_formats_by_name():
    names = {"a.PARQUET": "parquet", "a.csv.xz": "csv", "a.parquet.gz": None, "a": None}
    assert {name: format_of(name) for name in names} == names
    with pytest.raises(ValueError, match=r"a\.txt: its name does not say what it is; give format="):
        open_file("a.txt", PAIRS)
    with pytest.raises(ValueError, match="format='json' is not one of None, 'parquet', 'arrow'"):
        open_file("a.txt", PAIRS, "json")


def test_a_format_that_the_name_does_not_tell(tmp_path):
    write(tmp_path / "p.parquet", table([(1, 2, 0)]))
    os.rename(tmp_path / "p.parquet", tmp_path / "p")
    assert clustered([open_file(tmp_path / "p", PAIRS, "parquet")])[0] == [1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_empty_tables(tmp_path, name):
    opened = open_file(write(tmp_path / name, table([], "string")), WEIGHED)
    assert clustered([opened]) == [[], [], []]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.parquet", b"", "p.parquet: .*size is 0 bytes"),
        ("p.parquet", b"junk" * 50, "p.parquet: .*magic bytes not found"),
        ("p.arrow", b"", "p.arrow: "),
        ("p.arrow", b"junk" * 50, "p.arrow: "),
        ("p.csv", b"", "p.csv: it is empty; its first line must have the names of the columns"),
        ("p.csv", b"l,x\n1,2\n", "p.csv: right='r': it has no column of that name, but 'l', 'x'"),
        ("p.csv", b"l,r,l\n1,2,3\n", "p.csv: left='l': it has more than one column of that name"),
        ("p.csv", b"l,r\n1,2\n3\n", r"p.csv: .*Expected 2 columns, got 1"),
        ("p.csv", b"l,r\n1,2\n3,4,5\n", r"p.csv: .*Expected 2 columns, got 3"),
        ("p.csv", b"l,r\n1,\xff\n", "p.csv: .*invalid UTF8"),
        ("p.csv", b"l,\xff\n1,2\n", "p.csv: .*utf-8"),
        ("p.csv", b"l" * (1 << 20), "p.csv: "),
        ("p.csv.gz", b"l,r\n", "is named .gz, but is not packed by gzip"),
        ("p.csv.gz", gzip.compress(b"l,r\n1,2\n" * 99, mtime=0)[:-20], r"p\.csv\.gz: "),
        ("p.csv.xz", lzma.compress(b"l,r\n1,2\n"), "packed by xz, which tables are not read from"),
        ("p.dups", bytes(17), "p.dups: its 17 bytes are no multiple of 16"),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        clustered([open_file(tmp_path / name, Wanted(()) if name == "p.dups" else PAIRS)])


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.parquet"):
        open_file(tmp_path / "none.parquet", PAIRS)
    for make, name in ((os.mkdir, "folder.parquet"), (os.mkfifo, "pipe.csv")):
        make(tmp_path / name)
        with pytest.raises(ValueError, match=f"{name}: is no regular file"):
            open_file(tmp_path / name, PAIRS)


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow", "p.arrows"])
def test_files_cut_anywhere(tmp_path, name):
    whole = Path(
        write(tmp_path / name, table([(k, k + 1, 0) for k in range(300)]), 50)
    ).read_bytes()
    for size in range(0, len(whole), max(len(whole) // 40, 1)):
        (tmp_path / name).write_bytes(whole[:size])
        if name == "p.arrows" and size > 2000:
            continue  # a stream may end after any message
        with pytest.raises(ValueError, match=name):
            clustered([open_file(tmp_path / name, PAIRS)])


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow", "p.arrows"])
@pytest.mark.parametrize("kind", ["int64", "string"])
def test_forged_lengths(tmp_path, name, kind):
    """Any integer of the file may be huge: an error, or an answer, and no memory."""
    path = tmp_path / name
    rows = [(k % 20, k % 17, 0) for k in range(200)]
    whole = Path(write(path, table(rows, kind), 100)).read_bytes()
    before = peak_memory()
    draw = random.Random(0)
    for _ in range(300):
        size, at = draw.choice([4, 8]), draw.randrange(len(whole) - 8)
        value = draw.choice([2**30, 2**31 - 1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size) - 1])
        path.write_bytes(whole[:at] + value.to_bytes(size, "little") + whole[at + size :])
        assert name in (refusal(path) or name)
    assert peak_memory() - before < 500 << 20


def test_a_forged_count_of_rows(tmp_path):
    path = tmp_path / "p.parquet"
    whole = Path(write(path, table([(k, k + 1, 0) for k in range(300)]))).read_bytes()
    found = 0
    # 300 as zigzag varint, wherever it stands in the footer, as another of the same length.
    footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    at = whole.find(b"\xd8\x04", footer)
    while at >= 0:
        path.write_bytes(whole[:at] + b"\xda\x04" + whole[at + 2 :])
        words = refusal(path)
        if words is None:  # of a column that is not read
            assert len(clustered([open_file(path, PAIRS)])[0]) == 301
        else:
            assert "p.parquet" in words
            found += 1
        at = whole.find(b"\xd8\x04", at + 1)
    assert found


def test_ipc_whose_offsets_lead_out_of_it(tmp_path):
    """Arrow takes such a file as it is."""
    strings = pa.array(["abc", "de", "f"])
    path = tmp_path / "p.arrow"
    whole = Path(write(path, pa.table({"l": strings, "r": strings}))).read_bytes()
    offsets = struct.pack("<4i", 0, 3, 5, 6)
    assert whole.count(offsets) == 2
    for forged in ((0, 3, 5, 1 << 30), (0, -3, 5, 6), (0, 5, 3, 6)):
        path.write_bytes(whole.replace(offsets, struct.pack("<4i", *forged)))
        with pytest.raises(ValueError, match=r"p\.arrow: "):
            clustered([open_file(path, PAIRS)])


@pytest.mark.parametrize("name", [*NAMES, "p.dups"])
def test_a_file_that_vanishes_or_changes(tmp_path, name):
    path = tmp_path / name

    def make(count):
        if name == "p.dups":
            write_dups(path, [(0, k, 0, k + 1) for k in range(count)])
        else:
            write(path, table([(k, k + 1, 0) for k in range(count)], "string"), 10)
        return open_file(path, Wanted(()) if name == "p.dups" else PAIRS)

    opened = make(100)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=name):
        clustered([opened])
    opened = make(100)
    make(50)
    with pytest.raises(ValueError, match=f"{name}: it was changed while it was read"):
        clustered([opened])


def test_a_file_that_is_cut_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_file, "ROWS", 1000)
    monkeypatch.setattr(pair_file, "BUFFER", 1 << 10)
    monkeypatch.setattr(pair_file, "LARGE_GROUP", 0)
    monkeypatch.setattr(csv_pairs, "CSV_BLOCK", 1 << 14)
    rows = [(k * 7919 % 99991, k, 0) for k in range(99991)]
    for name in ("p.parquet", "p.arrow", "p.arrows", "p.csv", "p.dups"):
        path = tmp_path / name
        if name == "p.dups":
            write_dups(path, [(0, u, 0, v) for u, v, _ in rows])
        else:
            write(path, table(rows), None if name == "p.parquet" else 1000)
        opened = open_file(path, Wanted(()) if name == "p.dups" else PAIRS)
        reader = batches([opened], "raise", 1)
        assert next(reader).rows == 0
        next(reader)
        os.truncate(path, 100)
        if (
            name == "p.csv"
        ):  # whose rest was read ahead, or is missing without a trace: it has no end
            continue
        with pytest.raises(ValueError, match=name):
            list(reader)


def test_types_that_differ(tmp_path):
    numbers = open_file(write(tmp_path / "a.parquet", table([(1, 2, 0)])), WEIGHED)
    text = open_file(write(tmp_path / "b.parquet", table([(1, 2, 0)], "string")), WEIGHED)
    narrow = open_file(write(tmp_path / "c.parquet", table([(1, 2, 0)], "int16")), WEIGHED)
    check_types([numbers, narrow])
    with pytest.raises(
        TypeError, match=r"'l' of .*a\.parquet of type int64 and .*b\.parquet of type"
    ):
        check_types([numbers, narrow, text])
    two = Wanted(("l", "x"), ("r", "x"))
    wide = open_file(tmp_path / "a.parquet", two)
    with pytest.raises(ValueError, match=r"ids of .*a\.parquet are of 2 columns \(l, x\)"):
        check_types([text, wide])
    with pytest.raises(TypeError, match=r"a\.parquet: column 'x': weights are of type string"):
        check_types([open_file(tmp_path / "a.parquet", Wanted(("l",), ("r",), "x"))])
    light = table([(1, 2, 0)])
    light = light.set_column(2, "w", light.column("w").cast(pa.float32()))
    light = open_file(write(tmp_path / "d.parquet", light), WEIGHED)
    with pytest.raises(
        TypeError, match=r"weights are double in .*a\.parquet, but float in .*d\.parq"
    ):
        check_types([numbers, light])
    lists = pa.table({"l": pa.array([[1]]), "r": pa.array([[2]])})
    with pytest.raises(TypeError, match="cannot be compared as ids"):
        check_types([open_file(write(tmp_path / "e.parquet", lists), PAIRS)])


def test_order_and_errors_of_what_threads_read():
    def piece(k, wrong=False):
        for j in range(5):
            time.sleep(0.001 * ((k * 7 + j) % 3))
            yield k, j
        if wrong:
            raise ValueError("wrong")

    for workers in (1, 2, 5):
        pieces = ((lambda k=k: piece(k)) for k in range(6))
        assert [*files.in_order(pieces, workers)] == [(k, j) for k in range(6) for j in range(5)]
        before, found = threading.active_count(), []
        pieces = ((lambda k=k: piece(k, k == 2)) for k in range(6))
        with pytest.raises(ValueError, match="wrong"):
            found.extend(files.in_order(pieces, workers))
        pieces = files.in_order(((lambda k=k: piece(k)) for k in range(6)), workers)
        next(pieces)
        pieces.close()
        assert threading.active_count() == before


def test_memory_in_words():
    assert parse_bytes("8G") == 8 * 10**9
    assert parse_bytes("2 GiB") == 2 * 2**30
    assert parse_bytes("100") == 100
    for text in ("", "G", "-1G", "8X", "1e9", "9" * 40, "nan", "8GG"):
        with pytest.raises(ValueError, match="is no number of bytes"):
            parse_bytes(text)


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_a_budget_covers_what_clusters_take(tmp_path, kind):
    """What is foretold of a distinct id is not much less, nor very much more, than it takes."""
    count = 1_500_000
    ids = pa.array(np.random.default_rng(0).permutation(2 * count))
    if kind == "string":
        ids = ids.cast(pa.string())
    pairs = pa.table({"l": ids[:count], "r": ids[count:]})
    path = write(tmp_path / "p.parquet", pairs, 100_000)
    code = f"""
from conncomp._memory import peak_memory
from conncomp.tables.files.reading import *
from conncomp.tables.files.memory import *
from conncomp.tables.clustering import Clustering
opened = open_file({path!r}, Wanted(("l",), ("r",)))
budget = Budget("20G", 1, False, False)
budget.expect([opened])
clustering = Clustering(threshold=None, max_size=None, nulls="raise", weighed=False)
for k, batch in enumerate(batches([opened], "raise", 2)):
    clustering.add(batch.left[0], batch.right[0], None)
    budget.note(batch)
    if k == 0:
        before = peak_memory()
table = clustering.table("number", "pyarrow")
print(peak_memory() - before, table.num_rows * budget.bytes_an_id(), READING)
"""
    found = in_python(code)
    assert found.returncode == 0, found.stderr
    taken, foretold, reading = map(float, found.stdout.split())
    assert 0.6 * foretold < taken < foretold + reading
