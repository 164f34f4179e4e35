"""What a user of the GPU may hold: memory to use again."""

from __future__ import annotations

from typing import Any

from conncomp._arguments import shown
from conncomp.kernels.cuda.workspace import Workspace

__all__ = ["Workspace"]


def check_workspace(workspace: Any) -> None:
    """Raise unless it is a `Workspace` or None."""
    if not isinstance(workspace, Workspace | None):
        raise TypeError(f"workspace={shown(workspace)} must be a conncomp.Workspace, or None")
