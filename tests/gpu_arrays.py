"""Arrays as the drivers of GPU algorithms take them."""

import numpy as np

from conncomp.grid._values import describe_values
from conncomp.grid.bonds import describe_bonds as sites_and_links
from conncomp.grid.request import Request
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.neighbourhood import Neighbourhood
from reference import wrapping_axes


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
    values, links = describe_values(image, background, None, tolerance)
    ndim = image.ndim - batch_axes
    closed = tuple(wrapping_axes(ndim, periodic))
    if structure is None:
        neighbourhood = Neighbourhood(connectivity or ndim, None, closed)
    else:
        neighbourhood = Neighbourhood(None, np.ascontiguousarray(structure, bool).tobytes(), closed)
    return Image(values, links, neighbourhood, batch_axes)


def describe_bonds(bonds, periodic=False, batch_axes=0):
    """Return an `Image` of lattices, whose bonds are given as to `label_bonds`."""
    sites, links = sites_and_links(bonds, batch_axes)
    closed = tuple(wrapping_axes(sites.ndim - batch_axes, periodic))
    return Image(sites, links, Neighbourhood(1, None, closed), batch_axes)


def label_on_gpu(gpu, image, labels, numbering, algorithm, return_num, workspace, **options):
    """Fill `labels`; return how many components each item has, if `return_num`."""
    task = "cuda", numbering, algorithm, return_num, None, None, workspace, options
    return Request(*task).fill_on_gpu(gpu, image, labels)


def fill(gpu, algorithm, image, index=np.int32, **options):
    """Return the roots within items, which begin as something else."""
    roots = np.full(image.values.shape, -7, index)
    label_on_gpu(gpu, image, roots, "roots", algorithm, False, None, **options)
    return roots
