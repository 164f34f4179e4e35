"""Importing, threads, builds and configuration: mostly in interpreters of their own."""

import importlib.metadata
import os
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp._core import BUILDS, choose_build, is_built, native
from measured_command import in_python

OPTIONAL = {"torch", "networkx", "skimage", "cupy", "imageio", "tifffile", "PIL", "click", "rich"}
OPTIONAL |= {"matplotlib", "cc3d", "scipy.sparse"}


def run(script, **environment):
    """Return what `script` prints in a new interpreter."""
    done = in_python(script, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_quick():
    """At most 0.3 s of processor time, which others on the machine do not change, beyond Python."""

    def seconds(script):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        best = float("inf")
        for _ in range(5):
            before = used()
            run(script)
            best = min(best, used() - before)
        return best

    assert seconds("import conncomp") - seconds("pass") < 0.3


def test_import_takes_nothing_optional():
    loaded = run("import sys, conncomp; print(*sys.modules)").split()
    assert not OPTIONAL & set(loaded)


def test_rooms_are_imported_when_a_name_is_asked_for():
    script = "import sys, conncomp; print('numpy' in sys.modules, 'conncomp.grid' in sys.modules)"
    assert run(script) == "False False"
    script = "import sys, conncomp; conncomp.label; print('conncomp.models' in sys.modules)"
    assert run(script) == "False"


def test_all_names_exist():
    for name in conncomp.__all__:
        assert hasattr(conncomp, name)
        assert name in dir(conncomp)
    assert run("from conncomp import *; print(label.__module__)") == "conncomp.grid.labelling"


@pytest.mark.parametrize("room", ["components", "graph", "grid", "io"])
def test_names_are_those_of_the_rooms(room):
    hidden = {"atomic_path"}
    assert set(conncomp._ROOMS[room]) == set(getattr(conncomp, room).__all__) - hidden


@pytest.mark.parametrize("room", [conncomp, conncomp.models])
def test_results_are_classes_in_one_place(room):
    names = room.results.__all__
    assert not set(names) & set(room.__all__)
    assert all(isinstance(getattr(room.results, name), type) for name in names)


def test_version():
    assert conncomp.__version__ == importlib.metadata.version("conncomp")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        conncomp.nothing  # noqa: B018
    script = "import sys, conncomp; print('importlib.metadata' in sys.modules)"
    assert run(script) == "False"


@pytest.mark.parametrize(("module", "name"), [("models", "Potts"), ("generate", "voronoi")])
def test_modules_are_imported_when_they_are_asked_for(module, name):
    script = f"""
import sys, conncomp
before = "conncomp.{module}" in sys.modules
print(before, "{module}" in dir(conncomp), conncomp.{module}.{name}.__name__)
"""
    assert run(script) == f"False True {name}"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_omp_num_threads(threads):
    script = "import conncomp; print(conncomp.get_num_threads())"
    assert run(script, OMP_NUM_THREADS=threads) == threads


def test_set_num_threads_overrides_omp_num_threads():
    script = "import conncomp as c; c.set_num_threads(5); print(c.get_num_threads())"
    assert run(script, OMP_NUM_THREADS="3") == "5"


def test_set_num_threads():
    for n in (1, 7, np.int64(2), 4096):
        conncomp.set_num_threads(n)
        assert conncomp.get_num_threads() == n


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, ValueError, "n=0 threads"),
        (-1, ValueError, "n=-1 threads"),
        (4097, ValueError, "n=4097 threads"),
        (2**70, ValueError, f"n={2**70} threads"),
        (None, TypeError, "n=None must"),
    ],
)
def test_bad_numbers_of_threads(n, error, message):
    before = conncomp.get_num_threads()
    with pytest.raises(error, match=message):
        conncomp.set_num_threads(n)
    assert conncomp.get_num_threads() == before


BUILD = """
import hashlib
import numpy as np
import conncomp
from conncomp._core import instruction_set

rng = np.random.default_rng(0)
results = hashlib.sha256()
for shape in [(300, 401), (40, 50, 67), (9, 8, 7, 66), (70001,), (70001, 3)]:
    for dtype in "?BHed":
        for values in (2, 5):
            image = rng.integers(0, values, shape).astype(dtype)
            for connectivity in (1, len(shape)):
                for background in (0, -1):
                    labels = conncomp.label(image, background, connectivity=connectivity)
                    results.update(labels)
for arcs in (1000, 50_000, 300_000):
    src, dst = rng.integers(0, 60_000, (2, arcs))
    results.update(conncomp.connected_components(conncomp.Graph.from_edges(src, dst))[1])
print(instruction_set, results.hexdigest())
"""


def test_all_builds_give_the_same():
    loadable = [name for name in BUILDS if native.supports(name) and is_built(name)]
    results = [run(BUILD, CONNCOMP_CPU=name).split() for name in loadable]
    assert [name for name, _ in results] == loadable
    assert len({digest for _, digest in results}) == 1


V3, AVX512 = "x86-64-v3", "x86-64-avx512"
EVERY = {"generic", V3, AVX512}


@pytest.mark.parametrize(
    ("wanted", "supported", "built", "chosen"),
    [
        (None, EVERY, EVERY, AVX512),
        ("", EVERY, EVERY, AVX512),
        (None, {"generic", V3}, EVERY, V3),
        (None, EVERY, {"generic", V3}, V3),
        (None, {"generic"}, EVERY, "generic"),
        (None, {"generic", "native"}, {"native"}, "native"),
        (V3, EVERY, EVERY, V3),
        ("generic", EVERY, EVERY, "generic"),
    ],
)
def test_build_that_is_chosen(wanted, supported, built, chosen):
    assert choose_build(wanted, supported.__contains__, built.__contains__) == chosen


OBSTACLES = [
    ("avx9", EVERY, EVERY, f"no build of that name; unset it or use {AVX512} or {V3} or generic"),
    (AVX512, {"generic", V3}, EVERY, f"processor does not .* use {V3} or generic"),
    (AVX512, EVERY, {"generic"}, "this installation was built without it; unset it or use generic"),
]


@pytest.mark.parametrize(("wanted", "supported", "built", "message"), OBSTACLES)
def test_builds_that_cannot_be_loaded(wanted, supported, built, message):
    with pytest.raises(ValueError, match=f"CONNCOMP_CPU='{wanted}': .*{message}$"):
        choose_build(wanted, supported.__contains__, built.__contains__)


def test_a_processor_for_which_nothing_was_built():
    with pytest.raises(ImportError, match=r"built for another processor .* CONNCOMP_PORTABLE=1"):
        choose_build(None, {"generic", V3}.__contains__, {"native"}.__contains__)


def test_a_build_is_asked_for_by_the_environment():
    done = in_python("import conncomp.grid", env=os.environ | {"CONNCOMP_CPU": "avx9"})
    assert done.returncode != 0
    assert "CONNCOMP_CPU='avx9': there is no build of that name" in done.stderr


def test_several_python_threads_at_once():
    rng = np.random.default_rng(1)
    images = [rng.random((300, 400)) < density for density in np.linspace(0.2, 0.9, 12)]
    src, dst = rng.integers(0, 100_000, (2, 120_000))
    graph = conncomp.Graph.from_edges(src, dst, 100_000)

    def work(image):
        return conncomp.label(image, connectivity=1), conncomp.connected_components(graph)[1]

    expected = [work(image) for image in images]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for found, right in zip(pool.map(work, images), expected, strict=True):
                np.testing.assert_array_equal(found[0], right[0])
                np.testing.assert_array_equal(found[1], right[1])


FORK = """
import multiprocessing
import numpy as np
import conncomp

def child(queue):
    queue.put((conncomp.get_num_threads(), bool((conncomp.label(image) == labels).all())))

conncomp.set_num_threads(2)
image = np.random.default_rng(0).random((500, 500)) < 0.5
labels = conncomp.label(image)
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,))
process.start()
process.join(20)
if process.exitcode is None:
    process.kill()
    raise SystemExit("the child hangs")
print(*queue.get(), conncomp.get_num_threads())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child():
    assert run(FORK) == "2 True 2"


def test_show_config(capsys):
    conncomp.show_config()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["numpy"] == np.__version__
    assert shown["threads"] == str(conncomp.get_num_threads())
    assert shown["networkx"] != "not installed"


def test_kernels_import_nothing_above_them():
    folder = Path(conncomp.__file__).parent
    above = r"^(?:from|import) conncomp\.(?:grid|graph|components|generate|io|bench|cli|models)\b"
    for path in (folder / "kernels").rglob("*.py"):
        assert not re.search(above, path.read_text(), re.MULTILINE), path
