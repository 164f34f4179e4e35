"""`ClusterPairs`: clusters of ids that grow by tables of pairs."""

from __future__ import annotations

import json
import os
import zipfile
from threading import Lock
from typing import Any, cast

import numpy as np

from conncomp._arguments import shown
from conncomp.tables.clustering import Clustering

FORMAT = 1  # of files


class ClusterPairs:
    """Clusters of ids linked by pairs that come in batches.

    Unlike `cluster_pairs`, which takes one table, this object can grow. It stores the distinct ids,
    and 4 bytes per id and threshold, but no pairs.

    Parameters
    ----------
    threshold : float or sequence of float, optional
        Use only pairs whose weight is at least this. Each of several thresholds has its own
        clusters.
    nulls : {"raise", "drop"}, optional
        What to do with pairs in which an id or the weight is null or not a number.
    device : {None, "cpu", "cuda"}, optional
        Where to store the clusters; by default where the first batch lies. ``"cuda"`` moves columns
        in main memory to the current GPU, and results back. It raises ImportError if CuPy is not
        installed, and RuntimeError if there is no GPU.

    Examples
    --------
    >>> import conncomp
    >>> clusters = conncomp.ClusterPairs()
    >>> clusters.add([10, 30], [20, 40])
    >>> clusters.add([20], [30])
    >>> clusters.add_nodes([50])
    >>> clusters.labels()["cluster"]
    array([0, 0, 0, 0, 1], dtype=int32)
    >>> len(clusters)
    5
    """

    def __init__(
        self, *, threshold: Any = None, nulls: str = "raise", device: str | None = None
    ) -> None:
        self._clustering = Clustering(threshold=threshold, nulls=nulls, device=device)
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return len(self._clustering)

    def add(self, left: Any, right: Any, weights: Any = None) -> None:
        """Add pairs.

        Parameters
        ----------
        left, right : column, or tuple of columns
            As in `cluster_pairs`. Later batches may have other types if values compare exactly.
            After a TypeError or ValueError, the pairs before the wrong one may have been added.
        weights : column, optional
            Needed if there are thresholds.

        Examples
        --------
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs(threshold=0.5)
        >>> clusters.add(["a", "c"], ["b", "d"], [0.9, 0.1])
        >>> clusters.labels()["size"]
        array([2, 2, 1, 1], dtype=int32)
        """
        with self._lock:
            self._clustering.add(left, right, weights)

    def add_nodes(self, nodes: Any) -> None:
        """Add ids that may have no pair.

        Parameters
        ----------
        nodes : column, or tuple of columns
        """
        with self._lock:
            self._clustering.add_nodes(nodes)

    def labels(self) -> Any:
        """Return the table of `cluster_pairs`, in the library of the first batch."""
        with self._lock:
            return self._clustering.labels()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save ids and clusters to a file, completely or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, in NumPy's npz format. OSError is raised if it cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import conncomp
        >>> clusters = conncomp.ClusterPairs()
        >>> clusters.add([1], [2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "clusters.npz")
        ...     clusters.save(path)
        ...     len(conncomp.ClusterPairs.load(path))
        2
        """
        from conncomp.files.access import atomic_path

        with self._lock:
            facts, arrays = self._clustering.state()
            text = np.frombuffer(json.dumps({"format": FORMAT, **facts}).encode(), np.uint8)
            size = sum(array.nbytes for array in arrays.values())
            with atomic_path(path, size) as temporary, temporary.open("wb") as file:
                np.savez(file, facts=text, **cast(Any, arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str | None = None) -> ClusterPairs:
        """Load a file of `save`; see there for an example.

        Parameters
        ----------
        path : str or path-like
            OSError is raised if there is no such file, ValueError if `save` did not write it or
            it is damaged.
        device : {None, "cpu", "cuda"}, optional
            Where to store the clusters; by default in main memory. Clusters on a GPU take later
            batches from either memory.
        """
        from conncomp.files.images import read_npz

        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path={shown(path)} must be the name of a file")
        try:
            with open(path, "rb") as file:
                with zipfile.ZipFile(file) as archive:
                    names = [name.removesuffix(".npy") for name in archive.namelist()]
                arrays: dict[str, Any] = {name: read_npz(file, name)[0] for name in names}
            facts = json.loads(bytes(arrays.pop("facts")))
            if facts["format"] != FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {FORMAT}")
            loaded = cls()
            loaded._clustering = Clustering.from_state(facts, arrays, device)
            return loaded
        except (OSError, MemoryError):
            raise
        except Exception as error:  # of what is no archive, or another one
            raise ValueError(f"{path} is no file of ClusterPairs.save: {error}") from error
