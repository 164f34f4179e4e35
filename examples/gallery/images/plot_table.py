"""
From an image to a table of shapes
==================================

Coins on a dark ground, as scikit-image ships them: which are round, and how bright are
they? A threshold makes a mask of the image, `conncomp.label` makes objects of the mask,
and `conncomp.component_statistics` a table with a row for each object and the columns
that one names. They are those of scikit-image's ``regionprops_table``, measured for all
objects at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, filters

import conncomp

image = data.coins()[2:-2, 2:-2]
mask = (
    filters.gaussian(image, 2) > filters.threshold_local(image, 151, offset=-12) / 255
)
labels = conncomp.remove_small_components(conncomp.label(mask), 400)

columns = ["area", "centroid", "perimeter_crofton", "solidity", "eccentricity"]
columns += ["feret_diameter_max", "intensity_median"]
table = conncomp.component_statistics(labels, image, properties=columns)
print(table.to_pandas().round(2).head())

# %%
# A property is also an array, with an entry for each object, so that one can compute
# with it. A disc has the largest area for its perimeter; the outline of two coins is
# ragged, as the ground beside them is as bright as they are.

roundness = 4 * np.pi * table["area"] / table["perimeter_crofton"] ** 2
is_round = roundness > 0.9
print(f"{is_round.sum()} of {len(is_round)} coins are round")

# %%
# Crops are made when they are asked for: here the largest coin, from the bounding box.

largest = int(table["area"].argmax())
figure = plt.figure(figsize=(8.4, 4.2), layout="constrained")
panels = figure.subplot_mosaic("aab;aac")
panels["a"].imshow(
    conncomp.colour_components(labels, image, alpha=0.35, boundaries=True)
)
panels["a"].set_axis_off()
panels["b"].imshow(image[table.slices(largest)], cmap="gray")
panels["b"].set_title(f"{table['feret_diameter_max'][largest]:.0f} pixels across")
panels["b"].set_axis_off()
panels["c"].scatter(
    table["feret_diameter_max"], roundness, c=is_round, cmap="coolwarm_r", s=14
)
panels["c"].set(xlabel="Feret diameter (pixels)", ylabel="roundness")
plt.show()
