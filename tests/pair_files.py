"""Files of pairs of every format, written by pyarrow alone."""

import gzip
import struct

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

NAMES = ["p.parquet", "p.arrow", "p.arrows", "p.feather", "p.csv", "p.tsv", "p.csv.gz"]


def write(path, table, rows=None):
    """Write a table, so many rows to a row group or a batch; return the name."""
    name = path.name
    rows = rows or max(table.num_rows, 1)
    if name.endswith((".csv", ".tsv", ".gz")):
        options = pa.csv.WriteOptions(delimiter="\t" if ".tsv" in name else ",")
        packed = gzip.open if name.endswith(".gz") else open
        with packed(path, "wb") as file:
            pa.csv.write_csv(table, file, options)
    elif name.endswith(".parquet"):
        pa.parquet.write_table(table, path, row_group_size=rows)
    else:
        opened = pa.ipc.new_stream if name.endswith(".arrows") else pa.ipc.new_file
        with opened(str(path), table.schema) as writer:
            writer.write_table(table, rows)
    return str(path)


def write_dups(path, records):
    path.write_bytes(b"".join(struct.pack("<4I", *record) for record in records))
    return str(path)
