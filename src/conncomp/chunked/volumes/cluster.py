"""Workers of a cluster of Dask that is running, instead of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import count
from time import sleep
from typing import Any
from uuid import uuid4

from conncomp._arguments import shown
from conncomp._optional import optional

OVER = ("memory", "error", "released", "forgotten")  # states of what a worker does no more
POLL = 0.05  # seconds between questions to workers
PATIENCE = 10  # seconds until a scheduler has answered, and until it has a worker


@contextmanager
def workers_of_cluster(address: str) -> Iterator[Any]:
    """Yield an executor whose tasks run on the workers of a cluster, by its scheduler's address."""
    if not isinstance(address, str):
        raise TypeError(f"scheduler={shown(address)} must be text, such as 'tcp://10.0.0.1:8786'")
    distributed = optional("distributed")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"scheduler={shown(address)}: no scheduler of Dask answers there ({error}); give the "
            "address that 'dask scheduler' prints, such as 'tcp://10.0.0.1:8786'"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ConnectionError(
                f"scheduler={shown(address)} has no workers; start some with 'dask worker "
                f"{address}'"
            ) from error
        with client.get_executor() as executor:
            tasks = NamedTasks(executor)
            try:
                yield tasks
            except BaseException:
                _wait_for_workers(client, tasks.name)
                raise


class NamedTasks(Executor):
    """An executor of Dask whose tasks have keys that begin with a name of its own."""

    def __init__(self, executor: Any) -> None:
        self._executor, self._count = executor, count()
        self.name = f"conncomp-{uuid4().hex}"

    def submit(self, task: Callable[..., Any], /, *arguments: Any) -> Any:  # type: ignore[override]
        """Let a worker call a function."""
        return self._executor.submit(task, *arguments, key=f"{self.name}-{next(self._count)}")


def _wait_for_workers(client: Any, name: str) -> None:
    """Wait until workers have ended, and write nothing: a thread cannot be stopped."""
    idle = 0
    while idle < 2:  # as a worker may be asked between two tasks, before it is told
        try:
            busy = any(client.run(has_tasks, name, on_error="ignore").values())
        except (OSError, RuntimeError):  # no cluster is left
            return
        idle = 0 if busy else idle + 1
        sleep(POLL)


def has_tasks(name: str, dask_worker: Any) -> bool:
    """Return whether a worker is at tasks whose keys begin with a name, or will be."""
    tasks = list(dask_worker.state.tasks.items())
    return any(str(key).startswith(name) and task.state not in OVER for key, task in tasks)
