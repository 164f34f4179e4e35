"""Calls on arrays: labels, bonds, wrapping, percolation."""

import contextlib
import io
from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pyarrow

from .inputs import cases, each_way, image, integers, mask, rows
from .names import cc

SHAPES = {1: (37,), 2: (9, 70), 3: (4, 5, 19), 4: (3, 4, 2, 7)}
FIRST = {n: SHAPES[n] for n in (1, 2, 3)}
DTYPES = ["b1", "u1", "i1", "u2", ">i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g"]
SIMPLE = {
    **{"auto": {}, "runs": {"algorithm": "runs"}, "raster scan": {"algorithm": "raster-scan"}},
    "label equivalence": {"algorithm": "label-equivalence"},
    "tiles": {"algorithm": "tiles"},
}
TILES = product(("self-labelling", "bfs", "union-find"), ("sewing", "relaxation"), (4, 16))
# A row for each algorithm with its options.
ALGORITHMS = SIMPLE | {
    f"tiles {local} {merge} {tile}": dict(SIMPLE["tiles"], local=local, merge=merge, tile=tile)
    for local, merge, tile in TILES
}


def _of_structures():
    for (ndim, shape), seed in product(FIRST.items(), range(6)):
        half = mask((3,) * ndim, 0.1 + 0.08 * seed, 20 + seed)
        options = {"structure": half | np.flip(half), "return_num": True}
        find = partial(cc.label, image(shape, "u1", seed), **options)
        yield f"label {ndim}d structure {seed}", each_way(ndim, find)
    cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    forms = {"list ": cross, "ndarray bool": np.array(cross, bool)}
    forms |= {
        "ndarray float32": np.array(cross, "f4"),
        "ndarray int64 columns": np.asfortranarray(cross),
    }
    for word, form in forms.items():
        find = partial(cc.label, image((8, 9), "u1"), structure=form)
        yield f"label structure {word}", find


def _into(function, *given, make, **options):
    """Call with `out`, and return whether it is the result, and its values."""
    out = make()
    result = function(*given, out=out, **options)
    return (result[0] if isinstance(result, tuple) else result) is out, result


def _containers():
    array = image((9, 20), "u1", 11)
    big = np.zeros((18, 40), "u1")
    big[::2, ::2] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    return {
        **{"list": array.tolist(), "tuple": tuple(map(tuple, array.tolist()))},
        **{"columns": np.asfortranarray(array), "strided": big[::2, ::2], "turned": array.T},
        **{"backwards": array[::-1, ::-1], "broadcast": np.broadcast_to(array[:1], (9, 20))},
        **{"read only": read_only, "memory": memoryview(array), "None": None},
        **{"masked": np.ma.masked_equal(array, 1), "matrix": array.view(np.matrix)},
        **{"masked floats": np.ma.masked_invalid(image((9, 20), "f4", 3))},
        **{"polars": polars.DataFrame(array), "pandas": pandas.DataFrame(array)},
        **{"pandas with nulls": pandas.DataFrame({"a": [1, None, 1]}).astype("Int64")},
        **{"arrow": pyarrow.array([1, None, 0, 1, 1]), "series": pandas.Series([1, 1, 0, 1])},
        **{"complex": array.astype("c8"), "objects": array.astype(object), "ragged": [[1], [2, 3]]},
        **{"text": np.array(["a", "b"]), "dates": np.zeros(3, "M8[s]")},
        "generator": (i for i in range(3)),
    }


def _bonds(shape, form, seed):
    planes = mask((len(shape), *shape), 0.45, seed)
    if form == "planes":
        return planes
    bits = (1 << np.arange(len(shape))).reshape(-1, *(1,) * len(shape))
    return (planes * bits).sum(axis=0).astype("u1")


def _with_parts(function, *given, **options):
    """Return what a call finds, with its properties."""
    found = function(*given, **options)
    return found, found.rank, found.vectors


def _configuration():
    """Return nothing of what is printed, which depends on the machine."""
    with contextlib.redirect_stdout(io.StringIO()):
        shown = cc.show_config()
    with cc.kernel_times() as times:
        cc.label(np.eye(3))
    return shown, times


TOLERANCES = [0.0, 0.05, 0.1, 0.2, np.inf, np.float32(0.1)]
TOLERANCES = {f"{value} {type(value).__name__}": value for value in TOLERANCES}
SMALL = ((), (0,), (1,), (2,), (3, 0), (0, 3), (1, 1), (1, 7), (7, 1), (2, 2), (1, 1, 1))
OUTS = rows("""
    i4: np.full((9, 21), 7, "i4"); i8: np.full((9, 21), 7, "i8");
    columns: np.full((21, 9), 7, "i4").T; strided: np.full((18, 21), 7, "i4")[::2];
    backwards: np.full((9, 21), 7, "i8")[::-1, ::-1]; u1: np.zeros((9, 21), "u1");
    f4: np.zeros((9, 21), "f4"); too small: np.zeros((9, 20), "i4"); list: [[0] * 21] * 9;
    swapped bytes: np.zeros((9, 21), ">i4")
""")
OUTS = dict(OUTS)
FITTING = {word: OUTS[word] for word in ("i4", "i8", "columns", "strided", "backwards")}
# Large enough for several threads, and for tiles of several words.
MANY = {
    **{"sparse": mask((260, 333), 0.1, 1), "dense": mask((260, 333), 0.75, 2)},
    **{"critical": mask((260, 333), 0.593, 3), "long": mask((3, 40_000), 0.6, 4)},
    **{"volume": mask((36, 45, 70), 0.3116, 5), "numbers": integers((250, 310), 2, 7) << 40},
    "classes": integers((250, 310), 3, 6).astype("u1"),
}
WAYS = cases("periodic: periodic=True; roots: numbering='roots', dtype='i8'; batch: batch_axes=1")
BONDS = dict(
    rows("""
    list: [[[True, False]], [[False, False]]]; codes above: np.full((2, 3), 4, "u1");
    floats: np.ones((2, 3, 3)); signed: np.ones((2, 3), "i4"); no axis: np.ones((), "u1");
    too few planes: np.ones((1, 3, 3), bool); empty: np.ones((2, 0, 3), bool)
    """)
)
GRIDS = {f"{n}d {d}": (n, d, mask(SHAPES[n], d, n)) for n in SHAPES for d in (0.4, 0.7)}
CONNECTED = {f"{g} c{k}": (*GRIDS[g], k) for g in GRIDS for k in {1, GRIDS[g][0]}}
ALONG = {f"{g} along {k}": (*CONNECTED[g], k) for g in CONNECTED for k in {0, CONNECTED[g][0] - 1}}
SLABS = image((3, 12, 14), "u1", 4)
wrapping = partial(_with_parts, cc.component_wrapping)
clusters = partial(_with_parts, cc.cluster_wrapping)
CALLS = """
@ axes=((2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)), dtype=("b1", "i4")
label {dtype} {axes[0]}d batch {axes[1]}: each_way(axes[0] - axes[1], lambda **way:
    each_numbering(cc.label, image(SHAPES[axes[0]], dtype, axes[0]), batch_axes=axes[1],
    return_num=True, **way)())()
@ by=SIMPLE, size=((5, 3, 3), (2, 20, 33))
label by {by} batch {size}: cc.label(image(size, "u1", 3), batch_axes=1, return_num=True, **by)
@ axes=[(n, k) for n in SHAPES for k in range(1, n + 1)], dtype=("b1", "u1", "f4")
label {dtype} {axes[0]}d c{axes[1]}: each_way(axes[0], partial(
    cc.label, image(SHAPES[axes[0]], dtype, axes[0]), None, True, axes[1]))()
@ dtype=DTYPES, shape={2: SHAPES[2], 3: SHAPES[3]}
label {dtype} {shape}d backgrounds: each(
    partial(cc.label, image(shape, dtype, 41), value, True) for value in (None, 1, -1, 2.5))();
label {dtype} {shape}d tolerances:
    each(partial(cc.label, image(shape, dtype, 41), tolerance=value) for value in (1, 2.5))()
@ value=(np.nan, np.inf, 0.5, True, np.float32(1.5), 3, 300), dtype=("b1", "u1", "f8")
label {dtype} background {value!r}: cc.label(image((9, 30), dtype, 5), value)
@ t=TOLERANCES, k=(1, 2)
label f8 tolerance {t} c{k}: cc.label(uniform((20, 30), 4), None, False, k, tolerance=t)
@ by=ALGORITHMS, shape=FIRST
label by {by} {shape}d: each([
    each_numbering(partial(cc.label, **by), image(shape, "u1", 7), return_num=True),
    partial(cc.label, mask(shape, 0.6, 8), connectivity=1, periodic=True, **by),
    partial(cc.label, uniform(shape, 9), tolerance=0.1, **by)])()
@ dtype=(None, "i4", "i8", "smallest", "u1", "u2", "u4", "f4"), num={"": False, " num": True}
label as {dtype}{num}: each_numbering(
    cc.label, mask((9, 21), 0.4, 3), dtype=dtype, return_num=num, connectivity=1)()
@ shape=SMALL
label shape {shape}: each(each_numbering(
    cc.label, np.full(shape, value), periodic=way, return_num=True)
    for value in (0, 1) for way in (False, True))()
@ make=OUTS
label out {make}: each_numbering(_into, cc.label, image((9, 21), "u1", 6), make=make)()
@ make=FITTING
label out {make} num batch:
    _into(cc.label, image((9, 21), "u1", 6), make=make, return_num=True, batch_axes=1)
@ make=[OUTS["i8"]]
label out and dtype:
    _into(cc.label, image((9, 21), "u1", 6), make=make, dtype="i8", connectivity=1)
@with_threads array=MANY, by={word: SIMPLE[word] for word in ("auto", "runs", "tiles")}
label {array} by {by}: cc.label(array, connectivity=1, return_num=True, **by)
@with_threads array=MANY, way=WAYS
label {array} {way}: cc.label(array, **way)
@ shape=SHAPES, form=("planes", "codes")
bonds {form} {shape}d: each_way(len(shape), lambda **way: each_numbering(
    cc.label_bonds, _bonds(shape, form, len(shape)), return_num=True, **way)())()
@ by=ALGORITHMS, ndim=(2, 3)
bonds by {by} {ndim}d: cc.label_bonds(_bonds(SHAPES[ndim], "planes", 9), periodic=True, **by)
@ n=(1, 2, 3)
bonds planes batch {n}:
    cc.label_bonds(mask((3 - n, 3, 4, 8), 0.5, n), batch_axes=n, return_num=True);
bonds codes batch {n}: cc.label_bonds(
    integers((3, 4, 8), 1 << (3 - n), n).astype("u1") if n < 3 else None,
    batch_axes=n, return_num=True)
@ dtype=("i4", "i8", "smallest", "u1")
bonds as {dtype}: cc.label_bonds(_bonds((9, 21), "planes", 3), dtype=dtype, return_num=True)
@ bonds=[_bonds((9, 70), "planes", 3)]
bonds out i4: _into(cc.label_bonds, bonds, make=lambda: np.zeros((9, 70), "i4"));
bonds out columns: _into(cc.label_bonds, bonds, make=lambda: np.zeros((70, 9), "i8").T);
bonds out u1: _into(cc.label_bonds, bonds, make=lambda: np.zeros((9, 70), "u1"))
@with_threads
bonds many: cc.label_bonds(_bonds((230, 310), "codes", 1), periodic=True, return_num=True)
@ given=BONDS
bonds {given}: cc.label_bonds(given(), return_num=True)
@ of=CONNECTED
wrapping {of}: each_way(of[0], partial(wrapping, of[2], connectivity=of[3]))()
@ of=ALONG
percolates {of}: cc.percolates(of[2], of[4], connectivity=of[3])
@ of=GRIDS
cluster wrapping {of}:
    each_way(of[0], partial(clusters, mask((of[0], *SHAPES[of[0]]), of[1], 3)))()
@ k=(-1, 2, 3, -4, 1.0, None)
percolates along {k}: cc.percolates(SLABS, k)
@
wrapping background: wrapping(SLABS, background=1); wrapping batch: wrapping(SLABS, batch_axes=1);
wrapping tolerance: wrapping(SLABS, tolerance=1);
wrapping structure: wrapping(SLABS, structure=np.ones((3, 3, 3)));
percolates background: cc.percolates(SLABS, 0, background=1);
percolates tolerance: cc.percolates(SLABS, 0, tolerance=1);
percolates structure: cc.percolates(SLABS, 0, structure=np.ones((3, 3, 3)));
percolates periodic: cc.percolates(SLABS, 0, periodic=(False, True, True));
percolates periodic along the axis: cc.percolates(SLABS, 0, periodic=True);
cluster wrapping batch: clusters(mask((2, 3, 8, 9), 0.6, 3), batch_axes=1);
workspace bytes: cc.Workspace().nbytes; configuration: _configuration()
@ given=_containers()
label {given}: cc.label(given, return_num=True)
"""
