"""Calls on arrays: labels, bonds, wrapping, percolation."""

import contextlib
import io
from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pyarrow

from .inputs import each, each_numbering, each_way, image, integers, mask, uniform, with_threads
from .names import cc

SHAPES = {1: (37,), 2: (9, 70), 3: (4, 5, 19), 4: (3, 4, 2, 7)}
DTYPES = ["b1", "u1", "i1", "u2", ">i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g"]
# A row for each algorithm with its options.
ALGORITHMS = {
    "auto": {},
    "runs": {"algorithm": "runs"},
    "raster scan": {"algorithm": "raster-scan"},
    "label equivalence": {"algorithm": "label-equivalence"},
    "tiles": {"algorithm": "tiles"},
    **{
        f"tiles {local} {merge} {tile}": {
            "algorithm": "tiles",
            "local": local,
            "merge": merge,
            "tile": tile,
        }
        for local, merge, tile in product(
            ("self-labelling", "bfs", "union-find"), ("sewing", "relaxation"), (4, 16)
        )
    },
}


def _of_neighbours():
    for (ndim, shape), dtype in product(SHAPES.items(), ("b1", "u1", "f4")):
        array = image(shape, dtype, ndim)
        for connectivity in range(1, ndim + 1):
            find = partial(cc.label, array, None, True, connectivity)
            yield f"label {dtype} {ndim}d c{connectivity}", each_way(ndim, find)


def _of_dtypes():
    for dtype, ndim in product(DTYPES, (2, 3)):
        array = image(SHAPES[ndim], dtype, 41)
        yield (
            f"label {dtype} {ndim}d backgrounds",
            each(partial(cc.label, array, value, True) for value in (None, 1, -1, 2.5)),
        )
        yield (
            f"label {dtype} {ndim}d tolerances",
            each(partial(cc.label, array, tolerance=value) for value in (1, 2.5)),
        )
    for background in (np.nan, np.inf, 0.5, True, np.float32(1.5), 3, 300):
        for dtype in ("b1", "u1", "f8"):
            array = image((9, 30), dtype, 5)
            yield f"label {dtype} background {background!r}", partial(cc.label, array, background)
    array = uniform((20, 30), 4)
    for tolerance in (0.0, 0.05, 0.1, 0.2, np.inf, np.float32(0.1)):
        for connectivity in (1, 2):
            yield (
                f"label f8 tolerance {tolerance} {type(tolerance).__name__} c{connectivity}",
                partial(cc.label, array, tolerance=tolerance, connectivity=connectivity),
            )


def _of_algorithms():
    for (name, options), (ndim, shape) in product(ALGORITHMS.items(), list(SHAPES.items())[:3]):
        find = partial(cc.label, **options)
        yield (
            f"label by {name} {ndim}d",
            each(
                [
                    each_numbering(find, image(shape, "u1", 7), return_num=True),
                    partial(find, mask(shape, 0.6, 8), connectivity=1, periodic=True),
                    partial(find, uniform(shape, 9), tolerance=0.1),
                ]
            ),
        )


def _of_structures():
    for ndim, shape in list(SHAPES.items())[:3]:
        for seed in range(6):
            half = mask((3,) * ndim, 0.1 + 0.08 * seed, 20 + seed)
            structure = half | np.flip(half)
            find = partial(cc.label, image(shape, "u1", seed), structure=structure, return_num=True)
            yield f"label {ndim}d structure {seed}", each_way(ndim, find)
    cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    for form in (cross, np.array(cross, bool), np.array(cross, "f4"), np.asfortranarray(cross)):
        yield (
            f"label structure {type(form).__name__} {getattr(form, 'dtype', '')}"
            f"{'' if isinstance(form, list) or form.flags.c_contiguous else ' columns'}",
            partial(cc.label, image((8, 9), "u1"), structure=form),
        )


def _of_numbers():
    array = mask((9, 21), 0.4, 3)
    for dtype, num in product(
        (None, "i4", "i8", "smallest", "u1", "u2", "u4", "f4"), (False, True)
    ):
        yield (
            f"label as {dtype}{' num' if num else ''}",
            each_numbering(cc.label, array, dtype=dtype, return_num=num, connectivity=1),
        )


def _of_batches():
    for ndim, batch in ((2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)):
        for dtype in ("b1", "i4"):
            array = image(SHAPES[ndim], dtype, ndim)
            find = partial(each_numbering, cc.label, array, batch_axes=batch, return_num=True)
            yield (
                f"label {dtype} {ndim}d batch {batch}",
                each_way(ndim - batch, lambda find=find, **options: find(**options)()),
            )
    for name, options in list(ALGORITHMS.items())[:5]:
        for size in ((5, 3, 3), (2, 20, 33)):
            yield (
                f"label by {name} batch {size}",
                partial(cc.label, image(size, "u1", 3), batch_axes=1, return_num=True, **options),
            )


def _into(function, *given, make, **options):
    """Call with `out`, and return whether it is the result, and its values."""
    out = make()
    result = function(*given, out=out, **options)
    return (result[0] if isinstance(result, tuple) else result) is out, result


def _of_results():
    array = image((9, 21), "u1", 6)
    outs = {
        "i4": lambda: np.full((9, 21), 7, "i4"),
        "i8": lambda: np.full((9, 21), 7, "i8"),
        "columns": lambda: np.full((21, 9), 7, "i4").T,
        "strided": lambda: np.full((18, 21), 7, "i4")[::2],
        "backwards": lambda: np.full((9, 21), 7, "i8")[::-1, ::-1],
        "u1": lambda: np.zeros((9, 21), "u1"),
        "f4": lambda: np.zeros((9, 21), "f4"),
        "too small": lambda: np.zeros((9, 20), "i4"),
        "swapped bytes": lambda: np.zeros((9, 21), ">i4"),
        "list": lambda: [[0] * 21] * 9,
    }
    for word, make in outs.items():
        yield f"label out {word}", each_numbering(_into, cc.label, array, make=make)
    for word, make in list(outs.items())[:5]:
        yield (
            f"label out {word} num batch",
            partial(_into, cc.label, array, make=make, return_num=True, batch_axes=1),
        )
    yield (
        "label out and dtype",
        partial(_into, cc.label, array, make=outs["i8"], dtype="i8", connectivity=1),
    )


def _of_containers():
    array = image((9, 20), "u1", 11)
    big = np.zeros((18, 40), "u1")
    big[::2, ::2] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    for word, given in {
        "list": array.tolist(),
        "tuple": tuple(map(tuple, array.tolist())),
        "columns": np.asfortranarray(array),
        "strided": big[::2, ::2],
        "backwards": array[::-1, ::-1],
        "turned": array.T,
        "broadcast": np.broadcast_to(array[:1], (9, 20)),
        "read only": read_only,
        "memory": memoryview(array),
        "masked": np.ma.masked_equal(array, 1),
        "masked floats": np.ma.masked_invalid(image((9, 20), "f4", 3)),
        "matrix": array.view(np.matrix),
        "polars": polars.DataFrame(array),
        "pandas": pandas.DataFrame(array),
        "pandas with nulls": pandas.DataFrame({"a": [1, None, 1]}).astype("Int64"),
        "arrow": pyarrow.array([1, None, 0, 1, 1]),
        "series": pandas.Series([1, 1, 0, 1]),
        "complex": array.astype("c8"),
        "objects": array.astype(object),
        "text": np.array(["a", "b"]),
        "dates": np.zeros(3, "M8[s]"),
        "ragged": [[1], [2, 3]],
        "None": None,
        "generator": (i for i in range(3)),
    }.items():
        yield f"label {word}", partial(cc.label, given, return_num=True)


def _of_few_elements():
    for shape in ((), (0,), (1,), (2,), (3, 0), (0, 3), (1, 1), (1, 7), (7, 1), (2, 2), (1, 1, 1)):
        yield (
            f"label shape {shape}",
            each(
                each_numbering(cc.label, np.full(shape, value), periodic=periodic, return_num=True)
                for value, periodic in product((0, 1), (False, True))
            ),
        )


def _of_many_elements():
    """Large enough for several threads, and for tiles of several words."""
    arrays = {
        "sparse": mask((260, 333), 0.1, 1),
        "dense": mask((260, 333), 0.75, 2),
        "critical": mask((260, 333), 0.593, 3),
        "long": mask((3, 40_000), 0.6, 4),
        "volume": mask((36, 45, 70), 0.3116, 5),
        "classes": integers((250, 310), 3, 6).astype("u1"),
        "numbers": integers((250, 310), 2, 7).astype("i8") << 40,
    }
    for word, array in arrays.items():
        for name in ("auto", "runs", "tiles"):
            find = partial(cc.label, array, connectivity=1, return_num=True, **ALGORITHMS[name])
            yield f"label {word} by {name}", with_threads(find)
        for name, options in {
            "periodic": {"periodic": True},
            "roots": {"numbering": "roots", "dtype": "i8"},
            "batch": {"batch_axes": 1},
        }.items():
            yield f"label {word} {name}", with_threads(partial(cc.label, array, **options))


def _bonds(shape, form, seed):
    planes = mask((len(shape), *shape), 0.45, seed)
    if form == "planes":
        return planes
    bits = (1 << np.arange(len(shape))).reshape(-1, *(1,) * len(shape))
    return (planes * bits).sum(axis=0).astype("u1")


def _of_bonds():
    for (ndim, shape), form in product(SHAPES.items(), ("planes", "codes")):
        bonds = _bonds(shape, form, ndim)
        find = partial(each_numbering, cc.label_bonds, bonds, return_num=True)
        yield (
            f"bonds {form} {ndim}d",
            each_way(ndim, lambda find=find, **options: find(**options)()),
        )
    for (name, options), ndim in product(ALGORITHMS.items(), (2, 3)):
        yield (
            f"bonds by {name} {ndim}d",
            partial(cc.label_bonds, _bonds(SHAPES[ndim], "planes", 9), periodic=True, **options),
        )
    for form, batch in product(("planes", "codes"), (1, 2, 3)):
        shape = (3, 4, 8)
        planes = mask((3 - batch, *shape), 0.5, batch)
        codes = integers(shape, 1 << (3 - batch), batch).astype("u1") if batch < 3 else None
        yield (
            f"bonds {form} batch {batch}",
            partial(
                cc.label_bonds,
                planes if form == "planes" else codes,
                batch_axes=batch,
                return_num=True,
            ),
        )
    for dtype in ("i4", "i8", "smallest", "u1"):
        yield (
            f"bonds as {dtype}",
            partial(cc.label_bonds, _bonds((9, 21), "planes", 3), dtype=dtype, return_num=True),
        )
    for word, make in {
        "i4": lambda: np.zeros((9, 70), "i4"),
        "columns": lambda: np.zeros((70, 9), "i8").T,
        "u1": lambda: np.zeros((9, 70), "u1"),
    }.items():
        yield (
            f"bonds out {word}",
            partial(_into, cc.label_bonds, _bonds((9, 70), "planes", 3), make=make),
        )
    many = partial(cc.label_bonds, _bonds((230, 310), "codes", 1), periodic=True, return_num=True)
    yield "bonds many", with_threads(many)
    for word, given in {
        "list": [[[True, False]], [[False, False]]],
        "codes above": np.full((2, 3), 4, "u1"),
        "floats": np.ones((2, 3, 3)),
        "signed": np.ones((2, 3), "i4"),
        "too few planes": np.ones((1, 3, 3), bool),
        "no axis": np.ones((), "u1"),
        "empty": np.ones((2, 0, 3), bool),
    }.items():
        yield f"bonds {word}", partial(cc.label_bonds, given, return_num=True)


def _with_parts(call):
    """Return what a call finds, with its properties."""

    def called(**options):
        found = call(**options)
        return found, found.rank, found.vectors

    return called


def _of_wrapping():
    for (ndim, shape), density in product(SHAPES.items(), (0.4, 0.7)):
        array = mask(shape, density, ndim)
        for connectivity in {1, ndim}:
            key, options = f"{ndim}d {density} c{connectivity}", {"connectivity": connectivity}
            find = partial(cc.component_wrapping, array, **options)
            yield f"wrapping {key}", each_way(ndim, _with_parts(find))
            for axis in {0, ndim - 1}:
                find = partial(cc.percolates, array, axis, **options)
                yield f"percolates {key} along {axis}", find
        find = partial(cc.cluster_wrapping, mask((ndim, *shape), density, 3))
        yield f"cluster wrapping {ndim}d {density}", each_way(ndim, _with_parts(find))
    array = image((3, 12, 14), "u1", 4)
    for word, options in {
        "batch": {"batch_axes": 1},
        "background": {"background": 1},
        "tolerance": {"tolerance": 1},
        "structure": {"structure": np.ones((3, 3, 3))},
    }.items():
        yield f"wrapping {word}", _with_parts(partial(cc.component_wrapping, array, **options))
    yield (
        "cluster wrapping batch",
        _with_parts(partial(cc.cluster_wrapping, mask((2, 3, 8, 9), 0.6, 3), batch_axes=1)),
    )
    for word, options in {
        "background": {"background": 1},
        "tolerance": {"tolerance": 1},
        "structure": {"structure": np.ones((3, 3, 3))},
        "periodic": {"periodic": (False, True, True)},
        "periodic along the axis": {"periodic": True},
    }.items():
        yield f"percolates {word}", partial(cc.percolates, array, 0, **options)
    for axis in (-1, 2, 3, -4, 1.0, None):
        yield f"percolates along {axis}", partial(cc.percolates, array, axis)
    yield "workspace bytes", lambda: cc.Workspace().nbytes
    yield "configuration", _configuration


def _configuration():
    """Return nothing of what is printed, which depends on the machine."""
    with contextlib.redirect_stdout(io.StringIO()):
        shown = cc.show_config()
    with cc.kernel_times() as times:
        cc.label(np.eye(3))
    return shown, times
