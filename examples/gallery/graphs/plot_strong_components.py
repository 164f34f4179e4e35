"""
Who follows whom: strong components and the bow tie
===================================================

Links of the web and followers have a direction. In a strong component everybody reaches
everybody along the arrows, ``connection="strong"`` finds them, and a large network has
a giant one in its core. What leads into the core but is not reached from it, and what
is reached from it but leads nowhere, are the wings of a bow tie.
`conncomp.condensation` makes of each strong component one vertex of a graph without
cycles. Numbered ``"topological"``, its arcs lead from larger numbers to smaller ones,
so that one pass over the numbers answers who reaches the core.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import conncomp
from conncomp import generate

web = generate.directed.bow_tie(600, 3, seed=5)
graph, labels, num = conncomp.condensation(web, numbering="topological")
sizes = conncomp.component_sizes(labels, background=None)
core = sizes.argmax()
print(f"{num} strong components of {web.num_vertices} pages")

# %%
# ``graph`` has rows: ``graph.indices[graph.indptr[v] : graph.indptr[v + 1]]`` are what
# component v links to, with numbers smaller than v.

leads_in, led_to = np.zeros((2, num), bool)
leads_in[core] = led_to[core] = True
rows = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in range(num)]
for v in range(num):
    leads_in[v] |= leads_in[rows[v]].any()
for v in reversed(range(num)):
    led_to[rows[v]] |= led_to[v]

parts = {
    "in": leads_in & ~led_to,
    "core": leads_in & led_to,
    "out": led_to & ~leads_in,
    "tendrils": ~leads_in & ~led_to,
}
for name, part in parts.items():
    print(f"{name:9} {sizes[part].sum():4} pages")

# %%
# Each page is a dot in the place of its part.

random = np.random.default_rng(0)
centres = {"in": (-1.5, 0), "core": (0, 0), "out": (1.5, 0), "tendrils": (0, -1.15)}
spread = {"in": (0.45, 0.7), "core": 0.6, "out": (0.45, 0.7), "tendrils": (1.5, 0.18)}
colours = {"in": "#edae49", "core": "#d1495b", "out": "#30638e", "tendrils": "0.6"}

figure, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
angle = random.uniform(0, 2 * np.pi, len(labels))
radius = np.sqrt(random.random(len(labels)))
places = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius[:, np.newaxis]
for name, part in parts.items():
    members = part[labels]
    places[members] = places[members] * spread[name] + centres[name]
    axes.scatter(*places[members].T, s=9, color=colours[name], label=name, zorder=2)
sources = np.repeat(np.arange(web.num_vertices), np.diff(web.indptr))
links = places[np.stack([sources, web.indices], axis=1)]
axes.add_collection(LineCollection(links, colors="0.8", linewidths=0.2, zorder=1))
axes.legend(loc="upper center", ncols=4, frameon=False)
axes.set_axis_off()
plt.show()
