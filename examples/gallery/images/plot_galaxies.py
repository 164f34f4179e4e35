"""
Find galaxies in a telescope image
==================================

Whatever is clearly brighter than the sky, and all in one piece, is an object of the
sky: that is how catalogues of stars and galaxies begin. `conncomp.component_statistics`
has the place, the size and the bounding box of each. ``slices(row)`` of it cuts an
object out of the image, here the largest ones of a corner of Hubble's eXtreme Deep
Field.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, filters

import conncomp

sky = data.hubble_deep_field()
brightness = filters.gaussian(sky.mean(axis=2), sigma=1)
background = np.median(brightness)
noise = 1.48 * np.median(abs(brightness - background))

labels = conncomp.label(brightness > background + 8 * noise)
labels = conncomp.remove_small_components(labels, 30)
labels = conncomp.sort_by_size(labels)  # the largest is 1
objects = conncomp.component_statistics(labels)
print(f"{len(objects.labels)} objects")

# %%
# Labels are numbered by size, so that the first rows are the largest objects.

figure, axes = plt.subplot_mosaic(
    "aabcd;aaefg", figsize=(10, 4.2), layout="constrained", gridspec_kw={"wspace": 0.02}
)
axes["a"].imshow(sky)
axes["a"].scatter(
    objects.centroids[:, 1],
    objects.centroids[:, 0],
    s=2 * np.sqrt(objects.sizes),
    facecolors="none",
    edgecolors="#ffd54a",
    linewidths=0.5,
)
axes["a"].set_title(f"{len(objects.labels)} objects")
for row, name in enumerate("bcdefg"):
    axes[name].imshow(sky[objects.slices(row)])
    axes[name].set_title(f"{objects.sizes[row]} pixels", fontsize="small")
for panel in axes.values():
    panel.set_axis_off()
plt.show()
