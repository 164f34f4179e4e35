"""
Cluster points by single linkage: a minimum spanning forest
===========================================================

Single linkage joins the two nearest clusters until enough are left. That is the minimum
spanning tree of the points without its longest edges, and
`conncomp.minimum_spanning_forest` finds the tree. Points of the plane need no matrix of
all distances: the tree is part of their Delaunay triangulation, which has three edges a
point. What `conncomp.connected_components` finds after the cut are the clusters, of any
shape.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.spatial import Delaunay

import conncomp

random = np.random.default_rng(6)
angle = random.uniform(0, np.pi, (2, 250))
upper = np.stack([np.cos(angle[0]), np.sin(angle[0])], axis=1)
lower = np.stack([1 - np.cos(angle[1]), 0.4 - np.sin(angle[1])], axis=1)
blob = random.normal((1.6, 0.95), 0.08, (150, 2))
points = np.concatenate([upper, lower, blob])
points[:500] += random.normal(0, 0.045, (500, 2))

# %%
# The forest is given as numbers of edges of the graph.

edges = Delaunay(points).simplices[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
graph = conncomp.Graph.from_edges(*edges.T, num_vertices=len(points))
forest = conncomp.minimum_spanning_forest(graph, lengths)
tree, tree_lengths = edges[forest], lengths[forest]
print(f"{len(points)} points, {len(forest)} edges of {len(edges)} in the tree")

# %%
# Three clusters are left when the two longest edges are cut.

cut = np.zeros(len(tree), bool)
cut[np.argsort(tree_lengths)[-2:]] = True
kept = conncomp.Graph.from_edges(*tree[~cut].T, num_vertices=len(points))
num, labels = conncomp.connected_components(kept)
print("sizes of the clusters:", conncomp.component_sizes(labels, background=None))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.add_collection(LineCollection(points[tree[~cut]], colors="0.4", linewidths=0.8))
left.add_collection(LineCollection(points[tree[cut]], colors="#d1495b", linewidths=2))
left.scatter(*points.T, s=3, color="0.2")
left.set_title("minimum spanning tree, its longest edges in red")
right.scatter(*points.T, s=8, c=labels, cmap="Dark2")
right.set_title(f"{num} clusters")
for axes in (left, right):
    axes.set_aspect("equal")
    axes.set_axis_off()
plt.show()
