"""dask-image labels blocks by `scipy.ndimage.label`, and joins them by `connected_components`."""

import adapters.scipy  # noqa: F401
