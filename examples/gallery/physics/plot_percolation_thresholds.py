"""
Percolation thresholds of seven lattices
========================================

If each bond of a lattice is there with probability p, a cluster without end appears at
p_c. The clusters of an Ising model are such ones where all spins are equal: from a cold
start an update of Swendsen and Wang makes each bond active with probability
p = 1 - exp(-2 beta). A ratio of moments of cluster sizes does not depend on the size
of the lattice at p_c, so `conncomp.models.crossing` of two sizes estimates it. Three of
the lattices have thresholds that are known exactly, by the formulae of Sykes and Essam.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import Ising, crossing, jackknife

sine = 2 * np.sin(np.pi / 18)
known = {"square": 0.5, "triangular": sine, "honeycomb": 1 - sine, "kagome": 0.524405}
known |= {"cubic": 0.248812, "bcc": 0.180288, "diamond": 0.389589}


def curve(lattice: str, length: int, shares: np.ndarray, replicas: int) -> np.ndarray:
    """Return rows of p, <m^4>/<m^2>^2 and its error."""
    model = Ising(
        length,
        lattice=lattice,
        beta=np.repeat(-np.log1p(-shares) / 2, replicas),
        replicas=replicas * len(shares),
        start="cold",
        seed=length,
    )
    drawn = model.swendsen_wang(1, clusters=True)
    moments = drawn.improved_squared_magnetisation, drawn.improved_fourth_magnetisation
    of_shares = [moment.reshape(len(shares), replicas) for moment in moments]
    ratios = [
        jackknife(lambda square, fourth: fourth / square**2, *each, bin_length=10)
        for each in zip(*of_shares, strict=True)
    ]
    return np.column_stack([shares, ratios])


# %%
# Two sizes of each lattice take a second or less.

figure, panels = plt.subplots(2, 4, figsize=(11, 5), layout="constrained")
for axes, (lattice, p_c) in zip(panels.flat, known.items(), strict=False):
    flat = lattice in ("square", "triangular", "honeycomb", "kagome")
    shares = p_c * np.linspace(0.97, 1.03, 6)
    sizes = (24, 48) if flat else (8, 16)
    curves = {length: curve(lattice, length, shares, 400) for length in sizes}
    [found] = crossing(curves, degree=3)
    print(f"{lattice:10} {found.x.value:.4f} ± {found.x.error:.4f}, known {p_c:.4f}")
    for length, points in curves.items():
        axes.errorbar(*points.T, fmt=".-", linewidth=0.8, label=length)
    axes.axvline(p_c, color="gray", linewidth=0.8)
    axes.set_title(lattice)
    axes.legend(title="cells", fontsize="small")
panels[-1, -1].axis("off")
for axes in panels[1, :3]:
    axes.set_xlabel("p")
panels[0, 0].set_ylabel("<m⁴>/<m²>²")
panels[1, 0].set_ylabel("<m⁴>/<m²>²")
plt.show()
