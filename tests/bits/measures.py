"""Calls on labels: sizes, statistics, selection, contacts, matches, colours."""

from functools import partial
from itertools import product

import numpy as np
import pandas
import polars
import pyarrow

from .canonical import Coarse
from .inputs import each, each_way, image, integers, mask, uniform, with_threads
from .names import cc

# Columns by LAPACK, or by roots and powers, whose last digits depend on the library.
COARSE = {
    *("axis_major_length", "axis_minor_length", "eccentricity", "inertia_tensor_eigvals"),
    *("orientation", "moments_hu", "sphericity", "feret_diameter_max", "feret_diameter_min"),
}


def _labels():
    """Return labels of several kinds, with what functions need to know of them."""
    batches = cc.label(image((3, 8, 11), "u1", 2), batch_axes=1)
    flat = mask((9, 30), 0.4, 3)
    return {
        "labels": [
            (cc.label(image((9, 30), "u1", 1)), {}),
            (cc.label(flat, dtype="i8", connectivity=1), {}),
            (cc.label(mask((5, 7, 12), 0.3, 4), connectivity=1), {}),
            (cc.label(mask((60,), 0.6, 5)), {"background": 0}),
            (cc.label(mask((3, 4, 5, 6), 0.2, 6), connectivity=1), {}),
        ],
        "roots": [(cc.label(flat, numbering="roots"), {"background": -1})],
        "batches": [(batches, {"batch_axes": 1})],
        "integers": [
            (integers((6, 9), 5, 8), {"background": None}),
            (integers((6, 9), 5, 9) * 7, {}),
            (integers((6, 9), 4, 10).astype("u2"), {}),
            (integers((40,), 6, 11) - 1, {"background": -1}),
        ],
        "nothing": [(np.zeros((4, 5), "i4"), {}), (np.zeros((0, 5), "i4"), {})],
        "no labels": [
            (np.full((2, 3), -3), {}),
            (np.ones((2, 3)), {}),
            (np.full((2, 3), 1 << 50), {}),
            (cc.label(flat, numbering="roots"), {}),
        ],
    }


def _of_labels():
    functions = {
        "sizes": cc.component_sizes,
        "members": cc.component_members,
        "spans": cc.component_spans,
        "histogram of sizes": cc.size_histogram,
        "sorted by size": cc.sort_by_size,
        "consecutive": cc.relabel_consecutive,
        "consecutive and old": partial(cc.relabel_consecutive, return_labels=True),
        "two largest": partial(cc.largest_components, k=2),
        "not small": partial(cc.remove_small_components, min_size=3),
        "filled": cc.fill_holes,
        "statistics": cc.component_statistics,
        "contacts": cc.contacts,
        "adjacency": cc.region_adjacency,
        "picture": cc.colour_components,
    }
    for (word, function), (kind, cases) in product(functions.items(), _labels().items()):
        yield (
            f"{word} of {kind}",
            each(partial(function, labels, **options) for labels, options in cases),
        )


def _of_statistics():
    labels = cc.label(mask((9, 30), 0.45, 1))
    solid = cc.label(mask((5, 7, 12), 0.3, 4), connectivity=1)
    for (kind, given), dtype in product(
        {"2d": labels, "3d": solid}.items(), ("b1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8")
    ):
        values = image(given.shape, dtype, 5, None if dtype != "i8" else [0, 1, -5, 1 << 40])
        if dtype in ("i2", "f8"):
            values = uniform(given.shape, 6).astype("f8") - 0.25
            values = values if dtype == "f8" else (values * 1000).astype("i2")
        yield f"statistics {kind} image {dtype}", partial(cc.component_statistics, given, values)
    for word, options in {
        "no moments": {"moments": False},
        "surfaces": {"surfaces": True},
        "surfaces and spacing": {"surfaces": True, "spacing": (2, 0.5)},
        "spacing": {"spacing": 3},
        "no background": {"background": None},
        "batch": {"batch_axes": 1, "background": 0},
        "classes": {"classes": (labels > 0) * 3},
        "several classes": {"classes": integers(labels.shape, 3, 2)},
        "all": {"image": uniform(labels.shape), "surfaces": True, "classes": labels > 0},
    }.items():
        yield f"statistics {word}", partial(cc.component_statistics, labels, **options)
    yield (
        "statistics with properties",
        lambda: (
            (found := cc.component_statistics(labels, surfaces=True, spacing=(1, 2))).volumes,
            found.surface_areas,
            found.columns(),
            found.slices(1),
        ),
    )
    for kind, given in {"2d": labels, "3d": solid}.items():
        yield f"axes of {kind}", partial(_axes, given)


def _axes(labels):
    """Return lengths and directions, but for the sign, which LAPACK chooses."""
    lengths, axes = cc.component_statistics(labels).principal_axes()
    distinct = np.abs(np.diff(lengths, axis=-1)).min(axis=-1) > 1e-3
    return Coarse((lengths, np.abs(axes[distinct]).round(6)))


PROPERTIES = [
    *("num_pixels", "area", "area_bbox", "axis_major_length", "axis_minor_length", "bbox"),
    *("centroid", "centroid_local", "equivalent_diameter_area", "extent", "inertia_tensor"),
    *("inertia_tensor_eigvals", "area_filled", "moments", "moments_central", "moments_normalized"),
    *("area_convex", "euler_number", "feret_diameter_max", "solidity", "eccentricity"),
    *("moments_hu", "orientation", "perimeter", "perimeter_crofton", "intensity_max"),
    *("intensity_mean", "intensity_median", "intensity_min", "intensity_std"),
    *("centroid_weighted", "centroid_weighted_local", "moments_weighted", "slice", "coords"),
    *("coords_scaled", "image", "image_convex", "image_filled", "image_intensity"),
    *("euler_number_1", "feret_diameter_min", "surface_area_crofton", "sphericity"),
    *("num_touching", "contacts", "contact_area", "intensity_quantile-0.25", "label", "no such"),
]


def _of_properties():
    flat = cc.label(image((12, 14), "u1", 1, [0, 1, 2]), connectivity=1)
    solid = cc.label(image((5, 6, 7), "u1", 2, [0, 1, 2]), connectivity=1)
    for name in PROPERTIES:
        yield f"property {name}", each(partial(_property, labels, name) for labels in (flat, solid))
    for name in ("area", "intensity_mean", "intensity_median", "centroid_weighted"):
        values = uniform((*flat.shape, 3), 4)
        yield f"{name} channels", partial(_property, flat, name, values)
    yield (
        "properties spacing",
        partial(
            cc.component_statistics,
            flat,
            properties=["area", "centroid", "bbox", "extent"],
            spacing=(2, 0.5),
        ),
    )
    yield (
        "properties batch",
        partial(
            cc.component_statistics,
            solid,
            properties=("area", "perimeter"),
            batch_axes=1,
            background=0,
        ),
    )
    yield (
        "names of all properties",
        lambda: cc.component_statistics(flat, uniform(flat.shape), properties="all").keys(),
    )
    yield "a property as text", lambda: cc.component_statistics(flat, properties="area")["area"]


def _property(labels, name, values=None):
    values = uniform(labels.shape, 3) if values is None else values
    table = cc.component_statistics(labels, values, properties=[name])
    column = table[name]
    if name in ("image_convex", "coords_scaled", "slice", "coords") or "image" in name:
        column = [column[row] for row in range(len(table.labels))]
    return Coarse(column, 5 if name in COARSE else 9)


def _of_tables():
    labels = cc.label(mask((9, 30), 0.45, 1))
    measured = partial(cc.component_statistics, labels, uniform(labels.shape), surfaces=True)
    for library in ("arrow", "pandas", "polars"):
        yield f"statistics to {library}", partial(_as, measured, f"to_{library}")
        yield (
            f"properties to {library}",
            partial(_as, partial(measured, properties=["area", "bbox"]), f"to_{library}"),
        )
        matched = partial(cc.match, labels, labels)
        yield f"matches to {library}", partial(_as, matched, f"to_{library}")
    for word, given in {
        "list": labels.tolist(),
        "pandas": pandas.DataFrame(labels),
        "polars": polars.DataFrame(labels),
        "arrow": pyarrow.array([1, 0, 2, None]),
        "masked": np.ma.masked_equal(labels, 2),
    }.items():
        yield f"sizes of {word}", partial(cc.component_sizes, given, background=0)


def _as(call, method):
    return getattr(call(), method)()


def _of_selection():
    flat, solid = cc.label(mask((12, 30), 0.4, 1)), cc.label(mask((3, 8, 9), 0.4, 2), batch_axes=1)
    for (kind, labels), k in product({"": flat, " batch": solid}.items(), (0, 1, 3, 1000)):
        batch = 1 if kind else 0
        choose = partial(cc.remove_small_components, labels, batch_axes=batch)
        yield (
            f"chosen by {k}{kind}",
            each(
                [
                    partial(cc.largest_components, labels, k, batch_axes=batch),
                    partial(choose, k),
                    partial(choose, 2, max_size=k),
                    partial(choose, k, invert=True),
                    partial(cc.fill_holes, labels, max_size=k, batch_axes=batch),
                ]
            ),
        )
    array = mask((12, 30), 0.4, 1)
    for connectivity in (1, 2):
        options = {"connectivity": connectivity}
        largest = partial(cc.largest_components, array, 2, **options)
        yield f"largest of a mask c{connectivity}", largest
        yield (
            f"not small of a mask c{connectivity}",
            partial(cc.remove_small_components, array, 4, **options),
        )
        yield f"filled mask c{connectivity}", partial(cc.fill_holes, ~array, **options)
        yield f"filled labels c{connectivity}", partial(cc.fill_holes, flat, **options)
    yield "largest by", partial(cc.largest_components, flat, 1, by=(flat > 0) * (flat % 3))
    yield "largest by a mask", partial(cc.largest_components, flat, 1, by=flat > 0)


def _of_contacts():
    flat, solid = integers((9, 12), 5, 1), integers((4, 5, 6), 4, 2)
    for (kind, labels), function in product(
        {"2d": flat, "3d": solid}.items(), (cc.contacts, cc.region_adjacency)
    ):
        word = "contacts" if function is not cc.region_adjacency else "adjacency"
        for connectivity in range(1, labels.ndim + 1):
            find = partial(function, labels, connectivity=connectivity)
            yield f"{word} {kind} c{connectivity}", each_way(labels.ndim, find)
        yield f"{word} {kind} no background", partial(function, labels, background=None)
        yield f"{word} {kind} batch", partial(function, labels, batch_axes=1, background=0)
    for spacing in (2, (1, 0.5), (1, 0), "ab"):
        yield f"contacts spacing {spacing}", partial(cc.contacts, flat, spacing=spacing)


def _of_matches():
    ours, theirs = cc.label(mask((12, 20), 0.5, 1)), cc.label(mask((12, 20), 0.5, 2))
    yield "match", partial(cc.match, ours, theirs)
    yield "match columns", lambda: cc.match(ours, theirs).columns()
    for threshold in (0, 0.1, 0.5, 0.9, 1, 2):
        yield (
            f"scores {threshold}",
            lambda threshold=threshold: cc.match(ours, ours // 2).scores(threshold),
        )
    yield "match batch", partial(cc.match, ours, theirs, batch_axes=1, background=0)
    yield "match of shapes", partial(cc.match, ours, theirs[1:])
    yield "match no background", partial(cc.match, ours, theirs, background=None)


def _of_items():
    labels, values = cc.label(mask((9, 14), 0.35, 1)), uniform((9, 14), 2)

    def walk(*given, **options):
        return [
            (
                isinstance(item, cc.Component),
                item.label,
                item.size,
                item.slices,
                item.batch,
                item.mask,
            )
            for item in cc.each(*given, **options)
        ]

    yield "walk", partial(walk, labels)
    yield "walk batch", partial(walk, labels, batch_axes=1, background=0)
    yield "walk no background", partial(walk, labels, background=None)
    for fill in (0, -1, np.nan, "a"):
        yield (
            f"crops {fill}",
            lambda fill=fill: [item.crop(values, fill) for item in cc.each(labels)],
        )
    yield "crops of another shape", lambda: next(cc.each(labels)).crop(values[1:])


def _of_pictures():
    labels, values = cc.label(mask((9, 14), 0.35, 1)), uniform((9, 14), 2)
    for word, options in {
        "alpha": {"image": values, "alpha": 0.3},
        "image": {"image": values},
        "bytes": {"image": (values * 255).astype("u1")},
        "range": {"image": values, "value_range": (0.2, 0.8)},
        "boundaries": {"boundaries": True},
        "boundaries on an image": {"image": values, "boundaries": True},
        "batch": {"batch_axes": 1, "background": 0},
        "alpha without image": {"alpha": 0.5},
        "alpha above 1": {"image": values, "alpha": 1.5},
    }.items():
        yield f"picture {word}", partial(cc.colour_components, labels, **options)


def _of_many_elements():
    labels = cc.label(mask((300, 310), 0.55, 3), connectivity=1)
    values = integers(labels.shape, 1000, 4).astype("i2")
    functions = {
        "sizes": cc.component_sizes,
        "statistics": partial(cc.component_statistics, image=values, surfaces=True),
        "contacts": cc.contacts,
        "not small": partial(cc.remove_small_components, min_size=9),
        "sorted by size": cc.sort_by_size,
        "members": cc.component_members,
        "match": partial(cc.match, labels_b=np.roll(labels, 1, axis=0)),
    }
    for word, function in functions.items():
        yield f"{word} of many", with_threads(partial(function, labels))
