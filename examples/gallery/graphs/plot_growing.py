"""
A graph that grows: the birth of the giant component
====================================================

Edges arrive one batch after another, and between batches one wants to know who is
connected. `conncomp.IncrementalComponents` keeps the components of a graph to which
edges are added: a batch costs its own edges, not those that came before. Here the edges
are drawn by chance, after Erdős and Rényi. As soon as a vertex has more than one
neighbour on average, a giant component appears; the share S of the vertices that it has
obeys S = 1 - exp(-cS), where c is the mean degree.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.special import lambertw

import conncomp

vertices, batches = 200_000, 60
edges_of_batch = vertices // 40
random = np.random.default_rng(1)

components = conncomp.IncrementalComponents(vertices)
degree, giant, count = np.zeros((3, batches))
for batch in range(batches):
    components.add_edges(*random.integers(0, vertices, (2, edges_of_batch)))
    sizes = conncomp.component_sizes(components.labels(), background=None)
    degree[batch] = 2 * edges_of_batch * (batch + 1) / vertices
    giant[batch] = sizes.max() / vertices
    count[batch] = components.count / vertices

print("are vertices 0 and 1 connected by now?", components.connected(0, 1))

# %%
# The solution of S = 1 - exp(-cS) is Lambert's W function. Below the curve is a graph
# of 150 vertices at three moments, without those that have no edge yet. Components of
# three vertices or more are coloured, the largest one red.

figure = plt.figure(figsize=(9, 6.6), layout="constrained")
panels = figure.subplot_mosaic("aaa;bcd", height_ratios=(1.2, 1))

c = np.linspace(1e-3, degree[-1], 500)
share = np.where(c > 1, 1 + lambertw(-c * np.exp(-c)).real / c, 0)
panels["a"].plot(c, share, color="0.7", linewidth=4, label="S = 1 - exp(-cS)")
panels["a"].plot(degree, giant, ".", color="#d1495b", label="S, the largest share")
panels["a"].plot(degree, count, ".", color="#30638e", label="components a vertex")
panels["a"].set(xlabel="mean degree c", ylim=(0, 1))
panels["a"].legend()

edges = random.integers(0, 150, (2, 180))
places = nx.spring_layout(nx.Graph(edges.T.tolist()), k=0.3, iterations=80, seed=5)
palette = np.array(["#d1495b", "#edae49", "#66a182", "#30638e", "#8d5a97"])
small = conncomp.IncrementalComponents(150)
for name, first, end in (("b", 0, 45), ("c", 45, 90), ("d", 90, 180)):
    small.add_edges(*edges[:, first:end])
    labels = conncomp.sort_by_size(small.labels(), background=None)
    sizes = conncomp.component_sizes(labels, background=None)
    colours = palette[labels % len(palette)]
    colours[sizes[labels] < 3] = "0.8"
    drawn = nx.Graph(edges[:, :end].T.tolist())
    nodes = list(drawn)
    nx.draw_networkx(
        drawn,
        places,
        ax=panels[name],
        nodelist=nodes,
        node_color=colours[nodes].tolist(),
        node_size=22,
        width=0.7,
        edge_color="0.6",
        with_labels=False,
    )
    panels[name].set_title(f"c = {2 * end / 150:g}")
    panels[name].set_axis_off()
plt.show()
