"""
The giant component of a social network
=======================================

Who can be reached through friends of friends? Most people of a social network are in
one giant component, and the others in circles of a few. `conncomp.connected_components`
takes graphs of NetworkX as they are, and labels nodes in their order;
`conncomp.size_histogram` counts the circles. Here people come with a few friends or
many, and befriend each other by chance.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import conncomp

random = np.random.default_rng(12)
friends = np.minimum(random.zipf(2.2, 500), 25)
friends[0] += friends.sum() % 2  # every friendship has two ends
network = nx.Graph(nx.configuration_model(friends.tolist(), seed=1))
network.remove_edges_from(list(nx.selfloop_edges(network)))

num, labels = conncomp.connected_components(network)
sizes, how_many = conncomp.size_histogram(labels, background=None)
for size, count in zip(sizes, how_many, strict=True):
    print(f"{count:3} x {size} people")

# %%
# The giant component is the largest one; ``np.bincount`` would count as well, but not
# in a batch, nor on a GPU.

giant = conncomp.component_sizes(labels, background=None).argmax()
places = nx.spring_layout(network, k=0.09, iterations=60, seed=3)
in_giant = labels == giant

figure, axes = plt.subplots(figsize=(7, 6.4), layout="constrained")
nx.draw_networkx_edges(network, places, ax=axes, edge_color="0.75", width=0.6)
nx.draw_networkx_nodes(
    network,
    places,
    ax=axes,
    node_size=[8 + 6 * degree for _, degree in network.degree],
    node_color=np.where(in_giant, "#d1495b", "#30638e"),
    linewidths=0.3,
    edgecolors="white",
)
axes.set_title(f"{in_giant.sum()} of {len(labels)} people are in the giant component")
axes.set_axis_off()
plt.show()
