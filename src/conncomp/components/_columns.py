"""Tables of columns, as the libraries of tables take them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from conncomp._array_storage import move_from_gpu
from conncomp._arrays import as_cupy, as_numpy, on_gpu
from conncomp._optional import optional


def in_memory(column: Any, name: str = "a column") -> NDArray[Any]:
    """Return a column of any library as an array of NumPy."""
    return move_from_gpu(as_cupy(column)) if on_gpu(column) else as_numpy(column, name)


class Columns:
    """Results that have ``columns()``: arrays of one axis and as many rows, by name."""

    def columns(self) -> dict[str, Any]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return `columns` as a DataFrame of pandas, in main memory; ImportError without pandas.

        Examples
        --------
        >>> import conncomp
        >>> statistics = conncomp.component_statistics([[1, 1, 0], [0, 0, 2]])
        >>> statistics.to_pandas()[["label", "area", "centroid-0"]]
           label  area  centroid-0
        0      1   2.0         0.0
        1      2   1.0         1.0
        """
        return optional("pandas").DataFrame(self._columns_in_memory())

    def to_arrow(self) -> Any:
        """Return `columns` as a Table of pyarrow, which others take without a copy.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        TypeError
            If a column is of arrays, as ``coords`` is.

        Examples
        --------
        >>> import conncomp
        >>> conncomp.component_statistics([[1, 1, 0], [0, 0, 2]]).to_arrow()["area"].to_pylist()
        [2.0, 1.0]
        """
        columns = self._columns_in_memory()
        for name, column in columns.items():
            if column.dtype == object:
                told = f"{name} is an array of its own for each row, for which tables of Arrow"
                remedy = f"leave {name!r} out of properties, or take it from the table itself"
                raise TypeError(f"{told} have no columns; {remedy}: statistics[{name!r}]")
        return optional("pyarrow").table(columns)

    def to_polars(self) -> Any:
        """Return `columns` as a DataFrame of Polars; ImportError without Polars."""
        return optional("polars").DataFrame(self._columns_in_memory())

    def _columns_in_memory(self) -> dict[str, NDArray[Any]]:
        return {name: in_memory(column, name) for name, column in self.columns().items()}
