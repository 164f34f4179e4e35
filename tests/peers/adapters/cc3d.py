"""`cc3d.connected_components` is `conncomp.label`, in the dtypes and the order of cc3d."""

import cc3d
import numpy as np

import conncomp

theirs = cc3d.connected_components
CONNECTIVITY = {(2, 4): 1, (2, 8): 2, (3, 6): 1, (3, 18): 2, (3, 26): 3, (2, 26): 2, (2, 6): 1}


def connected_components(
    data,
    max_labels=-1,
    connectivity=26,
    return_N=False,
    delta=0,
    out_dtype=None,
    out_file=None,
    periodic_boundary=False,
    binary_image=False,
):
    given = np.asarray(data)
    image = given.reshape(given.shape + (1,) * (2 - given.ndim))
    reach = CONNECTIVITY.get((image.ndim, connectivity))
    # Values that differ by up to delta, files and errors of arguments are cc3d's own.
    if reach is None or delta or out_file is not None or given.size == 0:
        return theirs(
            data, max_labels, connectivity, return_N, delta, out_dtype, out_file,
            periodic_boundary, binary_image,
        )  # fmt: skip
    image = image != 0 if binary_image else image
    # cc3d numbers in the order of memory.
    turned = given.flags.f_contiguous and not given.flags.c_contiguous
    periodic = bool(periodic_boundary)
    labels, num = conncomp.label(
        image.T if turned else image, return_num=True, connectivity=reach, periodic=periodic
    )
    if out_dtype is None:
        out_dtype = np.uint16 if num < 1 << 16 else np.uint32
    labels = (labels.T if turned else labels).reshape(given.shape).astype(out_dtype)
    return (labels, num) if return_N else labels


cc3d.connected_components = connected_components
cc3d.fastcc3d.connected_components = connected_components
