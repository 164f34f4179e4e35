import pytest
from hypothesis import settings

import conncomp

# The same examples on every run: a failure is then a failure for everyone.
settings.register_profile("conncomp", deadline=None, derandomize=True, database=None)
settings.load_profile("conncomp")


@pytest.fixture
def restore_threads():
    before = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(before)
