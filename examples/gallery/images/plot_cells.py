"""
Count cells in a microscope image
=================================

Nuclei of cells in a stained section of a colon: how many are there, how large, and of
what shape? They are bluer than what is around them, which a local threshold of
scikit-image finds. `conncomp.label` makes objects of the mask,
`conncomp.remove_small_components` forgets specks, and `conncomp.component_statistics`
measures the others, so that one can choose by any measure. Nuclei that touch count as
one; a watershed would take them apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, filters, segmentation

import conncomp

section = data.immunohistochemistry()
red, _, blue = np.moveaxis(section.astype(float), 2, 0)
blueness = filters.gaussian(blue - red, sigma=1.5)
mask = blueness > filters.threshold_local(blueness, 61, offset=-12)

labels = conncomp.remove_small_components(conncomp.label(mask), 60)
objects = conncomp.component_statistics(labels)

# %%
# A row of the statistics is an object. The edges of glands are bluer than the glands,
# too, but they are long. A table with an entry for each label chooses:
# ``is_nucleus[labels]`` looks it up for every pixel.

lengths = np.ptp(objects.bounding_boxes, axis=2).max(axis=1)
nuclei = lengths < 45
is_nucleus = np.zeros(labels.max() + 1, bool)
is_nucleus[objects.labels[nuclei]] = True
labels[~is_nucleus[labels]] = 0

sizes = objects.sizes[nuclei]
print(f"{len(sizes)} nuclei, the median of {np.median(sizes):.0f} pixels")

# %%
# Moments are the covariances of the coordinates; their eigenvalues tell how long and
# how wide a nucleus is.

variances = np.linalg.eigvalsh(objects.moments[nuclei])  # in ascending order
elongation = np.sqrt(variances[:, 1] / variances[:, 0])

outlined = segmentation.mark_boundaries(section, labels, color=(1, 1, 0), mode="inner")
figure = plt.figure(figsize=(8.4, 5.4), layout="constrained")
panels = figure.subplot_mosaic("aab;aac")
panels["a"].imshow(outlined[150:400, 240:490])
panels["a"].set_title(f"some of {len(sizes)} nuclei")
panels["b"].imshow(section)
panels["b"].set_title("a section of a colon", fontsize="medium")
for name in "ab":
    panels[name].set_axis_off()
panels["c"].scatter(sizes, elongation, s=6, color="#5b4a9e")
panels["c"].set(xlabel="area (pixels)", ylabel="length / width")
plt.show()
