"""How probably clusters of Fortuin and Kasteleyn wrap on the critical square torus, exactly.

In the limit of many sites the boundaries of clusters are loops of a Coulomb gas. Z(m, m') has
those that wind m and m' times along the axes in pairs; of a pair in each of which a loop that
closes around the torus has the weight 2 cos(pi e / 2), the sum is Z[e]. It is sqrt(q) for clusters
as they are, and 0 where no loop winds: then there is a cross or its dual, which are as frequent but
for the weight q of a cross.

P. di Francesco, H. Saleur, J. B. Zuber, J. Stat. Phys. 49, 57 (1987); H. T. Pinson, J. Stat. Phys.
75, 1167 (1994); L.-P. Arguin, J. Stat. Phys. 109, 301 (2002).
"""

from math import acos, cos, exp, gcd, pi, sqrt

REACH = 12  # terms beyond are below 1e-90


def wrapping_at_criticality(q):
    """Return the probabilities of "axis", "any", "all" and "cross", for q from 1 to 4."""
    charge = 2 / pi * acos(sqrt(q) / 2)
    stiffness = 1 - charge / 2
    windings = [(m, n) for m in range(-REACH, REACH + 1) for n in range(-REACH, REACH + 1)]
    boltzmann = {(m, n): exp(-pi * stiffness * (m * m + n * n)) for m, n in windings}

    def total(electric):
        return sum(weight * cos(pi * electric * gcd(*w)) for w, weight in boltzmann.items())

    def winding(chosen):
        return sum(
            weight * (cos(pi * charge * gcd(*w)) - cos(pi * gcd(*w)))
            for w, weight in boltzmann.items()
            if any(w) and chosen(*w)
        )

    without = total(1) / 2  # a cross, or what is dual to one, by weights of loops
    everything = total(charge) + (q - 1) * without
    cross = q * without
    return {
        "axis": (cross + winding(lambda m, n: m != 0)) / everything,
        "any": 1 - without / everything,
        "all": (cross + winding(lambda m, n: m != 0 != n)) / everything,
        "cross": cross / everything,
    }
