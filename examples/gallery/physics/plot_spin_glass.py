"""
A spin glass and its transition
===============================

Bonds of ±J at random leave no order that one could see: each spin freezes, but up here
and down there. What tells it is the overlap of two copies with the same bonds. Its
correlation length, as a share of the lattice's, is the same for all sizes where the
glass begins.

`conncomp.models.SpinGlass` has samples of bonds, temperatures and copies side by side;
replicas exchange temperatures.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import SpinGlass, parallel_tempering, summarise_overlaps

# %%
# Sixty samples of two sizes, each with two copies at six temperatures. Exchanges let
# the cold ones relax. The overlaps of the second half of the rounds are kept.
temperatures = np.array([0.9, 1.1, 1.3, 1.5, 1.8, 2.2])
summaries = {}
for length in (4, 6):
    shape = (length,) * 3
    model = SpinGlass(
        shape, "pm", temperature=temperatures, samples=60, copies=2, seed=1
    )
    measured = []
    parallel_tempering(
        model,
        120,
        sweeps_between=60,
        watch=lambda model, kept=measured: kept.append(model.overlaps()),
    )
    summaries[length] = summarise_overlaps(measured[60:], shape)

# %%
# Errors are those of the mean over samples, by jackknife. The curves meet near
# T = 1.1, where the glass begins (Baity-Jesi and others, Phys. Rev. B 88, 224416,
# 2013); at the lowest temperatures so few samples do not tell which of them is above
# the other.
figure, axes = plt.subplots(layout="constrained")
for length, rows in summaries.items():
    ratios = [row.correlation_ratio for row in rows]
    axes.errorbar(
        [1 / row.beta for row in rows],
        [ratio.value for ratio in ratios],
        [ratio.error for ratio in ratios],
        marker="o",
        capsize=3,
        label=f"L = {length}",
    )
axes.axvline(1.102, color="0.7", linestyle=":")
axes.set(xlabel="temperature", ylabel="correlation length / L")
axes.legend()
plt.show()

# %%
# Above the transition the correlation length is a smaller share of the larger lattice.
assert (
    summaries[6][-1].correlation_ratio.value < summaries[4][-1].correlation_ratio.value
)
