"""
Tutorial: connected components in ten minutes
=============================================

What belongs together? In a volume: which voxels are one object. In a graph: who can be
reached from whom. In a model of a magnet: which spins turn at once. This tour labels a
volume, looks at it, measures its objects, chooses some of them, and goes on to graphs
and to a spin model. At the end of the page it is yours as a notebook; in an environment
with ``pip install "conncomp[docs]"`` it takes some seconds to run.
"""

import matplotlib.pyplot as plt
import numpy as np

import conncomp
from conncomp import generate

# %%
# Label a volume
# --------------
#
# A volume of your own would be read from a file: ``conncomp.read_image("scan.tif")``.
# Here one is made, of zeros and ones: foam, or a rock with its pores.

volume = generate.blobs((96, 96, 96), sigma=3, density=0.14, seed=1)
labels, num = conncomp.label(volume, return_num=True)
print(volume.shape, volume.dtype, "has", num, "objects")

# %%
# `conncomp.label` takes the arguments of ``skimage.measure.label`` and returns the same
# labels: 0 for the background, and 1, 2, ... for the objects in the order in which a
# scan of the array meets them. Neighbours are all elements that touch, over edges and
# corners, too. For faces only, say ``connectivity=1``:

_, num_by_faces = conncomp.label(volume, connectivity=1, return_num=True)
print(num_by_faces, "objects, if faces connect and corners do not")

# %%
# Look at it
# ----------
#
# `conncomp.colour_components` paints labels so that objects near to each other differ
# clearly. It takes volumes as well as images: an object has one colour in all slices.

colours = conncomp.colour_components(labels)

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for panel, level in zip(axes, (24, 28, 32), strict=True):
    panel.imshow(colours[level])
    panel.set_title(f"slice {level}")
    panel.set_axis_off()
plt.show()

# %%
# Measure
# -------
#
# `conncomp.component_statistics` has a row for each object: its size, its bounding box,
# its centroid and the moments of its shape. All are arrays, so a table of them is a
# line with the library of your choice.

objects = conncomp.component_statistics(labels)
print("label   size  centroid")
for row in range(5):
    size, centroid = objects.sizes[row], objects.centroids[row].round(1)
    print(f"{objects.labels[row]:5} {size:6}  {centroid}")

# %%
# Where only sizes matter, `conncomp.component_sizes` is quicker. It is indexed by
# label, with 0 for the background.

sizes = conncomp.component_sizes(labels)
print("the largest object has", sizes.max(), "voxels; its label is", sizes.argmax())

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.hist(sizes[1:], bins=np.geomspace(1, sizes.max(), 30), color="#30638e")
axes.set(xscale="log", xlabel="voxels", ylabel="objects")
plt.show()

# %%
# Choose
# ------
#
# Specks are noise; the largest objects are what one looks for. Both functions return
# labels as they were, with 0 in place of what is left out.

clean = conncomp.remove_small_components(labels, 200)
largest = conncomp.largest_components(labels, 3)
num_clean = np.count_nonzero(conncomp.component_sizes(clean))
print(num_clean, "objects have 200 voxels or more")

# %%
# For any other choice make a table with an answer for each label, and look the labels
# up in it. Here: objects that reach from the first slice to the last one, as water has
# to.

through = conncomp.component_spans(labels)[:, 0]
print(through.sum(), "object spans the first axis")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for panel, title, chosen in zip(
    axes,
    ("200 voxels or more", "the three largest", "from top to bottom"),
    (clean > 0, largest > 0, through[labels]),
    strict=True,
):
    panel.imshow(chosen[28], cmap="bone", interpolation="none")
    panel.set_title(title)
    panel.set_axis_off()
plt.show()

# %%
# Who is a neighbour, and who is equal?
# -------------------------------------
#
# An array need not be of zeros and ones: equal values are connected. Options say what
# else is:
#
# - ``tolerance=2``: values that differ by no more than that;
# - ``periodic=(False, True)``: the last axis closes on itself, as longitudes do;
# - ``structure=``: neighbours of your own choice;
# - ``batch_axes=1``: the first axis holds separate images, each labelled on its own.

heights = np.array([[10, 11, 13, 20], [10, 12, 14, 21]])
print(conncomp.label(heights, tolerance=1))

ring = np.array([[1, 0, 0, 1], [0, 1, 0, 0]])
print(conncomp.label(ring, connectivity=1, periodic=(False, True)))

# %%
# Graphs
# ------
#
# `conncomp.connected_components` has the arguments of SciPy's function. It takes sparse
# matrices, graphs of NetworkX, igraph and rustworkx, and `conncomp.Graph`, which is
# made of two arrays: the ends of the edges. Vertices are numbered from 0, and so are
# components.

friends = conncomp.Graph.from_edges([0, 1, 3, 5], [1, 2, 4, 5], num_vertices=6)
count, group = conncomp.connected_components(friends)
print(count, "groups:", group)

# %%
# Functions of sizes take these labels, too, with ``background=None``: of a graph, 0 is
# a component like others.

print("sizes:", conncomp.component_sizes(group, background=None))

# %%
# With ``connection="strong"`` arcs count in their direction only. A graph that grows is
# a `conncomp.IncrementalComponents`, to which edges are added:

growing = conncomp.IncrementalComponents(6)
growing.add_edges([0, 1, 3], [1, 2, 4])
print(growing.count, "components; 0 and 4 connected:", growing.connected(0, 4))
growing.add_edges([2], [3])
print(growing.count, "components; 0 and 4 connected:", growing.connected(0, 4))

# %%
# A spin model
# ------------
#
# Labels are a tool of physics as well. `conncomp.models.Potts` is a magnet of spins
# with q states, whose neighbours like to be equal. At the critical temperature Swendsen
# and Wang flip whole clusters at once, which are the components of a random graph of
# bonds. `conncomp.models.simulate` makes sweeps and measures, and errors come with the
# means.

from conncomp.models import Potts, simulate

magnet = Potts((64, 64), q=2, beta="critical", seed=1)
run = simulate(magnet, 2000, thermalise=200)
[summary] = run.summarise()
print(f"energy a site: {summary.energy.value:.4f} ± {summary.energy.error:.4f}")
print(f"a sweep is forgotten after {summary.magnetisation_time.value:.1f} sweeps")

# %%
# The spins, and the clusters that the next sweep will flip or leave, each as a whole:

figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
axes[0].imshow(magnet.spins, cmap="cividis", interpolation="none")
axes[0].set_title("spins")
axes[1].imshow(conncomp.colour_components(magnet.labels()), interpolation="none")
axes[1].set_title("clusters")
for panel in axes:
    panel.set_axis_off()
# sphinx_gallery_thumbnail_number = 4
plt.show()

# %%
# On a GPU
# --------
#
# The data decide where the work is done: arrays of CuPy and tensors of PyTorch on a GPU
# are labelled there, and labels are of the same library. ``device="cuda"`` moves an
# array of NumPy there and its labels back. All else stays as it is::
#
#     import cupy
#     labels = conncomp.label(cupy.asarray(volume))
#
# The other pages of this gallery go on from here, and the docstring of every function
# has an example of its own.
