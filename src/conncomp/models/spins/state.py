"""The present spins of a model and the engine that updates them, for updates and observables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import placed
from conncomp.kernels.edges import UNIT_BITS, EdgeBonds, SpinKind
from conncomp.kernels.lattice import Lattice, unpack_planes
from conncomp.kernels.updates import Drawn, SpinEngine
from conncomp.models._probabilities import (
    acceptances,
    bond_probabilities,
    logarithm_table,
    strengths_of,
    temperature_factors,
)
from conncomp.models.base import State
from conncomp.models.observables.series import SpinLattice
from conncomp.models.places import Place, classes_of
from conncomp.models.protocol import Floats
from conncomp.models.spins import cpu


def engines_on(device: str) -> cpu.Engines:
    """Return the classes for a device; only a GPU's need CuPy."""
    if device == "cpu":
        return cpu.CPU
    from conncomp.models.spins.cuda import GPU

    return GPU


class Layout(NamedTuple):
    """Where spins of a `kind` lie, and what makes their engine; a record has `fields` integers.

    Measurements read `lattice`. `words` are rows of bits, which hold spins or, between vectors, the
    bonds that an engine draws. `edges` are bonds that are drawn one by one; without them, `engine`
    makes the engine. `strongest` is the coupling of all bonds, or bounds those of `edges`.
    """

    lattice: SpinLattice
    words: Lattice
    kind: SpinKind
    fields: int
    strongest: float
    edges: EdgeBonds | None = None
    engine: Callable[..., SpinEngine] | None = None

    @property
    def rows(self) -> Lattice:
        """The rows that hold the spins; vectors have a single one."""
        words = self.words
        return Lattice((words.sites,), (False,), words.states) if self.kind.components else words


class SpinState(State):
    """The spins of all replicas of the model `name`, and the engine that updates them.

    A satisfied bond of the strongest coupling lowers the energy by `gain`.
    """

    engine: SpinEngine

    def __init__(
        self, device: str, drawn: Drawn, name: str, place: Place, layout: Layout, gain: float
    ) -> None:
        super().__init__(device, drawn)
        self.name, self.place, self.layout, self.gain = name, place, layout, gain
        self.observables: dict[tuple[str, bool], Any] = {}  # by name, with clusters or not
        self._engine_of_edges: SpinEngine | None = None  # besides that of words
        self._strengths: tuple[Floats | None, Any] = None, None  # of these betas
        self._local: dict[str, tuple[Floats, tuple[SpinEngine, Any]]] = {}  # likewise, by the rule
        if layout.engine is not None:
            self._engine = self.new_engine(layout.engine)
        elif layout.edges is not None:
            self._engine = self._edge_engine(layout.edges)

    def strengths(self) -> Any:
        """Return what the engine draws bonds by in each replica, made once for the same betas."""
        betas, layout = self.betas, self.layout
        known, strengths = self._strengths
        if known is not betas:
            if layout.edges is not None:
                strengths = self._strengths_on_edges()
            elif layout.kind.components:
                strengths = strengths_of(betas, layout.strongest).view(np.uint32)
            else:
                strengths = bond_probabilities(betas, self.gain)
            strengths = placed(self.engine.xp, strengths)
            self._strengths = betas, strengths
        return strengths

    def local_engine(self, rule: str) -> tuple[SpinEngine, Any]:
        """Return the engine of local updates by a rule, and its strengths."""
        known, made = self._local.get(rule, (None, None))
        if made is None or known is not self.betas:
            engine, words = self.engine, self.layout.words
            if self.layout.edges is None and rule in engine.rules:  # 64 sites at once
                strengths: NDArray[Any] = acceptances(self.betas, self.gain, words)
            else:
                strengths = self._strengths_on_edges()
                if self.layout.edges is None:
                    engine = self._engine_of_edges or self._edge_engine(self.all_bonds())
                    self._engine_of_edges = engine
            made = engine, placed(engine.xp, strengths)
            self._local[rule] = self.betas, made
        return made

    def bonds(self) -> Any:
        """Return which bonds the next update makes active, as the engine has them."""
        return self.engine.bonds(self.now, self.number + 1, self.strengths())

    def planes_of_bonds(self) -> Any:
        """Return `bonds` as planes of bool, (bonds of a cell, replicas, *cells); not on `edges`."""
        return unpack_planes(self.engine.xp, self.layout.words, self.bonds())

    def all_bonds(self) -> EdgeBonds:
        """Return all bonds, without fields; those of spins in words join bits."""
        words = self.layout.words
        bonds = self.place.bonds(None, words.states)
        return bonds if self.layout.kind.components else bonds.in_words_of(words)

    def _edge_engine(self, bonds: EdgeBonds) -> SpinEngine:
        classes = cache(partial(classes_of, bonds))
        make = engines_on(self.device).edges
        return self.new_engine(make, bonds, self.layout.kind, logarithm_table(), classes)

    def _strengths_on_edges(self) -> NDArray[np.uint32]:
        """Return ``GlassTemperature`` by replica, in units of the strongest bond."""
        with np.errstate(over="ignore"):
            betas = self.betas * (self.gain / 2)
        return temperature_factors(betas, np.full(len(betas), UNIT_BITS))
