"""Judge by the rows below whether the first row of a CSV file names the columns or is data."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import groupby, islice
from typing import NamedTuple

from conncomp._arguments import shown

# Names of the columns of edges, where these are not the first two.
ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
# Bytes and rows to look at. These are two rows at least, as a row has at most 65,536 bytes.
SAMPLE, ROWS = 1 << 17, 200

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
# Words that usually name columns of ids, alone or together, as in "node_1" and "record id".
_WORD = (
    "a|b|c|i|j|l|r|u|v|x|y|source|target|src|dst|from|to|left|right|head|tail|start|end|origin|"
    "destination|parent|child|node|vertex|edge|id|ids|uid|uuid|key|name|label|user|person|friend|"
    "follower|followee|sender|receiver|author|citing|cited|query|subject|object|item|doc|document|"
    "record|entity|unique|first|second"
)
USUAL = re.compile(rf"({_WORD})([ _.-]({_WORD})|[ _.-]?\d)*")
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


class FirstRow(NamedTuple):
    """Whether the first row is a header, and whether that is beyond doubt."""

    is_header: bool
    is_clear: bool

    def note(self, path: str, row: Sequence[str]) -> str:
        """Return a sentence on how the first row of a file is read."""
        taken, other, otherwise = "the names of columns", "header=False", "data"
        if not self.is_header:
            taken, other, otherwise = "data, like the rows below it", "header=True", taken
        first = ", ".join(shown(field) for field in row[:4])
        note = f"the first row, {first}, is taken as {taken}; {other} takes it as {otherwise}"
        return f"{path}: {note}"


def rows_of(sample: bytes, separator: str) -> tuple[list[list[str]], int]:
    """Return the first rows of a file, and the number of lines that the first one takes."""
    text = sample.decode("utf-8-sig", "surrogateescape")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines, cut = 0, len(sample) >= SAMPLE
    try:
        for row in islice(filter(None, reader), ROWS):
            lines = lines or reader.line_num
            rows.append(row)
    except csv.Error:
        cut = False  # the reader of the whole file will raise
    return rows[: len(rows) - (cut and len(rows) < ROWS)], lines


def is_table(rows: list[list[str]]) -> bool:
    """Return whether rows have the same number of columns, and several."""
    return len({len(row) for row in rows}) == 1 and len(rows[0]) > 1


def judge_first_row(rows: list[list[str]], ids: Sequence[int]) -> FirstRow:
    """Judge the first row by the others; `ids` are the columns of ids.

    Numbers above numbers are data, and words above numbers are a header. In columns of text, ids
    that recur below are data; usual names, and words unlike the ids below, are a header.
    """
    first, *below = rows
    names = [field.strip(" #").lower() for field in first]
    if any(set(pair) <= set(names) for pair in ENDS):
        return FirstRow(True, True)
    columns = [[row[k] for row in below if k < len(row)] for k in range(len(first))]
    votes = [_is_name(field, column) for field, column in zip(first, columns, strict=True)]
    others = [k for k in range(len(first)) if k not in ids]
    is_below = recurring(rows, ids) is not None
    for chosen in (ids, others):
        found = {votes[k] for k in chosen} - {None}
        if found:
            is_header = True in found and not is_below
            return FirstRow(is_header, found == {is_header})
    if not below:
        return FirstRow(True, True)
    if is_below or len({first[k] for k in ids}) < len(ids):
        return FirstRow(False, False)
    alike = [_shape(first[k]) in set(map(_shape, columns[k])) for k in ids]
    usual = [
        USUAL.fullmatch(names[k]) is not None and not (one and re.search(r"\d", first[k]))
        for k, one in zip(ids, alike, strict=True)
    ]
    if any(usual) and all(u or not a for u, a in zip(usual, alike, strict=True)):
        return FirstRow(True, True)
    is_header = not any(alike)
    return FirstRow(is_header, is_header and all(IDENTIFIER.fullmatch(first[k]) for k in ids))


def recurring(rows: list[list[str]], ids: Sequence[int]) -> str | None:
    """Return an id of the first row that recurs in a row below, or None."""
    below = {row[k] for row in rows[1:] for k in ids if k < len(row)}
    return next((rows[0][k] for k in ids if rows[0][k] in below), None)


def _is_name(field: str, column: list[str]) -> bool | None:
    """Whether a field names its column of numbers, or is a number itself; None for text."""
    entries = [text for text in column if text]
    if not field or not all(map(NUMBER.fullmatch, entries)):
        return None
    is_number = NUMBER.fullmatch(field) is not None
    return not is_number if entries or is_number else None


def _shape(text: str) -> str:
    """Return a letter for each run of capitals, of other letters and of digits."""
    each = ("A" if c.isupper() else "a" if c.isalpha() else "9" if c.isdigit() else c for c in text)
    return "".join(kind for kind, _ in groupby(each))
