"""
A climate field that wraps around the date line
===============================================

On a map of the Earth the left edge and the right edge are neighbours, and the poles are
not. A storm that crosses the edge of the map is cut in two by labels that do not know
this, and counted twice. With ``periodic=(False, True)`` longitudes close on themselves
and latitudes do not. `conncomp.component_wrapping` finds the component that goes all
the way around the Earth.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import conncomp

latitudes = np.linspace(89.5, -89.5, 180)[:, np.newaxis]
noise = np.random.default_rng(6).standard_normal((180, 360))
weather = gaussian_filter(noise, (5, 9), mode=("nearest", "wrap"))
jet = np.exp(-(((latitudes + 52) / 9) ** 2))  # winds around the Southern Ocean
wind = 10 + 4 * weather / weather.std() + 11 * jet
stormy = wind > 14

flat, num_flat = conncomp.label(stormy, return_num=True)
labels, num = conncomp.label(stormy, periodic=(False, True), return_num=True)
around = conncomp.component_wrapping(stormy, periodic=(False, True)).axes[:, 1]
print(f"{num_flat} storms on a flat map, {num} on the Earth")
print(f"{around.sum()} of them goes all around it")

# %%
# Rows of ``component_wrapping`` are components: the first one is that of label 1. The
# component around the Earth is drawn in white.

colours = conncomp.colour_components(labels)
colours[np.isin(labels, np.flatnonzero(around) + 1)] = 255

figure, axes = plt.subplots(2, 1, figsize=(7, 7), layout="constrained")
extent = (-180, 180, -90, 90)
image = axes[0].imshow(wind, extent=extent, cmap="YlGnBu_r")
axes[0].contour(wind, [14], extent=extent, origin="upper", colors="k", linewidths=0.6)
axes[0].set_title("wind speed (m/s)")
figure.colorbar(image, ax=axes[0], shrink=0.8)
axes[1].imshow(colours, extent=extent, interpolation="none")
axes[1].set_title(f"{num} storms; those at the edges go on at the other side")
for panel in axes:
    panel.set(xticks=range(-180, 181, 60), yticks=range(-90, 91, 45))
plt.show()
