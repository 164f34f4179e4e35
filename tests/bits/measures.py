"""Calls on labels: sizes, statistics, selection, contacts, matches, colours."""

from functools import partial

import numpy as np
import pandas
import polars
import pyarrow

from .canonical import Coarse
from .inputs import (
    cases,
    image,
    integers,
    mask,
    rows,
    uniform,
)
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


FUNCTIONS = dict(
    rows("""
    sizes: cc.component_sizes; members: cc.component_members; spans: cc.component_spans;
    histogram of sizes: cc.size_histogram; sorted by size: cc.sort_by_size; filled: cc.fill_holes;
    consecutive: cc.relabel_consecutive; statistics: cc.component_statistics;
    consecutive and old: partial(cc.relabel_consecutive, return_labels=True);
    two largest: partial(cc.largest_components, k=2); contacts: cc.contacts;
    not small: partial(cc.remove_small_components, min_size=3); adjacency: cc.region_adjacency;
    picture: cc.colour_components
    """)
)
LABELS = cc.label(mask((9, 30), 0.45, 1))
SOLID = cc.label(mask((5, 7, 12), 0.3, 4), connectivity=1)


def _image(shape, dtype):
    if dtype in ("i2", "f8"):
        values = uniform(shape, 6) - 0.25
        return values if dtype == "f8" else (values * 1000).astype("i2")
    return image(shape, dtype, 5, [0, 1, -5, 1 << 40] if dtype == "i8" else None)


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


FLAT_CLASSES = cc.label(image((12, 14), "u1", 1, [0, 1, 2]), connectivity=1)
SOLID_CLASSES = cc.label(image((5, 6, 7), "u1", 2, [0, 1, 2]), connectivity=1)


def _property(labels, name, values=None):
    values = uniform(labels.shape, 3) if values is None else values
    table = cc.component_statistics(labels, values, properties=[name])
    column = table[name]
    if name in ("image_convex", "coords_scaled", "slice", "coords") or "image" in name:
        column = [column[row] for row in range(len(table.labels))]
    return Coarse(column, 5 if name in COARSE else 9)


MASK = mask((12, 30), 0.4, 1)
FLAT, BATCHES = cc.label(MASK), cc.label(mask((3, 8, 9), 0.4, 2), batch_axes=1)


OURS, THEIRS = cc.label(mask((12, 20), 0.5, 1)), cc.label(mask((12, 20), 0.5, 2))
ITEMS, VALUES = cc.label(mask((9, 14), 0.35, 1)), uniform((9, 14), 2)


def _walk(**options):
    return [
        (isinstance(item, cc.Component), item.label, item.size, item.slices, item.batch, item.mask)
        for item in cc.each(ITEMS, **options)
    ]


WAYS = """
    no moments: moments=False; surfaces: surfaces=True; spacing: spacing=3;
    surfaces and spacing: surfaces=True, spacing=(2, 0.5); no background: background=None;
    batch: batch_axes=1, background=0; classes: classes=(LABELS > 0) * 3;
    several classes: classes=integers(LABELS.shape, 3, 2);
    all: image=uniform(LABELS.shape), surfaces=True, classes=LABELS > 0
"""
WAYS = cases(WAYS, LABELS=LABELS)
PICTURES = """
    alpha: image=VALUES, alpha=0.3; image: image=VALUES; alpha without image: alpha=0.5;
    bytes: image=(VALUES * 255).astype("u1"); range: image=VALUES, value_range=(0.2, 0.8);
    boundaries: boundaries=True; boundaries on an image: image=VALUES, boundaries=True;
    batch: batch_axes=1, background=0; alpha above 1: image=VALUES, alpha=1.5
"""
PICTURES = cases(PICTURES, VALUES=VALUES)
GIVEN = {"list": LABELS.tolist(), "pandas": pandas.DataFrame(LABELS)}
GIVEN |= {"polars": polars.DataFrame(LABELS), "masked": np.ma.masked_equal(LABELS, 2)}
GIVEN |= {"arrow": pyarrow.array([1, 0, 2, None])}
TOUCHING = {"contacts": cc.contacts, "adjacency": cc.region_adjacency}
CLASSES = {"2d": integers((9, 12), 5, 1), "3d": integers((4, 5, 6), 4, 2)}
MANY = cc.label(mask((300, 310), 0.55, 3), connectivity=1)
MEASURED = partial(cc.component_statistics, LABELS, uniform(LABELS.shape), surfaces=True)
CALLS = """
properties spacing: cc.component_statistics(FLAT_CLASSES, properties=["area", "centroid", "bbox",
    "extent"], spacing=(2, 0.5));
properties batch: cc.component_statistics(SOLID_CLASSES, properties=("area", "perimeter"),
    batch_axes=1, background=0);
names of all properties: cc.component_statistics( FLAT_CLASSES, uniform(FLAT_CLASSES.shape),
    properties="all").keys();
a property as text: cc.component_statistics(FLAT_CLASSES, properties="area")["area"];
largest by: cc.largest_components(FLAT, 1, by=(FLAT > 0) * (FLAT % 3));
largest by a mask: cc.largest_components(FLAT, 1, by=FLAT > 0)
@ f=FUNCTIONS, given=_labels()
{f} of {given}: each(partial(f(), labels, **more) for labels, more in given)()
@ name=PROPERTIES
property {name}: each(partial(_property, labels, name) for labels in (FLAT_CLASSES,
    SOLID_CLASSES))()
@ name=("area", "intensity_mean", "intensity_median", "centroid_weighted")
{name} channels: _property(FLAT_CLASSES, name, uniform((*FLAT_CLASSES.shape, 3), 4))
@ k=(0, 1, 3, 1000), batch={"": (FLAT, 0), " batch": (BATCHES, 1)}
chosen by {k}{batch}: each([ partial(cc.largest_components, batch[0], k, batch_axes=batch[1]),
    partial(cc.remove_small_components, batch[0], k, batch_axes=batch[1]),
    partial(cc.remove_small_components, batch[0], 2, max_size=k, batch_axes=batch[1]),
    partial(cc.remove_small_components, batch[0], k, invert=True, batch_axes=batch[1]),
    partial(cc.fill_holes, batch[0], max_size=k, batch_axes=batch[1])])()
@ k=(1, 2)
largest of a mask c{k}: cc.largest_components(MASK, 2, connectivity=k);
not small of a mask c{k}: cc.remove_small_components(MASK, 4, connectivity=k);
filled mask c{k}: cc.fill_holes(~MASK, connectivity=k);
filled labels c{k}: cc.fill_holes(FLAT, connectivity=k)
@ of={"2d": LABELS, "3d": SOLID}, dtype="b1 u1 i2 i4 i8 u8 f2 f4 f8".split()
statistics {of} image {dtype}: cc.component_statistics(of, _image(of.shape, dtype))
@ way=WAYS
statistics {way}: cc.component_statistics(LABELS, **way)
@ way=PICTURES
picture {way}: cc.colour_components(ITEMS, **way)
@ library=("arrow", "pandas", "polars")
statistics to {library}: getattr(MEASURED(), f"to_{library}")();
properties to {library}: getattr(MEASURED(properties=["area", "bbox"]), f"to_{library}")();
matches to {library}: getattr(cc.match(LABELS, LABELS), f"to_{library}")()
@ given=GIVEN
sizes of {given}: cc.component_sizes(given, background=0)
@ by=TOUCHING, of=CLASSES, k=(1, 2)
{by} {of} c{k}: each_way(of.ndim, partial(by, of, connectivity=k))()
@ by=TOUCHING, of=CLASSES
{by} {of} no background: by(of, background=None);
{by} {of} batch: by(of, batch_axes=1, background=0)
@ by=TOUCHING
{by} 3d c3: each_way(3, partial(by, CLASSES["3d"], connectivity=3))()
@ spacing=(2, (1, 0.5), (1, 0), "ab")
contacts spacing {spacing}: cc.contacts(CLASSES["2d"], spacing=spacing)
@ threshold=(0, 0.1, 0.5, 0.9, 1, 2)
scores {threshold}: cc.match(OURS, OURS // 2).scores(threshold)
@ fill=(0, -1, np.nan, "a")
crops {fill}: [item.crop(VALUES, fill) for item in cc.each(ITEMS)]
@
axes of 2d: _axes(LABELS); axes of 3d: _axes(SOLID); statistics with properties: (
    (found := cc.component_statistics(LABELS, surfaces=True, spacing=(1, 2))).volumes,
    found.surface_areas, found.columns(), found.slices(1));
match: cc.match(OURS, THEIRS); match columns: cc.match(OURS, THEIRS).columns();
match batch: cc.match(OURS, THEIRS, batch_axes=1, background=0);
match of shapes: cc.match(OURS, THEIRS[1:]); walk: _walk();
match no background: cc.match(OURS, THEIRS, background=None);
walk batch: _walk(batch_axes=1, background=0); walk no background: _walk(background=None);
crops of another shape: next(cc.each(ITEMS)).crop(VALUES[1:])
@with_threads
sizes of many: cc.component_sizes(MANY); contacts of many: cc.contacts(MANY);
statistics of many: cc.component_statistics(
    MANY, image=integers(MANY.shape, 1000, 4).astype("i2"), surfaces=True);
not small of many: cc.remove_small_components(MANY, min_size=9);
sorted by size of many: cc.sort_by_size(MANY); members of many: cc.component_members(MANY);
match of many: cc.match(MANY, labels_b=np.roll(MANY, 1, axis=0))
"""
