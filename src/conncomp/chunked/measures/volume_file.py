"""`open_volume`: an array in files, which functions of labels read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import sha256
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_progress, shown
from conncomp.chunked.layout import Index, Layout, items_at
from conncomp.chunked.volumes.block_files import BlockFiles
from conncomp.chunked.volumes.job import Job, Progress
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.labelling import bytes_of_memory, opened, within, workers_of
from conncomp.chunked.volumes.sample import Window
from conncomp.chunked.volumes.targets import Target
from conncomp.chunked.volumes.volume import PartOfVolume, Place, Volume, block_shape, lengths_of
from conncomp.chunked.volumes.writing import as_target, write_labels
from conncomp.files.access import StrPath
from conncomp.files.scales import batch_axes_of
from conncomp.kernels.cuda.launcher import DType

__all__ = ["open_volume"]

Make = partial[NDArray[Any]]  # takes labels, and what there is for each item
OfItems = dict[int, Any]  # by the number of the item


class VolumeFile:
    """An array in files, as `open_volume` returns it.

    `component_sizes`, `size_histogram`, `component_statistics`, `contacts` and `match_labels` read
    labels block by block; `largest_components`, `remove_small_components` and `relabel_consecutive`
    return another `VolumeFile`, whose labels are made as they are read, and which `save` writes.
    Memory holds blocks, and a few numbers per component. What takes arrays of NumPy reads these
    whole.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    axes : str
        A letter for each axis, such as ``"TZYX"``; empty if the files do not name them.
    batch_axes : int
        How many axes ahead are those of separate images: time and channels.
    """

    def __init__(
        self,
        volume: Volume,
        limit: int | None,
        progress: Progress | None,
        origin: VolumeFile | None = None,  # whose labels these are made of
    ) -> None:
        self._origin, self._closed = origin, False
        self.volume, self.limit, self.progress = volume, limit, progress
        self.shape, self.dtype, self.axes = volume.shape, volume.dtype, volume.axes
        self.batch_axes = batch_axes_of(volume.axes, (1,) * len(volume.axes))
        self._files = ExitStack()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def closed(self) -> bool:
        """Whether `close` was called, of this or of what its labels are made of."""
        return self._closed or (self._origin is not None and self._origin.closed)

    def check_open(self) -> None:
        """Raise ValueError if it is closed."""
        if self.closed:
            path = self.volume.path
            raise ValueError(f"{path}: is closed; open it again by conncomp.open_volume")

    def __repr__(self) -> str:
        return f"<VolumeFile {self.volume.path}, shape {self.shape}, dtype {self.dtype}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[Any]:
        """Read a part into memory: numbers, slices of step 1, and ``...`` once."""
        self.check_open()
        keys = key if isinstance(key, tuple) else (key,)
        # Not by `in`, which asks arrays whether they are equal.
        ellipses = [k for k, each in enumerate(keys) if each is Ellipsis]
        if len(ellipses) > 1:
            raise IndexError(f"{shown(key)}: ... may stand once")
        k = ellipses[0] if ellipses else len(keys)
        left = self.ndim - len(keys) + len(ellipses)
        if left < 0:
            raise IndexError(f"{shown(key)}: there are {self.ndim} axes")
        keys = (*keys[:k], *[slice(None)] * left, *keys[k + 1 :])
        place = tuple(map(_part_of_axis, keys, self.shape))
        shape = tuple(part.stop - part.start for part in place)
        values = self.volume.read(place) if prod(shape) else np.empty(shape, self.dtype)
        return values[tuple(slice(None) if isinstance(each, slice) else 0 for each in keys)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Read all of it into memory, which is a copy."""
        if copy is not None and not copy:
            told = f"{self.volume.path}: is read from files into memory"
            raise ValueError(f"{told}; copy=False is not possible")
        return np.asarray(self[...], dtype)

    def save(self, target: StrPath) -> None:
        """Write it to files block by block, as `label_file` writes labels.

        Parameters
        ----------
        target : str or path-like
            Where to write, as for `label_file`. ``TARGET.partial`` keeps finished work: after a
            kill the same call goes on.

        Raises
        ------
        FileExistsError, ImportError, MemoryError, OSError, TypeError, ValueError
            As `label_file`.
        """
        self.check_open()
        wanted = as_target(target)
        if self.dtype.kind not in "iu":
            raise TypeError(f"{self} is not of integers; labels are saved")
        volume, mapped, digest = self.volume, self.volume, "copy"
        if isinstance(mapped, MappedVolume):
            volume, digest = mapped.origin, mapped.digest()
            if volume.identity() != mapped.known:
                raise ValueError(f"{mapped.path}: was changed since its labels were counted")

        def run(part: Volume, kept: Kept, target: Target) -> list[int]:
            copied = Window(mapped, part.begin, part.shape) if isinstance(part, Window) else mapped
            layout = Layout(lengths_of(part.shape, block_shape(part)), (False,) * self.ndim)
            progress = self.progress if copied is mapped else None
            files = BlockFiles(copied, None, kept.reports, target)
            Job(kept, files, layout, ThreadPoolExecutor(workers), progress).copy()
            return []

        with limited(self) as workers:
            write_labels(wanted, volume, self.dtype, digest, run)

    def close(self) -> None:
        """Close the files; then nothing can be read, nor of labels that are made of these."""
        self._closed = True
        self._files.close()

    def __enter__(self) -> VolumeFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _part_of_axis(key: Any, length: int) -> slice:
    """Return where a number or a slice lies on an axis."""
    try:
        if isinstance(key, bool | np.bool_):
            raise TypeError
        part = range(length)[key]
    except TypeError:
        raise IndexError(
            f"{shown(key)}: only whole numbers, slices of these and ... are read of files"
        ) from None
    except IndexError:
        raise IndexError(f"{shown(key)}: the axis has length {length}") from None
    except ValueError:
        part = range(0, 1, 2)  # likewise, for a step of 0
    if isinstance(part, int):
        return slice(part, part + 1)
    if part.step != 1:
        raise IndexError(f"{shown(key)}: only slices of step 1 are read of files")
    return slice(part.start, max(part.start, part.stop))


class MappedVolume(PartOfVolume):
    """Labels of a dtype that a function makes of others as they are read.

    It takes labels, and a list of what there is for each item, by its number. `known` is what
    `known_of` the volume was before its labels were counted.
    """

    def __init__(
        self, volume: Volume, dtype: DType, make: Make, batch: Index, of_items: OfItems, known: str
    ) -> None:
        super().__init__(volume)
        self.dtype, self._make, self._of_items = dtype, make, of_items
        self._batch, self.known = batch, known

    @property
    def levels(self) -> Any:
        """The arrays of all resolutions, if there are several, which are written with these."""
        return getattr(self.origin, "levels", ())

    @property
    def origin(self) -> Volume:
        """The volume in files that labels are made of."""
        return self.volume.origin if isinstance(self.volume, MappedVolume) else self.volume

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part."""
        of_items = [self._of_items[item] for item in items_at(place, self._batch).tolist()]
        return np.asarray(self._make(self.volume.read(place), of_items))

    def digest(self) -> str:
        """Return what tells apart what is made of the same files."""
        digest = sha256(repr((self.dtype, self._batch)).encode())
        for part in (self._make.func.__name__, *self._make.args):
            digest.update(repr(part).encode())
        for item in sorted(self._of_items):
            kept = self._of_items[item]
            for array in kept if isinstance(kept, tuple) else (kept,):
                digest.update(repr(len(array)).encode() + array.tobytes())
        if isinstance(self.volume, MappedVolume):
            digest.update(self.volume.digest().encode())
        return digest.hexdigest()


def known_of(volume: Volume) -> str:
    """Return the identity of files before labels in them were counted."""
    return volume.known if isinstance(volume, MappedVolume) else volume.identity()


@contextmanager
def limited(file: VolumeFile) -> Iterator[int]:
    """Keep to a volume's limit of memory; yield how many blocks to work on at once."""
    workers = workers_of(file.volume, file.limit)
    with within(file.limit, file.volume):
        yield workers


def open_volume(
    source: StrPath,
    *,
    key: str | None = None,
    channel: int | None = None,
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> VolumeFile:
    """Open an array in files, such as labels of `label_file`, to be measured block by block.

    Parameters
    ----------
    source : str or path-like
        As of `label_file`; of OME-Zarr labels, too.
    key, channel : optional
        As of `label_file`.
    memory : str or int, optional
        The most memory that measuring and saving may take, as of `label_file`.
    progress : callable, optional
        Called with the number of blocks that are measured or saved, and of all.

    Returns
    -------
    VolumeFile
        To be closed when it is no longer needed, as by ``with``.

    Raises
    ------
    FileNotFoundError
        If there is no `source`.
    ValueError
        If it is damaged, or an argument does not fit.
    TypeError
        If an argument is not of its type.
    ImportError
        If zarr, h5py, tifffile or Pillow is not installed and is needed.

    See Also
    --------
    label_file : Labels a volume in files.
    component_sizes, component_statistics, contacts, size_histogram : Measure labels in files, too.
    largest_components, remove_small_components, relabel_consecutive : Select and renumber.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import conncomp
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name)
    >>> np.save(path / "labels.npy", [[1, 1, 0, 2], [0, 0, 0, 2], [3, 0, 2, 0]])
    >>> with conncomp.open_volume(path / "labels.npy") as labels:
    ...     print(conncomp.component_sizes(labels), conncomp.contacts(labels).pairs)
    ...     conncomp.largest_components(labels, 1).save(path / "largest.npy")
    [0 2 3 1] []
    >>> np.load(path / "largest.npy")
    array([[0, 0, 0, 2],
           [0, 0, 0, 2],
           [0, 0, 2, 0]])
    >>> folder.cleanup()
    """
    limit = None if memory is None else bytes_of_memory(memory)
    check_progress(progress)
    with ExitStack() as files:
        file = VolumeFile(files.enter_context(opened(source, key, channel)), limit, progress)
        file._files = files.pop_all()
    return file
