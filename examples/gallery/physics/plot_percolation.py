"""
Percolation at p_c, and clusters that wrap around a torus
=========================================================

Sites of a lattice are open by chance. At the threshold p_c = 0.592746 a cluster appears
that goes all the way around the torus: small changes decide whether a liquid gets
through. `conncomp.component_wrapping` finds the clusters that wrap and tells their
winding vectors. `conncomp.models.Percolation` opens sites one after another, as Newman
and Ziff do, which gives every p at once; where the wrapping probabilities of lattices
of different sizes cross, there is the threshold.
"""

import matplotlib.pyplot as plt
import numpy as np

import conncomp
from conncomp.models import Percolation

torus = Percolation((300, 300), p="critical", seed=65)
labels, num = torus.labels(return_num=True)
wrapping = conncomp.component_wrapping(torus.occupied(), connectivity=1)
for row in wrapping.wrapping:
    print("a cluster wraps; its winding vectors:", wrapping.vectors[row].tolist())

# %%
# The probability to wrap along an axis is known at the threshold: 0.521058, for all
# sizes.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
colours = conncomp.colour_components(labels)
colours[np.isin(labels, wrapping.wrapping + 1)] = 255
left.imshow(colours)
left.set_title(f"{num} clusters at $p_c$; the white one wraps")
left.set_axis_off()

p = np.linspace(0.52, 0.67, 61)
for side, runs in ((16, 2000), (32, 1000), (96, 300)):
    sweep = Percolation((side, side), seed=side).sweep(runs)
    right.plot(p, sweep.wrapping(p, "axis").value, label=f"{side} x {side}")
    threshold, error = sweep.threshold()
    print(f"{side:3} x {side:<3} p_c = {threshold:.4f} ± {error:.4f}")
right.axvline(Percolation.critical_p("site"), color="0.7", linestyle=":")
right.axhline(0.521058, color="0.7", linestyle=":")
right.set(xlabel="p", title="probability to wrap along an axis")
right.legend()
plt.show()
