"""
The Ising transition, with Kaufman's exact curve
================================================

Below a critical temperature the spins of a magnet agree. `conncomp.models.Potts` with
two states is the Ising model; clusters of spins are flipped at once, which Swendsen and
Wang do so that a simulation hardly slows down at the transition, and
`conncomp.models.simulate` runs fifteen temperatures side by side. For a square lattice
on a torus Kaufman found the partition function in 1949: the points have to lie on the
curve, and they do. Energies and temperatures are half of those of the Ising convention,
so that T_c = 1/ln(1 + sqrt 2) = 1.1346.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

from conncomp.models import Potts, simulate

critical = 1 / Potts.critical_beta(2)
temperatures = critical * np.linspace(0.8, 1.25, 15)

side = 32
model = Potts((side, side), beta=1 / temperatures, replicas=15, seed=1)
summaries = simulate(model, 3000, thermalise=300).summarise()
betas = np.array([summary.beta for summary in summaries])
coldest = summaries[0].energy
print(f"energy at the lowest temperature: {coldest.value:.4f} ± {coldest.error:.4f}")

# %%
# Kaufman's partition function is a sum of four products over 2L wave numbers; their
# logarithms do not overflow.


def log_partition(beta: np.ndarray) -> np.ndarray:
    """Return ln Z a site of the lattice, for energies of Potts's convention."""
    k = beta / 2  # in units of the Ising convention
    wave = np.arange(1, 2 * side)[:, np.newaxis]
    cosh_gamma = np.cosh(2 * k) ** 2 / np.sinh(2 * k) - np.cos(np.pi * wave / side)
    zeroth = 2 * k + np.log(np.tanh(k))  # negative above the critical temperature
    x = side / 2 * np.vstack([zeroth, np.arccosh(cosh_gamma)])
    log_cosh, log_sinh = np.logaddexp(x, -x), abs(x) + np.log1p(-np.exp(-2 * abs(x)))
    products = [
        part[first::2].sum(0) for part in (log_cosh, log_sinh) for first in (1, 0)
    ]
    signs = [np.ones_like(k)] * 3 + [np.sign(zeroth)]
    four = logsumexp(products, b=signs, axis=0)
    return beta + np.log(2 * np.sinh(2 * k)) / 2 + (four - np.log(2)) / side**2


beta = np.linspace(1 / temperatures[-1], 1 / temperatures[0], 2000)
energy = -np.gradient(log_partition(beta), beta)
heat = -(beta**2) * np.gradient(energy, beta)

# %%
# The pictures are spins of larger lattices: clusters of all sizes at the critical
# temperature, and around it order and disorder.

figure = plt.figure(figsize=(9, 6.4), layout="constrained")
panels = figure.subplot_mosaic("aabbcc;dddeee")
for name, factor, title in (
    ("a", 0.95, "0.95 $T_c$"),
    ("b", 1, "$T_c$"),
    ("c", 1.05, "1.05 $T_c$"),
):
    lattice = Potts((256, 256), beta=1 / (factor * critical), seed=3, start="cold")
    lattice.swendsen_wang(150, measure=False)
    panels[name].imshow(lattice.spins, cmap="cividis", interpolation="none")
    panels[name].set_title(title)
    panels[name].set_axis_off()
for name, key, curve, title in (
    ("d", "energy", energy, "energy a site"),
    ("e", "specific_heat", heat, "specific heat a site"),
):
    values, errors = np.array([getattr(summary, key) for summary in summaries]).T
    panels[name].plot(
        1 / beta[2:-2], curve[2:-2], color="0.7", linewidth=3, label="Kaufman, exact"
    )
    panels[name].errorbar(
        1 / betas, values, errors, fmt=".", color="#d1495b", label="simulated"
    )
    panels[name].set(xlabel="temperature", title=title)
    panels[name].legend()
plt.show()
