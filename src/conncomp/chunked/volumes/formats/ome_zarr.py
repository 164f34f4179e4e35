"""OME-Zarr, versions 0.4 and 0.5 (https://ngff.openmicroscopy.org): images and label images.

An image is a group whose attributes name its axes, and its arrays from the finest to the coarsest.
A label image has the same, in a group ``labels`` of the image, whose attributes list it.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from conncomp._optional import optional
from conncomp.chunked.volumes.formats import zarr_arrays
from conncomp.chunked.volumes.volume import MOST_BLOCKS, counts_of, identity_of, inner_path
from conncomp.files.access import alone_in, naming
from conncomp.files.scales import Scale, scale_in_one_unit, unit_of

VERSIONS = {"0.4": 2, "0.5": 3}  # and the version of Zarr
KINDS = ("time", "channel", "space")
KIND_OF = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
MOST_LEVELS = 64
DEEPEST = 3  # folders above an array that may be its image


class Multiscale(NamedTuple):
    """The description of an image in its attributes."""

    version: str
    axes: list[dict[str, Any]]
    datasets: list[dict[str, Any]]  # path and transformations of each resolution, the finest first
    transformations: list[dict[str, Any]] | None  # of all resolutions
    kinds: tuple[str, ...]  # of each axis: "time", "channel" or "space"

    @property
    def names(self) -> list[str]:
        """The names of the axes."""
        return [str(axis["name"]) for axis in self.axes]

    @property
    def letters(self) -> str:
        """A letter for each axis."""
        letters = {"z": "Z", "y": "Y", "x": "X"}
        return "".join(
            letters.get(name, "Q") if kind == "space" else kind[0].upper()
            for name, kind in zip(self.names, self.kinds, strict=True)
        )

    def scale(self, level: int) -> Scale | None:
        """Return the scale of an array."""
        axes = self.axes
        lengths = np.ones(len(axes))
        own = self.datasets[level].get("coordinateTransformations")
        for transformations in (own, self.transformations):
            for entry in transformations if isinstance(transformations, list) else ():
                scale = entry.get("scale") if isinstance(entry, dict) else None
                if isinstance(scale, list) and len(scale) == len(axes):
                    lengths *= np.array(scale, np.float64)
        space = [k for k, kind in enumerate(self.kinds) if kind == "space"]
        units = {k: unit_of(axes[k].get("unit", "")) for k in space}
        return scale_in_one_unit(lengths.tolist(), units)


@dataclass
class OmeImage(zarr_arrays.ZarrVolume):
    """The finest array of an image."""

    owner: str = ""  # the folder of the image or, of labels that lie in an image, of that
    levels: list[Any] = field(default_factory=list)  # all arrays

    def identity(self) -> str:
        """Return what files of the finest array make, with all that the image says."""
        shapes = [list(level.shape) for level in self.levels]
        return identity_of(self.place, self.key, self.channel, repr(self.multiscale), shapes)


def open_zarr(path: str, key: str | None, channel: int | None) -> zarr_arrays.ZarrVolume:
    """Open an array of Zarr, or an image of OME-Zarr, all of it or one channel."""
    with naming(path):
        node, place = zarr_arrays.open_node(path, key)
        if hasattr(node, "shape"):
            zarr_arrays.check_array(path, node)
            multiscale, level = _image_of(place, node.ndim)
            axes = zarr_arrays.axes_of_array(node) if multiscale is None else multiscale.letters
            chosen = None if channel is None else _channel(axes, node.shape, channel)
            return zarr_arrays.ZarrVolume(path, key, node, place, axes, chosen, multiscale, level)
        multiscale = multiscale_of(dict(node.attrs))
        if multiscale is None:
            told = "is a group of Zarr, not an array or an image"
            raise ValueError(f"{told}; choose one of it by key= ({zarr_arrays.listed_names(node)})")
        levels = [_level(node, dataset["path"], place) for dataset in multiscale.datasets]
        if any(0 in (*level.shape, *level.chunks) for level in levels):
            shapes = [(level.shape, level.chunks) for level in levels]
            raise ValueError(f"says that it has arrays of these shapes and chunks: {shapes}"[:300])
        if any(level.ndim != len(multiscale.axes) for level in levels):
            shapes = [level.shape for level in levels]
            raise ValueError(f"has axes {multiscale.names}, but arrays of shapes {shapes}")
        _check_sizes(levels)
        axes, finest = multiscale.letters, inner_path(place, multiscale.datasets[0]["path"])
        chosen = None if channel is None else _channel(axes, levels[0].shape, channel)
        array = path, key, levels[0], finest, axes, chosen, multiscale
        return OmeImage(*array, owner=_owner(place, dict(node.attrs)), levels=levels)


def _image_of(place: str, ndim: int) -> tuple[Multiscale | None, int]:
    """Return what the image of an array says, if it can be read, and which array it is."""
    folder, path = os.path.split(os.path.abspath(place))
    for _ in range(DEEPEST):
        if zarr_arrays.is_zarr(folder):
            with suppress(ValueError):
                multiscale = multiscale_of(dict(zarr_arrays.open_node(folder, None)[0].attrs))
                datasets = () if multiscale is None else multiscale.datasets
                paths = [dataset["path"].strip("/") for dataset in datasets]
                if multiscale is not None and path in paths and len(multiscale.axes) == ndim:
                    return multiscale, paths.index(path)
        folder, name = os.path.split(folder)
        path = f"{name}/{path}"
    return None, 0


def _owner(place: str, attributes: dict[str, Any]) -> str:
    """Return the folder of an image or, of labels that lie in one, of that."""
    folder, name = os.path.split(os.path.dirname(os.path.realpath(place)))
    is_label = "image-label" in attributes or "image-label" in attributes.get("ome", ())
    return folder if is_label and name == "labels" else place


def multiscale_of(attributes: dict[str, Any]) -> Multiscale | None:
    """Return what the attributes of a group say of an image, if it is one."""
    within = attributes.get("ome")
    ome = within if isinstance(within, dict) else attributes
    scales = ome.get("multiscales")
    if not isinstance(scales, list) or not scales or not isinstance(scales[0], dict):
        return None
    scale = scales[0]
    version = str(ome.get("version", scale.get("version")))
    if version not in VERSIONS:
        flaw = f"is OME-Zarr of version {version[:20]}, and {' and '.join(VERSIONS)} are read"
        raise ValueError(f"{flaw}; choose one of its arrays by key=")
    axes, datasets = scale.get("axes"), scale.get("datasets")
    if not _are_dicts(axes, "name") or not _are_dicts(datasets, "path"):
        raise ValueError("says that it is OME-Zarr, but not of which axes and datasets")
    if len(datasets) > MOST_LEVELS:
        raise ValueError(f"says that it has {len(datasets)} resolutions; more than {MOST_LEVELS}")
    kinds = tuple(str(axis.get("type") or KIND_OF.get(axis["name"], "?")) for axis in axes)
    order = [KINDS.index(kind) if kind in KINDS else -1 for kind in kinds]
    if -1 in order or order != sorted(order) or "space" not in kinds:
        told = f"has axes {', '.join(kinds)[:200]}"
        raise ValueError(f"{told}; they must be time, channel and space, in this order")
    return Multiscale(version, axes, datasets, scale.get("coordinateTransformations"), kinds)


def _are_dicts(entries: Any, name: str) -> TypeGuard[list[dict[str, Any]]]:
    if not isinstance(entries, list) or not entries:
        return False
    return all(isinstance(entry, dict) and isinstance(entry.get(name), str) for entry in entries)


def _level(group: Any, path: str, place: str) -> Any:
    zarr_arrays.check_metadata(place, inner_path(place, path))
    level = group.get(path)
    if not hasattr(level, "shape"):
        raise ValueError(f"says that it has an array {path!r}, which is not there")
    zarr_arrays.check_array(place, level)
    return level


def _check_sizes(levels: list[Any]) -> None:
    for finer, level in pairwise(levels):
        count = math.prod(counts_of(level.shape, level.shards or level.chunks))
        if any(n > m for n, m in zip(level.shape, finer.shape, strict=True)):
            told = "says that resolutions are ever coarser"
            raise ValueError(f"{told}, but has shapes {finer.shape} and then {level.shape}")
        if count > MOST_BLOCKS:
            told = f"says that an array of shape {level.shape} has {count} chunks"
            remedy = "are not written: rechunk it to larger chunks"
            raise ValueError(f"{told}; more than {MOST_BLOCKS} {remedy}")


def _channel(axes: str, shape: tuple[int, ...], channel: int) -> tuple[int, int]:
    axis = axes.find("C")
    if axis < 0:
        told = f"has axes {axes}" if axes else "is an array without names of axes"
        raise ValueError(f"{told}: channel={channel} has no meaning")
    if not 0 <= channel < shape[axis]:
        count = shape[axis]
        raise ValueError(f"has {count} channels: channel={channel} must be 0 to {count - 1}")
    return axis, channel


def label_attributes(image: OmeImage, name: str, target: Path) -> dict[str, Any]:
    """Return the attributes of a label image that will be at `target`."""
    multiscale = image.multiscale
    source = os.path.relpath(os.path.realpath(image.owner), os.path.realpath(target))
    datasets = [{**dataset, "path": str(k)} for k, dataset in enumerate(multiscale.datasets)]
    scale: dict[str, Any] = {"name": name, "axes": multiscale.axes, "datasets": datasets}
    scale["type"] = "nearest"
    if multiscale.transformations is not None:
        scale["coordinateTransformations"] = multiscale.transformations
    label: dict[str, Any] = {"source": {"image": f"{Path(source).as_posix()}/"}}
    if VERSIONS[multiscale.version] == 2:
        scale["version"] = label["version"] = multiscale.version
        return {"multiscales": [scale], "image-label": label}
    return {"ome": {"version": multiscale.version, "multiscales": [scale], "image-label": label}}


def is_label_of(image: OmeImage, target: Path) -> bool:
    """Say whether a target lies where the image has its labels."""
    return Path(os.path.realpath(target)).parent == Path(os.path.realpath(image.owner), "labels")


def list_label(image: OmeImage, name: str) -> None:
    """Add a label image to the list of those that an image has, in a folder that is there."""
    zarr = optional("zarr")
    version = image.multiscale.version
    folder = os.path.join(image.owner, "labels")
    with alone_in(folder):  # another process may list its labels
        group = zarr.open_group(folder, mode="a", zarr_format=VERSIONS[version])
        attributes = dict(group.attrs)
        within = attributes if VERSIONS[version] == 2 else dict(attributes.get("ome", {}))
        listed = within.get("labels", [])
        within["labels"] = [*listed, name] if name not in listed else listed
        if VERSIONS[version] == 3:
            within["version"] = version
            attributes = {**attributes, "ome": within}
        group.attrs.put(attributes)
