"""Rows of components that are measured part by part, and how those of one are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.components.statistics import ComponentStatistics

Integers = NDArray[np.int64]

# How columns of rows are joined that turn out to be of one component.
JOIN: dict[str, np.ufunc] = {
    **dict.fromkeys(("item", "label", "other", "root", "begin", "minimum"), np.minimum),
    **dict.fromkeys(("end", "maximum"), np.maximum),
    **dict.fromkeys(("size", "sum", "faces", "contacts", "total"), np.add),
    **dict.fromkeys(("scatter", "mean", "product"), np.add),
}
# Below this a quotient still tells sums of whole numbers.
LARGEST_SUM = 1 << 51


class RowTable(dict[str, NDArray[Any]]):
    """A row for each component: arrays by the names of `JOIN`."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values())))

    def take(self, rows: Any) -> RowTable:
        """Return some of the rows."""
        return RowTable({name: column[rows] for name, column in self.items()})

    def followed_by(self, *others: RowTable) -> RowTable:
        """Return the rows of all."""
        tables = (self, *others)
        return RowTable({name: np.concatenate([table[name] for table in tables]) for name in self})

    def joined(self, groups: Integers) -> RowTable:
        """Return a row for each group of rows, which is how many come before it."""
        if not self.rows:
            return self
        order = np.argsort(groups, kind="stable")
        begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
        with np.errstate(over="ignore", invalid="ignore"):  # of infinities and NaN
            addends = ((name, self._addends(name, groups)[order]) for name in self)
            joined = {name: JOIN[name].reduceat(each, begins, axis=0) for name, each in addends}
        if "total" in self and joined["total"].dtype.kind != "f":
            # An overflowed sum is wrong by a multiple of 2**64, which rounded sums tell.
            rounded = np.add.reduceat(self["total"][order].astype(float), begins)
            apart = abs(rounded - joined["total"].astype(float))
            _refuse(apart >= 2.0**63, "values of the image", joined["total"].dtype)
        if "sum" in self:
            bound = joined["size"] * np.max(joined["end"], axis=1, initial=0).astype(float)
            _refuse(bound >= 2.0**63, "coordinates", np.dtype(np.int64))
        return RowTable(joined)

    def joined_by(self, *names: str) -> RowTable:
        """Return a row for each distinct key, which some columns make, in the order of keys."""
        if not self.rows:
            return self
        keys = [self[name] for name in names]
        order = np.lexsort(keys[::-1])
        begins = np.zeros(self.rows, bool)
        for key in keys:
            begins[1:] |= np.diff(key[order]) != 0
        groups = np.empty(self.rows, np.int64)
        groups[order] = np.cumsum(begins)
        return self.joined(groups)

    def _addends(self, name: str, groups: Integers) -> Any:
        """Return what is joined of a column, given the group of each row."""
        column = self[name]
        if name not in ("mean", "product", "scatter"):
            return column
        size, whole = self["size"], _sums(self["size"], groups)
        if name != "scatter":  # means count by the size of the row
            return (size / whole[groups]).reshape(-1, *(1,) * (column.ndim - 1)) * column
        # A row's scatter is about its own centroid: what is added leads to that of the group.
        sums = _sums(self["sum"], groups)
        apart = self["sum"] / size[:, None] - (sums[groups] / whole[groups][:, None])
        return column + size[:, None, None] * apart[:, :, None] * apart[:, None, :]


def _sums(column: Integers, groups: Integers) -> Integers:
    sums = np.zeros((int(groups.max()) + 1, *column.shape[1:]), np.int64)
    np.add.at(sums, groups, column)
    return sums


def _refuse(too_large: NDArray[np.bool_], what: str, dtype: Any) -> None:
    if too_large.any():
        raise OverflowError(f"the sum of {what} over a component does not fit into {dtype}")


def table_of(measured: Any, ahead: Any, surfaces: bool, image: bool, **columns: Any) -> RowTable:
    """Return rows of what was measured of a part that begins at `ahead`, with other columns."""
    sizes, boxes = measured.sizes, measured.bounding_boxes
    # Exact: measures/statistics.py and streams/open_components.py refuse `LARGEST_SUM` and more.
    sums = np.rint(measured.centroids * sizes[:, None]).astype(np.int64) + ahead * sizes[:, None]
    begin, end = boxes[:, :, 0] + ahead, boxes[:, :, 1] + ahead
    table = RowTable(columns, size=sizes, begin=begin, end=end, sum=sums)
    if surfaces:
        table["faces"] = measured.faces
    if image:
        table |= {"total": measured.sums, "minimum": measured.minima, "maximum": measured.maxima}
    return table


def statistics_of(table: RowTable, spacing: tuple[float, ...], **more: Any) -> ComponentStatistics:
    """Return rows as `component_statistics` does; what they do not tell is empty, or in `more`."""
    ndim, none, sizes = len(spacing), np.empty(0), table["size"]
    known: dict[str, Any] = {
        "sizes": sizes,
        "bounding_boxes": np.stack([table["begin"], table["end"]], axis=-1),
        "centroids": table["sum"] / sizes[:, None] * np.array(spacing),
        "moments": np.empty((0, ndim, ndim)),
        "sums": table.get("total", none),
        "means": table["total"] / sizes if "total" in table else none,
        "minima": table.get("minimum", none),
        "maxima": table.get("maximum", none),
        "weighted_centroids": np.empty((0, ndim)),
        "faces": table.get("faces", np.empty((0, ndim), np.int64)),
        "classes": np.empty(0, np.int64),
    }
    return ComponentStatistics(**known | more, spacing=spacing)
