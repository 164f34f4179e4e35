"""The Potts model: its parameters, its spins and its critical points."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from conncomp._arguments import as_integer, check_choice, check_range, shown
from conncomp.graph import Graph
from conncomp.grid.wrapping import ComponentWrapping, cluster_wrapping
from conncomp.kernels.edges import STATES, TWO_STATES
from conncomp.kernels.lattice import unpack
from conncomp.models._arguments import check_start, check_states
from conncomp.models._probabilities import DECIMAL
from conncomp.models.lattices import CUBIC_BETA, UnitCell
from conncomp.models.places import HYPERCUBIC, in_words
from conncomp.models.protocol import Floats, ModelUpdate
from conncomp.models.spins.measurements import COUNTS, Measurements
from conncomp.models.spins.model import WordModel
from conncomp.models.spins.state import Layout, engines_on
from conncomp.models.spins.updates import ON_EDGES, UPDATES

MOST_STATES = 255
CRITICAL = "triangular", "honeycomb"  # besides hypercubic ones, of critical points that are known
OF_WORDS = "hypercubic lattices with one coupling and no field"


class Potts(WordModel):
    """The q-state Potts model on any lattice, simulated.

    The energy is that of Weigel's equation 1, ``H = -J sum over bonds of delta(s_i, s_j)``. For
    q = 2 this is the Ising model: its ``-J sum of s_i s_j`` for spins of ±1 is ``2 H + J * bonds``,
    so `beta` here is twice that of the Ising convention, and ln(1 + sqrt(2)) = 0.8814 is critical
    on the square lattice. A field h adds ``-h sum over sites of delta(s_i, 0)``.

    Parameters
    ----------
    shape : int, sequence of int, or Graph
        The lengths of 1 to 4 axes, in cells of the lattice; or a graph. See `Ising`.
    q : int, optional
        The number of states, 2 to 255.
    beta : float, "critical", or sequence of float
        The inverse temperature 1/kT, one for all or for each replica; "critical" is
        `critical_beta`.
    temperature : float or sequence of float, optional
        kT, instead of `beta`.
    lattice : str or UnitCell, optional
        As of `Ising`; by default the hypercubic one of as many axes.
    coupling : float or array_like of float, optional
        J, as of `Ising`. Where one is below 0, clusters are those of two states that an update
        draws, which they exchange [1]_.
    field : float or array_like of float, optional
        h of state 0, as of `Ising`. A site in a field has a bond to a ghost of state 0, and
        clusters with such bonds stay.
    start : {"hot", "cold"} or array_like of int, optional
        The first spins: random ones, all of state 0, or these, of the lattice's shape or with an
        axis for the replicas before. An array on a GPU puts the model there.
    periodic, replicas, seed, first_replica, device
        As of `Ising`, with its errors.
    labelling : {"auto", "serial", "tiles", "wave-front"}, optional
        How clusters are found, on hypercubic lattices with one coupling and no field: "serial" is
        breadth-first search that flips as it grows (CPU), "tiles" Weigel's algorithms (GPU, two or
        three axes), and "wave-front" his few-cluster update (GPU), in which a block of threads
        grows each cluster of a chosen site: it has `few_cluster`, `wolff` and `metropolis` only,
        and measures no clusters. Spins are the same, and take longer.
    **options
        Of "tiles": ``local``, ``merge``, ``tile``, ``sites``, ``trees`` and ``paths``, as of
        `conncomp.label`; and ``activation=1``, 4 or ``"column"``, the sites whose bonds a thread
        draws, as in the paper; by default it draws those of 64.

    Attributes
    ----------
    updates : int
        How many updates were made.

    References
    ----------
    M. Weigel, "Connected-component identification and cluster update on graphics processing units",
    Phys. Rev. E 84, 036709 (2011).

    R. H. Swendsen, J.-S. Wang, Phys. Rev. Lett. 58, 86 (1987).

    U. Wolff, Phys. Rev. Lett. 62, 361 (1989).

    .. [1] J.-S. Wang, R. H. Swendsen, R. Kotecky, Phys. Rev. Lett. 63, 109 (1989).

    Examples
    --------
    >>> from conncomp.models import Potts
    >>> model = Potts((64, 64), q=2, beta="critical", seed=1)
    >>> series = model.swendsen_wang(200)
    >>> bool(-1.9 < series.energy[100:].mean() / 64**2 < -1.5)
    True
    >>> model.updates
    200
    """

    _name, _gain, _updates = "Potts", 1.0, UPDATES
    _series_class, _described_spins = Measurements, "the spins of shape={0.shape} with q={1}"

    def __init__(
        self,
        shape: int | Sequence[int] | Graph,
        q: int = 2,
        beta: float | str | Sequence[float] | None = "critical",
        *,
        temperature: ArrayLike | None = None,
        lattice: str | UnitCell | None = None,
        coupling: ArrayLike = 1.0,
        field: ArrayLike | None = None,
        periodic: bool | str | Sequence[bool | str] = True,
        replicas: int | None = None,
        seed: int = 0,
        start: str | ArrayLike = "hot",
        first_replica: int = 0,
        device: str | None = None,
        labelling: str = "auto",
        **options: Any,
    ) -> None:
        self._q = check_range("q", q, 2, MOST_STATES)
        self.labelling, self.options = labelling, dict(options)
        where: Any = {"lattice": lattice, "coupling": coupling, "field": field}
        where |= {"periodic": periodic, "temperature": temperature, "beta": beta}
        drawn: Any = {"replicas": replicas, "seed": seed, "first_replica": first_replica}
        super().__init__(shape, **where, **drawn, start=start, device=device)
        self._field = field  # `parameters` has it as it was given

    def _lay_out(self, fields: Floats | None) -> Layout:
        labelling, states, place = self.labelling, self._q, self._place
        length = COUNTS + states
        check_choice("labelling", labelling, ("auto", "serial", "tiles", "wave-front"))
        words = in_words(place, states) if fields is None else None
        if words is not None and (coupling := float(self.coupling)) > 0:
            make = engines_on(self.device).words
            engine = partial(make, lattice=words, labelling=labelling, options=self.options)
            return Layout(words, words, STATES, length, coupling, engine=engine)
        edges = place.bonds(fields, states)
        if labelling != "auto" or self.options:
            raise ValueError(f"labelling and options are for {OF_WORDS}; leave them out")
        kind = TWO_STATES if edges.is_mixed else STATES
        return Layout(edges, edges.of_sites, kind, length, edges.scale, edges)

    def _betas_of(self, temperature: Any, beta: Any) -> Floats:
        if temperature is None and not isinstance(beta, str):
            return self._check_betas("beta", beta)
        is_default = isinstance(beta, str) and beta == "critical"
        return super()._betas_of(temperature, None if is_default else beta)

    @staticmethod
    def critical_beta(q: int, ndim: int = 2, *, lattice: str | None = None) -> float:
        """Return the inverse critical temperature of the infinite lattice, for a coupling of 1.

        Where no value is known, a ValueError says so.

        Parameters
        ----------
        q : int
            The number of states.
        ndim : int, optional
            2, the square lattice, where it is ln(1 + sqrt(q)) [1]_; or 3 with q = 2, the cubic one
            [2]_.
        lattice : str, optional
            "triangular" or "honeycomb" [3]_ instead: with v = exp(beta) - 1, v^3 + 3 v^2 = q and
            v^3 - 3 q v = q^2.

        References
        ----------
        .. [1] R. B. Potts, Proc. Camb. Phil. Soc. 48, 106 (1952).
        .. [2] A. M. Ferrenberg, J. Xu, D. P. Landau, Phys. Rev. E 97, 043301 (2018).
        .. [3] R. J. Baxter, H. N. V. Temperley, S. E. Ashley, Proc. R. Soc. A 358, 535 (1978).

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> round(Potts.critical_beta(2), 6)
        0.881374
        """
        states, axes = check_range("q", q, 2, MOST_STATES), as_integer("ndim", ndim)
        if lattice is not None:
            check_choice("lattice", lattice, CRITICAL)
            cubic = (3, 0, -states) if lattice == "triangular" else (0, -3 * states, -(states**2))
            return float(DECIMAL.ln(DECIMAL.add(1, _positive_root(cubic))))
        if axes == 2:
            return float(DECIMAL.ln(DECIMAL.add(1, DECIMAL.sqrt(states))))
        if axes == 3 and states == 2:
            return 2 * CUBIC_BETA  # of the Ising convention
        raise ValueError(
            f"no critical temperature is known for q={states} in {shown(axes)} dimensions; give "
            "beta as a number"
        )

    @property
    def spins(self) -> Any:
        """The states, 0 to q - 1: a copy, uint8, of shape ``(*replicas, *shape)``."""
        states = unpack(self._engine.xp, self._layout.words, self._state.now)
        return self._of_replicas(states.reshape(self.replicas, *self._place.shape))

    def wrapping(self) -> ComponentWrapping:
        """Tell which of the clusters that the next update draws close on themselves, and how.

        It is a `ComponentWrapping` of the clusters of `labels`, of replicas as of a batch.

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> Potts((8, 8), beta=50.0, start="cold", seed=1).wrapping().rank
        array([2])
        """
        if self._layout.edges is not None:
            raise ValueError(f"wrapping is for {OF_WORDS}")
        closed, batch_axes = self.lattice.periodic, self._batch_axes
        return cluster_wrapping(self.bonds(), periodic=closed, batch_axes=batch_axes)

    def few_cluster(
        self,
        updates: int = 1,
        *,
        tile: int | Sequence[int],
        p_flip: float,
        measure: bool = True,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> Measurements | None:
        """Flip some of the clusters of one chosen site in each tile: Weigel 2011, section III.

        Parameters
        ----------
        updates : int, optional
        tile : int or sequence of int
            The lengths of a tile, for all axes or each, which divide those of the lattice.
        p_flip : float
            The probability that a cluster flips, above 0 and below 1, however many chosen sites it
            has; the new state is any but the old one.
        measure, clusters, wrapping, observe, returns
            As of `swendsen_wang`.
        """
        kind = "few-cluster", clusters, wrapping, observe, tile, p_flip
        return self._repeat("updates", updates, measure, *kind)

    def updater(
        self,
        *,
        update: str = "swendsen-wang",
        tile: int | Sequence[int] | None = None,
        p_flip: float | None = None,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> ModelUpdate[Measurements]:
        """Return a kind of updates, a `ModelUpdate`: `conncomp.models.simulate` makes many.

        Parameters
        ----------
        update : {"swendsen-wang", "wolff", "few-cluster", "metropolis", "heat-bath"}, optional
            "few-cluster" on hypercubic lattices with one coupling and no field.
        tile, p_flip : optional
            Of "few-cluster", as `few_cluster` takes them.
        clusters, wrapping, observe
            As of `Ising.updater`; `observe` is "structure".

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> Potts((8, 8)).updater(update="few-cluster", tile=4, p_flip=0.5).options["tile"]
        [4, 4]
        """
        check_choice("update", update, UPDATES)
        return self._make_update(update, clusters, wrapping, observe, tile, p_flip)

    def _described(self) -> dict[str, Any]:
        return {**super()._described(), "q": self.lattice.states}

    def _known_beta(self, lattice: str, coupling: float) -> float | None:
        if lattice in HYPERCUBIC:
            return self.critical_beta(self._q, 1 + HYPERCUBIC.index(lattice)) / coupling
        if lattice in CRITICAL:
            return self.critical_beta(self._q, lattice=lattice) / coupling
        return None

    def _check_measures(self, update: str, clusters: bool, wrapping: bool) -> None:
        edges = self._layout.edges
        if edges is not None and update not in ON_EDGES:
            raise ValueError(f"update={update!r} is for {OF_WORDS}")
        super()._check_measures(update, clusters, wrapping)
        if clusters and edges is not None and edges.is_mixed:
            raise ValueError(
                "clusters=True is of clusters of equal states; leave it out with couplings below 0"
            )

    def _given_spins(self, start: ArrayLike) -> Any:
        states = self.lattice.states
        given = check_start(start, "biu", "of integers", self.replicas, self._place.shape)
        return check_states(given, "states", states, f"from 0 to q - 1 = {states - 1}")


def _positive_root(coefficients: tuple[int, int, int]) -> Decimal:
    """Return the positive root of v^3 + a v^2 + b v + c by Newton's method, from above."""
    a, b, c = map(Decimal, coefficients)
    with localcontext(DECIMAL):
        v = 1 + max(abs(a), abs(b), abs(c))
        for _ in range(200):
            v -= (((v + a) * v + b) * v + c) / ((3 * v + 2 * a) * v + b)
        return v
