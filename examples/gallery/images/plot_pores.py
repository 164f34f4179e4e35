"""
Pores of a rock, and which of them let water through
====================================================

A scan of a porous rock is a volume of True and False: pore or grain. `conncomp.label`
numbers the pores, here with ``connectivity=1``, as water flows through the faces of
voxels and not over their corners. One pore that reaches from the top of the sample to
its bottom makes it permeable, and `conncomp.component_spans` finds it. What is not part
of it holds water that never moves: of two rocks of one porosity, one may be a filter
and the other a stone.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import conncomp
from conncomp import generate

# %%
# The rock is smooth noise, cut where 13 % of it are pores. A scan of your own would
# come from ``conncomp.read_image("scan.tif")``.

pores = generate.blobs((192, 192, 192), sigma=3, density=0.13, seed=7).astype(bool)
labels, num = conncomp.label(pores, connectivity=1, return_num=True)
sizes = conncomp.component_sizes(labels)  # indexed by label
through = conncomp.component_spans(labels)[:, 0]  # from the first slice to the last one

print(f"{pores.mean():.1%} of the rock are pores, {num} of them")
share = sizes[through].sum() / pores.sum()
print(f"{through.sum()} reaches through it, with {share:.1%} of the void")

# %%
# ``through[labels]`` looks up the answer for every voxel at once. On the left each pore
# has a colour of its own; pores that seem apart in a slice meet in another one.

slice_of_labels = labels[96]
kinds = slice_of_labels.astype(bool) + through[slice_of_labels].astype(int)

figure = plt.figure(figsize=(8.4, 5.4), layout="constrained")
panels = figure.subplot_mosaic("aab;aac")
panels["a"].imshow(conncomp.colour_components(slice_of_labels))
panels["a"].set_title("pores of a slice")
brown, blue = "#c9a06b", "#38a3d1"
panels["b"].imshow(kinds, cmap=ListedColormap(["#2b2723", brown, blue]), vmin=0, vmax=2)
panels["b"].set_title("water stays or flows", fontsize="medium")
for name in "ab":
    panels[name].set_axis_off()

bins = np.geomspace(1, sizes.max(), 25)
panels["c"].hist(sizes[1:], bins, color=brown)
panels["c"].hist(sizes[through], bins, color=blue)
panels["c"].set(xscale="log", yscale="log", xlabel="voxels", ylabel="pores")
plt.show()
