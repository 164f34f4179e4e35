"""The gallery: what holds for every example. Whether they run, the build of the docs tells."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from host_cupy import place_on_host
from models.exact import log_kaufman, moments

sys.path.append(str(Path(__file__).parents[1] / "docs"))

import gpu_pages

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "gallery"
EXAMPLES = {path.stem: path for path in sorted(FOLDER.rglob("*.py"))}
LIBRARIES = {"conncomp", "matplotlib", "networkx", "numpy", "scipy", "skimage", "cupy", "torch"}

# What an interpreter does before an example, so that nothing gets through to a network.
NO_NETWORK = """
import socket, warnings
def refuse(*arguments, **options):
    raise OSError("an example asked for the network")
socket.socket.connect = socket.getaddrinfo = refuse
warnings.simplefilter("error")
"""


def run(program, tmp_path):
    """Run a program without a network, and with no data of scikit-image but what it ships."""
    environment = {
        **os.environ,
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(tmp_path),
        "SKIMAGE_DATADIR": str(tmp_path / "skimage"),
    }
    command = [sys.executable, "-c", NO_NETWORK + program]
    subprocess.run(command, check=True, timeout=100, env=environment, cwd=tmp_path)


def calls(tree, owner):
    """Return the names of the attributes of `owner` that are called."""
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        function.attr
        for function in functions
        if isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == owner
    }


def test_there_are_examples_enough():
    assert len(EXAMPLES) >= 13
    titles = [ast.get_docstring(ast.parse(path.read_text())) for path in EXAMPLES.values()]
    assert len({title.partition("\n")[0] for title in titles}) == len(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_a_page(name):
    """It is run, and has a title, some sentences and a picture; its libraries are those of docs."""
    assert name.startswith("plot_")  # which sphinx-gallery runs
    tree = ast.parse(EXAMPLES[name].read_text())
    title, underline, blank, *text = ast.get_docstring(tree).split("\n")
    assert underline == "=" * len(title)
    assert blank == ""
    assert 3 <= len(re.findall(r"[.?](?=\s|$)", "\n".join(text))) <= 9
    assert "show" in calls(tree, "plt")
    assert calls(tree, "plt") & {"figure", "subplots", "subplot_mosaic"}
    nodes = list(ast.walk(tree))
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    assert {module.partition(".")[0] for module in modules} <= LIBRARIES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_draws_the_same_each_time(name):
    """Random numbers come from generators with a seed."""
    text = EXAMPLES[name].read_text()
    assert not re.search(r"default_rng\(\)|np\.random\.(?!default_rng)", text)
    layouts = re.findall(r"_layout\(.*?\)$", text, re.M | re.S)
    assert all("seed=" in layout for layout in layouts)


def test_images_of_scikit_image_are_shipped_with_it(tmp_path):
    pytest.importorskip("skimage")
    names = set().union(*(calls(ast.parse(path.read_text()), "data") for path in EXAMPLES.values()))
    assert names
    load = "".join(f"data.{name}()\n" for name in sorted(names))
    run(f"from skimage import data\n{load}", tmp_path)


@pytest.mark.parametrize("beta", [0.5, 0.88, 1.2])
def test_curve_of_the_ising_page_is_that_of_kaufman(beta):
    side = 32
    tree = ast.parse(EXAMPLES["plot_ising"].read_text())
    [function] = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = {"np": np, "side": side}
    exec("from scipy.special import logsumexp\n" + ast.unparse(function), names)
    step = 1e-4
    below, at, above = names["log_partition"](beta + step * np.array([-1, 0, 1]))
    wanted = moments(log_kaufman(side, side), repr(beta))
    assert (above - below) / (2 * step) == pytest.approx(wanted.mean / side**2, abs=1e-6)
    curvature = (above - 2 * at + below) / step**2
    assert curvature == pytest.approx(wanted.variance / side**2, abs=1e-5)


def notebook(path):
    pytest.importorskip("sphinx_gallery")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(path)
    return jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(FOLDER))["cells"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_notebook_reads_well(name):
    """Markdown knows none of the roles and directives of reStructuredText."""
    for cell in notebook(EXAMPLES[name]):
        if cell["cell_type"] == "markdown":
            assert not re.search(r":\w+:`|^\.\. |`_", "".join(cell["source"]), re.M)


@pytest.mark.soak
def test_notebook_of_the_tutorial_runs(tmp_path):
    cells = notebook(EXAMPLES["plot_tutorial"])
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 10
    run("\n".join(code), tmp_path)


@pytest.mark.soak
def test_an_example_that_fails_makes_the_build_fail(tmp_path):
    """With the settings of the docs, and although no warning is an error here."""
    pytest.importorskip("sphinx_gallery")
    settings = re.search(
        r"^sphinx_gallery_conf = \{$.*?^\}$", (ROOT / "docs" / "conf.py").read_text(), re.M | re.S
    )
    docs, examples = tmp_path / "docs", tmp_path / "examples"
    docs.mkdir()
    examples.mkdir()
    (docs / "conf.py").write_text(
        f"extensions = ['sphinx_gallery.gen_gallery']\n{settings[0]}\n"
        "sphinx_gallery_conf.update(examples_dirs='../examples', subsection_order=None)\n"
    )
    (docs / "index.rst").write_text("Index\n=====\n\n.. toctree::\n\n   gallery/index\n")
    (examples / "GALLERY_HEADER.rst").write_text("Gallery\n=======\n")
    example = examples / "plot_one.py"
    page = '"""\nOne\n===\n\nText.\n"""\n\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\n'
    command = [sys.executable, "-m", "sphinx", "-q", docs, tmp_path / "html"]
    example.write_text(page)
    subprocess.run(command, check=True, timeout=100)
    example.write_text(page + "raise ValueError('from the example')\n")
    failed = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert failed.returncode != 0
    assert "from the example" in failed.stderr


def run_small_loop():
    """Run the page about a loop on a small field; return its names."""
    pytest.importorskip("matplotlib").use("agg")
    page = EXAMPLES["plot_loop"].read_text()
    small = page.replace("side, launches, steps = 256, 60, 10", "side, launches, steps = 40, 6, 2")
    assert small != page
    names = {}
    exec(small, names)
    names["plt"].close("all")
    return names


def test_loop_is_the_same_on_a_gpu_that_the_host_plays(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    on_cpu = run_small_loop()
    cupy = place_on_host(monkeypatch)
    cupy.__name__, cupy.cuda.is_available = "cupy", lambda: True
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    on_gpu = run_small_loop()
    assert (on_cpu["xp"], on_gpu["xp"]) == (np, cupy)
    for name in ("field", "roots", "counts"):
        assert isinstance(on_gpu[name], cupy.ndarray)
        np.testing.assert_array_equal(on_gpu[name].get(), on_cpu[name])


def test_pages_show_what_a_gpu_has_printed_and_drawn(tmp_path):
    folder = tmp_path / gpu_pages.PICTURES
    folder.mkdir(parents=True)
    page = "Text.\n\n.. _sphx_glr_download_gallery_gpu_plot_loop.py:\n\nLinks.\n"
    one = "gallery/gpu/plot_loop"
    (folder / "plot_loop.png").touch()
    assert gpu_pages.with_section(page, one, tmp_path) == page
    (folder / "plot_loop.txt").write_text("NVIDIA H200, CuPy\n60 labellings\n")
    text = gpu_pages.with_section(page, one, tmp_path)
    order = "Text.", "one NVIDIA H200, CuPy:", "gpu/plot_loop.txt", "gpu/plot_loop.png", "Links."
    assert sorted(order, key=text.index) == list(order)
    for name in ("gallery/gpu/plot_batch", "gallery/images/plot_loop", "gpu/plot_loop"):
        assert gpu_pages.with_section(page, name, tmp_path) == page


def test_pictures_of_a_gpu_are_of_pages_and_small():
    pictures = sorted((ROOT / "docs" / gpu_pages.PICTURES).glob("*"))
    pages = {path.stem for path in (FOLDER / "gpu").glob("plot_*.py")}
    assert {path.stem for path in pictures} <= pages
    for path in pictures:
        assert path.with_suffix(".txt").is_file()
        assert path.with_suffix(".png").is_file()
        assert path.stat().st_size < 100_000
        if path.suffix == ".txt":
            first, *printed = path.read_text().splitlines()
            assert first.startswith("NVIDIA")
            assert "by PyTorch" in printed[0] or "by cupy" in printed[0]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("name", "library"),
    [("plot_loop", "cupy"), ("plot_batch", "torch"), ("plot_clean_masks", "torch")],
)
def test_pages_on_a_gpu(name, library, tmp_path, capfd):
    pytest.importorskip(library)
    run(EXAMPLES[name].read_text(), tmp_path)
    assert f"by {library}" in capfd.readouterr().out.lower().replace("pytorch", "torch")
