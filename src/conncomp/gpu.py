"""What a user of the GPU may hold: memory to use again."""

from conncomp.kernels.cuda.workspace import Workspace

__all__ = ["Workspace"]
