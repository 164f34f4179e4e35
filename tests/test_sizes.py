"""How large files and functions of the package are, and how much functions are told.

What is larger is listed with a reason, and what no longer is must leave the list.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src/conncomp"
MOST_OF_FOLDER = 3000  # lines, with docstrings, of a folder outside `kernels`
MOST_OF_FILE, MOST_OF_FUNCTION, MOST_PARAMETERS = 400, 60, 8

LONG_FILES = {}
LONG_FUNCTIONS = {}
USERS, OPTIONS = "users name what they ask for", "of an algorithm"
MANY_PARAMETERS = {
    "_label_output.py __init__": "all that decides where labels go",
    "bench/runner.py measure": "all that a result depends on",
    "bench/runner.py measure_input": "all that a row depends on",
    "chunked/volumes/labelling.py label_file": USERS,
    "chunked/volumes/plan.py plan_labels": USERS,
    "components/statistics.py component_statistics": USERS,
    "generate/networks.py rmat": USERS,
    "graph/labelling.py connected_components": USERS,
    "grid/labelling.py label_bonds": USERS,
    "grid/labeller.py __init__": USERS,
    "grid/labelling.py label": USERS,
    "grid/wrapping.py component_wrapping": USERS,
    "kernels/cuda/papers/tiles.py fill_roots": OPTIONS,
    "io/view.py write_view": USERS,
    "models/cahn_hilliard/model.py __init__": USERS,
    "models/kawasaki.py __init__": USERS,
    "models/percolation/model.py __init__": USERS,
    "models/spins/potts.py __init__": USERS,
    "models/simulation.py simulate": USERS,
    "models/spin_glass/model.py __init__": USERS,
    "models/spins/model.py __init__": USERS,
    "tables/pairs.py cluster_pairs": USERS,
    "tables/quality.py cluster_quality": USERS,
}

CUDA = "kernels/cuda"
COLUMNS, CALLED = "columns of tables, an array each", "what Python hands over, by name"
MANY_PARAMETERS_OF_CPP = {
    "bindings/components.cpp colour": CALLED,
    "bindings/columns.cpp intensities": COLUMNS,
    "bindings/models.cpp update_potts": CALLED,
    f"{CUDA}/graph/blocked_afforest.cuh unite_row": "a row, its arcs, and where they unite",
    f"{CUDA}/graph/ecl.cuh ecl_unite": "likewise",
    **dict.fromkeys(
        (
            f"{CUDA}/graph/incremental.cuh {k}"
            for k in ("compare_roots", "shorten_united", "unite_batch")
        ),
        "as a struct for each call takes a tenth of a small batch's time",
    ),
    f"{CUDA}/grid/brick_tiles.cuh links_of_brick": "what three rules need, each a part",
}

LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(text):
    """Return the numbers of the lines that have code: neither comments alone nor docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def parameters_of(function):
    given = function.args
    names = [argument.arg for argument in given.posonlyargs + given.args + given.kwonlyargs]
    return [name for name in names if name not in ("self", "cls")]


def measured(package):
    """Yield each file and function of a package, with its lines of code and its parameters."""
    for path in sorted(package.rglob("*.py")):
        text, file = path.read_text(), str(path.relative_to(package))
        lines = code_lines(text)
        yield file, len(lines), None
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                span = range(node.body[0].lineno, node.end_lineno + 1)
                yield f"{file} {node.name}", len(lines & set(span)), parameters_of(node)


def count_parameters(text):
    """Return how many parameters there are in brackets that the text begins with, and their end."""
    depth, end, given = 0, 0, ""
    for character in text:
        end += 1
        depth -= character in ")>]}"
        given += character if depth == 1 else ""
        depth += character in "(<[{"
        if depth == 0:
            break
    return given.count(",") + bool(given.strip()), end


DEFINED = re.compile(r"\b(operator\W+?|\w+)\s*(?=\()")
BODY = re.compile(r"\s*(?:const\b)?\s*(?:noexcept\b)?\s*(?:->[^;{]*)?(?:\{|:[^:])")
CALLED_BY_WORD = {"if", "for", "while", "switch", "return", "catch", "sizeof", "constexpr"}


def parameters_of_cpp(text):
    """Yield the name and the number of parameters of each function that has a body."""
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", text)
    for word in DEFINED.finditer(text):
        count, end = count_parameters(text[word.end() :])
        if word.group(1) not in CALLED_BY_WORD and BODY.match(text, word.end() + end):
            yield word.group(1), count


@pytest.fixture(scope="module")
def sizes():
    return list(measured(PACKAGE))


def test_files(sizes):
    long = {name for name, lines, told in sizes if told is None and lines > MOST_OF_FILE}
    assert long == set(LONG_FILES)


def test_folders():
    lines = defaultdict(int)
    for suffix in ("py", "h", "cpp"):
        for path in PACKAGE.rglob(f"*.{suffix}"):
            if "kernels" not in path.relative_to(PACKAGE).parts:
                lines[str(path.parent.relative_to(PACKAGE))] += len(path.read_text().splitlines())
    assert {folder for folder, count in lines.items() if count > MOST_OF_FOLDER} == set()


def test_functions(sizes):
    long = {name for name, lines, told in sizes if told is not None and lines > MOST_OF_FUNCTION}
    assert long == set(LONG_FUNCTIONS)


def test_parameters(sizes):
    assert {name for name, _, told in sizes if len(told or ()) > MOST_PARAMETERS} == set(
        MANY_PARAMETERS
    )


def test_parameters_of_cpp():
    many = {
        f"{path.relative_to(PACKAGE)} {name}"
        for suffix in ("h", "cpp", "cuh")
        for path in PACKAGE.rglob(f"*.{suffix}")
        for name, count in parameters_of_cpp(path.read_text())
        if count > MOST_PARAMETERS
    }
    assert many == set(MANY_PARAMETERS_OF_CPP)
    text = """
int f(Pair<T, int> pair, int (&x)[3], /* b */ void (*done)(int, int)) const { return h(1, 2, 3); }
Thing(int a, int b) : a_{a}, b_{b} {}
auto g(int a) -> Pair<int, int> { if (a) { return {a, a}; } }
int declared(int a, int b);
// __global__ void no(int a) {}
template <class T, int k>
__global__ void __launch_bounds__(kThreads, (kBlocks<T, 1>) / g(2, 3))
    h(Pair<T, int> pair, T (&x)[3],  // a, b
      void (*done)(int, int)) { h(1, 2, 3, 4); }
int operator[](int i) const { return i; }
int operator()() const { return 0; }
const int table[] = {h(1, 2), 2};
"""
    found = [("f", 3), ("Thing", 2), ("g", 1), ("h", 3), ("operator[]", 1), ("operator()", 0)]
    assert list(parameters_of_cpp(text)) == found


def test_comments_and_docstrings_are_not_counted(tmp_path):
    text = """'A module.'

# Why.
def f(a, *, b):
    'Do.'

    return (
        a + b
    )
"""
    (tmp_path / "m.py").write_text(text)
    assert list(measured(tmp_path)) == [("m.py", 4, None), ("m.py f", 3, ["a", "b"])]
