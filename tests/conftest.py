import gc
import os
import signal
import warnings
from contextlib import contextmanager
from functools import cache

import pytest
from hypothesis import settings

import conncomp
import dealt
import progress
from conncomp._config import working_threads
from conncomp.kernels.cuda import launcher
from host_cuda import asked_for

# For processes that are started from here, those of xdist and of tests: else each has a thread of a
# BLAS for every processor, which turns while it waits for work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Parts of the names of tests that take ten seconds or more, as `--durations=50` lists them. They
# begin first: otherwise a worker is still at work when the others have nothing left to take.
LONG = (
    *("::test_sanitized", "test_mistake_is_found", "test_twins_without_mistakes", "_are_clean["),
    *("test_compile.py::", "test_every_kernel_is_run", "test_every_target", "test_targets_notice"),
    *("test_volume_cluster.py", "test_local_cluster.py", "test_dask_arrays.py::test_processes"),
    *("test_memory_is_a_limit[", "cluster.py::test_interrupt[", "test_a_killed_process_leaves"),
    *("test_sanitizers.py", "::test_registers", "test_suite_of_networkx", "test_commands["),
)


def pytest_addoption(parser):
    parser.addoption(
        "--soak", action="store_true", help="run all tests and all cases, not only the gate's"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Set what test modules read when they are imported.

    The gate's examples are the same on every run: a failure is then a failure for everyone. A soak
    tries all examples that tests ask for, others on every run.
    """
    dealt.SOAK = config.getoption("soak")
    settings.register_profile("conncomp", deadline=None, derandomize=not dealt.SOAK, database=None)
    settings.load_profile("conncomp")


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_interrupts():
    """Let SIGINT interrupt, here and in processes started from here.

    A shell that starts the tests in the background has it ignored, and processes inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
    """Choose this run's tests, begin with the long ones, and skip ``gpu`` without a GPU."""
    items[:], left_out = dealt.deal(items)
    config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: not any(part in item.nodeid for part in LONG))
    asked_for.look_ahead(len(items))
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := gpu_missing()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_itemcollected(item):
    """Let a test of Hypothesis try a share of its examples in the gate."""
    test = getattr(item, "function", None)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is not None and not dealt.SOAK and not hasattr(test, "examples_asked_for"):
        test.examples_asked_for = asked.max_examples
        tried = settings(asked, max_examples=dealt.examples(asked.max_examples))
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
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def _restore_threads():
    with working_threads(conncomp.get_num_threads()):
        yield


@contextmanager
def _well_behaved(path):
    """Succeed in reading `path`, or fail with a line that names it."""
    message = f"{path}: no error"
    try:
        yield
    except ValueError as error:
        message = str(error)
    assert message.startswith(str(path))
    assert message.isprintable()


well_behaved = pytest.fixture(lambda: _well_behaved, scope="session")
