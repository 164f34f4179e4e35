"""`cluster_dups` does the clustering step of datatrove's MinHash deduplication."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_progress, shown
from conncomp._core import native
from conncomp.tables.ids import one_word
from conncomp.tables.pair_clusters import new_clusters

if TYPE_CHECKING:
    from conncomp.files.access import Progress

PAIR = 16  # bytes: the file and the document on the left, and those on the right
BLOCK = (1 << 20) * PAIR  # bytes to read at once
INDEX = np.uint64(2**64 - 1)  # the id of every document of an index


def cluster_dups(
    input_folder: Any,
    output_folder: Any,
    *,
    save_cluster_id: bool = False,
    save_cluster_size: bool = False,
    ignore_index_matches: bool = False,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Cluster the documents of datatrove's ``.dups`` files, and list the documents to remove.

    It writes the same files, byte for byte, as datatrove's ``MinhashDedupCluster``.

    Parameters
    ----------
    input_folder : str, path-like or DataFolder
        The folder of the ``.dups`` files, which ``MinhashDedupBuckets`` writes.
    output_folder : str, path-like or DataFolder
        The folder to write to. ``000007.remove`` lists the documents of file 7 to remove: all but
        one per cluster.
    save_cluster_id, save_cluster_size : bool, optional
        Whether to write ``000007.clusters`` and ``000007.sizes``: for each document with a
        duplicate, its number and that of its cluster, or the cluster's size.
    ignore_index_matches : bool, optional
        Whether to ignore pairs with the index of another data set. Otherwise all documents of a
        cluster with such a pair are removed.
    progress : callable, optional
        Called after each ``.dups`` file with the number of files read, and that of all files.

    Returns
    -------
    dict of str to int
        ``"duplicates"``, ``"to_remove"`` and ``"clusters"``: how many documents have a duplicate,
        how many to remove, and how many clusters.

    Raises
    ------
    OSError
        If a file cannot be read or written; FileNotFoundError if there is no ``.dups`` file.
    TypeError, ValueError
        If `progress` is no function; if the size of a file is no multiple of 16 bytes.

    Notes
    -----
    As in datatrove, the order of the pairs decides which document of a cluster stays: when a pair
    joins two clusters, that of the larger one, or, if they are equal, of the first document of the
    pair. Files are read in the order of their names. Memory is about 24 bytes per document with a
    duplicate, for any number of pairs.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder)
    ...     pairs = np.array([[0, 5, 0, 7], [0, 7, 1, 2]], "<u4")  # file, document, file, document
    ...     _ = (path / "00000_00.dups").write_bytes(pairs.tobytes())
    ...     conncomp.cluster_dups(path, path / "clusters")
    ...     np.fromfile(path / "clusters" / "000000.remove", "<u4")
    {'duplicates': 3, 'to_remove': 2, 'clusters': 1}
    array([7], dtype=uint32)
    """
    check_progress(progress)
    wanted = {
        ".clusters": as_bool("save_cluster_id", save_cluster_id),
        ".sizes": as_bool("save_cluster_size", save_cluster_size),
    }
    ignored = as_bool("ignore_index_matches", ignore_index_matches)
    source = _as_folder("input_folder", input_folder)
    target = _as_folder("output_folder", output_folder)
    names = source.list_files(glob_pattern="*.dups")
    if not names:
        raise FileNotFoundError(f"{input_folder} has no .dups file")
    forest = _Forest()
    for done, name in enumerate(names, 1):
        with source.open(name, "rb") as file:
            for left, right in _pairs_of(file, name):
                kept = slice(None) if not ignored else left != INDEX
                forest.add(left[kept], right[kept])
        if progress is not None:
            progress(done, len(names))
    documents, roots = forest.documents()
    return _write(target, documents, roots, wanted)


def _pairs_of(file: BinaryIO, name: str) -> Iterator[tuple[NDArray[np.uint64], ...]]:
    """Yield the ids on both sides: the file in the upper 32 bits, the document below."""
    while data := file.read(BLOCK):
        if len(data) % PAIR:
            raise ValueError(f"{name} is cut off: a pair has {PAIR} bytes")
        words = np.frombuffer(data, "<u4").reshape(-1, 2, 2).astype(np.uint64)
        yield tuple((words[..., 0] << np.uint64(32) | words[..., 1]).T)


class _Forest:
    """Trees of documents: pairs put the smaller one below the larger, in order."""

    def __init__(self) -> None:
        self._ids = new_clusters(1, [], on_gpu=False)
        self._parent, self._sizes = np.empty((2, 0), np.int32)
        self._index = -1  # the number of `INDEX`, once it has one

    def add(self, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> None:
        u, v = (self._ids.add_ids((one_word(side),)) for side in (left, right))
        known = len(self._parent)
        if self._ids.size > known:
            more = np.arange(known, max(2 * known, self._ids.size), dtype=np.int32)
            self._parent = np.concatenate([self._parent, more])
            self._sizes = np.concatenate([self._sizes, np.ones_like(more)])
        if self._index < 0:
            found = u[left == INDEX]
            self._index = int(found[0]) if len(found) else -1
        native.grow_by_size(u, v, self._index, self._parent, self._sizes)

    def documents(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the documents, ascending, and for each the place of the document that stays."""
        ids = self._ids.all_keys()[0].reshape(-1)
        roots = self._parent[: len(ids)]
        while not np.array_equal(above := roots[roots], roots):  # no tree is deep
            roots = above
        order = np.argsort(ids)
        place = np.empty(len(ids), np.int64)
        place[order] = np.arange(len(ids))
        return ids[order], place[roots[order]]


def _write(
    folder: Any, documents: NDArray[np.uint64], roots: NDArray[np.int64], wanted: dict[str, bool]
) -> dict[str, int]:
    places = np.arange(len(documents))
    removed = roots != places
    first = np.empty(len(documents), np.int64)
    first[roots[::-1]] = places[::-1]  # the smallest document of each cluster
    numbers = np.cumsum(first[roots] == places) - 1
    sizes = np.bincount(roots, minlength=len(documents))
    values = {".clusters": numbers[first[roots]], ".sizes": sizes[roots]}
    files = (documents >> np.uint64(32)).astype(np.int64)
    names = (documents & np.uint64(2**32 - 1)).astype("<u4")
    edges = np.flatnonzero(np.diff(files, prepend=-1, append=-1))
    for begin, end in pairwise(edges.tolist()):
        part = slice(begin, end)
        gone = names[part][removed[part]]
        file = f"{files[begin]:06d}"
        if len(gone):
            _put(folder, f"{file}.remove", gone.tobytes())
        for ending, column in values.items():
            if wanted[ending]:
                rows = np.stack([names[part], column[part].astype("<u4")], axis=1)
                _put(folder, f"{file}{ending}", rows.tobytes())
    total, gone = len(documents), int(removed.sum())
    return {"duplicates": total, "to_remove": gone, "clusters": total - gone}


class _Folder:
    """A folder of the file system, with the methods of datatrove's DataFolder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def list_files(self, glob_pattern: str) -> list[str]:
        return sorted(path.name for path in self._path.glob(glob_pattern))

    def open(self, name: str, mode: str) -> Any:
        return open(self._path / name, mode)

    def write(self, name: str, content: bytes) -> None:
        from conncomp.files.access import atomic_path  # which takes a quarter of a second to import

        self._path.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._path / name, len(content)) as temporary:
            temporary.write_bytes(content)


def _put(folder: Any, name: str, content: bytes) -> None:
    if isinstance(folder, _Folder):
        return folder.write(name, content)
    with folder.open(name, "wb") as file:
        file.write(content)


def _as_folder(name: str, given: Any) -> Any:
    if hasattr(given, "list_files") and hasattr(given, "open"):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{name}={shown(given)} must be a path, or a DataFolder of datatrove")
    return _Folder(given)
