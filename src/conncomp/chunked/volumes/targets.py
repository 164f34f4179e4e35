"""Targets of labels: a .npy file, an array of Zarr, or a label image of OME-Zarr."""

from __future__ import annotations

import math
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp._optional import optional
from conncomp.chunked.layout import Layout
from conncomp.chunked.volumes.formats import ome_zarr, zarr_arrays
from conncomp.chunked.volumes.volume import Place, Volume, block_shape, lengths_of
from conncomp.files.access import StrPath, check_space, naming

# Suffixes of other formats: a folder of Zarr with such a name would mislead their readers.
OTHER_KINDS = {
    *(".btf", ".h5", ".hdf", ".hdf5", ".jpg", ".jpeg", ".mha", ".mhd", ".nii", ".npz", ".nrrd"),
    *(".csv", ".gz", ".parquet", ".png", ".tif", ".tiff", ".zip"),
}

PIECE = 1 << 21  # labels that are written between two moments at which a call may end


class Target(ABC):
    """Labels of a volume, in files under a temporary name, `path`, until they are all written."""

    def __init__(self, path: Path, volume: Volume, dtype: np.dtype[Any]) -> None:
        self.path, self._volume, self._dtype = path, volume, dtype

    @abstractmethod
    def create(self) -> None:
        """Make it, empty."""

    @abstractmethod
    def open(self) -> None:
        """Open it, to be written to."""

    @abstractmethod
    def write(self, place: Place, labels: NDArray[Any]) -> None:
        """Write some labels; called by several threads, for places that are apart."""

    def levels(self) -> Iterator[tuple[int, Place]]:
        """Yield the places of coarser arrays that `reduce` fills, after each array's number."""
        return iter(())

    def reduce(self, level: int, place: Place) -> None:
        """Write a part of a coarser array from the one before, as `levels` lists it."""
        raise NotImplementedError

    def publish(self, path: Path) -> None:
        """Give the labels their name, unless they have it already or something else does."""
        if self.path.exists():
            rename_to_free(self.path, path)


class NpyTarget(Target):
    """A .npy file."""

    def create(self) -> None:
        """Make the file, and take the space on the disk: where it is full, that is said now."""
        shape, size = self._volume.shape, math.prod(self._volume.shape) * self._dtype.itemsize
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        with self.path.open("wb") as file:
            np.lib.format.write_array_header_2_0(file, header)
            file.flush()
            end = file.tell() + size
            check_space(self.path, size)
            if hasattr(os, "posix_fallocate"):
                # A write to a mapped page without space on the disk would end the process.
                os.posix_fallocate(file.fileno(), 0, end)
            else:
                file.truncate(end)

    def open(self) -> None:
        """Look whether it is whole; each write opens it."""
        with naming(self.path):
            mapped = np.lib.format.open_memmap(self.path, mode="r")
            _check_labels(mapped, self._volume.shape, self._dtype)

    def write(self, place: Place, labels: NDArray[Any]) -> None:
        """Write some labels."""
        mapped = np.lib.format.open_memmap(self.path, mode="r+")
        part = mapped[place]
        length = max(1, PIECE * len(labels) // labels.size)
        for begin in range(0, len(labels), length):
            native.look_up()
            part[begin : begin + length] = labels[begin : begin + length]
            mapped.flush()


class ZarrTarget(Target):
    """An array of Zarr, in chunks and shards as those of an array of Zarr that is labelled."""

    def create(self) -> None:
        """Make the array."""
        volume = self._volume
        more: dict[str, Any] = {"chunks": block_shape(volume), "zarr_format": 3}
        if isinstance(volume, zarr_arrays.ZarrVolume):
            more = _chunks(volume, volume.array)
            more["zarr_format"] = int(volume.array.metadata.zarr_format)
        if volume.axes:
            names = list(volume.axes.lower())
            if more["zarr_format"] == 2:
                more["attributes"] = {zarr_arrays.ARRAY_DIMENSIONS: names}
            else:
                more["dimension_names"] = names
        store, shape = str(self.path), volume.shape
        optional("zarr").create_array(store=store, shape=shape, dtype=self._dtype, **more)

    def open(self) -> None:
        """Open it, to be written to."""
        self._array = _opened(self.path, self._volume.shape, self._dtype)

    def write(self, place: Place, labels: NDArray[Any]) -> None:
        """Write some labels."""
        self._array[place] = labels


class OmeTarget(ZarrTarget):
    """A label image of OME-Zarr, whose coarser arrays have the label nearest to each place."""

    _volume: ome_zarr.OmeImage

    def create(self) -> None:
        """Make the group and its arrays."""
        image = self._volume
        version = ome_zarr.VERSIONS[image.multiscale.version]
        group = optional("zarr").create_group(store=str(self.path), zarr_format=version)
        for k, level in enumerate(image.levels):
            more = _chunks(image, level)
            if version == 3:
                more["dimension_names"] = image.multiscale.names
            else:
                more["chunk_key_encoding"] = {"name": "v2", "separator": "/"}
            shape = image.one_channel(tuple(level.shape))
            group.create_array(str(k), shape=shape, dtype=self._dtype, **more)

    def open(self) -> None:
        """Open it, to be written to."""
        with naming(_metadata_of(self.path)):
            optional("zarr").open_group(str(self.path), mode="r+")
        shapes = [self._volume.one_channel(tuple(level.shape)) for level in self._volume.levels]
        paths = [self.path / str(k) for k in range(len(shapes))]
        self._arrays = [_opened(*one, self._dtype) for one in zip(paths, shapes, strict=True)]
        self._array = self._arrays[0]  # the finest

    def levels(self) -> Iterator[tuple[int, Place]]:
        """Yield which of the coarser arrays there are, and the places of their chunks."""
        for k, array in enumerate(self._arrays[1:], 1):
            lengths = lengths_of(array.shape, array.shards or array.chunks)
            layout = Layout(lengths, (False,) * array.ndim)
            yield from ((k, layout.place(index)) for index in layout.indices())

    def reduce(self, level: int, place: Place) -> None:
        """Write a part of a coarser array, from the one before."""
        finer, coarser = self._arrays[level - 1], self._arrays[level]
        axes = zip(place, finer.shape, coarser.shape, strict=True)
        where = [nearest(part, fine, coarse) for part, fine, coarse in axes]
        # A chunk of the finer array, at most, at once.
        chunks = finer.shards or finer.chunks
        along = zip(where, chunks, strict=True)
        parts = [(len(at), -(-int(at[-1] + 1 - at[0]) // chunk)) for at, chunk in along]
        pieces = [np.array_split(np.arange(length), count) for length, count in parts]
        labels = np.empty([len(at) for at in where], self._dtype)
        for places in product(*pieces):
            if min(map(len, places)) > 0:
                read = [at[places[k]] for k, at in enumerate(where)]
                part = finer[tuple(slice(int(at[0]), int(at[-1]) + 1) for at in read)]
                written = tuple(slice(at[0], at[-1] + 1) for at in places)
                labels[written] = part[np.ix_(*(at - at[0] for at in read))]
        coarser[place] = labels

    def publish(self, path: Path) -> None:
        """Give the labels their name, with the right attributes for it, and have them listed."""
        image, name = self._volume, path.name.removesuffix(".zarr")
        if ome_zarr.is_label_of(image, path):  # which its group is to list
            zarr_arrays.check_metadata(image.owner, str(path.parent))
        if self.path.exists():
            group = optional("zarr").open_group(str(self.path), mode="r+")
            group.attrs.put(ome_zarr.label_attributes(image, name, path))
            rename_to_free(self.path, path)
        if ome_zarr.is_label_of(image, path):
            ome_zarr.list_label(image, path.name)


def _metadata_of(path: Path) -> Path:
    return next((path / name for name in zarr_arrays.METADATA if (path / name).exists()), path)


def _opened(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    with naming(_metadata_of(path)):
        array = optional("zarr").open_array(str(path), mode="r+")
        _check_labels(array, shape, dtype)
    return array


def _check_labels(array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if (tuple(array.shape), array.dtype) != (shape, dtype):
        known = f"shape {array.shape} and dtype {array.dtype}"
        raise ValueError(f"tells of {known}, not {shape} and {dtype}")


def nearest(part: slice, fine: int, coarse: int) -> Any:
    """Return which places of a finer axis are nearest to some of a coarser one.

    If two are equally near, it is the one before.

    >>> nearest(slice(0, 4), 8, 4), nearest(slice(1, 3), 9, 3)
    (array([0, 2, 4, 6]), array([4, 7]))
    """
    centres = (2 * np.arange(part.start, part.stop) + 1) * fine  # in halves of coarse places
    return (-((2 * coarse - centres) // (2 * coarse))).clip(0, fine - 1)


def check_kind_of_target(path: StrPath) -> None:
    """Raise ValueError if a name is that of files that labels are not written to."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix in OTHER_KINDS:
        told = f"{name}: labels of volumes are written as .npy or Zarr, not {suffix}"
        raise ValueError(f"{told}; name it so, or write labels in memory by conncomp.write_image")


def check_free(path: StrPath) -> None:
    """Raise FileExistsError if there is something of a name."""
    if os.path.lexists(path):
        raise FileExistsError(17, "exists; remove it, or choose another name", os.fspath(path))


def rename_to_free(path: Path, name: Path) -> None:
    """Rename a file, by a link that fails if there is one, or a folder to a name that is free."""
    if os.path.lexists(name) and path.is_file() and os.path.samefile(path, name):
        path.unlink()  # a kill came after the link
        return
    check_free(name)
    if path.is_file():
        try:
            os.link(path, name)
        except FileExistsError:
            check_free(name)
            raise
        except OSError:  # there are drives without links
            os.rename(path, name)
        else:
            path.unlink()
    else:
        os.rename(path, name)


def target_of(name: Path, path: Path, volume: Volume, dtype: np.dtype[Any]) -> Target:
    """Return the target of some name, which is at another path meanwhile."""
    if is_npy(str(name)):
        return NpyTarget(path, volume, dtype)
    if isinstance(volume, ome_zarr.OmeImage):
        return OmeTarget(path, volume, dtype)
    return ZarrTarget(path, volume, dtype)


def is_npy(path: str) -> bool:
    """Say whether a volume of that name is a .npy file."""
    return path.lower().endswith(".npy")


def _chunks(volume: zarr_arrays.ZarrVolume, array: Any) -> dict[str, Any]:
    stored = {"chunks": array.chunks} | ({"shards": array.shards} if array.shards else {})
    return {name: volume.one_channel(tuple(lengths)) for name, lengths in stored.items()}


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
