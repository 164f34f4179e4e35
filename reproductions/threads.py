"""What the CPU takes on so many threads, such as one, as the programs of the papers do."""

from collections.abc import Callable
from typing import Any

from conncomp._config import working_threads
from conncomp.bench.devices import Cpu
from conncomp.bench.peers import Contender, Labels
from conncomp.graph import Graph


def one_thread_seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes on one thread of the CPU."""
    with working_threads(1):
        return Cpu().seconds(call)


class OnThreads(Contender):
    """A contender for data in the main memory, on threads of the CPU, wherever the data lie.

    `device` is where data are placed that are measured, `name` what results call it.
    """

    def __init__(
        self, contender: Contender, device: Cpu, threads: int = 1, name: str | None = None
    ) -> None:
        self.name = f"{contender.name}, one thread" if name is None else name
        self.kind, self.numbering, self.threads = contender.kind, contender.numbering, threads
        self._contender, self._device = contender, device

    def prepare(self, data: Any, connectivity: int) -> Any:
        data = data.to("cpu") if isinstance(data, Graph) else self._device.fetch(data)
        return self._contender.prepare(data, connectivity)

    def run(self, prepared: Any) -> Any:
        with working_threads(self.threads):
            return self._contender.run(prepared)

    def labels(self, result: Any) -> Labels:
        return self._contender.labels(result)
