"""Calls on files: graphs, images, volumes and their labels, pages."""

import bz2
import gzip
import lzma
from functools import partial

import h5py
import numpy as np
import PIL.Image
import scipy.sparse
import tifffile
import zarr

from .inputs import cases, ends, image, integers, mask, uniform
from .names import cc

EDGES = list(zip(*(side.tolist() for side in ends(9, 12, 4)), strict=True))
ROWS = [sorted({v for u, v in EDGES if u == w} | {u for u, v in EDGES if v == w}) for w in range(9)]
ROWS = [[v for v in row if v != w] for w, row in enumerate(ROWS)]
TEXTS = {
    "a.txt": "# a comment\n" + "".join(f"{u}\t{v}\n" for u, v in EDGES),
    "trimmed.txt": "\r\n".join(f"  {u}, {v} 0.5 1998-01-01" for u, v in EDGES),
    "a.csv": "".join(f"n{u},n{v}\n" for u, v in EDGES),
    "header.csv": "from,to,weight\n" + "".join(f"{u},{v},0.5\n" for u, v in EDGES),
    "semicolons.csv": "".join(f'"{u}";"{v}"\n' for u, v in EDGES),
    "a.tsv": "".join(f"{u}\t{v}\n" for u, v in EDGES),
    "a.mtx": f"%%MatrixMarket matrix coordinate real general\n% note\n9 9 {len(EDGES)}\n"
    + "".join(f"{u + 1} {v + 1} -1.5e3\n" for u, v in EDGES),
    "symmetric.mtx": f"%%MatrixMarket matrix coordinate pattern symmetric\n9 9 {len(EDGES)}\n"
    + "".join(f"{max(u, v) + 1} {min(u, v) + 1}\n" for u, v in EDGES),
    "a.gr": f"c note\np sp 9 {len(EDGES)}\n" + "".join(f"a {u + 1} {v + 1} 7\n" for u, v in EDGES),
    "a.col": f"p edge 9 {len(EDGES)}\n" + "".join(f"e {u + 1} {v + 1}\n" for u, v in EDGES),
    "a.graph": f"9 {sum(map(len, ROWS)) // 2}\n"
    + "".join(" ".join(str(v + 1) for v in row) + "\n" for row in ROWS),
    "a.graphml": '<?xml version="1.0"?><graphml><graph edgedefault="directed">'
    + "".join(f'<node id="n{k}"/>' for k in range(9))
    + "".join(f'<edge source="n{u}" target="n{v}"/>' for u, v in EDGES)
    + "</graph></graphml>",
    **{"gaps.txt": "5 1000\n70 5\n", "words.txt": "ann bob\nbob eve\n"},
    **{"zeros.txt": "007 7\n7 +7\n", "empty.txt": "", "one column.txt": "1\n2\n"},
    "cut.mtx": "%%MatrixMarket matrix coordinate real general\n9 9 5\n1 2 1\n",
    **{"above.gr": "p sp 3 1\na 1 9 1\n", "odd.graph": "3 1\n2\n\n"},
    **{"bad.graphml": "<graphml><graph>", "large.txt": "1 99999999999\n"},
    "negative.txt": "-1 2\n",
}
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
WAYS = {"compact_ids": True}, {"compact_ids": True, "integers": True}, {"header": True}
DEGREES = [sum(u == w for u, _ in EDGES) for w in range(9)]
NUMBERS = [9, len(EDGES), *np.cumsum([0, *DEGREES])]
NUMBERS += [v for w in range(9) for u, v in EDGES if u == w]
EGR = np.array(NUMBERS, "<i4").tobytes()


def _read(folder, name, content, **options):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return cc.Graph.read(path, **options)


def _read_matrix(folder, form):
    ends = tuple(zip(*EDGES, strict=True))
    made = scipy.sparse.coo_array((np.ones(len(EDGES)), ends), (9, 9))
    scipy.sparse.save_npz(folder / "a.npz", made.asformat(form))
    return cc.Graph.read(folder / "a.npz")


ARRAYS = {
    **{"mask": mask((9, 14), 0.4, 1), "u1": image((9, 14), "u1", 2), "u2": image((9, 14), "u2", 3)},
    **{"i4": image((9, 14), "i4", 4), "i8": image((9, 14), "i8", 5)},
    **{"f4": uniform((9, 14), 6).astype("f4"), "volume": image((3, 9, 14), "u1", 8)},
    "colours": integers((9, 14, 3), 256, 7).astype("u1"),
    **{"1d": image((9,), "u1", 8), "nothing": np.zeros((0, 3), "u1")},
}
PICTURE, COLOURS = (PIL.Image.fromarray(ARRAYS[kind]) for kind in ("u1", "colours"))
ENDINGS = (".npy", ".npz", ".tif", ".png", ".btf", ".jpg")


def _there_and_back(folder, name, array, **options):
    cc.write_image(folder / name, array, **options)
    return cc.read_image(folder / name)


def _read_image(folder, name, write, *given, **options):
    write(folder / name, *given)
    return cc.read_image(folder / name, **options)


VOLUME = integers((6, 9, 11), 3, 5).astype("u1")


def _zarr(path, **options):
    made = zarr.create_array(
        str(path), shape=VOLUME.shape, chunks=(3, 4, 5), dtype=VOLUME.dtype, **options
    )
    made[...] = VOLUME


def _hdf5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("image", data=VOLUME, chunks=(3, 4, 5), compression="gzip")


def _slices(path):
    path.mkdir()
    for k, plane in enumerate(VOLUME):
        tifffile.imwrite(path / f"slice{k}.tif", plane)


SOURCES = {
    "v.npy": lambda path: np.save(path, VOLUME),
    "v.zarr": _zarr,
    "v2.zarr": partial(_zarr, zarr_format=2),
    "v.h5": _hdf5,
    "v.tif": lambda path: tifffile.imwrite(path, VOLUME, photometric="minisblack"),
    "slices": _slices,
}


def _labels(path):
    return np.load(path) if path.suffix == ".npy" else zarr.open_array(str(path), mode="r")[...]


def _find(folder, name="v.npy", target="l.npy", **options):
    SOURCES[name](folder / name)
    count = cc.label_file(folder / name, folder / target, **options)
    return count, _labels(folder / target)


def _plan(folder, name="v.npy", **options):
    SOURCES[name](folder / name)
    found = cc.plan_labels(folder / name, **options)
    return isinstance(found, cc.LabelPlan), found.shape, found.dtype, found.blocks


def _measure(folder, name, function):
    SOURCES[name](folder / name)
    with cc.open_volume(folder / name) as volume:
        return function(volume)


def _saved(volume, folder):
    cc.relabel_consecutive(volume).save(folder / "saved.npy")
    return np.load(folder / "saved.npy")


def _closed(folder):
    SOURCES["v.npy"](folder / "v.npy")
    volume = cc.open_volume(folder / "v.npy")
    volume.close()
    return volume[0]


OF_OPENED = """
parts: (isinstance(v, cc.VolumeFile), v.shape, v.dtype, v.ndim, v.size, len(v), v.closed);
values: (v[2, 1:4], v[...], np.asarray(v)); sizes: cc.component_sizes(v); contacts: cc.contacts(v);
histogram: cc.size_histogram(v); statistics: cc.component_statistics(v, surfaces=True);
statistics of batches: cc.component_statistics(v, batch_axes=1, background=0);
match: cc.match(v, v); largest: cc.largest_components(v, 1)[...]; outside: v[99];
not small: cc.remove_small_components(v, 200)[...]; consecutive: cc.relabel_consecutive(v)[1];
members: cc.component_members(v); labels: cc.label(v)
"""


LABELS = integers((6, 7), 4, 2)


def _page(folder, labels=LABELS, **options):
    result = cc.write_view(folder / "a.html", labels, **options)
    return result, (folder / "a.html").read_text()[:15].lower()


WAYS_OF_VOLUMES = cases("""
    c1: connectivity=1; periodic: periodic=(True, False, True); batch: batch_axes=1;
    tolerance: tolerance=1, background=2; structure: structure=np.ones((3, 3, 3));
    threshold: threshold=1.5; min size: min_size=3, connectivity=1; roots: numbering="roots";
    largest: largest=2, connectivity=1; i8: dtype="i8"; memory: memory="4G"; no key: key="none";
    no channel: channel=3; no memory: memory="a lot"; c4: connectivity=4;
    threshold and background: threshold=1.5, background=7; to tif: target="l.tif";
    to itself: target="v.npy"
""")


CALLS = """
@in_folder name=list(TEXTS)
read {name}: _read(folder, name, TEXTS[name]);
read {name} otherwise: each(in_folder(partial(_read, name=name, content=TEXTS[name], **options)) for
    options in WAYS)()
@in_folder end=list(PACKED)
read a.txt{end}: _read(folder, f"a.txt{end}", PACKED[end](TEXTS["a.txt"].encode()));
read a.txt{end} cut: _read(folder, f"a.txt{end}", PACKED[end](TEXTS["a.txt"].encode())[:-9])
@in_folder form=("edge-list", "csv", "matrix-market", "none")
read as {form}: _read(folder, "a", TEXTS["a.txt"], format=form)
@in_folder form=("csr", "csc", "coo")
read npz {form}: _read_matrix(folder, form)
@in_folder
read a.egr: _read(folder, "a.egr", EGR); read a.egr cut: _read(folder, "a.egr", EGR[:-4]);
read nothing: cc.Graph.read(folder / "none.txt"); read none: cc.read_image(folder / "none.png");
page: _page(folder); page part: _page(folder, part=(slice(1, 4), slice(2, 5)));
page image: _page(folder, image=uniform((6, 7), 3), value_range=(0, 1), title="A page");
page spacing: _page(folder, spacing=(1, 2)); page of floats: _page(folder, LABELS / 2);
page range alone: _page(folder, value_range=(0, 1));
page shapes: _page(folder, image=np.ones((2, 2))); page twice: each([partial(_page, folder)] * 2)()
@in_folder word=dict(rows(OF_OPENED)), name=("v.npy", "v.zarr")
{word} of {name}: _measure(folder, name, lambda volume: word(v=volume))
@ kind=ARRAYS
write {kind}: each(in_folder(partial(_there_and_back, name=f"a{ending}", array=kind))
    for ending in ENDINGS)()
@in_folder axes=("YX", "ZYX", "QQ")
write axes {axes}: _there_and_back(folder, "a.tif", ARRAYS["u1"], axes=axes)
@in_folder end=("png", "bmp", "gif", "pgm")
read {end}: _read_image(folder, f"a.{end}", PICTURE.save)
@in_folder several=[partial(np.savez, a=ARRAYS["u1"], b=ARRAYS["f4"])], tif=[tifffile.imwrite]
read key: _read_image(folder, "a.npz", several, key="b");
read no key: _read_image(folder, "a.npz", several);
read wrong key: _read_image(folder, "a.npz", several, key="c");
read mapped: _read_image(folder, "a.npy", np.save, ARRAYS["i4"], mmap=True);
read mapped tif: _read_image(folder, "a.tif", tif, ARRAYS["u1"], mmap=True);
read colours bmp: _read_image(folder, "a.bmp", COLOURS.save);
read tif: _read_image(folder, "a.tif", tif, ARRAYS["volume"]);
read tif packed:
    _read_image(folder, "a.tif", partial(tif, compression="zlib"), ARRAYS["volume"]);
read text: _read_image(folder, "a.png", Path.write_text, "abc");
read another name: _read_image(folder, "a.png.tif", PICTURE.save)
@in_folder name=list(SOURCES), target=("l.npy", "l.zarr")
volume {name} to {target}: _find(folder, name, target)
@in_folder name=list(SOURCES)
plan {name}: _plan(folder, name)
@in_folder way=WAYS_OF_VOLUMES
volume {way}: _find(folder, **way)
@in_folder
plan c4: _plan(folder, connectivity=4); plan threshold: _plan(folder, threshold=0.5);
plan batch: _plan(folder, batch_axes=1); plan no memory: _plan(folder, memory=-1);
volume of none: cc.label_file(folder / "none.npy", folder / "l.npy");
saved: _measure(folder, "v.zarr", partial(_saved, folder=folder));
open none: cc.open_volume(folder / "none.zarr"); read what is closed: _closed(folder)
"""
