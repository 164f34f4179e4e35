"""
Phase separation: count the drops of a mixture
==============================================

Oil and water that were mixed part again: the equation of Cahn and Hilliard tells how.
`conncomp.models.CahnHilliard` steps it on a torus. With a third of one phase that phase
forms drops, and large drops grow at the expense of small ones, which dissolve.
`conncomp.models.simulate` labels the field while it runs and counts the drops.
Lifshitz, Slyozov and Wagner have radii that grow as the cube root of the time, so that
in the end the number of drops falls as its power of -2/3; the dense drops of these
early times take longer.
"""

import matplotlib.pyplot as plt

import conncomp
from conncomp.models import CahnHilliard, simulate

pictures = {}


def keep_pictures(model: CahnHilliard) -> None:
    """Keep the components of the first phase, at three times."""
    if model.updates in (3_000, 15_000, 60_000):
        pictures[model.time] = conncomp.colour_components(model.labels())


mixture = CahnHilliard((160, 160), mean=-0.35, seed=4)
run = simulate(mixture, 60_001, measure_every=1_000, watch=keep_pictures)
time = run.updates * mixture.dt
drops = run.series.components[:, 0]  # of the phase above 0; [:, 1] is that around them

# %%
# A drop at an edge goes on at the opposite one: it has one colour, and counts once.

figure, axes = plt.subplots(2, 2, figsize=(7.4, 7), layout="constrained")
for panel, (moment, picture) in zip(axes.flat, pictures.items(), strict=False):
    panel.imshow(picture, interpolation="none")
    panel.set_title(f"t = {moment:.0f}")
    panel.set_axis_off()
axes[1, 1].loglog(time[3:], drops[3:], ".", color="#30638e")
late = time[20:]
axes[1, 1].loglog(late, drops[-1] * (late / late[-1]) ** (-2 / 3), color="0.7")
axes[1, 1].set(xlabel="t", title="number of drops, and $t^{-2/3}$")
plt.show()
