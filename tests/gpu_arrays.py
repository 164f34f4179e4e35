"""Arrays as the drivers of GPU algorithms take them."""

import numpy as np

from conncomp.grid.labelling import _describe_values, _label_on_gpu
from conncomp.grid.links import values_within
from conncomp.grid.neighbourhood import Neighbourhood
from conncomp.kernels.cuda.grid.image import Image


def describe(
    image,
    background=0,
    connectivity=None,
    periodic=False,
    structure=None,
    tolerance=0,
    batch_axes=0,
):
    """Return an `Image`."""
    values, value_type, ground = _describe_values(image, 0 if background is None else background)
    ndim = image.ndim - batch_axes
    axes = (periodic,) * ndim if isinstance(periodic, bool) else tuple(periodic)
    if structure is None:
        neighbourhood = Neighbourhood(connectivity or ndim, None, axes)
    else:
        neighbourhood = Neighbourhood(None, np.ascontiguousarray(structure, bool).tobytes(), axes)
    links = values_within(value_type, ground, tolerance, image.dtype)
    return Image(values, links, neighbourhood, batch_axes)


def fill(gpu, algorithm, image, index=np.int32, **options):
    """Return the roots, which begin as something else."""
    roots = np.full(image.values.shape, -7, index)
    _label_on_gpu(gpu, image, roots, "roots", algorithm, False, None, **options)
    return roots
