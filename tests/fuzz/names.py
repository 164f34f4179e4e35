"""Target for ids in files of text: each door reads them as text as it stands, or refuses it."""

import csv
import tempfile
from pathlib import Path

import conncomp
from conncomp.tables.clustering import Clustering
from conncomp.tables.files.reading import Wanted, batches, open_file

from ..pairs_reference import table_of
from ..reference import components_by_search, consecutive
from .target import assert_refused, assert_same

PLAIN = ["7", "0", "2139", str(2**63 - 1), "10"]
MEANT = ["007", "02139", "+7", " 7", "7 ", "7.0", "-0", "00"]  # as numbers, perhaps
ODD = [*MEANT, str(2**63), "1" * 21, "0x7", "1e1"]
NAMES = ["Ada", "Grace Hopper", "x, y", 'the "x"', "NA", "null", "source", "\u00e4", "a;b"]
HEADERS = [None, ("source", "target"), ("src", "dst", "weight"), ("w", "to", "from")]


def _table(choices):
    """Return pairs of ids, and the rows of a file, with its header, that has them."""
    kinds = choices.pick([PLAIN, PLAIN + ODD, ODD, PLAIN + ODD + NAMES, NAMES, PLAIN[:3]])
    pairs = [(choices.pick(kinds), choices.pick(kinds)) for _ in range(1 + choices.below(9))]
    header = choices.pick(HEADERS)
    if header is None:  # by which columns are known to be apart by commas
        pairs = [tuple(name.replace(";", ".") for name in pair) for pair in pairs]
    width, ends = 2 + choices.below(2), (0, 1)
    if header is not None:
        width = len(header)
        ends = next(
            tuple(map(header.index, names))
            for names in (("source", "target"), ("src", "dst"), ("from", "to"))
            if set(names) <= set(header)
        )
    rows = [["0.5"] * width for _ in pairs]
    for row, pair in zip(rows, pairs, strict=True):
        for k, name in zip(ends, pair, strict=True):
            row[k] = name
    return pairs, header, ends, rows


def _write(choices, path, header, rows):
    """Write a file, perhaps with quotes and empty lines; return the lines that rows are in."""
    quoting = choices.pick([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    end = choices.pick(["\n", "\r\n"])
    lines, line = [], 0
    with path.open("w", newline="", encoding=choices.pick(["utf-8", "utf-8-sig"])) as file:
        writer = csv.writer(
            file,
            delimiter="\t" if path.suffix == ".tsv" else ",",
            quoting=quoting,
            lineterminator=end,
        )
        for row in rows if header is None else [header, *rows]:
            writer.writerow(row)
            line += 1
            lines.append(line)
            blank = choices.below(4) == 3
            file.write(end * blank)
            line += blank
    return lines if header is None else lines[1:]


def _clustered(path, header, ends, integers):
    left, right = ends if header is None else (header[k] for k in ends)
    wanted = Wanted((str(left),), (str(right),))
    clustering = Clustering(threshold=None, max_size=None, nulls="raise", weighed=False)
    opened = open_file(path, wanted, integers=integers, header=header is not None)
    for batch in batches([opened], "raise", 2):
        clustering.add(batch.left[0], batch.right[0], None)
    table = clustering.table("number", "pyarrow")
    return table.column("node").to_pylist(), table.column("cluster").to_pylist()


def _read(path, header, integers):
    graph, ids = conncomp.Graph.read(
        path, compact_ids=True, integers=integers, header=header is not None
    )
    labels = conncomp.connected_components(graph)[1]
    return ids.tolist(), labels.tolist()


def _numbered(path, header):
    """Return the arcs of a file that is read without `compact_ids`."""
    graph = conncomp.Graph.read(path, header=header is not None, format="csv")
    return list(zip(*(ends.tolist() for ends in graph.arcs), strict=True))


def _is_plain(text):
    return text.isascii() and text.isdecimal() and str(int(text)) == text and int(text) < 2**63


def _assert_refused_by_line(lines, function, *arguments):
    try:
        words = f"no error: {function(*arguments)}"
    except ValueError as error:
        words = str(error)
    assert "expected an integer" in words, words[:200]
    assert any(f":{line}: " in words for line in lines), words[:200]


def names_in_text(choices):
    """Compare ids and clusters by all doors with a dictionary's; odd numbers are refused."""
    pairs, header, ends, rows = _table(choices)
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        path = Path(folder, choices.pick(["in.csv", "in.tsv"]))
        lines = _write(choices, path, header, rows)
        nodes, clusters, _ = table_of(pairs)
        if header is None:  # whose ends are the first two columns for all
            ends = (0, 1)
        for found in (_clustered(path, header, ends, False), _read(path, header, False)):
            assert found == (nodes, clusters), found
        wrong = [not all(map(_is_plain, pair)) for pair in pairs]
        if set(nodes) - {*PLAIN, *MEANT}:
            places = {name: k for k, name in enumerate(nodes)}
            assert _numbered(path, header) == [(places[v], places[w]) for v, w in pairs]
        elif True not in wrong and max(map(int, nodes)) <= 2**22:
            assert _numbered(path, header) == [(int(v), int(w)) for v, w in pairs]
        else:
            assert_refused(ValueError, _numbered, path, header)
        if True in wrong:
            lines = [line for line, is_wrong in zip(lines, wrong, strict=True) if is_wrong]
            _assert_refused_by_line(lines, _clustered, path, header, ends, True)
            _assert_refused_by_line(lines[:1], _read, path, header, True)
        else:
            numbers = [int(node) for node in nodes]
            assert _clustered(path, header, ends, True) == (numbers, clusters)
            ids, labels = _read(path, header, True)
            assert ids == sorted(numbers)
            of_id = dict(zip(ids, labels, strict=True))
            again = [of_id[number] for number in numbers]
            assert (
                len(set(zip(again, clusters, strict=True)))
                == len(set(clusters))
                == len(set(labels))
            )
        columns = ends if header is None else tuple(header[k] for k in ends)
        label = conncomp.label_edge_files
        if True in wrong or max(map(int, nodes)) > 2**22:
            assert_refused(ValueError, label, path, *columns, header=header is not None)
        else:
            found = label(path, *columns, header=header is not None)
            numbered = [(int(u), int(v)) for u, v in pairs]
            vertices = 1 + max(map(max, numbered))
            labels = consecutive(components_by_search(vertices, numbered), first=0)
            assert_same(found, (labels.max() + 1, labels))
