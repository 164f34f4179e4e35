"""
Segment a photograph by tolerance
=================================

No two pixels of a photograph's sky are quite equal, but neighbours differ by little.
With ``tolerance=`` the label of a pixel goes on to neighbours whose values differ by no
more than that, so that a region may change slowly from one end to the other: image
processing knows them as quasi-flat zones, and cc3d as ``delta``. There is no background
here, which ``background=-1`` says, a value that no pixel has. Painted in the mean
colour of their regions, photographs become cartoons.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import color, data, filters

import conncomp

photograph = data.astronaut()
smooth = filters.gaussian(color.rgb2gray(photograph), sigma=1.5)
grey = np.round(255 * smooth).astype(np.int16)


def paint(labels: np.ndarray) -> np.ndarray:
    """Return the photograph with each region in its mean colour."""
    sizes = conncomp.component_sizes(labels)
    channels = photograph.reshape(-1, 3).T
    sums = np.array([np.bincount(labels.ravel(), channel) for channel in channels])
    means = sums / np.maximum(sizes, 1)  # there is no label 0
    return means.T[labels].astype(np.uint8)


figure, axes = plt.subplots(2, 2, figsize=(6.6, 6.3), layout="constrained")
axes[0, 0].imshow(photograph)
axes[0, 0].set_title("photograph")
for panel, tolerance in zip(axes.flat[1:], (1, 3, 4), strict=True):
    labels, num = conncomp.label(
        grey, background=-1, connectivity=1, tolerance=tolerance, return_num=True
    )
    panel.imshow(paint(labels))
    panel.set_title(f"tolerance={tolerance}: {num:,} regions")
for panel in axes.flat:
    panel.set_axis_off()
plt.show()
