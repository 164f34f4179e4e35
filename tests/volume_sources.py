"""One volume in every kind of files that `label_file` reads."""

from pathlib import Path

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


def write_zarr(path, volume, chunks, **options):
    import zarr

    zarr.create_array(
        store=str(path), shape=volume.shape, chunks=chunks, dtype=volume.dtype, **options
    )[...] = volume
    return path


def write_hdf5(path, volume, chunks=None, **options):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("image", data=volume, chunks=chunks, **options)
    return path


def write_tiff(path, volume, chunks=None, **options):
    import tifffile

    tifffile.imwrite(path, volume, photometric="minisblack", **options)
    return path


def write_slices(path, volume, chunks=None):
    path.mkdir()
    for k, plane in enumerate(volume):
        write_tiff(path / f"slice{k}.tif", plane)
    return path


def write_npy(path, volume, chunks=None):
    np.save(path, volume)
    return path


def write_ome(version):
    return lambda path, volume, chunks: write_image(
        path, volume, "tczyx"[-volume.ndim :], version, chunks=chunks, levels=2
    )


# Of each kind how its name ends, and what writes it: a name, a volume, and the shape of chunks.
SOURCES = {
    "npy": (".npy", write_npy),
    "zarr 2": (".zarr", lambda *given: write_zarr(*given, zarr_format=2)),
    "zarr 3": (".zarr", write_zarr),
    "zarr, plain": (".zarr", lambda *given: write_zarr(*given, compressors=None)),
    "shards": (
        ".zarr",
        lambda path, volume, chunks: write_zarr(
            path, volume, chunks, shards=tuple(2 * length for length in chunks)
        ),
    ),
    "ome 0.4": (".zarr", write_ome("0.4")),
    "ome 0.5": (".zarr", write_ome("0.5")),
    "hdf5": (".h5", write_hdf5),
    "hdf5, packed": (".h5", lambda *given: write_hdf5(*given, compression="gzip", shuffle=True)),
    "tiff": (".tif", write_tiff),
    "tiff, packed": (".tif", lambda *given: write_tiff(*given, compression="zlib")),
    "folder": ("", write_slices),
}


def tiff_of_axes(**options):
    return lambda path, image, axes: write_tiff(
        path, image, metadata={"axes": axes.upper()}, **options
    )


def nifti(path, image, axes):
    """Write axes in the order x, y, z, t, of length 1 where there is none."""
    import nibabel

    whole = image.reshape([image.shape[axes.index(k)] if k in axes else 1 for k in "tzyx"])
    nibabel.save(nibabel.Nifti1Image(whole.T, np.eye(4)), path)


def hdf5(path, image, axes):
    import h5py

    with h5py.File(path, "w") as file:
        made = file.create_dataset("image", data=image)
        for k, axis in enumerate(axes):
            made.dims[k].label = {"t": "time"}.get(axis, axis)


def zarr_2(path, image, axes):
    import zarr

    made = zarr.create_array(str(path), data=image, zarr_format=2)
    made.attrs["_ARRAY_DIMENSIONS"] = list(axes)


def nrrd(path, image, axes):
    kinds = " ".join({"t": "time"}.get(axis, "domain") for axis in reversed(axes))
    sizes = " ".join(map(str, reversed(image.shape)))
    head = f"NRRD0004\ntype: uchar\ndimension: {image.ndim}\nsizes: {sizes}\nencoding: raw\n"
    Path(path).write_bytes(f"{head}kinds: {kinds}\n\n".encode() + image.tobytes())


def gif(path, image, axes):
    import PIL.Image

    frames = [PIL.Image.fromarray(plane * 255) for plane in image]
    frames[0].save(path, save_all=True, append_images=frames[1:])


# Of each kind that names axes a file's name, and what writes it: a name, an array, and its axes.
NAMED = {
    "ome.tif": ("a.ome.tif", tiff_of_axes()),
    "ome.tif, packed": ("a.ome.tif", tiff_of_axes(compression="zlib")),
    "imagej": ("a.tif", tiff_of_axes(imagej=True)),
    "shaped": ("a.tif", tiff_of_axes()),
    "nifti": ("a.nii.gz", nifti),
    "nrrd": ("a.nrrd", nrrd),
    "hdf5": ("a.h5", hdf5),
    "ome-zarr 0.4": ("a.zarr", lambda *given: write_image(*given, "0.4")),
    "ome-zarr 0.5": ("a.zarr", lambda *given: write_image(*given, "0.5")),
    "zarr 2": ("a.zarr", zarr_2),
    "zarr 3": (
        "a.zarr",
        lambda path, image, axes: write_zarr(path, image, image.shape, dimension_names=list(axes)),
    ),
    "gif": ("a.gif", gif),
}


def read_labels(path):
    """Return the labels in a file, of the finest resolution."""
    if path.suffix == ".npy":
        return np.load(path)
    import zarr

    opened = zarr.open(str(path), mode="r")
    return (opened if hasattr(opened, "shape") else opened["0"])[...]
