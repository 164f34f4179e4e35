"""Structure factors and labels of clusters on a GPU."""

from conncomp.kernels.cuda.models.edge_spins import EdgeLabels
from conncomp.kernels.cuda.models.structure import StructureSums

__all__ = ["EdgeLabels", "StructureSums"]
