"""
Clock models, between Ising and XY
==================================

Spins that have q directions in a plane order at a transition like the Ising model's for
q up to 4. From five directions on there are two: above the lower one spins rotate as if
they had all directions, and only above the upper one, where the XY model has its own,
they forget each other.

`conncomp.models.Clock` is simulated by clusters, as `conncomp.models.XY` is.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import Clock, simulate

# %%
# Four lattices at each of twelve temperatures lie side by side. Of the mean spin, its
# length says whether spins are aligned, and the cosine of q times its angle whether
# they have chosen one of the q directions.
temperatures = np.linspace(0.25, 1.3, 12)
length, chosen, heat = {}, {}, {}
for q in (4, 6, 8):
    betas = np.repeat(1 / temperatures, 4)
    model = Clock((16, 16), q, beta=betas, replicas=len(betas), start="cold", seed=1)
    run = simulate(model, 400, thermalise=100)
    spin = run.series.magnetisation @ [1, 1j]
    turned = abs(spin) * np.cos(q * np.angle(spin))
    length[q] = abs(spin).mean(axis=0).reshape(-1, 4).mean(axis=1)
    chosen[q] = turned.mean(axis=0).reshape(-1, 4).mean(axis=1)
    heat[q] = [row.specific_heat.value for row in run.summarise()]

# %%
# Dotted lines are the exact transition of q = 4, two Ising models, and 0.893, that of
# the XY model (M. Hasenbusch, J. Phys. A 38, 5869, 2005).
figure, panels = plt.subplots(1, 3, layout="constrained", figsize=(10, 3.4))
for axes, values, name in zip(
    panels,
    (length, chosen, heat),
    ("length of the mean spin", "length times cos of q angles", "specific heat"),
    strict=True,
):
    for q, of_model in values.items():
        axes.plot(temperatures, of_model, marker="o", label=f"q = {q}")
    for known in (1 / np.log(1 + np.sqrt(2)), 0.893):
        axes.axvline(known, color="0.7", linestyle=":")
    axes.set(xlabel="temperature", ylabel=name)
panels[0].legend()
plt.show()

# %%
# In between, directions of the mean spin are alike though its length is not 0.
middle = np.argmin(abs(temperatures - 0.82))
assert length[8][middle] > 0.6 > 3 * abs(chosen[8][middle])
assert chosen[8][0] > 0.9
assert chosen[4][middle] > 0.8
