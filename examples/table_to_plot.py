"""Plot two columns of a table of objects: python table_to_plot.py TABLE X Y PICTURE."""

import sys

import matplotlib.pyplot as plt
import pyarrow.parquet

path, x, y, picture = sys.argv[1:]
table = pyarrow.parquet.read_table(path)


def title(column):
    """Return the name of a column with its unit, which its metadata have."""
    unit = (table.schema.field(column).metadata or {}).get(b"unit", b"").decode()
    return f"{column} ({unit})" if unit else column


figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(table[x], table[y], s=18)
axes.set(xlabel=title(x), ylabel=title(y))
figure.savefig(picture)
print(f"{len(table)} objects, {title(x)} up to {max(table[x].to_pylist()):.2f}")
