"""What exhibits measure with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from conncomp.bench.devices import Cpu
from conncomp.bench.inputs import Input
from conncomp.bench.peers import Contender
from conncomp.bench.runner import make_input, measure_input

Row = dict[str, Any]


class Laboratory:
    """A device, how much is measured there, and what was measured already.

    Parameters
    ----------
    device : Cpu
    size : {"small", "paper", "today"}
    notify : callable, optional
        Called with what is measured now.
    """

    def __init__(
        self, device: Cpu, size: str, notify: Callable[[str], object] = lambda step: None
    ) -> None:
        self.device, self.size, self.notify = device, size, notify
        self._rows: dict[Any, Row] = {}

    @property
    def on_gpu(self) -> bool:
        """Whether the paper's kernels can run."""
        return self.device.name == "cuda"

    def row(
        self,
        suite: str,
        entry: Input,
        contenders: Sequence[Contender],
        *,
        transfers: bool = False,
        limit: float = math.inf,
    ) -> Row:
        """Return how long contenders take for an input, as `conncomp.bench.runner` measures it.

        The same contenders are not measured again on the same input.
        """
        key = suite, entry.name, tuple(contender.name for contender in contenders), transfers
        if key not in self._rows:
            self.notify(entry.name)
            with self.device.current():
                data = make_input(entry, self.device)
            self._rows[key] = measure_input(
                suite,
                entry,
                data,
                contenders,
                device=self.device,
                transfers=transfers,
                limit=limit,
                notify=self.notify,
            )
        return dict(self._rows[key])
