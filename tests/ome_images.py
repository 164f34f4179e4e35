"""Images of OME-Zarr, as the standard says, written by nothing but zarr."""

import numpy as np

TYPES = {"t": "time", "c": "channel"}


def write_image(path, volume, axes, version="0.5", chunks=None, levels=3, **options):
    """Write an image of several resolutions, each of every second element; return its folder."""
    import zarr

    group = zarr.create_group(store=str(path), zarr_format={"0.4": 2, "0.5": 3}[version])
    datasets, shape = [], np.array(volume.shape)
    space = np.array([axis in "zyx" for axis in axes])
    for level in range(levels):
        step = np.where(space, 2**level, 1)
        array = volume[tuple(slice(None, None, k) for k in step)]
        more = {"dimension_names": list(axes)} if version == "0.5" else {}
        small = tuple(np.minimum(chunks or shape, array.shape).tolist())
        group.create_array(
            f"s{level}", shape=array.shape, chunks=small, dtype=array.dtype, **more, **options
        )[...] = array
        scale = {"type": "scale", "scale": np.where(space, 0.5 * step, 1.0).tolist()}
        datasets.append({"path": f"s{level}", "coordinateTransformations": [scale]})
    scales = {
        "name": "cells",
        "axes": [
            {"name": axis, "type": TYPES.get(axis, "space")}
            | ({"unit": "micrometer"} if axis in "zyx" else {})
            for axis in axes
        ],
        "datasets": datasets,
    }
    if version == "0.4":
        group.attrs.put({"multiscales": [{"version": "0.4", **scales}]})
    else:
        group.attrs.put({"ome": {"version": "0.5", "multiscales": [scales]}})
    return path
