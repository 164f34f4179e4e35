"""Calls on arrays in chunks of Dask, arrays with names of xarray, tables of Dask, and streams."""

from functools import partial
from itertools import product

import dask
import dask.array as da
import numpy as np
import pandas
import xarray
from dask import dataframe

from .inputs import cases, ends, image, integers, mask, uniform
from .names import cc

CASES = {
    **{"1d": ((40,), ((7, 13, 20),)), "2d": ((13, 18), (5, 7)), "one chunk": ((9, 10), (9, 10))},
    **{"3d": ((6, 9, 11), ((2, 1, 3), 4, 6)), "single rows": ((6, 20), (1, 20))},
}
in_chunks = partial(da.from_array, chunks=(2, 4, 6))


def _whole(call):
    """Return a call that computes what another gives, one task after the other."""

    def called(**options):
        with dask.config.set(scheduler="sync"):
            return dask.compute(call(**options))

    return called


def _bonds(form, batch):
    planes = mask((3 - batch, 6, 7, 8), 0.4, 2)
    if form == "planes":
        return da.from_array(planes, (1, 3, 4, 5))
    bits = (1 << np.arange(len(planes))).reshape(-1, 1, 1, 1)
    return da.from_array((planes * bits).sum(axis=0).astype("u1"), (3, 4, 5))


def _streamed(shape, dtype, size, **options):
    volume, values = image(shape, dtype, 3), uniform(shape, 4)
    slabs = [volume[k : k + size] for k in range(0, len(volume), size)]
    bright = [(slab, values[k * size : (k + 1) * size]) for k, slab in enumerate(slabs)]
    return list(cc.stream_labels(slabs, **options)), list(cc.stream_labels(bright, **options))


CHUNKS = {
    f"{kind} {dtype}": (da.from_array(image(shape, dtype, len(shape)), chunks), len(shape))
    for (kind, (shape, chunks)), dtype in product(CASES.items(), ("b1", "u1", "f4"))
}
VALUES = mask((6, 9, 11), 0.4, 5)
LABELS = cc.label(VALUES, connectivity=1)
LAZY = in_chunks(LABELS)
NUMBERS = in_chunks(integers((6, 9, 11), 4, 3).astype("u1"))
HALF = mask((3, 3, 3), 0.3, 4)
WAYS = """
    structure: structure=HALF | np.flip(HALF); tolerance: tolerance=1; background: background=2;
    batch: batch_axes=1, return_num=True; batch 2: batch_axes=2, return_num=True;
    i8: dtype="i8"; u2: dtype="u2"; smallest: dtype="smallest"; algorithm: algorithm="tiles";
    out: out=np.zeros((6, 9, 11), "i4"); no option: none=1; connectivity: connectivity=4
"""
WAYS = cases(WAYS, HALF=HALF)
MEASURES = """
    sizes: cc.component_sizes; histogram: cc.size_histogram; members: cc.component_members;
    statistics: cc.component_statistics; spans: cc.component_spans; sorted: cc.sort_by_size;
    statistics of integers: partial(
        cc.component_statistics, image=in_chunks(integers((6, 9, 11), 99, 7)), surfaces=True);
    statistics of floats:
        partial(cc.component_statistics, image=in_chunks(uniform((6, 9, 11), 6)));
    statistics in units: partial(cc.component_statistics, spacing=(2, 1, 0.5));
    properties: partial(cc.component_statistics, properties=["area", "bbox"]);
    contacts: cc.contacts; filled: cc.fill_holes; adjacency: cc.region_adjacency;
    contacts of corners: partial(cc.contacts, connectivity=3, periodic=True);
    match: partial(cc.match, labels_b=in_chunks(np.roll(LABELS, 1)));
    largest: partial(cc.largest_components, k=2); consecutive: cc.relabel_consecutive;
    not small: partial(cc.remove_small_components, min_size=3);
    consecutive and old: partial(cc.relabel_consecutive, return_labels=True)
"""
SRC, DST = ends(30, 40, 3)
TABLE = pandas.DataFrame({"a": SRC, "b": DST, "w": integers((40,), 9, 4) / 4})
TABLE = dataframe.from_pandas(TABLE, npartitions=3)
PARTITIONS = cases(""": ; weights: weights="w", threshold=1.0; first: cluster_ids="first";
    thresholds: weights="w", threshold=[0.5, 1.5]; largest size: weights="w", max_size=3""")
RAIN = mask((3, 6, 9), 0.4, 3)
RAIN = {"numpy": RAIN, "dask": da.from_array(RAIN, (1, 3, 4))}
NAMED = {"coords": {"lat": np.linspace(-75, 75, 6), "lon": 40 * np.arange(9)}}
NAMED |= {"dims": ("time", "lat", "lon"), "attrs": {"units": "1"}, "name": "rain"}
FIELDS = {kind: xarray.DataArray(values, **NAMED) for kind, values in RAIN.items()}
WAYS_OF_NAMES = cases("""
    : return_num=True; periodic: periodic=["lon"], connectivity=1; roots: numbering="roots";
    one name: periodic="lon", batch_dims="time", return_num=True; batch axes: batch_axes=1;
    batches: batch_dims=["time"], return_num=True; no name: periodic=["none"];
    names and axes: batch_dims=["time"], batch_axes=1; flags: periodic=(False, False, True)
""")
STREAMS = cases("""
    : ; faces: connectivity=1, surfaces=True; periodic: periodic=True, spacing=2.0;
    background: background=1
""")
SLABS = """
    nothing: []; shapes: [np.ones((2, 3)), np.ones((2, 4))]; scalars: [1]; text: "abc";
    dtypes: [np.ones((2, 3)), np.ones((2, 3), bool)]; an array: np.ones((4, 3), bool);
    pairs of shapes: [(np.ones((2, 3)), np.ones((2, 4)))]; no slab: 3
"""
CALLS = """
@ of=CHUNKS
lazy {of} c1:
    each_way(of[1], _whole(partial(cc.label, of[0], return_num=True, connectivity=1)))()
@ of={f"{word} c{of[1]}": of for word, of in CHUNKS.items() if of[1] > 1}
lazy {of}:
    each_way(of[1], _whole(partial(cc.label, of[0], return_num=True, connectivity=of[1])))()
@_whole of=CHUNKS
lazy {of} numberings:
    [cc.label(of[0], numbering=numbering) for numbering in ("consecutive", "roots")]
@_whole way=WAYS
lazy {way}: cc.label(NUMBERS, **way)
@ form=("planes", "codes"), batch=(0, 1)
lazy bonds {form} {batch}: each_way(3 - batch, _whole(partial(
    cc.label_bonds, _bonds(form, batch), batch_axes=batch, return_num=True)))()
@ f=dict(rows(MEASURES, globals()))
{f} of chunks: each([
    _whole(partial(f(), LAZY)), _whole(partial(f(), LAZY, batch_axes=1, background=0))])()
@ k=(1, 3), lazy=[in_chunks(VALUES)]
masks in chunks c{k}: each([
    _whole(partial(cc.largest_components, lazy, 2, connectivity=k)),
    _whole(partial(cc.remove_small_components, lazy, 3, connectivity=k))])()
@ n=(None, 50, 3)
edges in partitions {n}: each([
    _whole(partial(cc.label_edge_files, TABLE, "a", "b", num_vertices=n)),
    _whole(partial(cc.forest_of_edge_files, TABLE, "a", "b", num_vertices=n)),
    _whole(partial(cc.minimum_forest_of_edge_files, TABLE, "a", "b", "w", num_vertices=n))])()
@_whole way=PARTITIONS
pairs in partitions {way}: cc.cluster_pairs(TABLE, "a", "b", **way)
@ f=FIELDS, way=WAYS_OF_NAMES
names {f} {way}: cc.label(f, **way)
@ f=FIELDS
names {f} variable: cc.label(f.variable); names {f} dataset: cc.label(f.to_dataset())
@_whole f=FIELDS
names {f} largest: cc.largest_components(cc.label(f), 2);
names {f} not small: cc.remove_small_components(cc.label(f), 3);
names {f} consecutive: cc.relabel_consecutive(3 * cc.label(f));
names {f} sizes: cc.component_sizes(cc.label(f)); names {f} sorted: cc.sort_by_size(cc.label(f));
names {f} statistics: cc.component_statistics(cc.label(f));
names {f} turned: cc.match(cc.label(f), cc.label(f).transpose("lon", "time", "lat"));
names {f} filled: cc.fill_holes(cc.label(f))
@ of={"2d": (14, 9), "3d": (9, 6, 7)}, dtype=("b1", "u1", "f4"), k=(1, 4, 20), way=STREAMS
stream {of} {dtype} {k} {way}: _streamed(of, dtype, k, **way)
@ slabs=dict(rows(SLABS))
stream of {slabs}: list(cc.stream_labels(slabs()))
@
stream tolerance: list(cc.stream_labels([uniform((4, 9), 2)], tolerance=0.1));
stream structure: list(cc.stream_labels(
    [mask((4, 9), 0.4, 2)] * 2, structure=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
"""
