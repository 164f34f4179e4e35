"""
Names with slips of the pen: which ones are the same?
=====================================================

A list of names has each in several spellings. Two that share most of their groups of
three letters are a pair, with their similarity for a weight, and
`conncomp.cluster_pairs` makes clusters of all pairs, a row for each name. It does so
for several thresholds at once: a low one throws people together, a high one tears them
apart. Of the clusters that `conncomp.cluster_quality` shows, those of a low density are
worth a look. Where records have more than a name, Splink learns what the weights should
be; the page about pairs has that recipe.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array

import conncomp

people = [
    "Ada Lovelace", "Augustin Cauchy", "Bernhard Riemann", "Carl Friedrich Gauss",
    "David Hilbert", "Emmy Noether", "Évariste Galois", "Georg Cantor", "Hypatia",
    "Leonhard Euler", "Maryam Mirzakhani", "Niels Henrik Abel", "Pierre de Fermat",
    "Sofia Kovalevskaya", "Sophie Germain", "Srinivasa Ramanujan",
]  # fmt: skip

random = np.random.default_rng(3)


def misspelt(name):
    """Return a name in which a letter is missing, doubled or another one."""
    at = random.integers(1, len(name))
    letter = random.choice([name[at] * 2, "", random.choice(list("aeinorst"))])
    return name[:at] + letter + name[at + 1 :]


names = sorted({misspelt(name) for name in people for _ in range(6)})

# %%
# Each name is a row of a sparse matrix whose columns are groups of three letters. The
# product of the matrix with its transpose has the cosines of rows that share a group.

groups = [{f" {name} "[k : k + 3] for k in range(len(name))} for name in names]
columns = {group: k for k, group in enumerate(sorted(set().union(*groups)))}
rows = np.repeat(np.arange(len(names)), [len(group) for group in groups])
entries = [columns[group] for one in groups for group in sorted(one)]
lengths = np.sqrt([len(group) for group in groups])
matrix = coo_array((1 / lengths[rows], (rows, entries))).tocsr()
similar = (matrix @ matrix.T).tocoo()
upper = similar.row < similar.col

left, right = (np.array(names)[side[upper]] for side in (similar.row, similar.col))
table = conncomp.cluster_pairs(
    left, right, weights=similar.data[upper], threshold=[0.2, 0.4, 0.6], nodes=names
)
for threshold in ("0.2", "0.4", "0.6"):
    cluster = table[f"cluster_{threshold}"]
    print(f"{threshold}: {cluster.max() + 1} clusters of {len(people)} people")

quality = conncomp.cluster_quality(
    table,
    left,
    right,
    weights=similar.data[upper],
    threshold=0.2,
    cluster="cluster_0.2",
)
loosest = quality["cluster"][np.argmin(quality["density"])]
members = table["node"][table["cluster_0.2"] == loosest]
print("the least dense cluster has", *members, sep="\n    ")

# %%
# The similarity of all names, in the order of the clusters at the threshold 0.4, which
# the frames show.

order = np.argsort(table["cluster_0.4"], kind="stable")
sizes = np.bincount(table["cluster_0.4"])
first = np.cumsum(sizes) - sizes
figure, axes = plt.subplots(figsize=(7, 6.4), layout="constrained")
picture = axes.imshow(similar.toarray()[np.ix_(order, order)], cmap="Blues", vmax=1)
for begin, size in zip(first, sizes, strict=True):
    axes.add_patch(
        plt.Rectangle((begin - 0.5,) * 2, size, size, fill=False, color="#d1495b")
    )
axes.set_xticks([])
axes.set_yticks(first, np.array(names)[order[first]], fontsize=8)
figure.colorbar(picture, label="similarity", shrink=0.6)
plt.show()
