"""Calls on files: graphs, images, volumes and their labels, pages."""

import bz2
import gzip
import lzma
from functools import partial
from itertools import product

import h5py
import numpy as np
import PIL.Image
import scipy.sparse
import tifffile
import zarr

from .inputs import each, ends, image, in_folder, integers, mask, uniform
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
    "gaps.txt": "5 1000\n70 5\n",
    "words.txt": "ann bob\nbob eve\n",
    "zeros.txt": "007 7\n7 +7\n",
    "empty.txt": "",
    "one column.txt": "1\n2\n",
    "cut.mtx": "%%MatrixMarket matrix coordinate real general\n9 9 5\n1 2 1\n",
    "above.gr": "p sp 3 1\na 1 9 1\n",
    "odd.graph": "3 1\n2\n\n",
    "bad.graphml": "<graphml><graph>",
    "large.txt": "1 99999999999\n",
    "negative.txt": "-1 2\n",
}
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def _of_graphs():
    def read(folder, name, content, **options):
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return cc.Graph.read(path, **options)

    for name, text in TEXTS.items():
        reading = partial(read, name=name, content=text)
        yield f"read {name}", in_folder(reading)
        ways = {"compact_ids": True}, {"compact_ids": True, "integers": True}, {"header": True}
        yield (
            f"read {name} otherwise",
            each(in_folder(partial(reading, **options)) for options in ways),
        )
    for packing, pack in PACKED.items():
        content = pack(TEXTS["a.txt"].encode())
        name = f"a.txt{packing}"
        yield f"read {name}", in_folder(partial(read, name=name, content=content))
        yield f"read {name} cut", in_folder(partial(read, name=name, content=content[:-9]))
    for form in ("edge-list", "csv", "matrix-market", "none"):
        options = {"name": "a", "content": TEXTS["a.txt"], "format": form}
        yield f"read as {form}", in_folder(partial(read, **options))
    numbers = [9, len(EDGES), *np.cumsum([0, *(sum(u == w for u, _ in EDGES) for w in range(9))])]
    numbers += [v for w in range(9) for u, v in EDGES if u == w]
    content = np.array(numbers, "<i4").tobytes()
    yield "read a.egr", in_folder(partial(read, name="a.egr", content=content))
    yield "read a.egr cut", in_folder(partial(read, name="a.egr", content=content[:-4]))

    def matrix(folder, form):
        made = scipy.sparse.coo_array(
            (np.ones(len(EDGES)), tuple(zip(*EDGES, strict=True))), (9, 9)
        )
        scipy.sparse.save_npz(folder / "a.npz", made.asformat(form))
        return cc.Graph.read(folder / "a.npz")

    for form in ("csr", "csc", "coo"):
        yield f"read npz {form}", in_folder(partial(matrix, form=form))
    yield "read nothing", in_folder(lambda folder: cc.Graph.read(folder / "none.txt"))


def _of_images():
    arrays = {
        "mask": mask((9, 14), 0.4, 1),
        "u1": image((9, 14), "u1", 2),
        "u2": image((9, 14), "u2", 3),
        "i4": image((9, 14), "i4", 4),
        "i8": image((9, 14), "i8", 5),
        "f4": uniform((9, 14), 6).astype("f4"),
        "colours": integers((9, 14, 3), 256, 7).astype("u1"),
        "volume": image((3, 9, 14), "u1", 8),
        "1d": image((9,), "u1", 8),
        "nothing": np.zeros((0, 3), "u1"),
    }

    def there_and_back(folder, name, array, **options):
        cc.write_image(folder / name, array, **options)
        return cc.read_image(folder / name)

    endings = ".npy", ".npz", ".tif", ".png", ".btf", ".jpg"
    for kind, array in arrays.items():
        yield (
            f"write {kind}",
            each(
                in_folder(partial(there_and_back, name=f"a{ending}", array=array))
                for ending in endings
            ),
        )
    for axes in ("YX", "ZYX", "QQ"):
        yield (
            f"write axes {axes}",
            in_folder(partial(there_and_back, name="a.tif", array=arrays["u1"], axes=axes)),
        )

    def read(folder, write, name, **options):
        write(folder / name)
        return cc.read_image(folder / name, **options)

    several = partial(np.savez, a=arrays["u1"], b=arrays["f4"])
    picture = PIL.Image.fromarray(arrays["u1"]).save
    colours = PIL.Image.fromarray(arrays["colours"]).save
    for word, (write, name, options) in {
        "key": (several, "a.npz", {"key": "b"}),
        "no key": (several, "a.npz", {}),
        "wrong key": (several, "a.npz", {"key": "c"}),
        "mapped": (lambda path: np.save(path, arrays["i4"]), "a.npy", {"mmap": True}),
        "mapped tif": (lambda path: tifffile.imwrite(path, arrays["u1"]), "a.tif", {"mmap": True}),
        "png": (picture, "a.png", {}),
        "bmp": (picture, "a.bmp", {}),
        "gif": (picture, "a.gif", {}),
        "pgm": (picture, "a.pgm", {}),
        "colours bmp": (colours, "a.bmp", {}),
        "tif": (lambda path: tifffile.imwrite(path, arrays["volume"]), "a.tif", {}),
        "tif packed": (
            lambda path: tifffile.imwrite(path, arrays["volume"], compression="zlib"),
            "a.tif",
            {},
        ),
        "text": (lambda path: path.write_text("abc"), "a.png", {}),
        "another name": (picture, "a.png.tif", {}),
    }.items():
        yield f"read {word}", in_folder(partial(read, write=write, name=name, **options))
    yield "read none", in_folder(lambda folder: cc.read_image(folder / "none.png"))


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


def _of_volumes():
    def find(folder, name, target, **options):
        SOURCES[name](folder / name)
        count = cc.label_file(folder / name, folder / target, **options)
        return count, _labels(folder / target)

    for name, target in product(SOURCES, ("l.npy", "l.zarr")):
        call = partial(find, name=name, target=target)
        yield f"volume {name} to {target}", in_folder(call)
    for word, options in {
        "c1": {"connectivity": 1},
        "periodic": {"periodic": (True, False, True)},
        "tolerance": {"tolerance": 1, "background": 2},
        "structure": {"structure": np.ones((3, 3, 3))},
        "batch": {"batch_axes": 1},
        "threshold": {"threshold": 1.5},
        "min size": {"min_size": 3, "connectivity": 1},
        "largest": {"largest": 2, "connectivity": 1},
        "roots": {"numbering": "roots"},
        "i8": {"dtype": "i8"},
        "memory": {"memory": "4G"},
        "no key": {"key": "none"},
        "no channel": {"channel": 3},
        "no memory": {"memory": "a lot"},
        "threshold and background": {"threshold": 1.5, "background": 7},
        "c4": {"connectivity": 4},
    }.items():
        call = partial(find, name="v.npy", target="l.npy", **options)
        yield f"volume {word}", in_folder(call)
    yield "volume to tif", in_folder(partial(find, name="v.npy", target="l.tif"))
    yield "volume to itself", in_folder(partial(find, name="v.npy", target="v.npy"))
    yield (
        "volume of none",
        in_folder(lambda folder: cc.label_file(folder / "none.npy", folder / "l.npy")),
    )

    def plan(folder, name, **options):
        SOURCES[name](folder / name)
        found = cc.plan_labels(folder / name, **options)
        return isinstance(found, cc.LabelPlan), found.shape, found.dtype, found.blocks

    for name in SOURCES:
        yield f"plan {name}", in_folder(partial(plan, name=name))
    for word, options in {
        "c4": {"connectivity": 4},
        "threshold": {"threshold": 0.5},
        "batch": {"batch_axes": 1},
        "no memory": {"memory": -1},
    }.items():
        yield f"plan {word}", in_folder(partial(plan, name="v.npy", **options))


def _of_opened():
    def measure(folder, name, function):
        SOURCES[name](folder / name)
        with cc.open_volume(folder / name) as volume:
            return function(volume)

    def parts(volume):
        kind = isinstance(volume, cc.VolumeFile)
        return (
            kind,
            volume.shape,
            volume.dtype,
            volume.ndim,
            volume.size,
            len(volume),
            volume.closed,
        )

    def saved(volume, folder):
        cc.relabel_consecutive(volume).save(folder / "saved.npy")
        return np.load(folder / "saved.npy")

    functions = {
        "parts": parts,
        "values": lambda volume: (volume[2, 1:4], volume[...], np.asarray(volume)),
        "sizes": cc.component_sizes,
        "histogram": cc.size_histogram,
        "statistics": partial(cc.component_statistics, surfaces=True),
        "statistics of batches": partial(cc.component_statistics, batch_axes=1, background=0),
        "contacts": cc.contacts,
        "match": lambda volume: cc.match(volume, volume),
        "largest": lambda volume: cc.largest_components(volume, 1)[...],
        "not small": lambda volume: cc.remove_small_components(volume, 200)[...],
        "consecutive": lambda volume: cc.relabel_consecutive(volume)[1],
        "members": cc.component_members,
        "labels": cc.label,
        "outside": lambda volume: volume[99],
    }
    for (word, function), name in product(functions.items(), ("v.npy", "v.zarr")):
        yield f"{word} of {name}", in_folder(partial(measure, name=name, function=function))
    yield (
        "saved",
        in_folder(lambda folder: measure(folder, "v.zarr", partial(saved, folder=folder))),
    )
    yield "open none", in_folder(lambda folder: cc.open_volume(folder / "none.zarr"))

    def closed(folder):
        SOURCES["v.npy"](folder / "v.npy")
        volume = cc.open_volume(folder / "v.npy")
        volume.close()
        return volume[0]

    yield "read what is closed", in_folder(closed)


def _of_pages():
    labels = integers((6, 7), 4, 2)

    def page(folder, *given, **options):
        result = cc.write_view(folder / "a.html", *given, **options)
        return result, (folder / "a.html").read_text()[:15].lower()

    for word, options in {
        "": {},
        " image": {"image": uniform((6, 7), 3), "value_range": (0, 1), "title": "A page"},
        " part": {"part": (slice(1, 4), slice(2, 5))},
        " spacing": {"spacing": (1, 2)},
        " range alone": {"value_range": (0, 1)},
        " shapes": {"image": np.ones((2, 2))},
    }.items():
        yield (
            f"page{word}",
            in_folder(lambda folder, options=options: page(folder, labels, **options)),
        )
    yield "page of floats", in_folder(lambda folder: page(folder, labels / 2))
    yield "page twice", in_folder(lambda folder: each([partial(page, folder, labels)] * 2)())
