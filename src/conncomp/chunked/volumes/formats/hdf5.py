"""Datasets of HDF5, by h5py."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp.chunked.volumes.formats.slices import slab
from conncomp.chunked.volumes.volume import Place, Volume, check_part, reading
from conncomp.files import scales
from conncomp.files.access import naming

# Deflate, shuffle, fletcher32, szip, nbit, scaleoffset and LZF; others are programs, loaded.
FILTERS = {1, 2, 3, 4, 5, 6, 32000}
ELEMENT_SIZE, MOST_ENTRIES = "element_size_um", 16
# Names of datasets that an error lists, and how many objects are looked at for that.
SHOWN, LOOKED_AT = 8, 1000


@dataclass
class Hdf5Dataset(Volume):
    """A dataset of a file of HDF5."""

    path: str
    key: str | None
    file: Any
    dataset: Any
    axes: str = ""

    def __post_init__(self) -> None:
        self.shape = tuple(self.dataset.shape)
        self.dtype = self.dataset.dtype  # of h5py's way to keep bools, bool
        self.chunks = tuple(self.dataset.chunks or slab(self.shape))  # slices where it has none

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; an error names the file, the dataset and the place."""
        begins = tuple(part.start for part in place)
        with reading(self.path, f"the chunk at {begins} of {self.key}"):
            values = np.asarray(self.dataset[place])
        check_part(self.path, place, values, self.dtype)
        return values

    def scale(self) -> scales.Scale | None:
        """Return the scale: of dimensions, or the attribute that Fiji and ilastik write."""
        dataset, ndim = self.dataset, len(self.shape)
        if ELEMENT_SIZE in dataset.attrs:
            if math.prod(dataset.attrs.get_id(ELEMENT_SIZE).shape) > MOST_ENTRIES:
                return None
            sizes = np.asarray(dataset.attrs[ELEMENT_SIZE], np.float64).reshape(-1).tolist()
            known = ([1.0] * ndim + sizes)[-ndim:]
            return scales.scale_of(known, "µm") if len(sizes) <= ndim else None
        lengths, units = [1.0] * ndim, {}
        separate = scales.separate_axes(self.axes)
        for k, length in enumerate(self.shape):
            named = () if k in separate or length < 2 else dataset.dims[k].values()
            coordinates = next(iter(named), None)
            if coordinates is None or coordinates.shape != (length,):
                continue
            if coordinates.dtype.kind in "iuf":
                check_storage(coordinates.name, coordinates)
                first, second, last = (float(coordinates[j]) for j in (0, 1, length - 1))
                step = (last - first) / (length - 1)
                if not math.isclose(step, second - first, rel_tol=1e-3):
                    return None
                unit = _text(coordinates.attrs.get("units", ""))
                lengths[k], units[k] = abs(step), scales.unit_of(unit)
        return scales.scale_in_one_unit(lengths, units)

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def open_dataset(path: str, key: str | None) -> Hdf5Dataset:
    """Open a dataset; without its name, the only one that there is."""
    h5py = optional("h5py", "a volume in HDF5")
    with naming(path), ExitStack() as files:
        file = files.enter_context(h5py.File(path, "r"))
        if key is None:
            names = _datasets(h5py, file)
            if len(names) != 1:
                listed = ", ".join(map(repr, names[:SHOWN])) or "none"
                raise ValueError(f"holds {len(names)} datasets; choose one by key= ({listed})")
            key = names[0]
        dataset = _within(h5py, file, key)
        if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
            listed = ", ".join(map(repr, _datasets(h5py, file)[:SHOWN])) or "none"
            raise ValueError(f"holds no dataset key={key!r}; choose one of {listed}")
        check_storage(key, dataset)
        given = (axis.label or next((k.name for k in axis.values()), "") for axis in dataset.dims)
        letters = scales.letters_of([str(name).rpartition("/")[2] for name in given])
        opened = Hdf5Dataset(path, key, file, dataset, letters)
        files.pop_all()
        return opened


def _within(h5py: Any, file: Any, key: str) -> Any:
    """Return what a path leads to, but not through links to other files."""
    here = file
    for name in [part for part in key.split("/") if part]:
        if not isinstance(here, h5py.Group) or name not in here:
            return None
        if not isinstance(here.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name!r} of key={key!r} is a link; give the path of the dataset")
        here = here[name]
    return here


def _datasets(h5py: Any, file: Any) -> list[str]:
    """Return the paths of datasets of numbers, of the first `LOOKED_AT` objects."""
    names: list[str] = []
    left = iter(range(LOOKED_AT))

    def look(name: str, entry: Any) -> bool | None:
        if isinstance(entry, h5py.Dataset) and entry.shape and entry.dtype.kind in "biuf":
            names.append(name)
        return True if next(left, None) is None else None

    file.visititems(look)
    return names


def check_storage(key: str, dataset: Any) -> None:
    """Raise unless the values lie in the file itself, and are packed as HDF5 itself packs."""
    if dataset.external or dataset.is_virtual:
        raise ValueError(f"the values of {key!r} lie in other files; copy them into one dataset")
    pipeline = dataset.id.get_create_plist()
    for k in range(pipeline.get_nfilters()):
        number = pipeline.get_filter(k)[0]
        if number not in FILTERS:
            told = f"{key!r} is packed by filter {number}, which is not HDF5's own"
            raise ValueError(f"{told}; pack it by gzip")
    if dataset.chunks is None and dataset.shape:
        held = dataset.id.get_storage_size()
        if 0 < held < math.prod(dataset.shape) * dataset.dtype.itemsize:
            shape = dataset.shape
            raise ValueError(f"{key!r} says that it has shape {shape}, but holds {held} bytes")
