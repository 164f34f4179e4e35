import warnings

import pytest
from hypothesis import settings

import conncomp
from conncomp.kernels.cuda import launcher

# The same examples on every run: a failure is then a failure for everyone.
settings.register_profile("conncomp", deadline=None, derandomize=True, database=None)
settings.load_profile("conncomp")


def pytest_collection_modifyitems(items):
    """Skip what is marked ``gpu`` where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            launcher.import_cupy()
    except (ImportError, RuntimeError) as error:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=str(error)))


@pytest.fixture
def restore_threads():
    before = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(before)
