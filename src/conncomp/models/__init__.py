"""Simulations that stand on labelling: spin models."""

from conncomp.models import results
from conncomp.models.cahn_hilliard.model import CahnHilliard
from conncomp.models.disorder import random_couplings, random_fields
from conncomp.models.kawasaki import Kawasaki
from conncomp.models.lattices import UnitCell
from conncomp.models.percolation.model import Percolation
from conncomp.models.protocol import Model, ModelSeries, ModelState, ModelUpdate, SummarisedModel
from conncomp.models.simulation import simulate
from conncomp.models.spin_glass.disorder import (
    glass_equilibration_test,
    overlap_distribution,
    summarise_overlaps,
)
from conncomp.models.spin_glass.model import SpinGlass
from conncomp.models.spins.ising import Ising
from conncomp.models.spins.potts import Potts
from conncomp.models.statistics.estimates import autocorrelation_time, jackknife, logarithmic_bins
from conncomp.models.statistics.reweighting import reweight
from conncomp.models.statistics.scaling import collapse, crossing
from conncomp.models.statistics.summaries import summarise
from conncomp.models.tempering import parallel_tempering
from conncomp.models.vectors.model import ON, XY, Clock, Heisenberg

__all__ = [
    "ON",
    "XY",
    "CahnHilliard",
    "Clock",
    "Heisenberg",
    "Ising",
    "Kawasaki",
    "Model",
    "ModelSeries",
    "ModelState",
    "ModelUpdate",
    "Percolation",
    "Potts",
    "SpinGlass",
    "SummarisedModel",
    "UnitCell",
    "autocorrelation_time",
    "collapse",
    "crossing",
    "glass_equilibration_test",
    "jackknife",
    "logarithmic_bins",
    "overlap_distribution",
    "parallel_tempering",
    "random_couplings",
    "random_fields",
    "results",
    "reweight",
    "simulate",
    "summarise",
    "summarise_overlaps",
]
