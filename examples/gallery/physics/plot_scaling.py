"""
Binder crossing and finite-size scaling of the Ising transition
===============================================================

The ratio <m⁴>/<m²>² has no dimension, so at the critical temperature it is the same
for all sizes, and as a function of (T - T_c) L^(1/nu) everywhere near it.
`conncomp.models.crossing` finds where curves cross and `conncomp.models.collapse` fits
T_c and nu, both with errors. Onsager's values are T_c = 2.2692 and nu = 1. Between the
temperatures that were simulated `conncomp.models.reweight` tells the curve. The
correlation length, as a share of the lattice's, has no dimension either.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import Ising, collapse, crossing, reweight, simulate

critical = Ising.critical_temperature()
temperatures = np.linspace(2.2, 2.34, 8)

curves, lengths, runs = {}, {}, {}
for side in (8, 16, 32, 64):
    model = Ising(side, temperature=temperatures, replicas=8, seed=side + 100)
    how = {"clusters": True, "observe": "structure"}
    run = simulate(model, 2000, thermalise=100, **how)
    runs[side], rows = run.series, run.summarise()
    curves[side] = [(1 / each.beta, *each.binder_ratio) for each in rows]
    lengths[side] = [(1 / each.beta, *each.correlation_ratio) for each in rows]

# %%
# Crossings move towards T_c as sizes grow; the collapse takes the three largest ones.

for found in crossing(curves, degree=4):
    small, large = found.sizes
    print(f"{small:.0f} and {large:.0f}: T = {found.x.value:.4f} ± {found.x.error:.4f}")
largest = {side: points for side, points in curves.items() if side > 8}
fit = collapse(largest, critical=2.25, nu=1.2, degree=6)
print(
    f"T_c = {fit.critical.value:.4f} ± {fit.critical.error:.4f}, exact {critical:.4f}"
)
print(f"nu = {fit.nu.value:.3f} ± {fit.nu.error:.3f}, exact 1")
print(f"chi squared {fit.chi_squared:.1f} of {fit.freedom} degrees of freedom")

# %%
# The correlation length follows from structure factors at the smallest wave vectors. At
# T_c it is 0.9050488 of the length of the lattice (J. Salas, A. D. Sokal, J. Stat.
# Phys. 98, 551, 2000).

for found in crossing(lengths, degree=4):
    small, large = found.sizes
    print(f"{small:.0f} and {large:.0f}: T = {found.x.value:.4f} ± {found.x.error:.4f}")

# %%
# The line of the largest size is a reweighted one: the run at T = 2.26 alone says how
# the ratio changes around it.

series, middle = runs[64], 3
wanted = 1 / np.linspace(2.235, 2.285, 25)
near = reweight(
    lambda square, fourth: fourth / square**2,
    series.improved_squared_magnetisation[:, middle],
    series.improved_fourth_magnetisation[:, middle],
    energy=series.energy[:, middle],
    beta=1 / temperatures[middle],
    at=wanted,
)

figure, (left, right, third) = plt.subplots(
    1, 3, figsize=(12, 3.8), layout="constrained"
)
for side, points in curves.items():
    left.errorbar(*np.transpose(points), fmt=".", label=f"L = {side}")
    if side in largest:
        scaled = fit.scale(side, points)
        right.errorbar(*scaled.T, fmt=".", label=f"L = {side}")
left.plot(1 / near.beta, near.value, "k-", linewidth=0.8, label="reweighted")
left.axvline(critical, color="gray", linewidth=0.8)
left.set_xlabel("temperature")
left.set_ylabel("<m⁴>/<m²>²")
left.legend()
right.set_xlabel("(T - T_c) L^(1/nu)")
right.legend()
for side, points in lengths.items():
    third.errorbar(*np.transpose(points), fmt=".-", linewidth=0.8, label=f"L = {side}")
third.axvline(critical, color="gray", linewidth=0.8)
third.axhline(0.9050488, color="gray", linewidth=0.8)
third.set_xlabel("temperature")
third.set_ylabel("correlation length / L")
third.legend()
plt.show()
