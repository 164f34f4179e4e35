"""Arrays as the drivers of GPU algorithms take them."""

import numpy as np

from conncomp.grid._values import describe_values
from conncomp.grid.labelling import _label_on_gpu
from conncomp.kernels.cuda.grid.image import Image


def describe(image, background=0, connectivity=None, periodic=False):
    """Return an `Image`."""
    values, links = describe_values(image, background)
    axes = [periodic] * image.ndim if isinstance(periodic, bool) else periodic
    return Image(values, links.value_type, links.background, axes, connectivity or image.ndim)


def fill(gpu, algorithm, image, index=np.int32, **options):
    """Return the roots, which begin as something else."""
    roots = np.full(image.values.shape, -7, index)
    _label_on_gpu(gpu, image, roots, "roots", algorithm, False, None, **options)
    return roots
