"""Spin glasses on a GPU."""

from conncomp.kernels.cuda.models.spin_glass import GlassEngine as Engine

__all__ = ["Engine"]
