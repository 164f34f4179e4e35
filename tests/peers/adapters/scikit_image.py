"""`skimage.measure.label` is `conncomp.label`, for all that use it within scikit-image, too.

Much of scikit-image labels by `scipy.ndimage.label`, which is ours as well.
"""

import adapters.scipy  # noqa: F401
import skimage.measure
import skimage.measure._label

import conncomp

skimage.measure._label.label = conncomp.label
skimage.measure.label = conncomp.label
