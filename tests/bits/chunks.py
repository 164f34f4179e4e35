"""Calls on arrays in chunks of Dask, arrays with names of xarray, tables of Dask, and streams."""

from functools import partial
from itertools import product

import dask
import dask.array as da
import numpy as np
import pandas
import xarray
from dask import dataframe

from .inputs import each, each_way, ends, image, integers, mask, uniform
from .names import cc

CASES = {
    "1d": ((40,), ((7, 13, 20),)),
    "2d": ((13, 18), (5, 7)),
    "3d": ((6, 9, 11), ((2, 1, 3), 4, 6)),
    "one chunk": ((9, 10), (9, 10)),
    "single rows": ((6, 20), (1, 20)),
}


def _whole(call):
    """Return a call that computes what another gives, one task after the other."""

    def called(**options):
        with dask.config.set(scheduler="sync"):
            return dask.compute(call(**options))

    return called


def _of_lazy_labels():
    for (kind, (shape, chunks)), dtype in product(CASES.items(), ("b1", "u1", "f4")):
        lazy = da.from_array(image(shape, dtype, len(shape)), chunks)
        for connectivity in sorted({1, len(shape)}):
            find = partial(cc.label, lazy, return_num=True, connectivity=connectivity)
            yield f"lazy {kind} {dtype} c{connectivity}", each_way(len(shape), _whole(find))
        yield f"lazy {kind} {dtype} numberings", _whole(lambda lazy=lazy: _both(cc.label, lazy))
    values = integers((6, 9, 11), 4, 3).astype("u1")
    lazy = da.from_array(values, (2, 4, 6))
    half = mask((3, 3, 3), 0.3, 4)
    for word, options in {
        "structure": {"structure": half | np.flip(half)},
        "tolerance": {"tolerance": 1},
        "background": {"background": 2},
        "batch": {"batch_axes": 1, "return_num": True},
        "batch 2": {"batch_axes": 2, "return_num": True},
        "i8": {"dtype": "i8"},
        "u2": {"dtype": "u2"},
        "smallest": {"dtype": "smallest"},
        "out": {"out": np.zeros((6, 9, 11), "i4")},
        "algorithm": {"algorithm": "tiles"},
        "no option": {"none": 1},
        "connectivity": {"connectivity": 4},
    }.items():
        yield f"lazy {word}", _whole(partial(cc.label, lazy, **options))
    for form, batch in product(("planes", "codes"), (0, 1)):
        planes = mask((3 - batch, 6, 7, 8), 0.4, 2)
        bits = (1 << np.arange(len(planes))).reshape(-1, 1, 1, 1)
        bonds = planes if form == "planes" else (planes * bits).sum(axis=0).astype("u1")
        lazy = da.from_array(bonds, (1, 3, 4, 5) if form == "planes" else (3, 4, 5))
        find = partial(cc.label_bonds, lazy, batch_axes=batch, return_num=True)
        yield f"lazy bonds {form} {batch}", each_way(3 - batch, _whole(find))


def _both(function, given):
    return [function(given, numbering=numbering) for numbering in ("consecutive", "roots")]


def _of_lazy_measures():
    values = mask((6, 9, 11), 0.4, 5)
    labels = cc.label(values, connectivity=1)
    lazy, brightness = da.from_array(labels, (2, 4, 6)), uniform(labels.shape, 6)
    integer = da.from_array(integers(labels.shape, 99, 7), (2, 4, 6))
    functions = {
        "sizes": cc.component_sizes,
        "histogram": cc.size_histogram,
        "statistics": cc.component_statistics,
        "statistics of integers": partial(cc.component_statistics, image=integer, surfaces=True),
        "statistics of floats": partial(
            cc.component_statistics, image=da.from_array(brightness, (2, 4, 6))
        ),
        "statistics in units": partial(cc.component_statistics, spacing=(2, 1, 0.5)),
        "properties": partial(cc.component_statistics, properties=["area", "bbox"]),
        "contacts": cc.contacts,
        "contacts of corners": partial(cc.contacts, connectivity=3, periodic=True),
        "match": partial(cc.match, labels_b=da.from_array(np.roll(labels, 1), (2, 4, 6))),
        "largest": partial(cc.largest_components, k=2),
        "not small": partial(cc.remove_small_components, min_size=3),
        "consecutive": cc.relabel_consecutive,
        "consecutive and old": partial(cc.relabel_consecutive, return_labels=True),
        "members": cc.component_members,
        "spans": cc.component_spans,
        "sorted": cc.sort_by_size,
        "filled": cc.fill_holes,
        "adjacency": cc.region_adjacency,
    }
    for word, function in functions.items():
        yield (
            f"{word} of chunks",
            each(
                [
                    _whole(partial(function, lazy)),
                    _whole(partial(function, lazy, batch_axes=1, background=0)),
                ]
            ),
        )
    lazy = da.from_array(values, (2, 4, 6))
    for connectivity in (1, 3):
        yield (
            f"masks in chunks c{connectivity}",
            each(
                [
                    _whole(partial(cc.largest_components, lazy, 2, connectivity=connectivity)),
                    _whole(partial(cc.remove_small_components, lazy, 3, connectivity=connectivity)),
                ]
            ),
        )


def _of_lazy_tables():
    src, dst = ends(30, 40, 3)
    table = pandas.DataFrame({"a": src, "b": dst, "w": integers((40,), 9, 4) / 4})
    lazy = dataframe.from_pandas(table, npartitions=3)
    for vertices in (None, 50, 3):
        options = {"num_vertices": vertices}
        yield (
            f"edges in partitions {vertices}",
            each(
                [
                    _whole(partial(cc.label_edge_files, lazy, "a", "b", **options)),
                    _whole(partial(cc.forest_of_edge_files, lazy, "a", "b", **options)),
                    _whole(
                        partial(cc.minimum_forest_of_edge_files, lazy, "a", "b", "w", **options)
                    ),
                ]
            ),
        )
    for word, options in {
        "": {},
        " weights": {"weights": "w", "threshold": 1.0},
        " thresholds": {"weights": "w", "threshold": [0.5, 1.5]},
        " first": {"cluster_ids": "first"},
        " largest size": {"weights": "w", "max_size": 3},
    }.items():
        yield (
            f"pairs in partitions{word}",
            _whole(partial(cc.cluster_pairs, lazy, "a", "b", **options)),
        )


def _of_names():
    values = mask((3, 6, 9), 0.4, 3)
    for kind in ("numpy", "dask"):
        field = xarray.DataArray(
            values if kind == "numpy" else da.from_array(values, (1, 3, 4)),
            dims=("time", "lat", "lon"),
            coords={"lat": np.linspace(-75, 75, 6), "lon": 40 * np.arange(9)},
            attrs={"units": "1"},
            name="rain",
        )
        for word, options in {
            "": {"return_num": True},
            " periodic": {"periodic": ["lon"], "connectivity": 1},
            " one name": {"periodic": "lon", "batch_dims": "time", "return_num": True},
            " batches": {"batch_dims": ["time"], "return_num": True},
            " batch axes": {"batch_axes": 1},
            " roots": {"numbering": "roots"},
            " no name": {"periodic": ["none"]},
            " names and axes": {"batch_dims": ["time"], "batch_axes": 1},
            " flags": {"periodic": (False, False, True)},
        }.items():
            yield f"names {kind}{word}", partial(cc.label, field, **options)
        labels = partial(cc.label, field)
        for word, choose in {
            "largest": lambda labels: cc.largest_components(labels(), 2),
            "not small": lambda labels: cc.remove_small_components(labels(), 3),
            "consecutive": lambda labels: cc.relabel_consecutive(3 * labels()),
            "sizes": lambda labels: cc.component_sizes(labels()),
            "statistics": lambda labels: cc.component_statistics(labels()),
            "turned": lambda labels: cc.match(labels(), labels().transpose("lon", "time", "lat")),
            "sorted": lambda labels: cc.sort_by_size(labels()),
            "filled": lambda labels: cc.fill_holes(labels()),
        }.items():
            yield f"names {kind} {word}", _whole(partial(choose, labels))
        yield f"names {kind} variable", partial(cc.label, field.variable)
        yield f"names {kind} dataset", partial(cc.label, field.to_dataset())


def _of_streams():
    for (ndim, shape), dtype in product({2: (14, 9), 3: (9, 6, 7)}.items(), ("b1", "u1", "f4")):
        volume, values = image(shape, dtype, 3), uniform(shape, 4)
        for size in (1, 4, 20):
            slabs = [volume[k : k + size] for k in range(0, len(volume), size)]
            bright = [(slab, values[k * size : (k + 1) * size]) for k, slab in enumerate(slabs)]
            for word, options in {
                "": {},
                " faces": {"connectivity": 1, "surfaces": True},
                " periodic": {"periodic": True, "spacing": 2.0},
                " background": {"background": 1},
            }.items():
                yield (
                    f"stream {ndim}d {dtype} {size}{word}",
                    partial(_streamed, slabs, bright, options),
                )
    for word, slabs in {
        "nothing": [],
        "shapes": [np.ones((2, 3)), np.ones((2, 4))],
        "dtypes": [np.ones((2, 3)), np.ones((2, 3), bool)],
        "scalars": [1],
        "an array": np.ones((4, 3), bool),
        "text": "abc",
        "pairs of shapes": [(np.ones((2, 3)), np.ones((2, 4)))],
        "no slab": 3,
    }.items():
        yield f"stream of {word}", lambda slabs=slabs: list(cc.stream_labels(slabs))
    yield "stream tolerance", lambda: list(cc.stream_labels([uniform((4, 9), 2)], tolerance=0.1))
    yield (
        "stream structure",
        lambda: list(
            cc.stream_labels(
                [mask((4, 9), 0.4, 2)] * 2, structure=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            )
        ),
    )


def _streamed(slabs, bright, options):
    return list(cc.stream_labels(slabs, **options)), list(cc.stream_labels(bright, **options))
