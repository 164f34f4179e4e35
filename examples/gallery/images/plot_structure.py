"""
Connect by neighbours of your own choice
========================================

Two families of scratches cross each other. As usual, everything that touches is
connected, and all of them are a few tangles. With ``structure=``, as
``scipy.ndimage.label`` has it, you say which of its neighbours a pixel is connected to:
those on one diagonal only, and a component is the stretch of a single scratch. The
pixels of the other family are then components of a pixel or two, which
`conncomp.remove_small_components` takes away. That separates the families with nothing
but labels.
"""

import matplotlib.pyplot as plt
import numpy as np

import conncomp

random = np.random.default_rng(5)
scratches = np.zeros((100, 100), bool)
for direction in (1, -1):
    begins, lengths = random.integers(0, 100, (25, 2)), random.integers(12, 40, 25)
    for (row, column), length in zip(begins, lengths, strict=True):
        steps = np.arange(length)
        rows, columns = row + steps, column + direction * steps
        inside = (rows < 100) & (columns >= 0) & (columns < 100)
        scratches[rows[inside], columns[inside]] = True

neighbours = {
    "whatever touches": np.ones((3, 3), bool),
    "rising": [[0, 0, 1], [0, 0, 0], [1, 0, 0]],
    "falling": [[1, 0, 0], [0, 0, 0], [0, 0, 1]],
}

figure = plt.figure(figsize=(8.4, 5.6), layout="constrained")
panels = figure.subplot_mosaic("aab;aac")
for panel, (name, structure) in zip(panels.values(), neighbours.items(), strict=True):
    labels = conncomp.label(scratches, structure=structure)
    labels = conncomp.remove_small_components(labels, 5)
    num = np.count_nonzero(conncomp.component_sizes(labels))
    panel.imshow(conncomp.colour_components(labels), interpolation="none")
    panel.set_title(f"{name}: {num} components", fontsize="medium")
    panel.set_axis_off()
plt.show()
