from contextlib import contextmanager

import pytest


@contextmanager
def _well_behaved(path):
    message = f"{path}: no error"
    try:
        yield
    except ValueError as error:
        message = str(error)
    assert message.startswith(str(path))
    assert message.isprintable()


@pytest.fixture(scope="session")
def well_behaved():
    """A context in which reading `path` succeeds, or fails with a line that names it."""
    return _well_behaved
