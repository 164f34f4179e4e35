"""Each parameter of each public function is given what it cannot be, and says so by its name.

What is wrong depends on the kind of the parameter, which its annotation says: text for a bool, a
fraction or a bool for an integer, and for any of them a graph, an object and a function. Of hostile
values some may be taken; the others are refused in words that can be read.
"""

import ast
import inspect
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import conncomp
from bits.errors import of_files, of_functions, of_models
from conncomp import Graph, IncrementalComponents, generate, models
from conncomp.generate import directed, patterns, random
from conncomp.models import Ising


class Opaque:
    def __repr__(self):
        return "something"


GRAPH = Graph.from_edges([0, 1], [1, 2], 4)
OF_NO_KIND = {
    "object": Opaque(),
    "graph": GRAPH,
    "matrix": scipy.sparse.csr_array(np.eye(3)),
    "complex": 1j,
    "function": len,
    "dictionary": {"a": 2},
}
WRONG = {
    "bool": {"text": "no", "2": 2, "list": [], "half": 0.5, "NaN": math.nan, "of 2": np.ones(2)},
    "int": {"text": "abc", "half": 1.5, "one": 1.0, "True": True, "list": [1, 2], "NaN": math.nan},
    "float": {"text": "0.5", "list": [[1], [2, 3]], "True": True},
    "str": {"5": 5, "text": "no such", "bytes": b"auto", "True": True, "list": ["auto"]},
    "array": {"text": "abc", "ragged": [[1], [2, 3]], "objects": np.array([Opaque(), None])},
    "list": {
        **{"None": None, "half": 3.5, "text": "ab", "bytes": b"ab", "set": {1}, "NaN": math.nan},
        **{
            "texts": ["a"],
            "list of None": [None],
            "ragged": [[1], [2, 3]],
            "zeros": np.zeros((2, 2)),
        },
        **{"structured": np.zeros(2, [("a", "i4")]), "objects": np.array([Opaque(), None])},
        **{"range beyond any memory": range(2**40), "model": models.Potts((2, 2))},
    },
    "function": {"text": "abc", "3": 3, "list": []},
    "bools": {"text": "all", "2": 2, "None": None, "half": 0.5, "entries": (1, 0)},
    "floats": {"text": "12", "ragged": [[1], [2, 3]], "True": True, "entries": ("1", "2")},
}
# What the errors of a kind say, beside the name and the value.
SAID = {
    "bool": "must be True or False",
    "int": "must be an integer",
    "function": "must be a function",
    "float": "must be a (real )?number",
    "bools": "must be (True|a bool|a sequence)",
    "floats": "must be a (number|sequence)",
    "str": "",
}
# What they say of what is no array of the right dtype.
SAID_OF_ARRAYS = {
    "matrix": r"is a csr_array of scipy, which is sparse; .*\.toarray\(\)",
    "objects": r"is an array of Python objects; .*\.astype\(\)",
    "fractions": "is of dtype float64",
    "mask": "is of dtype bool",
}
LISTS = "shape", "periodic", "measured", "function", "watch"
KINDS = {
    "bool": "bool",
    "bool | None": "bool",
    "int": "int",
    "int | None": "int",
    "float": "float",
    "float | None": "float",
    "str": "str",
    "str | None": "str",
    "Numbering": "str",
    "Literal['weak', 'strong']": "str",
    "bool | Sequence[bool]": "bools",
    "float | Sequence[float] | None": "floats",
    "Progress | None": "function",
    "ArrayLike": "array",
    "ArrayLike | None": "array",
    "Any": None,
}
IMAGE = np.eye(4, dtype=np.int64)
CALLS = {**of_functions(), **of_models()}
# Kinds of what functions take by name beyond their signatures.
BEYOND = {
    **dict.fromkeys(("clusters", "wrapping", "measure"), "bool"),
    "beta": "array",
    "seed": "int",
    "first_replica": "int",
}

ERRORS = (TypeError, ValueError, OverflowError, MemoryError)
UNREADABLE = ("nanobind", "incompatible function arguments", "dtype object", "ambiguous")
LONGEST_MESSAGE = 400


class NoArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("it is none")


class NoInteger:
    def __index__(self):
        raise RuntimeError("it is none")

    def __repr__(self):
        raise RuntimeError("it has no representation")


class NoData:
    __array_interface__ = {"shape": (2,), "typestr": "<i4", "version": 3}  # noqa: RUF012


class Endless:
    """A sequence that says it is longer than any memory."""

    def __len__(self):
        return 2**40

    def __getitem__(self, place):
        return 1


def itself():
    """Return a list that holds itself."""
    values = []
    values.append(values)
    return values


def read_only():
    values = np.eye(3, dtype=np.int32)
    values.flags.writeable = False
    return values


HOSTILE = {
    "None": lambda: None,
    "string": lambda: "abc",
    "bytes": lambda: b"abc",
    "no array": NoArray,
    "no integer": NoInteger,
    "no data": NoData,
    "huge": lambda: 10**30,
    "more digits than Python prints": lambda: 10**5000,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "negative": lambda: -5,
    "True": lambda: True,
    "complex": lambda: 1j,
    "list": lambda: [1, 2, 3],
    "ragged": lambda: [[1], [2, 3]],
    "itself": itself,
    "dictionary": lambda: {1: 2},
    "set": lambda: {1},
    "function": lambda: len,
    "class": lambda: np.ndarray,
    "module": lambda: np,
    "generator": lambda: (i for i in range(3)),
    "range": lambda: range(3),
    "range beyond any memory": lambda: range(2**40),
    "range beyond any length": lambda: range(2**80),
    "sequence beyond any memory": Endless,
    "list of a range beyond any memory": lambda: [range(2**40)] * 2,
    "memory": lambda: memoryview(b"abc"),
    "date": lambda: np.datetime64("2020-01-01"),
    "bool array": lambda: np.array([True, False]),
    "bool matrix": lambda: np.eye(2, dtype=bool),
    "objects": lambda: np.array([object(), None]),
    "matrix of objects": lambda: np.array([[None, 1], [2, 3]], object),
    "structured": lambda: np.zeros((2, 2), [("a", "i4")]),
    "masked and structured": lambda: np.ma.zeros((2, 2), [("a", "i4")]),
    "records": lambda: np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "dates": lambda: np.zeros((2, 2), "M8[s]"),
    "durations": lambda: np.zeros(3, "m8[s]"),
    "0-d": lambda: np.array(3),
    "0-d float": lambda: np.array(3.5),
    "40-d": lambda: np.zeros((1,) * 40, int),
    "20-d": lambda: np.ones((2,) * 20, np.uint8),
    "objects in 32-d": lambda: np.zeros((1,) * 32, object),
    "empty": lambda: np.zeros(0),
    "empty matrix": lambda: np.zeros((0, 0), int),
    "floats": lambda: np.array([1.5, np.nan]),
    "matrix of NaN": lambda: np.full((2, 2), np.nan),
    "complex matrix": lambda: np.zeros((2, 2), complex),
    "strings": lambda: np.array(["a", "b"]),
    "void": lambda: np.zeros(2, "V3"),
    "beyond int64": lambda: np.array([2**63, 2**64 - 1], np.uint64),
    "ends of int64": lambda: np.array([[-(2**63), 2**63 - 1]]),
    "np.matrix": lambda: np.eye(3, dtype=int).view(np.matrix),
    "read-only": read_only,
    "masked": lambda: np.ma.masked_equal([[0, 1], [1, 2]], 1),
    "long double": lambda: np.eye(3, dtype=np.longdouble),
    "half": lambda: np.eye(3, dtype=np.float16),
    "swapped bytes": lambda: np.eye(3, dtype=">i4"),
    "graph": lambda: GRAPH,
    "sparse matrix": lambda: scipy.sparse.csr_array(np.eye(3)),
    "sparse matrix of blocks": lambda: scipy.sparse.bsr_array(np.eye(4), blocksize=(2, 2)),
    "components": lambda: IncrementalComponents(3),
    "model": lambda: Ising(2, beta=0.5),
}

# Arguments that are not wrong, after all.
RIGHT = {
    *(("graph", name) for name in ("csgraph", "graph", "shape")),
    *(("matrix", name) for name in ("csgraph", "graph", "matrix")),
    *(("True", name) for name in ("background",)),
    ("objects", "values"),  # which are only put in order
    ("matrix", "dtype"),  # that it has
    ("one", "connectivity"),
    *((word, "watch") for word in ("function", "None")),
    ("function", "function"),
    ("function", "progress"),
    ("complex", "image"),
    ("text", "title"),
    ("text", "scheduler"),  # an address where nobody answers
}
# By which name an argument is called where it is passed on.
ALSO = {("percolates", "image"): "label_image"}
TABLES = {"cluster_pairs", "cluster_quality"}
# Arrays of integers, by their axes, and calls that take masks in their place.
AXES_OF_INTEGERS = {
    **dict.fromkeys(("labels", "labels_a", "labels_b"), 2),
    **dict.fromkeys(("src", "dst", "indptr", "indices"), 1),
}
OF_MASKS = {"holes", "largest", "not small"}
# What is refused, whatever it is, for the sake of another argument, or may also be a word.
BY_OTHERS = {
    *(("largest", "connectivity"), ("not small", "connectivity"), ("quality", "threshold")),
    *(("Potts updater", "p_flip"), ("percolation labels", "p"), ("write image", "image")),
}
OR_NUMBERS = {"beta", "temperature", "fraction"}


def parameters_of(function, names=""):
    """Yield the name and kind of each parameter, and of `names` that it takes beyond them."""
    stated = inspect.signature(function).parameters
    for name, parameter in stated.items():
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            kind = KINDS.get(str(parameter.annotation))
            yield name, "list" if name in LISTS and kind not in SAID else kind
    for name in names.split():
        if name not in stated and name in BEYOND:
            yield name, BEYOND[name]


def wrong_values(call, name, kind):
    yield from OF_NO_KIND.items()
    yield from WRONG.get(kind, {}).items()
    if kind == "bool" and name != "header":
        yield "None", None
    if kind == "array" and name in AXES_OF_INTEGERS:
        shape = (2,) * AXES_OF_INTEGERS[name]
        yield "fractions", np.full(shape, 0.5)
        if call not in OF_MASKS:
            yield "mask", np.ones(shape, bool)


def is_said(error, word, kind, call, name):
    """Whether an error says what its kind asks for; connectivity may be 1.0, but is an integer."""
    if (call, name) in BY_OTHERS:
        return True
    if kind == "array" and word in SAID_OF_ARRAYS and name not in OR_NUMBERS:
        said = f"^{name} {SAID_OF_ARRAYS[word]}"
        return isinstance(error, TypeError) and re.search(said, str(error))
    if kind not in SAID:
        return True
    said = SAID["int" if name == "connectivity" else kind]
    right_class = isinstance(error, TypeError) or kind == "str"
    return right_class and re.search(rf"{name}(\[\d\])?=.*{said}", str(error))


def check(call, function, make, names):
    """Give each parameter what is wrong; anything but an error that names it is reported."""
    options = make()
    for name, kind in parameters_of(function, names):
        for word, value in wrong_values(call, name, kind):
            if (word, name) in RIGHT or (call in TABLES and word == "matrix"):
                continue
            if "target" in options:
                options["target"].unlink(missing_ok=True)
            try:
                result = function(**{**options, name: value})
                if inspect.isgenerator(result):
                    list(result)
            except (TypeError, ValueError) as error:
                called = ALSO.get((call, name), name)
                if "\n" in str(error):
                    yield f"{name}: {word} takes several lines: {error}"
                if not re.search(rf"\b{re.escape(called)}\b", str(error)):
                    yield f"{name}: {word} is not named: {error}"
                if not is_said(error, word, kind, call, called):
                    yield f"{name}: {word} is a {type(error).__name__}: {error}"
            except Exception as error:
                yield f"{name}: {word} raises {error!r}"
            else:
                yield f"{name}: {word} is taken"


@pytest.mark.parametrize("call", CALLS)
def test_what_is_wrong_is_refused_by_its_name(call):
    assert list(check(call, *CALLS[call])) == []


@pytest.mark.parametrize("call", of_files())
def test_what_is_wrong_for_functions_on_files_is_refused_by_its_name(tmp_path, call):
    function, make, names = of_files()[call]
    assert list(check(call, function, partial(make, tmp_path), names)) == []


# What is of the right kind but out of range, and what the error says behind the name.
OUT_OF_RANGE = {
    "labels": [
        ([[1, -2]], " holds -2"),
        ([[1, 2**50]], " holds 1125899906842624"),
        (np.array([[2**64 - 1]], np.uint64), " holds 18446744073709551615"),
    ],
    "background": [(5, "=5"), (True, "=True"), (-2, "=-2")],
    "batch_axes": [(9, "=9 must be from 0 to"), (-1, "=-1 must be"), (10**30, "=10{30} must be")],
    "connectivity": [(9, "=9"), (-1, "=-1")],
    "periodic": [((True,) * 9, "=.* has 9 entries"), ((), r"=\(\) has 0 entries")],
    "spacing": [
        *(
            ((1,) * 9, "=.* has 9 lengths"),
            ((), r"=\(\) has 0 lengths"),
            (0, "=0 must be positive"),
        ),
        *((-1, "=-1 must be positive"), (math.nan, "=nan must be"), (math.inf, "=inf must be")),
    ],
    "tolerance": [(-1, "=-1 must be 0 or"), (-math.inf, "=-inf must"), (math.nan, "=nan must be")],
    **{name: [(-1, "=-1")] for name in ("k", "max_size", "num_vertices")},
    "seed": [(-1, "=-1"), (2**64, "="), (2**70, "="), (np.int64(-1), "=.*-1")],
}
OUT_OF_RANGE |= dict.fromkeys(("labels_a", "labels_b"), OUT_OF_RANGE["labels"])
IN_RANGE = {("consecutive", "labels"), ("not small", "max_size"), ("Ising of a graph", "periodic")}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_out_of_range_is_refused_by_its_name(call):
    function, make, names = CALLS[call]
    for name, kind in parameters_of(function, names):
        if (call, name) in IN_RANGE or (name, kind) == ("background", "float"):
            continue
        for value, words in OUT_OF_RANGE.get(name, ()):
            with pytest.raises(ValueError, match=f"{name}{words}"):
                list(function(**{**make(), name: value}))


@pytest.mark.parametrize(
    "call", [call for call, (function, _, names) in CALLS.items() if "seed" in names.split()]
)
def test_seeds_are_of_64_bits(call):
    function, make, _ = CALLS[call]
    for seed in (0, 2**64 - 1, np.int8(3), np.uint64(2**64 - 1)):
        function(**{**make(), "seed": seed})


@pytest.mark.parametrize("call", CALLS)
def test_what_is_hostile_gives_readable_errors_only(call):
    function, make, names = CALLS[call]
    assert list(hostile_words(function, make(), names)) == []


@pytest.mark.parametrize("call", ["label file", "plan"])
def test_what_is_hostile_to_functions_on_files_gives_readable_errors_only(
    tmp_path, monkeypatch, call
):
    monkeypatch.chdir(tmp_path)
    function, make, names = of_files()[call]
    assert list(hostile_words(function, make(tmp_path), names)) == []


def hostile_words(function, options, names):
    """Yield what is wrong with the errors that hostile values give."""
    for name in names.split():
        for word, value in HOSTILE.items():
            if "target" in options:
                options["target"].unlink(missing_ok=True)
            try:
                result = function(**{**options, name: value()})
                if inspect.isgenerator(result):
                    list(result)
            except ERRORS as error:
                message = str(error)
                # An unknown property is answered by the names of all.
                if not 0 < len(message) < LONGEST_MESSAGE * (1 + 2 * (name == "properties")):
                    yield f"{name}: {word} has {len(message)} characters"
                yield from (f"{name}: {word}: {part}" for part in UNREADABLE if part in message)
            except OSError:
                assert name in ("source", "target", "scheduler")


def test_most_of_what_is_hostile_is_refused():
    refused = 0
    for make in HOSTILE.values():
        try:
            Graph.from_edges(make(), [0, 1])
        except ERRORS:
            refused += 1
    assert refused > 0.9 * len(HOSTILE)


def test_every_public_function_is_here():
    known = {function for function, *_ in CALLS.values()}
    rooms = (conncomp, conncomp.diagnostics, generate, directed, patterns, random, models)
    public = {
        getattr(room, name)
        for room in rooms
        for name in room.__all__
        if inspect.isfunction(getattr(room, name))
    }
    missing = {function.__name__ for function in public - known}
    assert missing <= ELSEWHERE


# Functions without arguments, on files (here and in tests/tables), or of other rooms.
ELSEWHERE = {
    *("read_image", "write_image", "write_view", "label_file", "plan_labels", "open_volume"),
    *("label_edge_files", "spanning_forest_of_files", "minimum_spanning_forest_of_files"),
    "cluster_dups",
    *("get_num_threads", "show_config", "kernel_times"),
    *("reweight", "jackknife", "summarise_overlaps", "Labeller"),
}


@pytest.mark.parametrize("connection", ["strong", "weak", "STRONG"])
def test_the_kind_of_components_in_the_place_of_directed_is_refused(connection):
    for graph in (GRAPH, scipy.sparse.csr_array(np.eye(3)), np.eye(3)):
        with pytest.raises(TypeError, match=r"directed='.*name the kind of components by connect"):
            conncomp.connected_components(graph, connection)
    for slip in (lambda: conncomp.label(IMAGE, 0, 2), lambda: conncomp.label(IMAGE, 0, "yes")):
        with pytest.raises(TypeError, match="return_num="):
            slip()


@pytest.mark.parametrize("kind", [bool, np.bool_, int, np.int8, np.uint64])
def test_bools_and_zero_and_one_are_bools(kind):
    for value in (0, 1):
        found = conncomp.label(IMAGE, return_num=kind(value))
        assert isinstance(found, tuple) == bool(value)
    with pytest.raises(TypeError, match="return_num="):
        conncomp.label(IMAGE, return_num=np.array(True))


@pytest.mark.parametrize(
    "call", [lambda: models.Ising(True), lambda: models.Ising((4, 4), beta=True)]
)
def test_bools_are_no_numbers(call):
    with pytest.raises(TypeError, match="True"):
        call()


@pytest.mark.parametrize("value", [GRAPH, models.Ising((2, 2)), conncomp.Workspace()])
def test_functions_of_labels_refuse_what_else_this_package_has(value):
    names = "contacts component_sizes match_labels fill_holes iterate_components sort_by_size"
    for name in names.split():
        arguments = (value, IMAGE) if name == "match_labels" else (value,)
        with pytest.raises(TypeError, match="labels"):
            list(getattr(conncomp, name)(*arguments))
    with pytest.raises(TypeError, match="csgraph is a "):
        conncomp.connected_components(conncomp.component_statistics(IMAGE))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: conncomp.component_statistics(IMAGE, intensity_image=IMAGE),
            "component_statistics has no argument 'intensity_image'; image= is",
        ),
        (
            lambda: conncomp.iterate_components(IMAGE, intensity_image=IMAGE),
            "the .crop() of each component",
        ),
        (lambda: conncomp.largest_components(IMAGE, n=2), "no argument 'n'; k= is"),
        (lambda: conncomp.remove_small_components(IMAGE, threshold=2), "min_size= is"),
        (lambda: conncomp.match_labels(IMAGE, IMAGE, threshold=0.5), "scores(threshold=)"),
    ],
)
def test_names_of_other_libraries_lead_to_those_here(call, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        call()


def test_braces_in_messages_are_filled_in():
    """A brace is doubled where there is an f before the quotes, and only there."""
    for path in Path(conncomp.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not {"{{", "}}"} & set(re.findall(r"\{\{|\}\}", node.value)), path
