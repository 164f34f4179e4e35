"""
Kosterlitz and Thouless by the helicity jump
============================================

Spins in a plane, on the square lattice, never order; and yet there is a transition,
where vortices and antivortices that were bound in pairs come apart. What jumps there is
the helicity modulus, the free energy that a slow twist takes: it falls from two thirds
of the temperature, 2 T / pi, to nothing.

`conncomp.models.XY` measures it, and the vortices.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import XY, simulate

# %%
# Four lattices at each of eight temperatures lie side by side, by the cluster update of
# Swendsen and Wang in Wolff's embedding. A summary has the means of a temperature.
temperatures = np.linspace(0.80, 1.01, 8)
helicity, vortices = {}, {}
for length in (8, 16, 32):
    betas = np.repeat(1 / temperatures, 4)
    model = XY((length, length), beta=betas, replicas=len(betas), seed=1)
    rows = simulate(model, 500, thermalise=60).summarise()
    helicity[length] = [row.helicity_modulus for row in rows]
    vortices[length] = [row.vortices.value for row in rows]

# %%
# The jump is rounded, and sizes approach it by their logarithm: at the transition the
# modulus is 2 T / pi (1 + 1 / (2 ln L + C)) (H. Weber, P. Minnhagen, Phys. Rev. B 37,
# 5986, 1988). So C, as each size has it, agrees among sizes at one temperature, which
# is 0.893 (M. Hasenbusch, J. Phys. A 38, 5869, 2005).
figure, (left, middle, right) = plt.subplots(
    1, 3, layout="constrained", figsize=(10, 3.4)
)
constants = {}
for length, rows in helicity.items():
    values = np.array([row.value for row in rows])
    name = f"L = {length}"
    left.errorbar(
        temperatures, values, [row.error for row in rows], capsize=3, label=name
    )
    excess = values * np.pi / (2 * temperatures) - 1
    constants[length] = np.where(
        excess > 0.03, 1 / np.abs(excess) - 2 * np.log(length), np.nan
    )
    middle.plot(temperatures, constants[length], marker="o", label=name)
    right.plot(temperatures, vortices[length], marker="o", label=name)
left.plot(temperatures, 2 * temperatures / np.pi, color="0.6", linestyle="--")
left.text(0.93, 2 / np.pi + 0.02, "2 T / pi")
for axes in (left, middle, right):
    axes.axvline(0.893, color="0.7", linestyle=":")
    axes.set(xlabel="temperature")
left.set(ylabel="helicity modulus")
middle.set(ylabel="C", ylim=(-6, 10))
right.set(ylabel="vortices a site")
left.legend()
plt.show()

# %%
# Below the transition the modulus hardly depends on the size, above it it falls.
for size in (8, 16):
    assert abs(helicity[size][0].value - helicity[32][0].value) < 0.03
    assert helicity[size][-1].value > helicity[32][-1].value
