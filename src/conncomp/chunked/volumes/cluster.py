"""Workers of a cluster of Dask that is running, instead of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conncomp._arguments import shown
from conncomp._optional import optional

# Seconds until a scheduler has answered, and until it has a worker.
PATIENCE = 10


@contextmanager
def workers_of_cluster(address: str) -> Iterator[Any]:
    """Yield an executor, as of ``concurrent.futures``, whose tasks run on the workers of a cluster.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Raises
    ------
    ConnectionError
        If no scheduler answers, or it has no workers.
    ImportError
        If distributed is not installed.
    """
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
            yield executor
