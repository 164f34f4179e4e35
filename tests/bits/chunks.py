"""Calls on arrays in chunks of Dask, arrays with names of xarray, tables of Dask, and streams."""

from functools import partial
from itertools import product

import dask
import dask.array as da
import numpy as np
import pandas
import xarray
from dask import dataframe

from .inputs import cases, ends, image, integers, mask, rows, uniform
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


def _of_lazy_labels():
    for (kind, (shape, chunks)), dtype in product(CASES.items(), ("b1", "u1", "f4")):
        lazy = da.from_array(image(shape, dtype, len(shape)), chunks)
        known = globals() | {"lazy": lazy, "ndim": len(shape)}
        text = f"""lazy {kind} {dtype} c{{k}}: each_way(ndim, _whole(partial(
            cc.label, lazy, return_num=True, connectivity=k)))()"""
        yield from rows(text, known, k=sorted({1, len(shape)}))
        text = f"""lazy {kind} {dtype} numberings:
            [cc.label(lazy, numbering=numbering) for numbering in ("consecutive", "roots")]"""
        yield from rows(text, known, _whole)
    half = mask((3, 3, 3), 0.3, 4)
    ways = """
        structure: structure=half | np.flip(half); tolerance: tolerance=1; background: background=2;
        batch: batch_axes=1, return_num=True; batch 2: batch_axes=2, return_num=True;
        i8: dtype="i8"; u2: dtype="u2"; smallest: dtype="smallest"; algorithm: algorithm="tiles";
        out: out=np.zeros((6, 9, 11), "i4"); no option: none=1; connectivity: connectivity=4
    """
    lazy = in_chunks(integers((6, 9, 11), 4, 3).astype("u1"))
    text = "lazy {way}: cc.label(lazy, **way)"
    yield from rows(text, {"lazy": lazy}, _whole, way=cases(ways, half=half))
    text = """lazy bonds {form} {batch}: each_way(3 - batch, _whole(partial(
        cc.label_bonds, _bonds(form, batch), batch_axes=batch, return_num=True)))()"""
    yield from rows(text, globals(), form=("planes", "codes"), batch=(0, 1))


def _bonds(form, batch):
    planes = mask((3 - batch, 6, 7, 8), 0.4, 2)
    if form == "planes":
        return da.from_array(planes, (1, 3, 4, 5))
    bits = (1 << np.arange(len(planes))).reshape(-1, 1, 1, 1)
    return da.from_array((planes * bits).sum(axis=0).astype("u1"), (3, 4, 5))


def _of_lazy_measures():
    values = mask((6, 9, 11), 0.4, 5)
    labels = cc.label(values, connectivity=1)
    functions = """
        sizes: cc.component_sizes; histogram: cc.size_histogram; members: cc.component_members;
        statistics: cc.component_statistics; spans: cc.component_spans; sorted: cc.sort_by_size;
        statistics of integers: partial(cc.component_statistics, image=integer, surfaces=True);
        statistics of floats: partial(cc.component_statistics, image=bright);
        statistics in units: partial(cc.component_statistics, spacing=(2, 1, 0.5));
        properties: partial(cc.component_statistics, properties=["area", "bbox"]);
        contacts: cc.contacts; filled: cc.fill_holes; adjacency: cc.region_adjacency;
        contacts of corners: partial(cc.contacts, connectivity=3, periodic=True);
        match: partial(cc.match, labels_b=moved); largest: partial(cc.largest_components, k=2);
        not small: partial(cc.remove_small_components, min_size=3);
        consecutive: cc.relabel_consecutive;
        consecutive and old: partial(cc.relabel_consecutive, return_labels=True)
    """
    known = {"integer": in_chunks(integers(labels.shape, 99, 7)), "whole": _whole}
    known |= {"bright": in_chunks(uniform(labels.shape, 6)), "lazy": in_chunks(labels)}
    known |= {"moved": in_chunks(np.roll(labels, 1)), "values": in_chunks(values)}
    text = """{f} of chunks: each([
        whole(partial(f(), lazy)), whole(partial(f(), lazy, batch_axes=1, background=0))])()"""
    yield from rows(text, known, f=dict(rows(functions, known)))
    text = """masks in chunks c{k}: each([
        whole(partial(cc.largest_components, values, 2, connectivity=k)),
        whole(partial(cc.remove_small_components, values, 3, connectivity=k))])()"""
    yield from rows(text, known, k=(1, 3))


def _of_lazy_tables():
    src, dst = ends(30, 40, 3)
    table = pandas.DataFrame({"a": src, "b": dst, "w": integers((40,), 9, 4) / 4})
    known = {"lazy": dataframe.from_pandas(table, npartitions=3), "whole": _whole}
    text = """edges in partitions {n}: each([
        whole(partial(cc.label_edge_files, lazy, "a", "b", num_vertices=n)),
        whole(partial(cc.forest_of_edge_files, lazy, "a", "b", num_vertices=n)),
        whole(partial(cc.minimum_forest_of_edge_files, lazy, "a", "b", "w", num_vertices=n))])()"""
    yield from rows(text, known, n=(None, 50, 3))
    ways = """: ; weights: weights="w", threshold=1.0; first: cluster_ids="first";
        thresholds: weights="w", threshold=[0.5, 1.5]; largest size: weights="w", max_size=3"""
    text = "pairs in partitions {way}: cc.cluster_pairs(lazy, 'a', 'b', **way)"
    yield from rows(text, known, _whole, way=cases(ways))


def _of_names():
    values = mask((3, 6, 9), 0.4, 3)
    fields = {"numpy": values, "dask": da.from_array(values, (1, 3, 4))}
    places = {"lat": np.linspace(-75, 75, 6), "lon": 40 * np.arange(9)}
    options = {"dims": ("time", "lat", "lon"), "attrs": {"units": "1"}, "name": "rain"}
    for kind, values in fields.items():
        fields[kind] = xarray.DataArray(values, coords=places, **options)
    ways = """
        : return_num=True; periodic: periodic=["lon"], connectivity=1; roots: numbering="roots";
        one name: periodic="lon", batch_dims="time", return_num=True; batch axes: batch_axes=1;
        batches: batch_dims=["time"], return_num=True; no name: periodic=["none"];
        names and axes: batch_dims=["time"], batch_axes=1; flags: periodic=(False, False, True)
    """
    yield from rows("names {f} {way}: cc.label(f, **way)", f=fields, way=cases(ways))
    text = """
        names {f} largest: cc.largest_components(cc.label(f), 2);
        names {f} not small: cc.remove_small_components(cc.label(f), 3);
        names {f} consecutive: cc.relabel_consecutive(3 * cc.label(f));
        names {f} sizes: cc.component_sizes(cc.label(f));
        names {f} statistics: cc.component_statistics(cc.label(f));
        names {f} turned: cc.match(cc.label(f), cc.label(f).transpose("lon", "time", "lat"));
        names {f} sorted: cc.sort_by_size(cc.label(f));
        names {f} filled: cc.fill_holes(cc.label(f))
    """
    yield from rows(text, wrap=_whole, f=fields)
    text = "names {f} variable: cc.label(f.variable); names {f} dataset: cc.label(f.to_dataset())"
    yield from rows(text, f=fields)


def _of_streams():
    ways = cases("""
        : ; faces: connectivity=1, surfaces=True; periodic: periodic=True, spacing=2.0;
        background: background=1
    """)
    text = "stream {shape} {dtype} {size} {way}: _streamed(shape, dtype, size, **way)"
    shapes = {"2d": (14, 9), "3d": (9, 6, 7)}
    dtypes = "b1", "u1", "f4"
    yield from rows(text, globals(), shape=shapes, dtype=dtypes, size=(1, 4, 20), way=ways)
    text = """
        nothing: []; shapes: [np.ones((2, 3)), np.ones((2, 4))]; scalars: [1];
        dtypes: [np.ones((2, 3)), np.ones((2, 3), bool)]; an array: np.ones((4, 3), bool);
        text: "abc"; pairs of shapes: [(np.ones((2, 3)), np.ones((2, 4)))]; no slab: 3
    """
    yield from rows("stream of {slabs}: list(cc.stream_labels(slabs()))", slabs=dict(rows(text)))
    text = """
        stream tolerance: list(cc.stream_labels([uniform((4, 9), 2)], tolerance=0.1));
        stream structure: list(cc.stream_labels( [mask((4, 9), 0.4, 2)] * 2, structure=[[1, 0, 0],
            [0, 1, 0], [0, 0, 1]]))
    """
    yield from rows(text)


def _streamed(shape, dtype, size, **options):
    volume, values = image(shape, dtype, 3), uniform(shape, 4)
    slabs = [volume[k : k + size] for k in range(0, len(volume), size)]
    bright = [(slab, values[k * size : (k + 1) * size]) for k, slab in enumerate(slabs)]
    return list(cc.stream_labels(slabs, **options)), list(cc.stream_labels(bright, **options))
