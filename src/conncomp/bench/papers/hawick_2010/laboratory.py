"""What the figures measure with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conncomp.bench.devices import Cpu


@dataclass(frozen=True)
class Laboratory:
    """A device, and how much is measured there.

    Attributes
    ----------
    device : Cpu
    size : {"tiny", "small", "medium", "full"}
    notify : callable
        Called with what is measured now.
    """

    device: Cpu
    size: str
    notify: Callable[[str], object] = lambda step: None

    @property
    def on_gpu(self) -> bool:
        """Whether the paper's kernels can run."""
        return self.device.name == "cuda"
