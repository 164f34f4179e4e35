"""`dask_image.ndmeasure.label` is `conncomp.label` of Dask arrays.

Structures that it takes are those of SciPy: any that has the opposite of each step.
"""

import dask.array
import dask_image.ndmeasure
import numpy as np

import conncomp


def label(image, structure=None, wrap_axes=None):
    image = dask.array.asarray(image)
    neighbours = {"connectivity": 1} if structure is None else {"structure": np.asarray(structure)}
    periodic = [axis in (wrap_axes or ()) for axis in range(image.ndim)]
    return conncomp.label(image != 0, return_num=True, periodic=periodic, **neighbours)


dask_image.ndmeasure.label = label
