"""
Percolation thresholds of seven lattices
========================================

If each site of a lattice is there with probability p, or each bond, a cluster without
end appears at p_c. `conncomp.models.Percolation.sweep` adds sites or bonds one by one,
in random order, and notes when a cluster first closes on itself around the lattice. The
probability of that rises from 0 to 1, the more suddenly the larger the lattice is;
curves of two sizes cross at p_c. On a plane it is known where: a torus has a cross as
often as nothing that wraps, so that half of both probabilities add up to one half,
whatever its shape. The event "balance" asks for that, and needs one size. Of three axes
the crossing is taken.
"""

import matplotlib.pyplot as plt
import numpy as np

from conncomp.models import Percolation

sizes = {
    "square": (24, 48),
    "triangular": (24, 48),
    "honeycomb": (16, 32),
    "kagome": (14, 28),
}
sizes |= {"bcc": (6, 12), "fcc": (6, 12), "diamond": (5, 10)}


def crossing_of(curves: list[np.ndarray], p: np.ndarray) -> float:
    """Return where the second curve overtakes the first one, between two points."""
    gap = curves[1] - curves[0]
    k = int(np.flatnonzero((gap[:-1] < 0) & (gap[1:] >= 0))[-1])
    return float(p[k] + (p[k + 1] - p[k]) * gap[k] / (gap[k] - gap[k + 1]))


# %%
# Sums over runs are wanted near p_c only, as the wrapping alone is asked for: runs then
# end when the lattice wraps along all axes.

figure, panels = plt.subplots(2, 4, figsize=(11, 5), layout="constrained")
for axes, (lattice, lengths) in zip(panels.flat, sizes.items(), strict=False):
    ndim = 2 if lengths[0] > 10 else 3
    for kind, colour in (("site", "C0"), ("bond", "C1")):
        p_c = Percolation.critical_p(kind, ndim, lattice)
        p = p_c * np.linspace(0.9, 1.1, 41)
        curves = []
        for length, style in zip(lengths, ("--", "-"), strict=True):
            model = Percolation((length,) * ndim, kind, lattice=lattice, seed=length)
            sweep = model.sweep(1500, between=(p_c, p_c))
            curves.append(sweep.wrapping(p, "any").value)
            axes.plot(p, curves[-1], style, color=colour, linewidth=0.8)
        axes.axvline(p_c, color="gray", linewidth=0.8)
        found = (
            sweep.threshold("balance").value if ndim == 2 else crossing_of(curves, p)
        )
        print(f"{lattice:10} {kind}s {found:.4f}, known {p_c:.4f}")
    axes.set_title(lattice)
panels[-1, -1].axis("off")
panels[-1, -1].text(0, 0.6, "blue: sites, orange: bonds\ndashed: the smaller size")
for axes in panels[1, :3]:
    axes.set_xlabel("p")
for axes in panels[:, 0]:
    axes.set_ylabel("probability to wrap")
plt.show()
