"""The Kawasaki model on a GPU."""

from conncomp.kernels.cuda.models.kawasaki import ExchangeEngine as Engine

__all__ = ["Engine"]
