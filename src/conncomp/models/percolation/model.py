"""Percolation: sites or bonds of a lattice that are there by chance, and the clusters they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INT32_MAX, as_bool, as_number, check_choice, check_range, shown
from conncomp._core import native
from conncomp.grid import label, label_bonds
from conncomp.grid._arguments import check_periodic
from conncomp.kernels.lattice import MOST_AXES, Lattice, unpack_planes
from conncomp.kernels.updates import Drawn
from conncomp.models._probabilities import as_fixed_point
from conncomp.models.base import Simulated
from conncomp.models.lattices import UnitCell
from conncomp.models.percolation import lattices
from conncomp.models.percolation.measurements import (
    RECORD_LENGTH,
    PercolationMeasurements,
    PercolationSummary,
    are_labelled,
    label_by_search,
    who_is_linked,
)
from conncomp.models.percolation.sweep import (
    SWEEP_FIELDS,
    PercolationSweep,
    check_interval,
    numbers_between,
)
from conncomp.models.protocol import MOST_UPDATES, ModelUpdate

KINDS = ("site", "bond")

MOST_ADDED = (1 << 32) - 1  # sites or bonds of a sweep: their numbers fit 32 bits
SERIES_BYTES, MOST_BATCHES = 1 << 30, 32  # of a sweep's series by default


class PercolationEngine:
    """Configurations as words, and sweeps: ``kernels/cpu/models/percolation/percolation.h``."""

    xp: Any = np

    def __init__(self, drawn: Drawn, cells: Lattice, geometry: lattices.Geometry) -> None:
        self._cells, self._sites = cells, cells.sites * geometry.sites_of_cell
        self._drawn, self._planes = drawn, geometry.planes
        before = (0,) * (MOST_AXES - cells.ndim)
        kinds = [(site, [((*before, *n), to) for n, to in steps]) for site, steps in geometry.kinds]
        axes, of_cell = (*cells.closed_lengths, cells.ndim), geometry.sites_of_cell
        self._native = native.PercolationLattice(*axes, geometry.of_bonds, of_cell, kinds)

    def check_measured(self) -> None:
        """Raise ValueError if the lattice is too large for what is measured of clusters."""
        if self._sites > INT32_MAX:
            raise ValueError(
                f"shape={self._cells.shape} has {self._sites} sites; clusters of at most "
                f"{INT32_MAX} are measured on a CPU"
            )

    def draw(self, number: int, probability: int | None) -> NDArray[np.uint64]:
        """Return configurations as words, (replicas, planes, rows, columns); None is certain."""
        words = np.empty(*self._cells.words_of(self._drawn.replicas, self._planes))
        certain = probability is None
        self._native.draw(*self._drawn, number, probability or 0, certain, words.reshape(-1))
        return words

    def measure(self, number: int, probability: int | None, record: NDArray[np.int64]) -> None:
        """Draw configurations, and fill a record, (replicas, fields), of zeros."""
        self.measure_words(self.draw(number, probability), record)

    def measure_words(self, words: NDArray[np.uint64], record: NDArray[np.int64]) -> None:
        """Fill a record of given configurations."""
        self._native.measure(self._drawn.replicas, words.reshape(-1), record.reshape(-1))

    def sweep(self, first: int, numbers: range, series: Any, wraps: Any) -> None:
        """Add to series, (batches, numbers, fields), and fill wraps, (runs, ndim + 1)."""
        sums, begin, end = series.reshape(-1), numbers.start, numbers.stop
        runs, batches, seed = len(wraps), len(series), self._drawn.seed
        self._native.sweep(seed, first, runs, batches, begin, end, sums, wraps.reshape(-1))


class Percolation(Simulated[PercolationMeasurements]):
    """Percolation on a lattice: each site or bond is there with p.

    Configurations are numbered, and drawn from the seed and their number: the present one is that
    of `updates`, and an update goes to the next one. Any p is compared with the same random
    numbers, so what is there at some p is there at all larger ones.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of 1 to 4 axes, in cells; short ones as of `Ising`. Of lattices other than
        "square" one length is that of all axes.
    kind : {"site", "bond"}, optional
        Whether sites are there, and neighbours among them connected; or bonds, between sites that
        all are.
    p : float or "critical", optional
        The probability of configurations, 0 to 1; "critical" is `critical_p`.
    lattice : str or UnitCell, optional
        "square", hypercubic, of any number of axes; "triangular", as an array in which sites (1, 1)
        apart are neighbours, too; "honeycomb", "kagome", "bcc", "fcc" or "diamond", whose cells
        have 2, 3, 1, 1 and 2 sites; or any cell.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    replicas : int, optional
        How many independent lattices there are side by side; None, the default, is one, without an
        axis for replicas in what is returned.
    first_replica, seed
        As of `Ising`, with its errors. Configurations and runs do not depend on threads or device.
    device : {None, "cpu", "cuda"}, optional
        Where configurations are; None is the CPU. A GPU has no sweeps, and of lattices other than
        "square" only the sites of those whose cells have one. It is at its fastest where hypercubic
        lattices have up to three axes of 2 sites or more, 8 along the last one.

    Attributes
    ----------
    p : float
    updates : int
        The number of the present configuration.

    References
    ----------
    M. E. J. Newman, R. M. Ziff, Phys. Rev. Lett. 85, 4104 (2000).

    J. Machta et al., Phys. Rev. E 54, 1332 (1996): wrapping by displacement from the root.

    Examples
    --------
    >>> from conncomp.models import Percolation
    >>> model = Percolation((64, 64), p=0.55, seed=1)
    >>> labels, number = model.labels(return_num=True)
    >>> bool(number == model.measure().clusters)
    True
    >>> threshold = model.sweep(200).threshold()
    >>> bool(abs(threshold.value - 0.592746) < 4 * threshold.error + 1e-4)
    True

    Sites of the honeycomb lattice, of which a cell has two:

    >>> honeycomb = Percolation(32, lattice="honeycomb", seed=1)
    >>> honeycomb.occupied().shape
    (32, 32, 2)
    >>> threshold = honeycomb.sweep(400).threshold("balance")
    >>> bool(abs(threshold.value - 0.69704) < 4 * threshold.error + 1e-4)
    True
    """

    _name, _record_length = "Percolation", RECORD_LENGTH

    def __init__(
        self,
        shape: int | Sequence[int],
        kind: str = "site",
        *,
        p: float | str = "critical",
        lattice: str | UnitCell = "square",
        periodic: bool | Sequence[bool] = True,
        replicas: int | None = None,
        first_replica: int = 0,
        seed: int = 0,
        device: str | None = None,
    ) -> None:
        check_choice("kind", kind, KINDS)
        self._geometry = lattices.Geometry(shape, lattice, kind == "bond")
        closed = check_periodic(periodic, len(self._geometry.shape), "the lattice")
        self.kind, self.geometry = kind, self._geometry.name
        self._cells, self.lattice = self._geometry.cells(closed), self._geometry.sites(closed)
        super().__init__(replicas, first_replica, seed, device)
        self.p = self._check_p(p)
        self._prepare()

    @staticmethod
    def critical_p(kind: str = "site", ndim: int | None = None, lattice: str = "square") -> float:
        """Return the percolation threshold of the infinite lattice; ValueError if it is not known.

        Parameters
        ----------
        kind : {"site", "bond"}, optional
        ndim : int, optional
            1 to 4; by default 2 of "square".
        lattice : str, optional
            One that has a name.

        Notes
        -----
        It is 1/2 of square bonds [1]_ and triangular sites [2]_, and given by 2 sin(pi / 18) of
        bonds of triangular and honeycomb lattices and sites of kagome [6]_. For square sites see
        [3]_, for honeycomb [7]_, for bonds of kagome [8]_, for three axes [4]_, for four [5]_.

        References
        ----------
        .. [1] H. Kesten, Commun. Math. Phys. 74, 41 (1980).
        .. [2] H. Kesten, "Percolation Theory for Mathematicians", Birkhäuser (1982).
        .. [3] J. L. Jacobsen, J. Phys. A 48, 454003 (2015).
        .. [4] X. Xu et al., Front. Phys. 9, 113 (2014).
        .. [5] S. Mertens, C. Moore, Phys. Rev. E 98, 022120 (2018).
        .. [6] M. F. Sykes, J. W. Essam, J. Math. Phys. 5, 1117 (1964).
        .. [7] J. L. Jacobsen, J. Phys. A 47, 135001 (2014).
        .. [8] C. R. Scullard, J. L. Jacobsen, Phys. Rev. Research 2, 012050 (2020).

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> Percolation.critical_p("bond")
        0.5
        """
        axes = None if ndim is None else check_range("ndim", ndim, 1, MOST_AXES)
        check_choice("kind", kind, KINDS)
        check_choice("lattice", lattice, lattices.LATTICES)
        return lattices.critical_p(kind, axes, lattice)

    def occupied(self, p: float | None = None) -> Any:
        """Return which sites are there in the present configuration, of a model of sites.

        A `p` takes the place of the model's own.

        Returns
        -------
        array of bool, shape ``(*replicas, *shape)``
            With an axis more, the last one, where a cell has several sites.
        """
        if self.kind != "site":
            raise ValueError("occupied() is of kind='site'; bonds() has which bonds are there")
        xp, there = self._engine.xp, self._there(p)
        return self._of_replicas(there[0] if len(there) == 1 else xp.moveaxis(there, 0, -1))

    def bonds(self, p: float | None = None) -> Any:
        """Return which bonds are there in the present configuration, of a model of bonds.

        A `p` takes the place of the model's own.

        Returns
        -------
        array of bool, shape ``(bonds of a cell, *replicas, *shape)``
            Of "square" as `conncomp.label_bonds` takes them; else in the order of the bonds of
            a cell.
        """
        if self.kind != "bond":
            raise ValueError("bonds() is of kind='bond'; occupied() has which sites are there")
        bonds = self._there(p)
        return bonds[:, 0] if self._single else bonds

    def labels(
        self, p: float | None = None, *, numbering: str = "consecutive", return_num: bool = False
    ) -> Any:
        """Label the clusters of the present configuration.

        Parameters
        ----------
        p : float, optional
            In place of the model's own.
        numbering, return_num
            As of `conncomp.label`.

        Returns
        -------
        array of int32 or int64, shape ``(*replicas, *shape)``
            With an axis more where a cell has several sites. Of sites that are not there 0, or -1
            if numbering is "roots".
        """
        if are_labelled(self._geometry):
            options = who_is_linked(self._cells, self._geometry)
            options |= {"batch_axes": self._batch_axes, "numbering": numbering}
            options |= {"return_num": return_num}
            if self.kind == "bond":
                return label_bonds(self.bonds(p), **options)
            return label(self.occupied(p), **options)
        check_choice("numbering", numbering, ("consecutive", "roots"))
        xp, there = self._engine.xp, self._there(p)
        labels, counts = label_by_search(xp, self._cells, self._geometry, there, numbering)
        shaped, num = self._of_replicas(labels), int(counts[0]) if self._single else counts
        return (shaped, num) if as_bool("return_num", return_num) else shaped

    def measure(self, p: float | None = None) -> PercolationMeasurements:
        """Measure the present configuration; a `p` takes the place of the model's own.

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> measured = Percolation((8, 8), seed=1).measure(1.0)
        >>> measured.wraps.tolist(), int(measured.largest_cluster), int(measured.rank)
        ([True, True], 64, 2)
        """
        self._engine.check_measured()
        return self._read_present(p=p)

    def updater(self) -> ModelUpdate[PercolationMeasurements]:
        """Return a `ModelUpdate`; lattices too large to be measured raise ValueError."""
        self._engine.check_measured()
        return super().updater()

    @staticmethod
    def summaries(
        series: PercolationMeasurements, parameters: Mapping[str, Any]
    ) -> list[PercolationSummary]:
        """Return what `PercolationMeasurements.summarise` does, in a list."""
        return [series.summarise()]

    def sweep(
        self,
        runs: int,
        *,
        first_run: int = 0,
        batches: int | None = None,
        between: tuple[float, float] = (0, 1),
    ) -> PercolationSweep:
        """Add sites or bonds one by one, in random order, and measure for each number of them.

        This is the algorithm of Newman and Ziff, on the CPU, of lattices of fewer than 2**31 sites
        and 2**32 bonds. Runs are numbered; each is a function of its number, the seed and the
        lattice alone, and not of p or replicas.

        Parameters
        ----------
        runs : int
            How many times.
        first_run : int, optional
            The number of the first run.
        batches : int, optional
            How many sums to keep, for errors: each has a part of the runs, and batches run in
            parallel. By default up to 32 which take 1 GiB at most, but two if there are two runs. A
            batch takes 32 bytes for each number of sites or bonds with series.
        between : tuple of float, optional
            From which p to which series are kept. Large lattices need less memory so. A run ends
            when it has all that is asked for.

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> sweep = Percolation((32, 32), seed=1).sweep(100)
        >>> sweep.clusters[[0, 1, -1]].tolist()
        [0.0, 1.0, 1.0]
        """
        count = check_range("runs", runs, 1, MOST_UPDATES)
        first = check_range("first_run", first_run, 0, MOST_UPDATES + 1 - count)
        self._engine.check_measured()
        elements = self.lattice.bonds if self.kind == "bond" else self.lattice.sites
        if self._geometry.planes * self._cells.sites > MOST_ADDED and self.kind == "bond":
            raise ValueError(
                f"shape={self.lattice.shape} has too many bonds; sweeps take {MOST_ADDED} at most"
            )
        numbers = numbers_between(elements, *check_interval("between", between))
        most = max(2, min(MOST_BATCHES, SERIES_BYTES // (8 * SWEEP_FIELDS * len(numbers))))
        parts = min(count, most) if batches is None else check_range("batches", batches, 1, count)
        series = np.zeros((parts, len(numbers), SWEEP_FIELDS))
        wraps = np.empty((count, self.lattice.ndim + 1), np.int64)
        self._engine.sweep(first, numbers, series, wraps)
        return PercolationSweep(series, numbers, wraps, self.lattice, self.kind, self.geometry)

    def _described(self) -> dict[str, Any]:
        shape, periodic = list(self._cells.shape), list(self._cells.periodic)
        own = {"kind": self.kind, "lattice": self.geometry, "p": self.p}
        return {"shape": shape, **own, "periodic": periodic}

    def _prepare(self) -> None:
        make = self._state.engine_of(PercolationEngine, "models.percolation.cuda:PercolationEngine")
        self._state._engine = self._state.new_engine(make, self._cells, self._geometry)

    def _step(self, numbers: range) -> None:
        self.updates += len(numbers)

    def _advance(self, number: int) -> None:
        self.updates = number

    def _measure(self, record: Any, p: float | None = None) -> None:
        self._engine.measure(self.updates, self._fixed_point(p), record)

    def _read(self, records: NDArray[np.int64]) -> PercolationMeasurements:
        return PercolationMeasurements(records, self.lattice, self.kind, self.geometry)

    def _there(self, p: float | None) -> Any:
        """Return the present configuration: bool, (kinds of elements, replicas, *shape)."""
        words = self._engine.draw(self.updates, self._fixed_point(p))
        return unpack_planes(self._engine.xp, self._cells, words)

    def _fixed_point(self, p: float | None) -> int | None:
        """Return a probability as 64 bits, or None if it is 1."""
        probability = self.p if p is None else self._check_p(p)
        return None if probability == 1 else as_fixed_point(probability)

    def _check_p(self, p: float | str) -> float:
        if isinstance(p, str):
            check_choice("p", p, ("critical",))
            return lattices.critical_p(self.kind, self.lattice.ndim, self.geometry)
        value = as_number("p", p)
        if not 0 <= value <= 1:
            raise ValueError(f"p={shown(p)} must be from 0 to 1")
        return value
