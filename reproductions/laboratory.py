"""What exhibits measure with."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from conncomp.bench.devices import Cpu
from conncomp.bench.inputs import Input
from conncomp.bench.peers import Contender
from conncomp.bench.runner import Reference, make_input, measure_input
from conncomp.diagnostics import kernel_times
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.core.sweeps import counted_sweeps

Row = dict[str, Any]


class Laboratory:
    """A device, how much is measured there, and what was measured already.

    `notify` is called with what is measured now.
    """

    def __init__(
        self, device: Cpu, size: str, notify: Callable[[str], object] = lambda step: None
    ) -> None:
        self.device, self.size, self.notify = device, size, notify
        self._rows: dict[Any, Row] = {}
        self._sweeps: dict[Any, int | None] = {}
        self._made: tuple[Input, Any] | None = None  # the last one

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
        known: Callable[[Any], Reference] | None = None,
    ) -> Row:
        """Return how long contenders take for an input, as `conncomp.bench.runner` measures it.

        The same contenders are not measured again on the same input. The right labels are those
        that `known` returns for it, or else found by another library.
        """
        key = suite, entry.name, tuple(contender.name for contender in contenders), transfers
        if key not in self._rows:
            data = self.data(entry)
            self._rows[key] = measure_input(
                suite,
                entry,
                data,
                contenders,
                device=self.device,
                transfers=transfers,
                limit=limit,
                right=known and known(data),
                notify=self.notify,
            )
        return dict(self._rows[key])

    def data(self, entry: Input) -> Any:
        """Return the graph or the array of an input, in the main memory."""
        if self._made is None or self._made[0] is not entry:
            self.notify(f"{entry.name}: making")
            self._made = None  # before the next one is made
            self._made = entry, make_input(entry, self.device)
        return self._made[1]

    def sweeps(self, entry: Input, contender: Contender, limit: float = math.inf) -> int | None:
        """Return how many sweeps of a call change something; None if it takes longer than `limit`.

        It is for algorithms on the GPU that sweep until nothing changes.
        """
        key = entry.name, entry.description, contender.name
        if key not in self._sweeps:
            with counted_sweeps() as sweeps:
                ended = self._call(entry, contender, limit)
            self._sweeps[key] = sum(sweeps) if ended else None
        return self._sweeps[key]

    def kernels(
        self, entry: Input, contender: Contender, limit: float = math.inf
    ) -> dict[str, float] | None:
        """Return how long each kernel of a call on the GPU takes; None if that is over `limit`."""
        if not self._call(entry, contender, limit):  # which compiles the kernels
            return None
        with kernel_times() as times:
            self._call(entry, contender, math.inf)
        return times

    def _call(self, entry: Input, contender: Contender, limit: float) -> bool:
        """Call a contender, and say whether that ended before the limit."""
        self.notify(f"{entry.name}: inside {contender.name}")
        try:
            with time_limit(limit):
                placed = self.device.place(self.data(entry))
                contender.run(contender.prepare(placed, entry.connectivity))
        except TimeoutError:
            return False
        return True


def given_up(row: Row) -> bool:
    """Whether an algorithm took too long, by the reason that the runner gives."""
    return str(row["reason"]).startswith("given up")


def all_right(rows: Sequence[Row], what: str) -> tuple[str, float]:
    """Say in words and by 1 or 0 whether all answers were right, but for those given up."""
    right = all(row["status"] == "ok" or given_up(row) for row in rows)
    return f"{'all' if right else 'not all'} {what}", float(right)
