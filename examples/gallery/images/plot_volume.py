"""
The largest objects of a volume, in 3-D
=======================================

A scan is full of small things, and one looks for the large ones.
`conncomp.largest_components` keeps the k largest objects of a volume and
`conncomp.sort_by_size` numbers them from the largest down. The bounding boxes of
`conncomp.component_statistics` cut each of them out, so that its surface takes no more
time than its box: scikit-image's marching cubes make triangles, and Matplotlib draws
them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from skimage.measure import marching_cubes

import conncomp
from conncomp import generate

volume = generate.blobs((96, 96, 96), sigma=4.5, density=0.075, seed=4)
labels, num = conncomp.label(volume, return_num=True)
largest = conncomp.sort_by_size(conncomp.largest_components(labels, 6))
objects = conncomp.component_statistics(largest)
print(f"the largest of {num} objects have {', '.join(map(str, objects.sizes))} voxels")

# %%
# Empty voxels around each object close its surface, and a filter smooths it.

figure = plt.figure(figsize=(7, 6), layout="constrained")
axes = figure.add_subplot(projection="3d", box_aspect=(1, 1, 1))
for row, colour in enumerate(plt.cm.Set2.colors[: len(objects.labels)]):
    inside = np.pad(largest[objects.slices(row)] == objects.labels[row], 3)
    smooth = gaussian_filter(inside.astype(np.float32), 0.8)
    vertices, triangles, *_ = marching_cubes(smooth, 0.4)
    x, y, z = (vertices + objects.bounding_boxes[row, :, 0] - 3).T
    axes.plot_trisurf(x, y, z, triangles=triangles, color=colour, antialiased=False)
axes.set(xlim=(0, 96), ylim=(0, 96), zlim=(0, 96), xlabel="x", ylabel="y", zlabel="z")
plt.show()
