import gc
import os
import warnings
from contextlib import contextmanager
from functools import cache

import pytest
from hypothesis import settings

import conncomp
import progress
from conncomp.kernels.cuda import launcher
from dealt import SOAK, deal, examples
from host_cuda import asked_for

# For processes that are started from here, those of xdist and of tests: else each has a thread of a
# BLAS for every processor, which turns while it waits for work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples on every run: a failure is then a failure for everyone. With CONNCOMP_SOAK they
# are others on every run, and all that tests ask for; else a share of them, from the first one on.
settings.register_profile("conncomp", deadline=None, derandomize=not SOAK, database=None)
settings.load_profile("conncomp")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let workers that have nothing left to do take tests from others, unless told otherwise."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@cache
def gpu_missing():
    """Return why there is no GPU to test on, or an empty string."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            launcher.import_cupy()
    except (ImportError, RuntimeError) as error:
        return str(error)
    return ""


def pytest_report_header():
    return progress.header(gpu_missing())


def pytest_configure(config):
    """Name what is at work where other processes run the tests, but with ``-q``."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal and config.getoption("numprocesses", None) and config.get_verbosity() >= 0:

        def write(line):
            terminal.ensure_newline()
            terminal.write_line(line)

        config.pluginmanager.register(progress.Progress(write))


def pytest_collection_modifyitems(config, items):
    """Begin with what is marked ``long``, so that no worker ends with it; skip ``gpu`` without one.

    Otherwise a worker is still at work when the others have nothing left to take. Cases of what is
    marked ``dealt`` are left out.
    """
    items[:], left_out = deal(items)
    config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    asked_for.look_ahead(len(items))
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := gpu_missing()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_itemcollected(item):
    """Let a test of Hypothesis try a share of its examples."""
    test = getattr(item, "function", None)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is not None and not SOAK and not hasattr(test, "examples_asked_for"):
        test.examples_asked_for = asked.max_examples
        tried = settings(asked, max_examples=examples(asked.max_examples))
        test._hypothesis_internal_use_settings = tried


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep what is collected, 14,000 tests, from the collector of garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture
def restore_threads():
    before = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(before)


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
