"""
Islands of a road map
=====================

From which places can one drive to which? A road map is a graph: junctions are vertices
and roads are edges, and places are connected if their components have the same label.
Islands without a bridge are components of their own; in real maps so are the pieces
that somebody forgot to join. `conncomp.Graph` takes two arrays, the two ends of each
road, and `conncomp.connected_components` has the arguments of SciPy's function.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.ndimage import gaussian_filter
from scipy.spatial import Delaunay

import conncomp

# %%
# An archipelago: land is smooth noise above the sea. Junctions lie on land, and short
# roads that do not cross water join them. A file of roads, such as DIMACS's, is read by
# ``conncomp.Graph.read("roads.gr")``.

random = np.random.default_rng(8)
height = gaussian_filter(random.standard_normal((400, 600)), 28)
land = height > np.quantile(height, 0.62)


def on_land(places: np.ndarray) -> np.ndarray:
    """Return which places, of shape (..., 2), are on land."""
    rows, columns = np.moveaxis(places.astype(int), -1, 0)
    return land[rows, columns]


junctions = random.uniform((0, 0), land.shape, (6000, 2))
junctions = junctions[on_land(junctions)]

triangles = Delaunay(junctions).simplices
sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2))
roads = np.unique(sides, axis=0)  # each is a side of two triangles
start, end = junctions[roads[:, 0]], junctions[roads[:, 1]]
along = np.linspace(0, 1, 8)[:, np.newaxis, np.newaxis]
dry = on_land(start + along * (end - start)).all(axis=0)
short = np.hypot(*(end - start).T) < 14
roads = roads[dry & short & (random.random(len(roads)) < 0.7)]

# %%
# A road is an arc here, from one end to the other. Components are weak ones by default,
# so that its direction does not matter.

graph = conncomp.Graph.from_edges(*roads.T, num_vertices=len(junctions))
num, labels = conncomp.connected_components(graph)
sizes = conncomp.component_sizes(labels, background=None)
print(f"{len(roads)} roads make {num} components")
print(f"{(sizes >= 20).sum()} of them have 20 junctions or more")

# %%
# The components of 20 junctions or more are in colour.

rank = conncomp.sort_by_size(labels, background=None)  # 0 is the largest
colours = np.array([*plt.cm.Dark2.colors])[rank % 8]
colours[sizes[labels] < 20] = 0

figure, axes = plt.subplots(figsize=(8, 5.4), layout="constrained")
axes.imshow(land, cmap="GnBu_r", vmin=-0.7, vmax=1.25, alpha=0.6)
segments = junctions[roads][:, :, ::-1]
lines = LineCollection(segments, colors=colours[roads[:, 0]], linewidths=0.8)
axes.add_collection(lines)
axes.set_axis_off()
plt.show()
