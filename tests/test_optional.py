"""Packages of the extras: where one is missing, the error names it and how to install it."""

import ast
import json
import re
import struct
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import conncomp
from conncomp import generate
from conncomp._optional import PACKAGES, hint

ROOT = Path(__file__).parents[1]
SOURCES = sorted(Path(conncomp.__file__).parent.rglob("*.py"))
ALWAYS = {"conncomp", "numpy", "scipy", *sys.stdlib_module_names}
# The peers of `conncomp bench` are skipped where they are missing; the others are those whose
# arrays the user gave, or come with one of ours.
NEVER_MISSING = {"_conncomp_networkx", "cupyx", "jax", "markupsafe", "numba", "dask", "xarray"}
NEVER_MISSING |= {"napari"}  # which starts what needs it
NEVER_MISSING |= {"isal"}  # in whose place zlib does the same, slower
# Named in errors otherwise than on PyPI, and not installed with what the tests need.
HEAVY = {"bioio", "cupy", "magicgui", "torch"}

IMAGE = "import conncomp, numpy as np; image = np.eye(4, dtype=np.uint8); "
POTTS = "import conncomp.models as m; model = m.Potts((8, 8), beta=.4); "
TABLE = "import conncomp; table = conncomp.component_statistics([[1, 2]]); "
COMMAND = (
    "from conncomp.cli import main; import sys; sys.argv = ['conncomp', *'{}'.split()]; main()"
)
BENCH = "bench grid --size tiny --suite images --input blobs"
# What takes each package, as a program.
TAKERS = {
    "PIL": [
        IMAGE + "conncomp.write_image('a.png', image)",
        IMAGE + "conncomp.read_image('real.png')",
        COMMAND.format("label image.npy --picture a.png"),
        COMMAND.format("label image.npy -o a.png"),
        COMMAND.format("view image.npy --image real.png"),
        COMMAND.format("simulate potts --shape 8x8 --sweeps 4 --film a.gif"),
    ],
    "tifffile": [
        IMAGE + "conncomp.write_image('a.tif', image)",
        IMAGE + "conncomp.read_image('real.tif')",
        "import conncomp; conncomp.label_file('real.tif', 'b.npy')",
    ],
    "networkx": ["import conncomp.networkx"],
    "h5py": [
        POTTS + "m.simulate(model, 4, output='a.h5')",
        POTTS + "m.simulate(model, 4).write('a.h5')",
        r"import conncomp; open('c', 'wb').write(b'\x89HDF\r\n\x1a\n'); "
        "conncomp.label_file('c', 'b.npy')",
    ],
    "pandas": [TABLE + "table.to_pandas()"],
    "polars": ["import conncomp; conncomp.component_statistics([[1, 2]]).to_polars()"],
    "pyarrow": [
        TABLE + "table.to_arrow()",
        COMMAND.format("cluster pairs.csv --left l --right r -o a.csv"),
        COMMAND.format("measure image.npy -o a.csv"),
    ],
    "pymbar": [
        "import conncomp.models as m; "
        "m.reweight(abs, [[1, 2], [3, 5]] * 8, energy=[[1, 2], [3, 5]] * 8, beta=[1, 2], at=1, "
        "bins=2)"
    ],
    "rich": [POTTS + "m.simulate(model, 4, progress=True)", COMMAND.format("label image.npy")],
    "click": [COMMAND.format("--help")],
    "matplotlib": [
        COMMAND.format("graph arcs.txt --histogram a.png"),
        COMMAND.format("simulate potts --shape 8x8 --sweeps 4 --plot a.png"),
        COMMAND.format("bench report real.json -o a.html"),
    ],
    "jinja2": [COMMAND.format("bench report real.json -o a.html")],
    "msgspec": [
        COMMAND.format("bench report real.json -o a.html"),
        COMMAND.format("bench compare real.json real.json"),
    ],
    "bioio": [COMMAND.format("measure other.czi --bioio -o a.csv")],
    "magicgui": ["import conncomp.napari.widgets"],
    "nibabel": ["import conncomp; conncomp.read_image('real.nii')"],
    "nrrd": ["import conncomp; conncomp.read_image('real.nrrd')"],
    "skimage": [COMMAND.format(BENCH), COMMAND.format("label image.npy --threshold li")],
    "torch": ["import conncomp.torch"],
    "zarr": [
        "import conncomp, os; os.mkdir('v'); open('v/zarr.json', 'w').close(); "
        "conncomp.label_file('v', 'b.npy')",
        COMMAND.format("label image.npy -o a.zarr"),
    ],
    "distributed": [
        "import conncomp; conncomp.label_file('image.npy', 'd.npy', scheduler='tcp://a:1')",
        COMMAND.format("label image.npy -o d.zarr --scheduler tcp://a:1"),
    ],
    "cupy": [
        IMAGE + "conncomp.label(image, device='cuda')",
        COMMAND.format(BENCH + " --device cuda"),
    ],
}


def imports(path):
    """Return the third-party packages that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module)
            case ast.Call(func=ast.Name(id="optional"), args=[ast.Constant(value=str(module)), *_]):
                found.add(module)
    return {name.partition(".")[0] for name in found} - ALWAYS - NEVER_MISSING


def test_all_packages_are_known():
    assert set().union(*map(imports, SOURCES)) == set(PACKAGES)


def requirements(extra):
    """Return the packages of an extra, and of those that it contains."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = set()
    for requirement in project["optional-dependencies"][extra]:
        name, others = re.fullmatch(r"([\w.-]+)(?:\[([^\]]*)\])?.*", requirement).groups()
        contained = map(requirements, others.split(",")) if name == "conncomp" else ()
        names |= {name}.union(*contained)
    return names


installed = cache(packages_distributions)  # which reads what every package installed


@pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="not in the source tree")
@pytest.mark.parametrize("module", sorted(set(PACKAGES) - HEAVY))
def test_the_extra_has_the_package(module):
    package, extra, _ = PACKAGES[module]
    assert package in requirements(extra)
    assert package in [name.lower() for name in installed()[module]]


@pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="not in the source tree")
def test_the_extra_has_pytorch():
    assert requirements("torch") == {"torch"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with files that exist; those of formats are told by names and first bytes."""
    folder = tmp_path_factory.mktemp("files")
    conncomp.write_image(folder / "image.npy", generate.patterns.spiral(8))
    for name in ("real.png", "real.tif"):
        conncomp.write_image(folder / name, generate.patterns.spiral(8))
    (folder / "real.nii").write_bytes(struct.pack("<i", 348).ljust(344, b"\0") + b"n+1\0")
    (folder / "real.nrrd").write_bytes(b"NRRD0004\n\n")
    (folder / "other.czi").write_bytes(b"ZISRAWFILE")
    (folder / "arcs.txt").write_text("0 1\n")
    (folder / "pairs.csv").write_text("l,r\n0,1\n")
    (folder / "real.json").write_text("{}")
    return folder


# Runs a program without a module, for each line of its input, in a fork of an interpreter that has
# what is always there, and answers with its exit status and its standard error.
FORKS = """
import json, os, sys, tempfile, traceback
import numpy, scipy.ndimage, scipy.sparse.csgraph

def run(module, program):
    sys.modules[module] = None
    try:
        exec(program, {"__name__": "__main__"})
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:
        traceback.print_exc()
        return 1

for line in sys.stdin:
    module, program = json.loads(line)
    with tempfile.TemporaryFile("w+") as written:
        if not (child := os.fork()):
            os.dup2(written.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            code = run(module, program)
            sys.stderr.flush()
            os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        written.seek(0)
        print(json.dumps((status, written.read())), flush=True)
"""


@pytest.fixture(scope="module")
def run_without(folder):
    """Return what runs a program that misses a module, and returns its exit status and its errors.

    A fork of one interpreter takes a fifth of what an interpreter takes that imports NumPy.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", FORKS], cwd=folder, **pipes) as interpreter:

        def run(module, program):
            interpreter.stdin.write(json.dumps((module, program)) + "\n")
            interpreter.stdin.flush()
            return json.loads(interpreter.stdout.readline())

        yield run
        interpreter.stdin.close()


@pytest.mark.parametrize(
    ("module", "program"),
    [
        pytest.param(module, program, marks=[pytest.mark.soak] if place else [])
        for module in TAKERS
        for place, program in enumerate(TAKERS[module])
    ],
)
def test_where_it_is_missing(folder, run_without, module, program):
    status, errors = run_without(module, program)
    assert status != 0
    package, extra, _ = PACKAGES[module]
    error = errors.splitlines()[-1]
    if program == COMMAND.format(BENCH):
        extra = "bench"  # which has all that the command needs
    assert f" needs {package}: pip install 'conncomp[{extra}]'" in error
    if "main()" in program:
        assert errors.startswith("conncomp: ")
        assert errors.count("\n") == 1
    else:
        assert error.startswith("ImportError: ")
    assert not list(folder.glob("a.*"))


def test_every_package_is_tried():
    assert set(TAKERS) == set(PACKAGES)


def test_hint():
    assert hint("skimage.measure", "a check") == (
        "a check needs scikit-image: pip install 'conncomp[measure]'"
    )


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not in the source tree")
def test_extras_are_quoted_wherever_they_are_named():
    """A shell takes brackets for a pattern of names of files.

    What a build of the pages has written is no page of ours, and comes and goes.
    """
    docs = ROOT / "docs"
    pages = [*docs.glob("*.rst"), *docs.glob("api/*.rst"), *docs.glob("algorithms/*.rst")]
    assert len(pages) > 30
    for page in [ROOT / "README.md", *SOURCES, *pages]:
        for line in page.read_text().splitlines():
            assert not re.search(r"""pip install [^'"]*conncomp\[""", line), (page, line)
